//! Answers to many keys at once.

use crate::error::Result;
use crate::handle::{bytes, run, Handle};
use crate::read::private::Reader;
use crate::sys;
use crate::tree::Tree;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

thread_local! {
    /// An object without answers: one that is used again keeps its memory.
    static POOL: RefCell<Option<Handle<sys::ReadBatch>>> = const { RefCell::new(None) };
}

// An object keeps the memory of its answers: those of large ones are freed.
const POOLED_BYTES_MAX: u64 = 4 << 20;

/// An object for answers, which goes back to its thread's pool.
pub(crate) struct PooledBatch(ManuallyDrop<Handle<sys::ReadBatch>>);

pub(crate) fn pooled_batch() -> Result<PooledBatch> {
    let pooled = POOL
        .try_with(|pool| pool.borrow_mut().take())
        .ok()
        .flatten();
    let handle = match pooled {
        Some(handle) => handle,
        None => Handle::new(unsafe { sys::hawthorn_read_batch_create() })?,
    };
    Ok(PooledBatch(ManuallyDrop::new(handle)))
}

impl PooledBatch {
    pub(crate) fn get(&self) -> *mut sys::ReadBatch {
        self.0.get()
    }
}

impl Drop for PooledBatch {
    fn drop(&mut self) {
        let handle = unsafe { ManuallyDrop::take(&mut self.0) };
        if unsafe { sys::hawthorn_read_batch_value_bytes(handle.get()) } > POOLED_BYTES_MAX {
            return;
        }
        unsafe { sys::hawthorn_read_batch_release(handle.get()) };
        let mut handle = Some(handle);
        let _ = POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            if pool.is_none() {
                *pool = handle.take();
            }
        });
    }
}

/// The answers of [`Read::multi_get`](crate::Read::multi_get), in the order of the keys. Lifetime: what
/// was read from. Threads: it may be sent to another one.
pub struct MultiGet<'a> {
    batch: PooledBatch,
    source: PhantomData<&'a ()>,
}

impl MultiGet<'_> {
    pub(crate) fn read<K: AsRef<[u8]>>(reader: Reader, tree: &Tree, keys: &[K]) -> Result<Self> {
        let batch = pooled_batch()?;
        let raw: Vec<sys::Bytes> = keys
            .iter()
            .map(|key| {
                let key = key.as_ref();
                sys::Bytes {
                    data: key.as_ptr().cast(),
                    size: key.len(),
                }
            })
            .collect();
        let (keys, count, out) = (raw.as_ptr(), raw.len(), batch.get());
        run(|error| unsafe {
            match reader {
                Reader::Db(db, snapshot) => {
                    sys::hawthorn_db_multi_get(db, tree.raw(), keys, count, snapshot, out, error)
                }
                Reader::Txn(txn) => {
                    sys::hawthorn_txn_multi_get(txn, tree.raw(), keys, count, out, error)
                }
            }
        })?;
        Ok(MultiGet {
            batch,
            source: PhantomData,
        })
    }

    /// How many answers there are: as many as keys.
    pub fn len(&self) -> usize {
        unsafe { sys::hawthorn_read_batch_count(self.batch.get()) }
    }

    /// Whether there were no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of key `index`; `None` where it is not there, or there was no such key.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let mut size = 0;
        let value = unsafe { sys::hawthorn_read_batch_value(self.batch.get(), index, &mut size) };
        (!value.is_null()).then(|| unsafe { bytes(value, size) })
    }

    /// The answers one by one.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> + '_ {
        (0..self.len()).map(move |index| self.get(index))
    }

    /// The values as vectors of their own.
    pub fn to_vecs(&self) -> Vec<Option<Vec<u8>>> {
        self.iter().map(|value| value.map(<[u8]>::to_vec)).collect()
    }
}
