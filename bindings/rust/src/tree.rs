//! Trees: their handles, and what they are made with.

use crate::error::Result;
use crate::handle::{c_string, make, Handle};
use crate::sys;
use std::ffi::CString;
use std::fmt;
use std::ptr;

/// A handle of a tree, which serves every read and write of its database. It is no owner: dropping it
/// leaves the tree as it is. One of another database is refused with `InvalidArgument`.
///
/// Threads: any number at a time. Lifetime: it may outlive its [`Db`](crate::Db) (calls are what need
/// the database), but keeps one that was not closed by [`Db::close`](crate::Db::close) open.
pub struct Tree(pub(crate) Handle<sys::Tree>);

impl Tree {
    pub(crate) fn raw(&self) -> *const sys::Tree {
        self.0.get()
    }

    /// A number that is never used again for another tree of the database.
    pub fn id(&self) -> u32 {
        unsafe { sys::hawthorn_tree_id(self.raw()) }
    }

    /// The same handle again. Errors: `OutOfMemory`.
    pub fn try_clone(&self) -> Result<Tree> {
        make(|out, error| unsafe { sys::hawthorn_tree_copy(self.raw(), out, error) }).map(Tree)
    }
}

impl Clone for Tree {
    /// As [`Tree::try_clone`]; panics where there is no memory.
    fn clone(&self) -> Tree {
        self.try_clone().expect("memory for a handle")
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree").field("id", &self.id()).finish()
    }
}

/// The compression of what a tree writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// None.
    None,
    /// LZ4: fast.
    Lz4,
    /// Zstandard: small.
    Zstd,
}

impl Compression {
    pub(crate) fn raw(self) -> sys::Compression {
        match self {
            Compression::None => sys::COMPRESSION_NONE,
            Compression::Lz4 => sys::COMPRESSION_LZ4,
            Compression::Zstd => sys::COMPRESSION_ZSTD,
        }
    }
}

/// What a tree is made with, for good. The default is an ordinary tree: one value to a key, in the
/// order of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeOptions {
    order: String,
    value_order: String,
    multi_value: bool,
    expires: bool,
    subtrees: bool,
    ttl_ms: u64,
}

impl TreeOptions {
    /// The defaults.
    pub fn new() -> TreeOptions {
        TreeOptions::default()
    }

    /// The order of keys by its name: `bytewise` (the default), another one of the library, or one of
    /// [`Options::key_order`](crate::Options::key_order).
    pub fn order(mut self, name: impl Into<String>) -> TreeOptions {
        self.order = name.into();
        self
    }

    /// The order of a key's values, where it may have several.
    pub fn value_order(mut self, name: impl Into<String>) -> TreeOptions {
        self.value_order = name.into();
        self
    }

    /// A key may have several values, which are sorted. Default: no.
    pub fn multi_value(mut self, several: bool) -> TreeOptions {
        self.multi_value = several;
        self
    }

    /// Entries may end ([`Expiry`](crate::Expiry)). Default: no.
    pub fn expires(mut self, expires: bool) -> TreeOptions {
        self.expires = expires;
        self
    }

    /// When entries end, unless their put says otherwise, in milliseconds from that on; 0, the
    /// default: never.
    pub fn ttl_ms(mut self, ttl_ms: u64) -> TreeOptions {
        self.ttl_ms = ttl_ms;
        self
    }

    /// Values may be trees. Default: no.
    pub fn subtrees(mut self, subtrees: bool) -> TreeOptions {
        self.subtrees = subtrees;
        self
    }

    pub(crate) fn raw(&self) -> Result<RawTreeOptions> {
        let name = |name: &str| -> Result<Option<CString>> {
            if name.is_empty() {
                Ok(None)
            } else {
                c_string(name).map(Some)
            }
        };
        let (order, value_order) = (name(&self.order)?, name(&self.value_order)?);
        let options = sys::TreeOptions {
            struct_size: std::mem::size_of::<sys::TreeOptions>(),
            order: order.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            value_order: value_order
                .as_ref()
                .map_or(ptr::null(), |name| name.as_ptr()),
            multi_value: self.multi_value.into(),
            expires: self.expires.into(),
            subtrees: self.subtrees.into(),
            ttl_ms: self.ttl_ms,
        };
        Ok(RawTreeOptions {
            options,
            _names: [order, value_order],
        })
    }
}

/// The structure of C, and the strings that it points to.
pub(crate) struct RawTreeOptions {
    pub(crate) options: sys::TreeOptions,
    _names: [Option<CString>; 2],
}
