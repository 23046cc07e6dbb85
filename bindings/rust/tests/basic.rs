//! Opening, reads, writes, trees, batches, snapshots, errors.

mod common;
use common::{open, Dir};
use hawthorn::prelude::*;
use hawthorn::{Code, Compression, Cursor, Error, Expiry};

#[test]
fn put_get_del_over_a_restart() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("users").unwrap();
    db.put(&tree, "ada", "1815").unwrap();
    db.put(&tree, "", "the empty key").unwrap();
    db.put(&tree, "nothing", "").unwrap();
    assert_eq!(db.get(&tree, "ada").unwrap().unwrap(), "1815");
    assert_eq!(db.get(&tree, "").unwrap().unwrap(), "the empty key");
    assert_eq!(db.get_vec(&tree, "nothing").unwrap(), Some(vec![]));
    assert!(db.get(&tree, "grace").unwrap().is_none());
    assert!(db.contains(&tree, "ada").unwrap() && !db.contains(&tree, "grace").unwrap());
    db.del(&tree, "nothing").unwrap();
    db.del(&tree, "never there").unwrap();
    drop(tree);
    db.close().unwrap();
    let db = open(&dir);
    let tree = db.find_tree("users").unwrap();
    assert_eq!(db.count(&tree, ..).unwrap(), 2);
    assert_eq!(db.get(&tree, "ada").unwrap().unwrap(), "1815");
    assert_eq!(db.path(), dir.db());
    assert_eq!(db.id().unwrap().len(), 32);
}

#[test]
fn get_into_tells_the_size() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    db.put(&tree, "k", "12345").unwrap();
    let mut buffer = [0; 8];
    assert_eq!(db.get_into(&tree, "k", &mut buffer).unwrap(), Some(5));
    assert_eq!(&buffer[..5], b"12345");
    assert_eq!(db.get_into(&tree, "none", &mut buffer).unwrap(), None);
    let error = db.get_into(&tree, "k", &mut buffer[..2]).unwrap_err();
    assert_eq!(error.code(), Code::BufferTooSmall);
    let txn = db.begin().unwrap();
    assert_eq!(txn.get_into(&tree, "k", &mut buffer).unwrap(), Some(5));
}

#[test]
fn a_value_stays_as_it_was_read() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    db.put(&tree, "k", "old").unwrap();
    let value = db.get(&tree, "k").unwrap().unwrap();
    for i in 0..1000u32 {
        db.put(&tree, "k", i.to_le_bytes()).unwrap();
    }
    db.flush().unwrap();
    assert_eq!(value, "old");
    let read = std::thread::scope(|scope| scope.spawn(move || value.into_vec()).join().unwrap());
    assert_eq!(read, b"old");
}

#[test]
fn compare_and_set() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    assert!(db.insert(&tree, "k", "1").unwrap());
    assert!(!db.insert(&tree, "k", "2").unwrap());
    assert!(!db.update(&tree, "other", "2").unwrap());
    assert!(db.update(&tree, "k", "2").unwrap());
    assert!(!db.replace(&tree, "k", Some(b"1"), "3").unwrap());
    assert!(db.replace(&tree, "k", Some(b"2"), "3").unwrap());
    assert!(db.replace(&tree, "new", None, "4").unwrap());
    assert!(!db.replace(&tree, "new", None, "5").unwrap());
    assert!(!db.remove_if(&tree, "k", "1").unwrap());
    assert!(db.remove_if(&tree, "k", "3").unwrap());
    assert!(!db.contains(&tree, "k").unwrap());
    let txn = db.begin().unwrap();
    assert!(txn.insert(&tree, "k", "1").unwrap() && !txn.insert(&tree, "k", "1").unwrap());
    assert!(txn.remove_if(&tree, "new", "4").unwrap());
    txn.commit().unwrap();
    assert_eq!(db.count(&tree, ..).unwrap(), 1);
}

