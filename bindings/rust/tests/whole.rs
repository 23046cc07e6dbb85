//! Checkpoints, backups, bulk loads, feeds, replicas, followers, checks, figures, encryption.

mod common;
use common::{open, Dir};
use hawthorn::prelude::*;
use hawthorn::{
    repair, restore_backup, verify_backup, ChangeKind, CheckOptions, Code, Columns, CopyOptions,
    EntryColumns, Error, Follower, IngestOptions, KeyColumn, RepairOptions, Replica, Repository,
};

fn filled(dir: &Dir) -> (Db, Tree) {
    let db = open(dir);
    let tree = db.tree("t").unwrap();
    let mut batch = Batch::new().unwrap();
    for i in 0..5000u32 {
        batch.put(&tree, i.to_be_bytes(), [i as u8; 200]).unwrap();
    }
    db.write(&batch).unwrap();
    (db, tree)
}

fn count(path: std::path::PathBuf) -> u64 {
    let db = Db::open(path).unwrap();
    let count = db.count(&db.find_tree("t").unwrap(), ..).unwrap();
    db.close().unwrap();
    count
}

#[test]
fn checkpoints_and_repositories() {
    let dir = Dir::new();
    let (db, tree) = filled(&dir);
    let mut told = 0;
    let progress = CopyOptions::new().copy_blocks(true).progress(|bytes| {
        told = bytes;
        Ok(())
    });
    db.checkpoint(dir.join("copy"), progress).unwrap();
    assert!(told > 0);
    assert_eq!(count(dir.join("copy")), 5000);
    let refused = CopyOptions::new().progress(|_| Err(Error::new(Code::TooOld, "enough")));
    let error = db.checkpoint(dir.join("refused"), refused).unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::TooOld, "enough"));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        db.checkpoint(
            dir.join("panicked"),
            CopyOptions::new().progress(|_| panic!("here")),
        )
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"here"));

    let repository = Repository::open(dir.join("repository")).unwrap();
    let first = db.backup(&repository, CopyOptions::new()).unwrap();
    db.delete_range(&tree, 100u32.to_be_bytes()..).unwrap();
    let second = db.backup(&repository, CopyOptions::new()).unwrap();
    assert!(second.id > first.id && !first.encrypted && first.bytes > 0);
    assert_eq!(repository.list().unwrap(), [first.clone(), second.clone()]);
    repository.verify(first.id, CopyOptions::new()).unwrap();
    repository
        .restore(first.id, dir.join("first"), CopyOptions::new())
        .unwrap();
    assert_eq!(count(dir.join("first")), 5000);
    repository.remove(first.id).unwrap();
    repository
        .restore(second.id, dir.join("second"), CopyOptions::new())
        .unwrap();
    assert_eq!(count(dir.join("second")), 100);
    assert!(repository
        .verify(first.id, CopyOptions::new())
        .unwrap_err()
        .is_not_found());
}

#[test]
fn backups_by_stream() {
    let dir = Dir::new();
    let (db, _tree) = filled(&dir);
    let mut stream = Vec::new();
    let info = db.backup_to(&mut stream, CopyOptions::new()).unwrap();
    assert!(stream.len() as u64 >= info.bytes_stored && !stream.is_empty());
    verify_backup(&stream[..], CopyOptions::new()).unwrap();
    restore_backup(&stream[..], dir.join("restored"), CopyOptions::new()).unwrap();
    assert_eq!(count(dir.join("restored")), 5000);
    let middle = stream.len() / 2;
    stream[middle] ^= 1;
    assert!(verify_backup(&stream[..], CopyOptions::new())
        .unwrap_err()
        .is_corruption());
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(Error::new(Code::NoSpace, "full").into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert_eq!(
        db.backup_to(Full, CopyOptions::new()).unwrap_err().code(),
        Code::NoSpace
    );
}

#[test]
fn bulk_loads() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let mut ingest = db.ingest(&tree, &IngestOptions::default()).unwrap();
    for i in 0..1000u32 {
        ingest.add(i.to_be_bytes(), "value").unwrap();
    }
    ingest.add_stream("streamed", 6, &b"stream"[..]).unwrap();
    let stats = ingest.finish().unwrap();
    assert_eq!((stats.entries, db.count(&tree, ..).unwrap()), (1001, 1001));
    let mut ingest = db.ingest(&tree, &IngestOptions::default()).unwrap();
    ingest.add("b", "").unwrap();
    assert_eq!(
        ingest.add("a", "").unwrap_err().code(),
        Code::InvalidArgument
    );
    assert_eq!(ingest.finish().unwrap_err().code(), Code::InvalidArgument);

    let unsorted = IngestOptions {
        unsorted: true,
        ..IngestOptions::default()
    };
    let mut ingest = db.ingest(&tree, &unsorted).unwrap();
    let keys = KeyColumn::new(b"yxz", &[0, 1, 2, 3]).unwrap();
    let values = KeyColumn::new(b"YXZ", &[0, 1, 2, 3]).unwrap();
    let entries = EntryColumns::new(keys, values).unwrap();
    ingest.add_columns(entries).unwrap();
    ingest.finish().unwrap();
    assert_eq!(db.get(&tree, "x").unwrap().unwrap(), "X");
    drop(db.ingest(&tree, &unsorted).unwrap());

    let copy = db.tree("copy").unwrap();
    let mut columns = Columns::with_capacity(2000, 1 << 16, 1 << 16);
    let mut cursor = db.cursor(&tree).unwrap();
    cursor.first().unwrap();
    assert_eq!(cursor.next_columns(&mut columns).unwrap(), 1004);
    let mut batch = Batch::new().unwrap();
    batch.put_columns(&copy, columns.as_entries()).unwrap();
    batch.put_columns(&copy, entries).unwrap();
    db.write(&batch).unwrap();
    let all = |tree| {
        db.range(tree, ..)
            .unwrap()
            .collect::<Result<Vec<_>, _>>()
            .unwrap()
    };
    assert_eq!(all(&tree), all(&copy));
}

