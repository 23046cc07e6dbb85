//! What the tests share: directories that go away, and random numbers.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of a test, removed with it.
pub struct Dir(PathBuf);

impl Dir {
    pub fn new() -> Dir {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hawthorn-{}-{}", std::process::id(), number));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    pub fn db(&self) -> PathBuf {
        self.0.join("db")
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Opens a database that costs little.
pub fn open(dir: &Dir) -> hawthorn::Db {
    let mut options = hawthorn::Options::new().unwrap();
    options.memory_budget_bytes(32 << 20).unwrap();
    options.durability(hawthorn::Durability::None).unwrap();
    hawthorn::Db::open_with(dir.db(), &options).unwrap()
}

/// Splitmix64: the same numbers for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