#[test]
fn ranges_counts_and_prefixes() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    for i in 0..100u32 {
        db.put(&tree, format!("k{:02}", i), i.to_le_bytes())
            .unwrap();
    }
    assert_eq!(db.count(&tree, ..).unwrap(), 100);
    assert_eq!(db.count(&tree, "k10".."k20").unwrap(), 10);
    assert_eq!(db.count(&tree, "k90"..).unwrap(), 10);
    assert_eq!(db.count(&tree, .."k05").unwrap(), 5);
    assert_eq!(db.count(&tree, Prefix::new("k3")).unwrap(), 10);
    assert_eq!(db.count(&tree, Through::from("k20"..="k29")).unwrap(), 10);
    assert_eq!(db.count(&tree, Through::from(..="k09")).unwrap(), 10);
    assert!(db.estimate(&tree, ..).unwrap().0 <= 200);
    db.delete_range(&tree, "k10".."k20").unwrap();
    db.delete_range(&tree, "k95"..).unwrap();
    assert_eq!(db.count(&tree, ..).unwrap(), 85);
    let mut seen = Vec::new();
    db.scan(&tree, "k08".."k22", false, |key, value| {
        seen.push((key.to_vec(), value.to_vec()));
        seen.len() < 3
    })
    .unwrap();
    assert_eq!(seen[2].0, b"k20");
    assert_eq!(seen[2].1, 20u32.to_le_bytes());
    assert_eq!(seen.len(), 3);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        db.scan(&tree, .., true, |_, _| panic!("of the program"))
    }));
    assert_eq!(
        panicked.unwrap_err().downcast_ref::<&str>(),
        Some(&"of the program")
    );
}

#[test]
fn batches_are_committed_as_one() {
    let dir = Dir::new();
    let db = open(&dir);
    let (a, b) = (db.tree("a").unwrap(), db.tree("b").unwrap());
    let mut batch = Batch::new().unwrap();
    assert!(batch.is_empty());
    batch.put(&a, "k", "1").unwrap();
    batch.put(&b, "k", "2").unwrap();
    batch.del(&a, "other").unwrap();
    batch.delete_range(&b, "x"..).unwrap();
    assert_eq!(batch.len(), 4);
    assert!(batch.bytes() > 0);
    let before = db.snapshot().unwrap();
    db.write(&batch).unwrap();
    db.write_with(&batch, Durability::Full).unwrap();
    assert_eq!(db.get(&b, "k").unwrap().unwrap(), "2");
    assert!(before.get(&b, "k").unwrap().is_none());
    assert!(db.changed_since(&a, "k", &before).unwrap());
    assert!(!db.changed_since(&a, "z", &before).unwrap());
    batch.clear().unwrap();
    assert!(batch.is_empty());
    let other = Dir::new();
    let elsewhere = open(&other);
    let foreign = elsewhere.tree("t").unwrap();
    batch.put(&a, "k", "3").unwrap();
    let error = batch.put(&foreign, "k", "3").unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
}

#[test]
fn snapshots_with_and_without_names() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    db.put(&tree, "k", "1").unwrap();
    db.create_snapshot("first").unwrap();
    let snapshot = db.snapshot().unwrap();
    db.put(&tree, "k", "2").unwrap();
    assert_eq!(snapshot.get(&tree, "k").unwrap().unwrap(), "1");
    assert!(snapshot.timestamp() > 0);
    assert!(db.create_snapshot("first").is_err());
    drop(snapshot);
    drop(tree);
    db.close().unwrap();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let names = db.list_snapshots().unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].name, "first");
    let first = db.open_snapshot("first").unwrap();
    assert_eq!(first.get(&tree, "k").unwrap().unwrap(), "1");
    assert_eq!(db.get(&tree, "k").unwrap().unwrap(), "2");
    drop(first);
    db.drop_snapshot("first").unwrap();
    assert!(db.open_snapshot("first").err().unwrap().is_not_found());
}