#[test]
fn feeds_and_replicas() {
    let dir = Dir::new();
    let target_dir = Dir::new();
    let (db, target) = (open(&dir), open(&target_dir));
    let tree = db.tree("t").unwrap();
    db.put(&tree, "before", "1").unwrap();
    db.create_feed("f", None).unwrap();
    let mut replica = Replica::open(&target).unwrap();
    assert_eq!(
        (replica.position(), replica.source_id()),
        (0, String::new())
    );
    replica.copy(&db).unwrap();
    db.put(&tree, "a", "1").unwrap();
    db.transaction(|txn| -> Result<(), Error> {
        txn.put(&tree, "b", "2")?;
        txn.del(&tree, "a")
    })
    .unwrap();
    db.delete_range(&tree, "x"..).unwrap();

    let mut feed = db.open_feed("f").unwrap();
    assert!(db.open_feed("f").err().unwrap().is_busy());
    assert_eq!(feed.source_id(), db.id().unwrap());
    let mut seen = Vec::new();
    let mut last = 0;
    while let Some(mut commit) = feed.next_commit(0).unwrap() {
        assert!(commit.previous() < commit.timestamp());
        last = commit.timestamp();
        while let Some(change) = commit.next_change().unwrap() {
            assert_eq!(change.tree_name, b"t");
            seen.push((change.kind, change.key.to_vec(), change.value.to_vec()));
            assert_eq!(commit.change_tree().unwrap().text("name").unwrap(), "t");
        }
    }
    let put = |key: &str, value: &str| (ChangeKind::Put, key.into(), value.into());
    assert_eq!(seen[0], put("a", "1"));
    assert_eq!(seen[1], put("b", "2"));
    assert_eq!(seen[2], (ChangeKind::Delete, b"a".to_vec(), vec![]));
    assert_eq!(seen[3].0, ChangeKind::DeleteRange);
    drop(feed);

    // The first commit by pieces, as over a wire; the others directly.
    let mut feed = db.open_feed("f").unwrap();
    let mut pieces = Vec::new();
    let mut commit = feed.next_commit(0).unwrap().unwrap();
    while let Some(piece) = commit.encode().unwrap() {
        pieces.push(piece.to_vec());
    }
    let mut pieces = pieces.into_iter();
    let lost = || Error::new(Code::IoError, "no piece");
    replica
        .apply_pieces(|| pieces.next().ok_or_else(lost), Durability::None)
        .unwrap();
    while let Some(mut commit) = feed.next_commit(0).unwrap() {
        commit.apply_to(&mut replica, Durability::None).unwrap();
    }
    assert_eq!(replica.position(), last);
    let error = replica
        .apply_pieces(|| Err(lost()), Durability::None)
        .unwrap_err();
    assert_eq!(error.code(), Code::IoError);
    feed.acknowledge(last).unwrap();
    assert_eq!(feed.position(), last);
    assert!(feed.next_commit(1).unwrap().is_none());
    let copied = target.find_tree("t").unwrap();
    let all = |db: &Db, tree| {
        db.range(tree, ..)
            .unwrap()
            .collect::<Result<Vec<_>, _>>()
            .unwrap()
    };
    assert_eq!(all(&db, &tree), all(&target, &copied));
    let feeds = db.list_feeds().unwrap();
    assert_eq!(
        (feeds.len(), feeds[0].position, feeds[0].open),
        (1, last, true)
    );
    drop(feed);
    db.drop_feed("f").unwrap();
    assert!(db.open_feed("f").err().unwrap().is_not_found());
}

