//! Iterators over ranges, whose items are keys and values of their own.

use crate::cursor::{entry_bytes, Cursor};
use crate::error::Result;
use crate::read::Read;
use crate::sys;

/// A key and its value.
pub type KeyValue = (Vec<u8>, Vec<u8>);

/// Entries in ascending order: [`Read::range`]. After an error it ends.
///
/// It reads in batches: of a transaction, what is written after a batch was read shows from the next
/// one on.
pub struct Range<'a, R: Read> {
    cursor: Cursor<'a, R>,
    entries: Vec<sys::Entry>,
    at: usize,
    state: State,
}

#[derive(PartialEq)]
enum State {
    New,
    Open,
    Ended,
}

// The first batch is small, for ranges that are; the others are as the library likes them.
const FIRST: usize = 32;
const FURTHER: usize = 512;

// What `entries` points to is the cursor's, and valid until the cursor is called again: it goes where
// the cursor goes.
unsafe impl<'a, R: Read> Send for Range<'a, R> where Cursor<'a, R>: Send {}

impl<'a, R: Read> Range<'a, R> {
    pub(crate) fn new(cursor: Cursor<'a, R>) -> Self {
        Range {
            cursor,
            entries: Vec::new(),
            at: 0,
            state: State::New,
        }
    }

    /// Reads the next batch; false at the end.
    fn advance(&mut self) -> Result<bool> {
        if self.state == State::New {
            self.state = State::Open;
            if !self.cursor.first()? {
                return Ok(false);
            }
            self.entries = Vec::with_capacity(FIRST);
        } else if self.entries.capacity() < FURTHER {
            self.entries = Vec::with_capacity(FURTHER);
        }
        self.at = 0;
        self.cursor.fill(&mut self.entries)?;
        Ok(!self.entries.is_empty())
    }
}

impl<R: Read> Iterator for Range<'_, R> {
    type Item = Result<KeyValue>;

    fn next(&mut self) -> Option<Result<KeyValue>> {
        if self.state == State::Ended {
            return None;
        }
        if self.at == self.entries.len() {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => {
                    self.state = State::Ended;
                    return None;
                }
                Err(error) => {
                    self.state = State::Ended;
                    return Some(Err(error));
                }
            }
        }
        let (key, value) = unsafe { entry_bytes(&self.entries[self.at]) };
        self.at += 1;
        Some(Ok((key.to_vec(), value.to_vec())))
    }
}

impl<R: Read> std::iter::FusedIterator for Range<'_, R> {}

/// Entries in descending order: [`Read::range_rev`]. After an error it ends.
pub struct RangeRev<'a, R: Read> {
    cursor: Cursor<'a, R>,
    state: State,
}

impl<'a, R: Read> RangeRev<'a, R> {
    pub(crate) fn new(cursor: Cursor<'a, R>) -> Self {
        RangeRev {
            cursor,
            state: State::New,
        }
    }
}

impl<R: Read> Iterator for RangeRev<'_, R> {
    type Item = Result<KeyValue>;

    fn next(&mut self) -> Option<Result<KeyValue>> {
        let moved = match self.state {
            State::Ended => return None,
            State::New => self.cursor.last(),
            State::Open => self.cursor.prev(),
        };
        self.state = State::Open;
        match moved {
            Ok(true) => self
                .cursor
                .entry()
                .map(|(key, value)| Ok((key.to_vec(), value.to_vec()))),
            Ok(false) => {
                self.state = State::Ended;
                None
            }
            Err(error) => {
                self.state = State::Ended;
                Some(Err(error))
            }
        }
    }
}

impl<R: Read> std::iter::FusedIterator for RangeRev<'_, R> {}