#[test]
fn trees_of_all_shapes() {
    let dir = Dir::new();
    let db = open(&dir);
    let plain = db.tree("plain").unwrap();
    db.put(&plain, "k", "1").unwrap();
    assert_ne!(plain.id(), 0);
    assert_eq!(plain.clone().id(), plain.id());
    db.set_compression(&plain, Compression::Zstd).unwrap();
    let copy = db.clone_tree("plain", "copy").unwrap();
    assert_eq!(db.get(&copy, "k").unwrap().unwrap(), "1");
    db.rename_tree("copy", "renamed").unwrap();
    assert_eq!(db.list_trees().unwrap(), ["plain", "renamed"]);
    db.drop_tree("renamed").unwrap();
    assert!(db.find_tree("renamed").unwrap_err().is_not_found());

    let several = TreeOptions::new().multi_value(true);
    let tags = db.tree_with("tags", &several).unwrap();
    for tag in ["red", "blue", "green"] {
        db.put(&tags, "k", tag).unwrap();
    }
    let mut cursor: Cursor<'_, Db> = db.cursor(&tags).unwrap();
    assert!(cursor.first().unwrap());
    assert_eq!(cursor.entry(), Some((&b"k"[..], &b"blue"[..])));
    assert_eq!(cursor.count_values().unwrap(), 3);
    assert!(cursor.last_value().unwrap());
    assert_eq!(cursor.value(), Some(&b"red"[..]));
    assert!(!cursor.next_value().unwrap());
    assert!(cursor.seek_value("k", "c").unwrap());
    assert_eq!(cursor.value(), Some(&b"green"[..]));
    drop(cursor);
    db.del_value(&tags, "k", "green").unwrap();
    assert_eq!(db.count(&tags, ..).unwrap(), 2);
    assert!(db.tree_options(&tags).unwrap().flag("multi_value"));
    let error = db.tree_with("plain", &several).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);

    let ends = db
        .tree_with("ends", &TreeOptions::new().expires(true))
        .unwrap();
    db.put_expiring(&ends, "soon", "", Expiry::After(1))
        .unwrap();
    db.with(WriteOptions::new().expiry(Expiry::After(3_600_000)))
        .put(&ends, "later", "")
        .unwrap();
    db.put_expiring(&ends, "never", "", Expiry::Never).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(!db.contains(&ends, "soon").unwrap() && db.contains(&ends, "later").unwrap());
    assert!(db.expires_at(&ends, "later").unwrap() > 0);
    assert_eq!(db.expires_at(&ends, "never").unwrap(), 0);
    assert!(db.snapshot().unwrap().now_ms() > 0);

    let reversed = TreeOptions::new()
        .order("reverse")
        .multi_value(true)
        .value_order("uint64");
    let down = db.tree_with("down", &reversed).unwrap();
    for (key, value) in [("a", 2u64), ("b", 300), ("b", 1)] {
        db.put(&down, key, value.to_le_bytes()).unwrap();
    }
    let order: Vec<_> = db
        .range(&down, ..)
        .unwrap()
        .map(|entry| entry.unwrap().1[0])
        .collect();
    assert_eq!(order, [1, 300u64 as u8, 2]);
}

#[test]
fn trees_as_values() {
    let dir = Dir::new();
    let db = open(&dir);
    let parent = db
        .tree_with("parent", &TreeOptions::new().subtrees(true))
        .unwrap();
    let child = db
        .create_subtree(&parent, "a", &TreeOptions::new())
        .unwrap();
    db.put(&child, "k", "1").unwrap();
    let again = db.subtree(&parent, "a").unwrap();
    assert_eq!(db.get(&again, "k").unwrap().unwrap(), "1");
    db.move_subtree(&parent, "a", &parent, "b").unwrap();
    assert_eq!(db.list_subtrees(&parent).unwrap(), [b"b"]);
    db.detach(&parent, "b", "free").unwrap();
    assert!(db.subtree(&parent, "b").unwrap_err().is_not_found());
    db.attach(&parent, "c", "free").unwrap();
    let copy = db.clone_subtree(&parent, "c", "copy").unwrap();
    assert_eq!(db.get(&copy, "k").unwrap().unwrap(), "1");
    let mut cursor = db.cursor(&parent).unwrap();
    assert!(cursor.first().unwrap() && cursor.is_subtree().unwrap());
}

