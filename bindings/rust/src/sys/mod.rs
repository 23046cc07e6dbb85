//! The C API as it is: declarations alone. Nothing outside of this crate sees them.

#![allow(dead_code)]

pub mod functions;
#[cfg(test)]
mod layout_test;
pub mod types;

pub use functions::*;
pub use types::*;
