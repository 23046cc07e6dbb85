//! What a database calls: merge operators, orders, filters, events, hooks, logs.

mod common;
use common::Dir;
use hawthorn::prelude::*;
use hawthorn::{Code, CommitHook, Error, Expiry, FilterDecision, KeyOrder, MergeOperator};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn merge_operators_as_closures_traits_and_names() {
    struct Longest;
    impl MergeOperator for Longest {
        fn merge(
            &self,
            _: &[u8],
            existing: Option<&[u8]>,
            operands: &[&[u8]],
            out: &mut Vec<u8>,
        ) -> bool {
            let all = existing.into_iter().chain(operands.iter().copied());
            out.extend_from_slice(all.max_by_key(|value| value.len()).unwrap_or(b""));
            true
        }
        fn combine(&self, _: &[u8], left: &[u8], right: &[u8], out: &mut Vec<u8>) -> bool {
            out.extend_from_slice(if right.len() >= left.len() {
                right
            } else {
                left
            });
            true
        }
    }
    let dir = Dir::new();
    let mut options = Options::new().unwrap();
    options.builtin_merge_operator("uint64_add").unwrap();
    options.merge_operator("longest", Longest).unwrap();
    options
        .merge_operator(
            "xor",
            |key: &[u8], existing: Option<&[u8]>, operands: &[&[u8]]| {
                if key == b"panics" {
                    panic!("of the operator");
                }
                let first = existing.map_or(0, |value| value[0]);
                Some(vec![operands
                    .iter()
                    .fold(first, |sum, operand| sum ^ operand[0])])
            },
        )
        .unwrap();
    let db = Db::open_with(dir.db(), &options).unwrap();
    let (sums, longest, xor) = (
        db.tree("sums").unwrap(),
        db.tree("longest").unwrap(),
        db.tree("xor").unwrap(),
    );
    db.set_merge_operator(&sums, "uint64_add").unwrap();
    db.set_merge_operator(&longest, "longest").unwrap();
    db.set_merge_operator(&xor, "xor").unwrap();
    assert_eq!(
        db.set_merge_operator(&xor, "none").unwrap_err().code(),
        Code::InvalidArgument
    );
    for i in 1..=100u64 {
        db.merge(&sums, "n", i.to_le_bytes()).unwrap();
        db.merge(&xor, "n", [i as u8]).unwrap();
    }
    assert_eq!(db.get(&sums, "n").unwrap().unwrap(), 5050u64.to_le_bytes());
    assert_eq!(
        db.get(&xor, "n").unwrap().unwrap(),
        [(1..=100).fold(0, |sum, i: u8| sum ^ i)]
    );
    db.merge(&longest, "n", "a").unwrap();
    let mut batch = Batch::new().unwrap();
    batch.merge(&longest, "n", "abc").unwrap();
    batch.merge(&longest, "n", "ab").unwrap();
    db.write(&batch).unwrap();
    db.flush().unwrap();
    assert_eq!(db.get(&longest, "n").unwrap().unwrap(), "abc");
    db.merge(&xor, "panics", [1]).unwrap();
    assert!(db.get(&xor, "panics").unwrap_err().is_corruption());
    db.put(&xor, "panics", "mended").unwrap();
    assert_eq!(db.get(&xor, "panics").unwrap().unwrap(), "mended");
}