#[test]
fn values_by_parts_and_streams() {
    use std::io::{Read as _, Seek, SeekFrom};
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    db.put(&tree, "k", "hello").unwrap();
    assert_eq!(db.append(&tree, "k", " world").unwrap(), 5);
    db.write_part(&tree, "k", 0, "J").unwrap();
    db.resize(&tree, "k", 9).unwrap();
    assert_eq!(db.size_of(&tree, "k").unwrap(), Some(9));
    assert_eq!(db.size_of(&tree, "none").unwrap(), None);
    let mut part = [0; 4];
    assert_eq!(db.read_part(&tree, "k", 6, &mut part).unwrap(), 3);
    assert_eq!(&part[..3], b"wor");
    let big: Vec<u8> = (0..3_000_000u32).map(|i| (i % 251) as u8).collect();
    let txn = db.begin().unwrap();
    txn.put_stream(&tree, "big", big.len() as u64, &big[..])
        .unwrap();
    txn.commit().unwrap();
    let mut streamed = Vec::new();
    db.read_stream(&tree, "big", 10, |piece| {
        streamed.extend_from_slice(piece);
        true
    })
    .unwrap();
    assert!(streamed == big[10..]);
    let mut reader = db.value_reader(&tree, "big").unwrap();
    reader.seek(SeekFrom::End(-5)).unwrap();
    let mut end = Vec::new();
    reader.read_to_end(&mut end).unwrap();
    assert_eq!(end, big[big.len() - 5..]);
    assert!(db.value_reader(&tree, "none").err().unwrap().is_not_found());
    // A reader that ends too soon, fails, or panics: nothing is written.
    let txn = db.begin().unwrap();
    assert!(txn.put_stream(&tree, "short", 10, &b"123"[..]).is_err());
    struct Fails;
    impl std::io::Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(Error::new(Code::TooOld, "the source is gone").into())
        }
    }
    let error = txn.put_stream(&tree, "fails", 10, Fails).unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (Code::TooOld, "the source is gone")
    );
    struct Panics;
    impl std::io::Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("of the reader")
        }
    }
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        txn.put_stream(&tree, "panics", 10, Panics)
    }));
    assert_eq!(
        panicked.unwrap_err().downcast_ref::<&str>(),
        Some(&"of the reader")
    );
}

#[test]
fn options_by_name() {
    let mut options = Options::new().unwrap();
    let names: Vec<_> = Options::names().collect();
    assert!(names.contains(&"memory_budget_bytes") && names.len() >= 20);
    options
        .set("memory_budget_bytes", "64M")
        .unwrap()
        .set("compression", "lz4")
        .unwrap();
    assert_eq!(
        options.get("memory_budget_bytes").unwrap(),
        (64 << 20).to_string()
    );
    assert_eq!(options.get("compression").unwrap(), "lz4");
    assert!(options
        .set("no_such_option", 1)
        .err()
        .unwrap()
        .is_not_found());
    assert_eq!(
        options.set("log", 1).err().unwrap().code(),
        Code::NotSupported
    );
    assert_eq!(
        options.set("durability", "maybe").err().unwrap().code(),
        Code::InvalidArgument
    );
    assert_eq!(
        options.set("io_mode", "a\0b").err().unwrap().code(),
        Code::InvalidArgument
    );
}

#[test]
fn errors_of_opening() {
    let dir = Dir::new();
    let mut options = Options::new().unwrap();
    options.create_if_missing(false).unwrap();
    let missing = Db::open_with(dir.join("none"), &options).err().unwrap();
    assert!(missing.is_not_found(), "{}", missing);
    let db = open(&dir);
    let twice = Db::open(dir.db()).err().unwrap();
    assert!(twice.is_busy(), "{}", twice);
    let tree = db.tree("t").unwrap();
    std::mem::forget(db.snapshot().unwrap());
    assert!(db.close().unwrap_err().is_busy());
    assert!(tree.id() > 0);
    let io: std::io::Error = Error::new(Code::NotFound, "nothing").into();
    assert_eq!(io.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(Error::from(io), Error::new(Code::NotFound, "nothing"));
}

#[test]
fn misuse_is_an_error() {
    let dir = Dir::new();
    let other_dir = Dir::new();
    let (db, other) = (open(&dir), open(&other_dir));
    let foreign = other.tree("t").unwrap();
    let invalid = |code| assert_eq!(code, Code::InvalidArgument);
    invalid(db.get(&foreign, "k").unwrap_err().code());
    invalid(db.put(&foreign, "k", "v").unwrap_err().code());
    invalid(db.cursor(&foreign).err().unwrap().code());
    invalid(db.multi_get(&foreign, &["k"]).err().unwrap().code());
    let snapshot = other.snapshot().unwrap();
    let tree = db.tree("t").unwrap();
    invalid(snapshot.get(&tree, "k").unwrap_err().code());
    invalid(db.put(&tree, vec![b'k'; 70_000], "v").unwrap_err().code());
    invalid(db.tree("").unwrap_err().code());
    invalid(
        db.tree_with("x", &TreeOptions::new().order("no order"))
            .unwrap_err()
            .code(),
    );
    invalid(
        db.begin_with(&TransactionOptions::new().snapshot(&snapshot))
            .err()
            .unwrap()
            .code(),
    );
    let closed = other_dir;
    drop(snapshot);
    other.close().unwrap();
    invalid(db.del(&foreign, "k").unwrap_err().code());
    drop(foreign);
    assert!(Db::open(closed.db()).is_ok());
}
