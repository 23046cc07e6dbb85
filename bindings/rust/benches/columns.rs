//! Rates of reads in columns and into objects: `cargo bench --bench columns -- DIR`.
//!
//! DIR is made where it is not there: 1,000,000 entries with keys of 16 bytes and values of 100, the same
//! that a C program with these rates makes. Every result is checked by its count and bytes. A second
//! argument is a number of entries to do it with in place of a million.

use hawthorn::prelude::*;
use hawthorn::{Columns, CursorOptions, KeyColumn, Result};
use std::time::Instant;

const ENTRIES: u64 = 1_000_000;
const KEY: usize = 16;
const VALUE: usize = 100;
const BATCH: usize = 1000;
const ROWS: usize = 4096;
const BYTES: usize = 1 << 20;

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// 16 hexadecimal digits of mix(i).
fn make_key(i: u64, key: &mut [u8]) {
    let m = mix(i);
    for (d, digit) in key.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[((m >> (60 - 4 * d)) & 15) as usize];
    }
}

struct Bench {
    db: Db,
    tree: Tree,
    entries: u64,
    random: u64,
}

impl Bench {
    fn open(path: &str, entries: u64) -> Result<Bench> {
        let mut options = Options::new()?;
        options.set("memory_budget_bytes", "512M")?;
        let db = Db::open_with(path, &options)?;
        let tree = db.tree("bench")?;
        let there = db.count(&tree, ..)?;
        if there == 0 {
            let mut value = [b'v'; VALUE];
            for i in 0..entries {
                let mut key = [0; KEY];
                make_key(i, &mut key);
                value[..KEY].copy_from_slice(&key);
                db.put(&tree, key, value)?;
            }
            db.flush()?;
        } else {
            assert_eq!(there, entries, "there is another database");
        }
        Ok(Bench {
            db,
            tree,
            entries,
            random: 1,
        })
    }

    fn random_keys(&mut self, keys: &mut [u8]) {
        for key in keys.chunks_mut(KEY) {
            make_key(mix(self.random) % self.entries, key);
            self.random += 1;
        }
    }

    fn multi_get_columns(&mut self) -> Result<(u64, u64)> {
        let mut columns = Columns::with_capacity(ROWS, 0, BYTES);
        let mut wanted = [0; BATCH * KEY];
        let offsets: Vec<i64> = (0..=BATCH).map(|i| (i * KEY) as i64).collect();
        let (mut rows, mut bytes) = (0, 0);
        for _ in 0..self.entries / BATCH as u64 {
            self.random_keys(&mut wanted);
            let keys = KeyColumn::new(&wanted, &offsets)?;
            self.db.multi_get_columns(&self.tree, keys, &mut columns)?;
            rows += columns.len() as u64;
            bytes += columns.value_bytes().len() as u64;
        }
        Ok((rows, bytes))
    }

    fn scan_columns(&mut self) -> Result<(u64, u64)> {
        let mut columns = Columns::with_capacity(ROWS, BYTES, BYTES);
        let mut cursor = self.db.cursor_with(&self.tree, &CursorOptions::new())?;
        let (mut rows, mut bytes) = (0, 0);
        cursor.first()?;
        while cursor.next_columns(&mut columns)? > 0 {
            rows += columns.len() as u64;
            bytes += (columns.key_bytes().len() + columns.value_bytes().len()) as u64;
        }
        Ok((rows, bytes))
    }

    fn multi_get_objects(&mut self) -> Result<(u64, u64)> {
        let mut wanted = [0; BATCH * KEY];
        let (mut rows, mut bytes) = (0, 0);
        for _ in 0..self.entries / BATCH as u64 {
            self.random_keys(&mut wanted);
            let keys: Vec<&[u8]> = wanted.chunks(KEY).collect();
            let values = self.db.multi_get(&self.tree, &keys)?.to_vecs();
            rows += values.iter().flatten().count() as u64;
            bytes += values.iter().flatten().map(Vec::len).sum::<usize>() as u64;
        }
        Ok((rows, bytes))
    }

    fn scan_objects(&mut self) -> Result<(u64, u64)> {
        let (mut rows, mut bytes) = (0, 0);
        for entry in self.db.range(&self.tree, ..)? {
            let (key, value) = entry?;
            rows += 1;
            bytes += (key.len() + value.len()) as u64;
        }
        Ok((rows, bytes))
    }

    /// Twice, of which the first warms up.
    fn run(
        &mut self,
        name: &str,
        entry_bytes: usize,
        work: impl Fn(&mut Bench) -> Result<(u64, u64)>,
    ) -> Result<()> {
        for round in 0..2 {
            let started = Instant::now();
            let (rows, bytes) = work(self)?;
            let took = started.elapsed().as_secs_f64();
            assert_eq!(
                (rows, bytes),
                (self.entries, self.entries * entry_bytes as u64)
            );
            if round == 1 {
                println!("{} {:.0}", name, self.entries as f64 / took);
            }
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let path = match arguments.first() {
        Some(path) => path,
        None => {
            eprintln!("cargo bench --bench columns -- DIR [ENTRIES]");
            return Ok(());
        }
    };
    let entries = arguments
        .get(1)
        .and_then(|entries| entries.parse().ok())
        .unwrap_or(ENTRIES);
    let mut bench = Bench::open(path, entries)?;
    bench.run("multi_get_columns", VALUE, Bench::multi_get_columns)?;
    bench.run("scan_columns", KEY + VALUE, Bench::scan_columns)?;
    bench.run("multi_get_objects", VALUE, Bench::multi_get_objects)?;
    bench.run("scan_objects", KEY + VALUE, Bench::scan_objects)?;
    let Bench { db, tree, .. } = bench;
    drop(tree);
    db.close()
}
