//! What a database calls: merge operators, orders, filters, listeners, hooks, logs, keys.
//!
//! Each closure is boxed and given to C with its functions. No panic leaves them.

use crate::error::{Code, Error, Result};
use crate::handle::{bytes, c_string, run, text};
use crate::options::{Durability, Options};
use crate::records::{copy_records, Record};
use crate::sys;
use std::ffi::CStr;
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;

/// What changes values without reading them. It must be a pure function of what it is given, for as
/// long as the database exists: the same operands may be folded at any time, some of them early, and
/// folding some and then the rest must give what folding all at once gives. Threads: any, several at a
/// time. It must not call the database. A panic counts as a refusal.
///
/// Closures `Fn(key, existing, operands) -> Option<Vec<u8>>` are operators that do not combine.
pub trait MergeOperator: Send + Sync + 'static {
    /// Folds operands, the oldest first, into `result`, which is empty. `existing` is `None` where the
    /// key is absent. False: these do not fit together.
    fn merge(
        &self,
        key: &[u8],
        existing: Option<&[u8]>,
        operands: &[&[u8]],
        result: &mut Vec<u8>,
    ) -> bool;

    /// Makes one operand of two neighbours. False: cannot, the default.
    fn combine(&self, _key: &[u8], _left: &[u8], _right: &[u8], _result: &mut Vec<u8>) -> bool {
        false
    }
}

impl<F> MergeOperator for F
where
    F: Fn(&[u8], Option<&[u8]>, &[&[u8]]) -> Option<Vec<u8>> + Send + Sync + 'static,
{
    fn merge(
        &self,
        key: &[u8],
        existing: Option<&[u8]>,
        operands: &[&[u8]],
        result: &mut Vec<u8>,
    ) -> bool {
        self(key, existing, operands)
            .map(|value| *result = value)
            .is_some()
    }
}

/// An order of keys by an encoding: keys are sorted as the bytes of their sort keys. It must be the
/// same for as long as the database exists. Threads: any, several at a time. It must not call the
/// database. `None`: that is no key, or no sort key; a panic counts as that.
pub trait KeyOrder: Send + Sync + 'static {
    /// The sort key of a key.
    fn encode(&self, key: &[u8]) -> Option<Vec<u8>>;
    /// The key of a sort key.
    fn decode(&self, sort_key: &[u8]) -> Option<Vec<u8>>;
    /// The size of all sort keys; 0, the default: they differ.
    fn fixed_bytes(&self) -> usize {
        0
    }
}

/// What becomes of an entry that a flush filter is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterDecision {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// It gets this value.
    Change(Vec<u8>),
}

/// How important a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// For the curious.
    Info,
    /// Something to look at.
    Warning,
    /// Something is broken.
    Error,
}

/// What a database tells of its work: its name, such as `flush_completed`, and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// As the C API names it, in small letters.
    pub name: String,
    /// The fields of the event.
    pub fields: Record,
}

/// Asked before each commit, on its thread, and told behind it. Either may do nothing. It may read,
/// but neither write nor end a transaction.
pub trait CommitHook: Send + Sync + 'static {
    /// An error refuses the commit, and so does a panic. Default: it goes on.
    fn before(&self, _operations: u64, _durability: Durability) -> Result<()> {
        Ok(())
    }
    /// The commit's timestamp, or what it failed with. Default: nothing.
    fn after(&self, _operations: u64, _durability: Durability, _outcome: Result<u64>) {}
}

unsafe extern "C" fn destroy<T>(context: *mut c_void) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        drop(Box::from_raw(context.cast::<T>()))
    }));
}

/// Gives a boxed closure to C, which takes it where the call succeeds.
fn give<T>(
    value: T,
    call: impl FnOnce(*mut c_void, *mut *mut sys::Error) -> sys::Code,
) -> Result<()> {
    let context = Box::into_raw(Box::new(value));
    let given = run(|error| call(context.cast(), error));
    if given.is_err() {
        drop(unsafe { Box::from_raw(context) });
    }
    given
}

unsafe fn append(buffer: *mut sys::Buffer, value: &[u8]) -> bool {
    sys::hawthorn_buffer_append(buffer, value.as_ptr().cast(), value.len()) != 0
}

fn caught<T>(otherwise: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}