#[test]
fn followers_read_beside() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    db.put(&tree, "k", "1").unwrap();
    let follower = Follower::open(dir.db(), None).unwrap();
    let view = follower.latest().unwrap();
    let there = view.find_tree("t").unwrap();
    assert_eq!(view.get(&there, "k").unwrap().unwrap(), "1");
    assert_eq!(
        view.put(&there, "k", "2").unwrap_err().code(),
        Code::ReadOnly
    );
    db.put(&tree, "k", "2").unwrap();
    assert_eq!(view.get(&there, "k").unwrap().unwrap(), "1");
    let newer = follower.latest().unwrap();
    let there = newer.find_tree("t").unwrap();
    assert_eq!(newer.get(&there, "k").unwrap().unwrap(), "2");
    follower.rebuild().unwrap();
    follower.refresh().unwrap();
    assert!(follower.view().is_ok());
}

#[test]
fn checks_repairs_and_figures() {
    let dir = Dir::new();
    let (db, tree) = filled(&dir);
    db.flush().unwrap();
    db.compact().unwrap();
    db.drain().unwrap();
    db.sync().unwrap();
    db.warm_up().unwrap();
    db.set_memory_budget(24 << 20).unwrap();
    db.set_background_io_limit(0).unwrap();
    assert!(db.set_memory_budget(1).is_err());
    assert!(db.stat("commits").unwrap() >= 1);
    assert!(db.stat("no_such_figure").unwrap_err().is_not_found());
    let stats = db.stats().unwrap();
    assert!(stats.number("commits").unwrap() >= 1 && stats.records("trees").len() == 1);
    assert!(stats.fields().count() > 20);
    assert!(db.explain(&tree, 1u32.to_be_bytes()).unwrap().flag("found"));
    let absent = db.get_in_memory(&tree, "none");
    assert!(absent.map_or_else(|e| e.code() == Code::NotInMemory, |value| value.is_none()));
    let mut told = (0, 0);
    let report = db
        .check_with(&CheckOptions::default(), |done, all| told = (done, all))
        .unwrap();
    assert!(report.ok, "{:?}", report);
    assert!(told.0 > 0 && told.0 == told.1, "{:?}", told);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        db.check_with(&CheckOptions::default(), |_, _| panic!("of the listener"))
    }));
    assert_eq!(
        panicked.unwrap_err().downcast_ref::<&str>(),
        Some(&"of the listener")
    );
    drop(tree);
    db.close().unwrap();
    assert!(hawthorn::read_counters(dir.db()).unwrap().flag("closed"));
    let report = repair(
        dir.db(),
        dir.join("repaired"),
        &RepairOptions::default(),
        |_, _| (),
    )
    .unwrap();
    assert!(report.ok && report.record.records("losses").is_empty());
    assert_eq!(count(dir.join("repaired")), 5000);
    Db::destroy(dir.join("repaired"), None).unwrap();
    assert!(Db::destroy(dir.join("repaired"), None)
        .unwrap_err()
        .is_not_found());
}

#[test]
fn encryption_asks_for_keys() {
    let dir = Dir::new();
    let key = hawthorn::generate_key().unwrap();
    let keys = move |id: &str| match id {
        "first" | "second" => Ok(key),
        _ => Err(Error::new(Code::NotFound, "no such key")),
    };
    let mut options = Options::new().unwrap();
    options.encryption("first", keys).unwrap();
    let db = Db::open_with(dir.db(), &options).unwrap();
    let tree = db.tree("t").unwrap();
    db.put(&tree, "k", "1").unwrap();
    let state = db.encryption().unwrap();
    assert!(state.flag("encrypted"));
    assert_eq!(state.text("key_id").unwrap(), "first");
    db.rotate_key("second").unwrap();
    db.rotate_data_key().unwrap();
    assert!(db.rotate_key("third").is_err());
    drop(tree);
    db.close().unwrap();
    assert!(Db::open(dir.db()).is_err());
    let mut panics = Options::new().unwrap();
    panics
        .encryption("", |_| panic!("of the source of keys"))
        .unwrap();
    assert!(Db::open_with(dir.db(), &panics).is_err());
    let db = Db::open_with(dir.db(), &options).unwrap();
    assert_eq!(db.encryption().unwrap().text("key_id").unwrap(), "second");
    assert!(db.contains(&db.tree("t").unwrap(), "k").unwrap());
}
