//! Lists of named fields: figures, reports, events.

use crate::error::{Code, Error, Result};
use crate::handle::{bytes, make};
use crate::sys;
use std::ffi::CStr;

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A plain number.
    Number,
    /// Bytes.
    Bytes,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// There is nothing where there could be something.
    None,
    /// A number, and its unit.
    Number(u64, Unit),
    /// Yes or no.
    Flag(bool),
    /// Bytes, or text.
    Bytes(Vec<u8>),
    /// A list of its own.
    Records(Vec<Record>),
}

/// Fields with names, as the C API has them (docs/c-api.md lists the names). Later versions of the
/// library add fields; those that there are keep name, type and unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    fields: Vec<(String, Field)>,
}

impl Record {
    /// All fields, in the library's order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Field)> + '_ {
        self.fields
            .iter()
            .map(|(name, field)| (name.as_str(), field))
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, field)| field)
    }

    /// The number of that name.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.field(name) {
            Some(Field::Number(number, _)) => Some(*number),
            _ => None,
        }
    }

    /// The flag of that name; false where there is none.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.field(name), Some(Field::Flag(true)))
    }

    /// The bytes of that name.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        match self.field(name) {
            Some(Field::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The bytes of that name as text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.bytes(name)
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The list of that name; empty where there is none.
    pub fn records(&self, name: &str) -> &[Record] {
        match self.field(name) {
            Some(Field::Records(records)) => records,
            _ => &[],
        }
    }

    pub(crate) fn require(&self, name: &str) -> Result<u64> {
        self.number(name)
            .ok_or_else(|| Error::new(Code::Internal, format!("no number named {}", name)))
    }
}

/// # Safety
/// `records` must be NULL or a list that lives during the call.
pub(crate) unsafe fn copy_records(records: *const sys::Records) -> Vec<Record> {
    let rows = sys::hawthorn_records_count(records);
    (0..rows).map(|row| copy_record(records, row)).collect()
}

unsafe fn copy_record(records: *const sys::Records, row: usize) -> Record {
    let mut fields = Vec::new();
    for index in 0..sys::hawthorn_records_field_count(records, row) {
        let mut field = std::mem::zeroed();
        let none = std::ptr::null_mut();
        if sys::hawthorn_records_field(records, row, index, &mut field, none) != sys::OK {
            continue;
        }
        let name = CStr::from_ptr(field.name).to_string_lossy().into_owned();
        let unit = match field.unit {
            sys::UNIT_BYTES => Unit::Bytes,
            sys::UNIT_MICROSECONDS => Unit::Microseconds,
            sys::UNIT_MILLISECONDS => Unit::Milliseconds,
            sys::UNIT_SECONDS => Unit::Seconds,
            _ => Unit::Number,
        };
        let value = match field.kind {
            sys::FIELD_NUMBER => Field::Number(field.number, unit),
            sys::FIELD_FLAG => Field::Flag(field.number != 0),
            sys::FIELD_BYTES => Field::Bytes(bytes(field.data, field.size).to_vec()),
            sys::FIELD_RECORDS => Field::Records(copy_records(field.records)),
            _ => Field::None,
        };
        fields.push((name, value));
    }
    Record { fields }
}

/// Calls a function that gives a list, and copies it.
pub(crate) fn take_records(
    call: impl FnOnce(*mut *mut sys::Records, *mut *mut sys::Error) -> sys::Code,
) -> Result<Vec<Record>> {
    let records = make(call)?;
    Ok(unsafe { copy_records(records.get()) })
}

/// The same where the list has one row.
pub(crate) fn take_record(
    call: impl FnOnce(*mut *mut sys::Records, *mut *mut sys::Error) -> sys::Code,
) -> Result<Record> {
    Ok(take_records(call)?.into_iter().next().unwrap_or_default())
}