unsafe extern "C" fn merge<T: MergeOperator>(
    context: *mut c_void,
    key: *const c_void,
    key_size: usize,
    existing: *const c_void,
    existing_size: usize,
    operands: *const sys::Bytes,
    count: usize,
    result: *mut sys::Buffer,
) -> c_int {
    let operator = &*context.cast::<T>();
    caught(false, || {
        let existing = (!existing.is_null()).then(|| bytes(existing, existing_size));
        let operands: Vec<&[u8]> = std::slice::from_raw_parts(operands, count)
            .iter()
            .map(|operand| bytes(operand.data, operand.size))
            .collect();
        let mut value = Vec::new();
        operator.merge(bytes(key, key_size), existing, &operands, &mut value)
            && append(result, &value)
    })
    .into()
}

unsafe extern "C" fn combine<T: MergeOperator>(
    context: *mut c_void,
    key: *const c_void,
    key_size: usize,
    left: *const c_void,
    left_size: usize,
    right: *const c_void,
    right_size: usize,
    result: *mut sys::Buffer,
) -> c_int {
    let operator = &*context.cast::<T>();
    caught(false, || {
        let (left, right) = (bytes(left, left_size), bytes(right, right_size));
        let mut operand = Vec::new();
        operator.combine(bytes(key, key_size), left, right, &mut operand)
            && append(result, &operand)
    })
    .into()
}

unsafe extern "C" fn encode<T: KeyOrder>(
    context: *mut c_void,
    key: *const c_void,
    size: usize,
    out: *mut sys::Buffer,
) -> c_int {
    let order = &*context.cast::<T>();
    caught(false, || {
        order
            .encode(bytes(key, size))
            .map_or(false, |key| append(out, &key))
    })
    .into()
}

unsafe extern "C" fn decode<T: KeyOrder>(
    context: *mut c_void,
    key: *const c_void,
    size: usize,
    out: *mut sys::Buffer,
) -> c_int {
    let order = &*context.cast::<T>();
    caught(false, || {
        order
            .decode(bytes(key, size))
            .map_or(false, |key| append(out, &key))
    })
    .into()
}

unsafe extern "C" fn compare<F>(
    context: *mut c_void,
    a: *const c_void,
    a_size: usize,
    b: *const c_void,
    b_size: usize,
) -> c_int
where
    F: Fn(&[u8], &[u8]) -> std::cmp::Ordering,
{
    let compare = &*context.cast::<F>();
    match catch_unwind(AssertUnwindSafe(|| {
        compare(bytes(a, a_size), bytes(b, b_size))
    })) {
        Ok(order) => order as c_int,
        // There is no answer that keeps the tree sorted.
        Err(_) => std::process::abort(),
    }
}

unsafe extern "C" fn filter<F: Fn(&[u8], &[u8]) -> FilterDecision>(
    context: *mut c_void,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    changed: *mut sys::Buffer,
) -> sys::FilterDecision {
    let filter = &*context.cast::<F>();
    let ask = || filter(bytes(key, key_size), bytes(value, value_size));
    match caught(FilterDecision::Keep, ask) {
        FilterDecision::Remove => sys::FILTER_REMOVE,
        FilterDecision::Change(value) if append(changed, &value) => sys::FILTER_CHANGE,
        _ => sys::FILTER_KEEP,
    }
}

unsafe extern "C" fn log<F: Fn(LogLevel, &str)>(
    context: *mut c_void,
    level: sys::LogLevel,
    message: *const c_char,
    size: usize,
) {
    let log = &*context.cast::<F>();
    let level = match level {
        sys::LOG_INFO => LogLevel::Info,
        sys::LOG_WARNING => LogLevel::Warning,
        _ => LogLevel::Error,
    };
    caught((), || {
        log(level, &String::from_utf8_lossy(bytes(message.cast(), size)))
    });
}

unsafe extern "C" fn expired<F: Fn(&str, &[u8], &[u8])>(
    context: *mut c_void,
    tree: *const c_char,
    tree_size: usize,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) {
    let on_expiry = &*context.cast::<F>();
    caught((), || {
        let tree = String::from_utf8_lossy(bytes(tree.cast(), tree_size));
        on_expiry(&tree, bytes(key, key_size), bytes(value, value_size));
    });
}

