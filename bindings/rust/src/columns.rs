//! Columns: many entries in four buffers, as Arrow's LargeBinary has them.

use crate::batch_read::pooled_batch;
use crate::error::{check, Error, Result};
use crate::read::private::Reader;
use crate::sys;
use crate::tree::Tree;
use std::mem::size_of;
use std::ptr;

/// Buffers that calls fill with entries: key `i` is the bytes `key_offsets[i]..key_offsets[i + 1]` of
/// `key_bytes`, values the same. One object serves many calls, and keeps its memory.
#[derive(Clone, Debug)]
pub struct Columns {
    key_bytes: Vec<u8>,
    key_offsets: Vec<i64>,
    value_bytes: Vec<u8>,
    value_offsets: Vec<i64>,
    found: Vec<u8>,
    rows: usize,
    rows_capacity: usize,
}

/// The buffers of [`Columns`], to become arrays of other libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnParts {
    /// The bytes of all keys.
    pub key_bytes: Vec<u8>,
    /// Where keys begin; one more than rows. Empty where keys were left out.
    pub key_offsets: Vec<i64>,
    /// The bytes of all values.
    pub value_bytes: Vec<u8>,
    /// Where values begin; one more than rows.
    pub value_offsets: Vec<i64>,
    /// Of answers to keys, 1 or 0 for each row; else empty.
    pub found: Vec<u8>,
}

impl Default for Columns {
    /// Without room: they grow when they are filled, to as little as it takes.
    fn default() -> Columns {
        Columns::with_capacity(0, 0, 0)
    }
}

impl Columns {
    /// Room for so many rows, and bytes of keys and of values.
    pub fn with_capacity(rows: usize, key_bytes: usize, value_bytes: usize) -> Columns {
        Columns {
            key_bytes: vec![0; key_bytes],
            key_offsets: vec![0; rows + 1],
            value_bytes: vec![0; value_bytes],
            value_offsets: vec![0; rows + 1],
            found: vec![0; rows],
            rows: 0,
            rows_capacity: rows,
        }
    }

    /// How many rows were filled.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no row was filled.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The bytes of all keys.
    pub fn key_bytes(&self) -> &[u8] {
        &self.key_bytes[..end(self.key_offsets())]
    }

    /// Where keys begin: one more than rows. Empty of answers to keys, which have none.
    pub fn key_offsets(&self) -> &[i64] {
        offsets(&self.key_offsets, self.rows)
    }

    /// The bytes of all values.
    pub fn value_bytes(&self) -> &[u8] {
        &self.value_bytes[..end(self.value_offsets())]
    }

    /// Where values begin: one more than rows.
    pub fn value_offsets(&self) -> &[i64] {
        offsets(&self.value_offsets, self.rows)
    }

    /// Of answers to keys: 1 or 0 for each row.
    pub fn found(&self) -> &[u8] {
        &self.found[..self.rows]
    }

    /// The key of a row. Panics for a row that there is not.
    pub fn key(&self, row: usize) -> &[u8] {
        item(&self.key_bytes, self.key_offsets(), row)
    }

    /// The value of a row. Panics for a row that there is not.
    pub fn value(&self, row: usize) -> &[u8] {
        item(&self.value_bytes, self.value_offsets(), row)
    }

    /// The buffers, cut off where the rows end.
    pub fn into_parts(mut self) -> ColumnParts {
        let (keys, values) = (end(self.key_offsets()), end(self.value_offsets()));
        self.key_bytes.truncate(keys);
        self.value_bytes.truncate(values);
        self.key_offsets.truncate(self.rows + 1);
        self.value_offsets.truncate(self.rows + 1);
        self.found.truncate(self.rows);
        ColumnParts {
            key_bytes: self.key_bytes,
            key_offsets: self.key_offsets,
            value_bytes: self.value_bytes,
            value_offsets: self.value_offsets,
            found: self.found,
        }
    }

    fn reserve_rows(&mut self, rows: usize) {
        if self.rows_capacity < rows {
            self.rows_capacity = rows;
        }
        self.key_offsets.resize(self.rows_capacity + 1, 0);
        self.value_offsets.resize(self.rows_capacity + 1, 0);
        self.found.resize(self.rows_capacity, 0);
    }

    fn raw(&mut self) -> sys::Columns {
        sys::Columns {
            struct_size: size_of::<sys::Columns>(),
            rows_capacity: self.rows_capacity,
            key_bytes: self.key_bytes.as_mut_ptr().cast(),
            key_bytes_capacity: self.key_bytes.len(),
            key_offsets: self.key_offsets.as_mut_ptr(),
            value_bytes: self.value_bytes.as_mut_ptr().cast(),
            value_bytes_capacity: self.value_bytes.len(),
            value_offsets: self.value_offsets.as_mut_ptr(),
            found: ptr::null_mut(),
            rows: 0,
            key_bytes_needed: 0,
            value_bytes_needed: 0,
        }
    }

    /// Fills them with entries; they grow until one fits.
    pub(crate) fn fill(
        &mut self,
        mut call: impl FnMut(*mut sys::Columns, *mut *mut sys::Error) -> sys::Code,
    ) -> Result<usize> {
        self.rows = 0;
        self.reserve_rows(1);
        loop {
            let mut raw = self.raw();
            let mut error = ptr::null_mut();
            let code = call(&mut raw, &mut error);
            if code == sys::BUFFER_TOO_SMALL {
                unsafe { sys::hawthorn_error_free(error) };
                grow(&mut self.key_bytes, raw.key_bytes_needed);
                grow(&mut self.value_bytes, raw.value_bytes_needed);
                continue;
            }
            check(code, error)?;
            self.rows = raw.rows;
            self.found[..raw.rows].fill(1);
            return Ok(raw.rows);
        }
    }

