//! Ranges of keys: where they begin, and where they end.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A range of keys `[low, high)`, in the order of the tree: `..`, `low..`, `..high`, `low..high`,
/// [`Prefix`], or [`Through`] for those that include their end. `..=` itself is none: which key is the
/// next one is not known for every order.
pub trait KeyRange {
    /// The first key that is in it; `None`: it begins with the tree's first.
    fn low(&self) -> Option<&[u8]>;
    /// The first key behind it; `None`: it ends with the tree's last.
    fn high(&self) -> Option<&[u8]>;
}

impl KeyRange for RangeFull {
    fn low(&self) -> Option<&[u8]> {
        None
    }
    fn high(&self) -> Option<&[u8]> {
        None
    }
}

impl<K: AsRef<[u8]>> KeyRange for RangeFrom<K> {
    fn low(&self) -> Option<&[u8]> {
        Some(self.start.as_ref())
    }
    fn high(&self) -> Option<&[u8]> {
        None
    }
}

impl<K: AsRef<[u8]>> KeyRange for RangeTo<K> {
    fn low(&self) -> Option<&[u8]> {
        None
    }
    fn high(&self) -> Option<&[u8]> {
        Some(self.end.as_ref())
    }
}

impl<K: AsRef<[u8]>> KeyRange for Range<K> {
    fn low(&self) -> Option<&[u8]> {
        Some(self.start.as_ref())
    }
    fn high(&self) -> Option<&[u8]> {
        Some(self.end.as_ref())
    }
}

impl<R: KeyRange + ?Sized> KeyRange for &R {
    fn low(&self) -> Option<&[u8]> {
        (**self).low()
    }
    fn high(&self) -> Option<&[u8]> {
        (**self).high()
    }
}

/// All keys that begin with some bytes, in trees of the order `bytewise`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

impl Prefix {
    /// The keys that begin with `prefix`; an empty one: all keys.
    pub fn new(prefix: impl AsRef<[u8]>) -> Prefix {
        let low = prefix.as_ref().to_vec();
        let mut high = low.clone();
        while high.last() == Some(&0xff) {
            high.pop();
        }
        let high = high.pop().map(|last| {
            high.push(last + 1);
            high
        });
        Prefix { low, high }
    }
}

impl KeyRange for Prefix {
    fn low(&self) -> Option<&[u8]> {
        Some(&self.low)
    }
    fn high(&self) -> Option<&[u8]> {
        self.high.as_deref()
    }
}

/// A range that includes its end, in trees of the order `bytewise`: `Through::from("a"..="m")` or
/// `Through::from(..="m")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Through {
    low: Option<Vec<u8>>,
    high: Vec<u8>,
}

impl Through {
    fn new(low: Option<Vec<u8>>, last: &[u8]) -> Through {
        let mut high = last.to_vec();
        high.push(0); // the key behind it
        Through { low, high }
    }
}

impl<K: AsRef<[u8]>> From<RangeInclusive<K>> for Through {
    fn from(range: RangeInclusive<K>) -> Through {
        Through::new(Some(range.start().as_ref().to_vec()), range.end().as_ref())
    }
}

impl<K: AsRef<[u8]>> From<RangeToInclusive<K>> for Through {
    fn from(range: RangeToInclusive<K>) -> Through {
        Through::new(None, range.end.as_ref())
    }
}

impl KeyRange for Through {
    fn low(&self) -> Option<&[u8]> {
        self.low.as_deref()
    }
    fn high(&self) -> Option<&[u8]> {
        Some(&self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn through_a_key_ends_behind_it() {
        let range = Through::from("a"..="m");
        assert_eq!(
            (range.low(), range.high()),
            (Some(&b"a"[..]), Some(&b"m\0"[..]))
        );
        let range = Through::from(..=[0xff, 0xff]);
        assert_eq!(
            (range.low(), range.high()),
            (None, Some(&[0xff, 0xff, 0][..]))
        );
    }

    #[test]
    fn a_prefix_ends_behind_its_last_key() {
        assert_eq!(Prefix::new("ab").high(), Some(&b"ac"[..]));
        assert_eq!(Prefix::new([1, 0xff, 0xff]).high(), Some(&[2][..]));
        assert_eq!(Prefix::new([0xff]).high(), None);
        assert_eq!(Prefix::new("").high(), None);
    }
}