unsafe extern "C" fn listen<F: Fn(&Event)>(
    context: *mut c_void,
    event: sys::Event,
    fields: *const sys::Records,
) {
    let listener = &*context.cast::<F>();
    caught((), || {
        let name = CStr::from_ptr(sys::hawthorn_event_name(event))
            .to_string_lossy()
            .into_owned();
        let fields = copy_records(fields).into_iter().next().unwrap_or_default();
        listener(&Event { name, fields });
    });
}

unsafe extern "C" fn before<T: CommitHook>(
    context: *mut c_void,
    operations: u64,
    durability: sys::Durability,
) -> *mut sys::Error {
    let hook = &*context.cast::<T>();
    let panicked = Err(Error::new(Code::Internal, "a commit hook panicked"));
    match caught(panicked, || {
        hook.before(operations, Durability::of(durability))
    }) {
        Ok(()) => ptr::null_mut(),
        Err(error) => error.to_raw(),
    }
}

unsafe extern "C" fn after<T: CommitHook>(
    context: *mut c_void,
    operations: u64,
    durability: sys::Durability,
    timestamp: u64,
    code: sys::Code,
    outcome: *const sys::Error,
) {
    let hook = &*context.cast::<T>();
    caught((), || {
        let outcome = if code == sys::OK {
            Ok(timestamp)
        } else {
            Err(Error::copy_of(code, outcome))
        };
        hook.after(operations, Durability::of(durability), outcome);
    });
}

unsafe extern "C" fn key_of<F: Fn(&str) -> Result<[u8; 32]>>(
    context: *mut c_void,
    id: *const c_char,
    id_size: usize,
    out: *mut u8,
) -> *mut sys::Error {
    let keys = &*context.cast::<F>();
    let panicked = Err(Error::new(Code::Internal, "the source of keys panicked"));
    let ask = || keys(&String::from_utf8_lossy(bytes(id.cast(), id_size)));
    match caught(panicked, ask) {
        Ok(key) => {
            ptr::copy_nonoverlapping(key.as_ptr(), out, key.len());
            ptr::null_mut()
        }
        Err(error) => error.to_raw(),
    }
}

impl Options {
    /// Adds a merge operator, by whose name (1 to 255 bytes, always the same) trees remember it:
    /// [`Db::set_merge_operator`](crate::Db::set_merge_operator).
    pub fn merge_operator<T: MergeOperator>(
        &mut self,
        name: &str,
        operator: T,
    ) -> Result<&mut Options> {
        let name = c_string(name)?;
        give(operator, |context, error| {
            let operator = sys::MergeOperator {
                struct_size: size_of::<sys::MergeOperator>(),
                name: name.as_ptr(),
                context,
                destroy: Some(destroy::<T>),
                merge: Some(merge::<T>),
                combine: Some(combine::<T>),
            };
            unsafe { sys::hawthorn_options_add_merge_operator(self.raw(), &operator, error) }
        })?;
        Ok(self)
    }

    /// Adds an order of keys, by whose name trees are made with it
    /// ([`TreeOptions::order`](crate::TreeOptions::order)).
    pub fn key_order<T: KeyOrder>(&mut self, name: &str, order: T) -> Result<&mut Options> {
        let name = c_string(name)?;
        let fixed_bytes = order.fixed_bytes();
        give(order, |context, error| {
            let order = sys::KeyOrder {
                struct_size: size_of::<sys::KeyOrder>(),
                name: name.as_ptr(),
                context,
                destroy: Some(destroy::<T>),
                encode: Some(encode::<T>),
                decode: Some(decode::<T>),
                fixed_bytes,
            };
            unsafe { sys::hawthorn_options_add_key_order(self.raw(), &order, error) }
        })?;
        Ok(self)
    }

    /// Adds an order of keys by a comparison, which costs more than an encoding. It must be the same for
    /// as long as the database exists. A panic of it ends the process: no answer would keep the tree
    /// sorted.
    pub fn key_comparator<F>(&mut self, name: &str, order: F) -> Result<&mut Options>
    where
        F: Fn(&[u8], &[u8]) -> std::cmp::Ordering + Send + Sync + 'static,
    {
        let name = c_string(name)?;
        give(order, |context, error| unsafe {
            sys::hawthorn_options_add_key_comparator(
                self.raw(),
                name.as_ptr(),
                Some(compare::<F>),
                context,
                Some(destroy::<F>),
                error,
            )
        })?;
        Ok(self)
    }