#[test]
fn closures_go_with_the_last_that_needs_them() {
    let dir = Dir::new();
    let held = Arc::new(());
    let copy = Arc::clone(&held);
    let mut options = Options::new().unwrap();
    options.log(move |_, _| drop(Arc::clone(&copy))).unwrap();
    let db = Db::open_with(dir.db(), &options).unwrap();
    drop(options);
    assert_eq!(Arc::strong_count(&held), 2);
    db.close().unwrap();
    assert_eq!(Arc::strong_count(&held), 1);
    let copy = Arc::clone(&held);
    let mut options = Options::new().unwrap();
    let refused = options.key_comparator("", move |a, b| {
        drop(Arc::clone(&copy));
        a.cmp(b)
    });
    assert_eq!(refused.err().unwrap().code(), Code::InvalidArgument);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn orders_of_keys() {
    struct Downward;
    impl KeyOrder for Downward {
        fn encode(&self, key: &[u8]) -> Option<Vec<u8>> {
            (key.len() == 4).then(|| key.iter().map(|byte| !byte).collect())
        }
        fn decode(&self, sort_key: &[u8]) -> Option<Vec<u8>> {
            self.encode(sort_key)
        }
        fn fixed_bytes(&self) -> usize {
            4
        }
    }
    let dir = Dir::new();
    let mut options = Options::new().unwrap();
    options.key_order("downward", Downward).unwrap();
    options
        .key_comparator("by length", |a, b| {
            a.len().cmp(&b.len()).then_with(|| a.cmp(b))
        })
        .unwrap();
    let db = Db::open_with(dir.db(), &options).unwrap();
    let down = db
        .tree_with("down", &TreeOptions::new().order("downward"))
        .unwrap();
    for i in 0..10u32 {
        db.put(&down, i.to_be_bytes(), "").unwrap();
    }
    let keys = |tree| -> Vec<Vec<u8>> {
        db.range(tree, ..)
            .unwrap()
            .map(|entry| entry.unwrap().0)
            .collect()
    };
    assert!(keys(&down).iter().eq((0..10u32)
        .rev()
        .map(|i| i.to_be_bytes().to_vec())
        .collect::<Vec<_>>()
        .iter()));
    let range = 7u32.to_be_bytes()..3u32.to_be_bytes();
    assert_eq!(db.count(&down, range).unwrap(), 4);
    assert_eq!(
        db.put(&down, "odd", "").unwrap_err().code(),
        Code::InvalidArgument
    );
    let lengths = db
        .tree_with("lengths", &TreeOptions::new().order("by length"))
        .unwrap();
    for key in ["ccc", "b", "aa", "a"] {
        db.put(&lengths, key, "").unwrap();
    }
    assert_eq!(keys(&lengths), [&b"a"[..], b"b", b"aa", b"ccc"]);
}

#[test]
fn filters_decide_at_compactions() {
    let dir = Dir::new();
    let mut options = Options::new().unwrap();
    options
        .flush_filter("t", "by first byte", false, |key, value| match key[0] {
            b'a' => FilterDecision::Remove,
            b'b' => FilterDecision::Change([value, b"!"].concat()),
            b'c' => panic!("of the filter"),
            _ => FilterDecision::Keep,
        })
        .unwrap();
    let db = Db::open_with(dir.db(), &options).unwrap();
    let tree = db.tree("t").unwrap();
    for key in ["a", "b", "c", "d"] {
        db.put(&tree, key, "1").unwrap();
    }
    db.compact().unwrap();
    assert!(!db.contains(&tree, "a").unwrap());
    assert!(db.get(&tree, "b").unwrap().unwrap().starts_with(b"1!"));
    assert_eq!(db.get(&tree, "c").unwrap().unwrap(), "1");
    assert_eq!(db.get(&tree, "d").unwrap().unwrap(), "1");
}

#[test]
fn hooks_refuse_and_are_told() {
    struct Hook(Arc<Mutex<Vec<Result<u64, Error>>>>);
    impl CommitHook for Hook {
        fn before(&self, operations: u64, _: Durability) -> Result<(), Error> {
            match operations {
                2 => Err(Error::new(Code::TooOld, "two are refused")),
                3 => panic!("of the hook"),
                _ => Ok(()),
            }
        }
        fn after(&self, _: u64, _: Durability, outcome: Result<u64, Error>) {
            self.0.lock().unwrap().push(outcome);
            panic!("nobody hears of it");
        }
    }
    let dir = Dir::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut options = Options::new().unwrap();
    options.commit_hook(Hook(Arc::clone(&told))).unwrap();
    let db = Db::open_with(dir.db(), &options).unwrap();
    let tree = db.tree("t").unwrap();
    told.lock().unwrap().clear();
    db.put(&tree, "k", "1").unwrap();
    let mut batch = Batch::new().unwrap();
    batch.put(&tree, "a", "").unwrap();
    batch.put(&tree, "b", "").unwrap();
    let refused = db.write(&batch).unwrap_err();
    assert_eq!(
        (refused.code(), refused.message()),
        (Code::TooOld, "two are refused")
    );
    batch.put(&tree, "c", "").unwrap();
    assert_eq!(db.write(&batch).unwrap_err().code(), Code::Internal);
    assert_eq!(db.count(&tree, ..).unwrap(), 1);
    assert!(matches!(told.lock().unwrap()[0], Ok(timestamp) if timestamp > 0));
}

#[test]
fn events_and_expiries_are_told() {
    let dir = Dir::new();
    let events = Arc::new(Mutex::new(Vec::new()));
    let expired = Arc::new(AtomicU64::new(0));
    let mut options = Options::new().unwrap();
    let (sink, counter) = (Arc::clone(&events), Arc::clone(&expired));
    options
        .listener(move |event| {
            assert!(event.fields.fields().count() > 0);
            sink.lock().unwrap().push(event.name.clone());
        })
        .unwrap();
    options
        .on_expiry(move |tree, key, value| {
            assert_eq!((tree, key, value), ("t", &b"k"[..], &b"v"[..]));
            counter.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
    let db = Db::open_with(dir.db(), &options).unwrap();
    let tree = db
        .tree_with("t", &TreeOptions::new().expires(true))
        .unwrap();
    db.put_expiring(&tree, "k", "v", Expiry::After(1)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    db.flush().unwrap();
    db.compact().unwrap();
    for _ in 0..12_000 {
        if expired.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    drop(tree);
    db.close().unwrap();
    let events = events.lock().unwrap();
    assert!(
        events.iter().any(|name| name == "flush_completed"),
        "{:?}",
        events
    );
    assert_eq!(expired.load(Ordering::Relaxed), 1);
}