    /// Reads keys into them: all rows.
    pub(crate) fn multi_get(
        &mut self,
        reader: Reader,
        tree: &Tree,
        keys: KeyColumn<'_>,
    ) -> Result<()> {
        self.rows = 0;
        self.reserve_rows(keys.len());
        // Answers have no keys: all of their offsets are 0.
        self.key_offsets.fill(0);
        if keys.is_empty() {
            return Ok(());
        }
        let batch = pooled_batch()?;
        let mut raw = self.answers();
        let mut error = ptr::null_mut();
        let (at, offsets) = (keys.bytes.as_ptr().cast(), keys.offsets.as_ptr());
        let code = unsafe {
            match reader {
                Reader::Db(db, snapshot) => sys::hawthorn_db_multi_get_columns(
                    db,
                    tree.raw(),
                    at,
                    offsets,
                    keys.len(),
                    snapshot,
                    batch.get(),
                    &mut raw,
                    &mut error,
                ),
                Reader::Txn(txn) => sys::hawthorn_txn_multi_get_columns(
                    txn,
                    tree.raw(),
                    at,
                    offsets,
                    keys.len(),
                    batch.get(),
                    &mut raw,
                    &mut error,
                ),
            }
        };
        let too_small = code == sys::BUFFER_TOO_SMALL;
        if too_small {
            unsafe { sys::hawthorn_error_free(error) };
        } else {
            check(code, error)?;
        }
        if too_small || raw.rows < keys.len() {
            // The answers are in the batch, with their sizes: once more, with room for all.
            let all = unsafe { sys::hawthorn_read_batch_value_bytes(batch.get()) } as usize;
            grow(&mut self.value_bytes, all);
            raw = self.answers();
            crate::handle::run(|error| unsafe {
                sys::hawthorn_read_batch_columns(batch.get(), 0, &mut raw, error)
            })?;
        }
        self.rows = raw.rows;
        Ok(())
    }

    fn answers(&mut self) -> sys::Columns {
        let found = self.found.as_mut_ptr();
        sys::Columns {
            key_offsets: ptr::null_mut(),
            found,
            ..self.raw()
        }
    }

    /// Their rows, to be put: [`Batch::put_columns`](crate::Batch::put_columns).
    pub fn as_entries(&self) -> EntryColumns<'_> {
        EntryColumns {
            keys: KeyColumn {
                bytes: self.key_bytes(),
                offsets: self.key_offsets(),
            },
            values: KeyColumn {
                bytes: self.value_bytes(),
                offsets: self.value_offsets(),
            },
        }
    }
}

fn grow(bytes: &mut Vec<u8>, needed: usize) {
    if bytes.len() < needed {
        bytes.resize(needed, 0);
    }
}

fn offsets(all: &[i64], rows: usize) -> &[i64] {
    &all[..(rows + 1).min(all.len())]
}

fn end(offsets: &[i64]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

fn item<'a>(bytes: &'a [u8], offsets: &[i64], row: usize) -> &'a [u8] {
    &bytes[offsets[row] as usize..offsets[row + 1] as usize]
}

/// Keys, or values, in a column of the caller: item `i` is the bytes `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn<'a> {
    bytes: &'a [u8],
    offsets: &'a [i64],
}

impl<'a> KeyColumn<'a> {
    /// Errors: `InvalidArgument` for offsets that go down, or lie outside of `bytes`, or for none.
    pub fn new(bytes: &'a [u8], offsets: &'a [i64]) -> Result<KeyColumn<'a>> {
        let first = *offsets
            .first()
            .ok_or_else(|| Error::invalid("a column without offsets"))?;
        let down = offsets.windows(2).any(|pair| pair[0] > pair[1]);
        if first < 0 || down || end(offsets) > bytes.len() {
            return Err(Error::invalid(
                "offsets of a column go down, or lie outside of its bytes",
            ));
        }
        Ok(KeyColumn { bytes, offsets })
    }

    /// How many items it has.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Entries in columns of the caller: as many keys as values.
#[derive(Clone, Copy, Debug)]
pub struct EntryColumns<'a> {
    keys: KeyColumn<'a>,
    values: KeyColumn<'a>,
}

impl<'a> EntryColumns<'a> {
    /// Errors: `InvalidArgument` where there are not as many keys as values.
    pub fn new(keys: KeyColumn<'a>, values: KeyColumn<'a>) -> Result<EntryColumns<'a>> {
        if keys.len() != values.len() {
            return Err(Error::invalid(
                "columns of keys and values with different numbers of rows",
            ));
        }
        Ok(EntryColumns { keys, values })
    }

    /// The structure of C. Calls that take entries only read what it points to.
    pub(crate) fn raw(&self) -> sys::Columns {
        let rows = self.keys.len();
        sys::Columns {
            struct_size: size_of::<sys::Columns>(),
            rows_capacity: rows,
            key_bytes: self.keys.bytes.as_ptr() as *mut _,
            key_bytes_capacity: self.keys.bytes.len(),
            key_offsets: self.keys.offsets.as_ptr() as *mut _,
            value_bytes: self.values.bytes.as_ptr() as *mut _,
            value_bytes_capacity: self.values.bytes.len(),
            value_offsets: self.values.offsets.as_ptr() as *mut _,
            found: ptr::null_mut(),
            rows,
            key_bytes_needed: 0,
            value_bytes_needed: 0,
        }
    }
}
