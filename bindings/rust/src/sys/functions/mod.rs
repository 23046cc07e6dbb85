//! Functions and callbacks, one file for each header of the C API.

mod access;
mod base;
pub mod callbacks;
mod check;
mod copies;
mod cursor;
mod db;
mod feed;
mod options;
mod read_queue;
mod transaction;

pub use self::access::*;
pub use self::base::*;
pub use self::check::*;
pub use self::copies::*;
pub use self::cursor::*;
pub use self::db::*;
pub use self::feed::*;
pub use self::options::*;
pub use self::read_queue::*;
pub use self::transaction::*;