    /// Is shown the entries of the tree of this name when they are flushed or compacted, in place of the
    /// filter that it may have. With `keys_only` values are not read, and come empty. A panic keeps the
    /// entry. It may call the database, but for close, compact and drain.
    pub fn flush_filter<F>(
        &mut self,
        tree: &str,
        name: &str,
        keys_only: bool,
        decide: F,
    ) -> Result<&mut Options>
    where
        F: Fn(&[u8], &[u8]) -> FilterDecision + Send + Sync + 'static,
    {
        let name = c_string(name)?;
        give(decide, |context, error| {
            let filter = sys::FlushFilter {
                struct_size: size_of::<sys::FlushFilter>(),
                name: name.as_ptr(),
                context,
                destroy: Some(destroy::<F>),
                keys_only: keys_only.into(),
                filter: Some(filter::<F>),
            };
            let (tree, size) = (text(tree), tree.len());
            unsafe {
                sys::hawthorn_options_set_flush_filter(self.raw(), tree, size, &filter, error)
            }
        })?;
        Ok(self)
    }

    /// Messages for an operator. Default: silence. Threads: any, several at a time. Panics are ignored.
    pub fn log<F>(&mut self, tell: F) -> Result<&mut Options>
    where
        F: Fn(LogLevel, &str) + Send + Sync + 'static,
    {
        give(tell, |context, error| unsafe {
            let (call, drop) = (Some(log::<F> as _), Some(destroy::<F> as _));
            sys::hawthorn_options_set_log(self.raw(), call, context, drop, error)
        })?;
        Ok(self)
    }

    /// Is told of each entry that was removed since it had ended: tree, key, value. It may call the
    /// database, but for close and compact. Panics are ignored.
    pub fn on_expiry<F>(&mut self, tell: F) -> Result<&mut Options>
    where
        F: Fn(&str, &[u8], &[u8]) + Send + Sync + 'static,
    {
        give(tell, |context, error| unsafe {
            let (call, drop) = (Some(expired::<F> as _), Some(destroy::<F> as _));
            sys::hawthorn_options_set_on_expiry(self.raw(), call, context, drop, error)
        })?;
        Ok(self)
    }

    /// Is told of the database's work, one event after the other, on a thread of the database. It may
    /// read, write and ask for figures. Panics are ignored.
    pub fn listener<F>(&mut self, tell: F) -> Result<&mut Options>
    where
        F: Fn(&Event) + Send + Sync + 'static,
    {
        give(tell, |context, error| unsafe {
            let (call, drop) = (Some(listen::<F> as _), Some(destroy::<F> as _));
            sys::hawthorn_options_add_listener(self.raw(), call, context, drop, error)
        })?;
        Ok(self)
    }

    /// Adds a hook of commits. Hooks are asked in the order in which they were added.
    pub fn commit_hook<T: CommitHook>(&mut self, hook: T) -> Result<&mut Options> {
        give(hook, |context, error| unsafe {
            sys::hawthorn_options_add_commit_hook(
                self.raw(),
                Some(before::<T>),
                Some(after::<T>),
                context,
                Some(destroy::<T>),
                error,
            )
        })?;
        Ok(self)
    }

    /// Encrypts at rest. `keys` gives the key with an id; `key_id` is that of a database that is
    /// created, empty where none is to be. A panic of `keys` counts as an error. It must not call the
    /// database.
    pub fn encryption<F>(&mut self, key_id: &str, keys: F) -> Result<&mut Options>
    where
        F: Fn(&str) -> Result<[u8; 32]> + Send + Sync + 'static,
    {
        let id = if key_id.is_empty() {
            ptr::null()
        } else {
            text(key_id)
        };
        give(keys, |context, error| unsafe {
            let (call, drop) = (Some(key_of::<F> as _), Some(destroy::<F> as _));
            sys::hawthorn_options_set_encryption(
                self.raw(),
                id,
                key_id.len(),
                call,
                context,
                drop,
                error,
            )
        })?;
        Ok(self)
    }
}
