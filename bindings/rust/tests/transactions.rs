//! Transactions: conflicts, retries, savepoints, nested ones, two phases, locks.

mod common;
use common::{open, Dir};
use hawthorn::prelude::*;
use hawthorn::{Code, Error, Isolation, Mode, RowLock};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn it_sees_its_own_writes_alone() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let txn = db.begin().unwrap();
    txn.put(&tree, "k", "1").unwrap();
    assert_eq!(txn.get(&tree, "k").unwrap().unwrap(), "1");
    assert!(db.get(&tree, "k").unwrap().is_none());
    txn.commit().unwrap();
    assert_eq!(db.get(&tree, "k").unwrap().unwrap(), "1");
    let txn = db.begin().unwrap();
    txn.del(&tree, "k").unwrap();
    txn.abort().unwrap();
    let dropped = db.begin().unwrap();
    dropped.del(&tree, "k").unwrap();
    drop(dropped);
    assert!(db.contains(&tree, "k").unwrap());
}

#[test]
fn the_first_committer_wins() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let (first, second) = (db.begin().unwrap(), db.begin().unwrap());
    first.put(&tree, "k", "1").unwrap();
    let put = second.put(&tree, "k", "2");
    first.commit().unwrap();
    let error = put.and_then(|()| second.commit()).unwrap_err();
    assert!(error.is_conflict() && error.is_retryable(), "{}", error);
    assert_eq!(db.get(&tree, "k").unwrap().unwrap(), "1");
}

#[test]
fn serializable_ones_conflict_over_what_they_read() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let options = TransactionOptions::new().isolation(Isolation::Serializable);
    let txn = db.begin_with(&options).unwrap();
    assert!(txn.get(&tree, "read").unwrap().is_none());
    db.put(&tree, "read", "by others").unwrap();
    let put = txn.put(&tree, "written", "");
    assert!(put.and_then(|()| txn.commit()).unwrap_err().is_conflict());
}

#[test]
fn closures_are_tried_until_they_commit() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let runs = AtomicU32::new(0);
    const THREADS: u64 = 4;
    const EACH: u64 = 200;
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let options = TransactionOptions::new().attempts(100_000);
                    db.transaction_with(&options, |txn| -> Result<(), Error> {
                        runs.fetch_add(1, Ordering::Relaxed);
                        let count = txn.get(&tree, "n")?.map_or(0, |value| number(&value));
                        txn.put(&tree, "n", (count + 1).to_le_bytes())
                    })
                    .unwrap();
                }
            });
        }
    });
    assert_eq!(
        number(&db.get(&tree, "n").unwrap().unwrap()),
        THREADS * EACH
    );
    assert!(u64::from(runs.load(Ordering::Relaxed)) >= THREADS * EACH);
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(bytes);
    u64::from_le_bytes(number)
}

#[test]
fn a_closure_that_conflicts_is_tried_again_and_one_that_fails_is_not() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let mut runs = 0;
    db.transaction(|txn| -> Result<(), Error> {
        runs += 1;
        txn.get(&tree, "k")?;
        if runs < 3 {
            db.put(&tree, "k", "by others")?;
        }
        txn.put(&tree, "k", "ours")
    })
    .unwrap();
    assert_eq!(runs, 3);
    runs = 0;
    let options = TransactionOptions::new().attempts(2);
    let error = db.transaction_with(&options, |txn| -> Result<(), Error> {
        runs += 1;
        db.put(&tree, "k", runs.to_string())?;
        txn.put(&tree, "k", "ours")
    });
    assert!(error.unwrap_err().is_conflict());
    assert_eq!(runs, 2);

    #[derive(Debug)]
    enum Failure {
        Poor,
        Database(Error),
    }
    impl From<Error> for Failure {
        fn from(error: Error) -> Failure {
            Failure::Database(error)
        }
    }
    runs = 0;
    let result = db.transaction(|txn| -> Result<(), Failure> {
        runs += 1;
        txn.put(&tree, "gone", "1")?;
        Err(Failure::Poor)
    });
    assert!(matches!(result, Err(Failure::Poor)) && runs == 1);
    assert!(!db.contains(&tree, "gone").unwrap());
    let refused =
        db.transaction(|txn| -> Result<(), Failure> { Ok(txn.put(&tree, vec![0; 70_000], "")?) });
    assert!(
        matches!(refused, Err(Failure::Database(error)) if error.code() == Code::InvalidArgument)
    );
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        db.transaction(|txn| -> Result<(), Error> {
            txn.put(&tree, "gone", "1")?;
            panic!("of the closure")
        })
    }));
    assert!(panicked.is_err() && !db.contains(&tree, "gone").unwrap());
}

#[test]
fn savepoints_and_nested_ones() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let mut txn = db.begin().unwrap();
    txn.put(&tree, "a", "1").unwrap();
    let savepoint = txn.savepoint().unwrap();
    txn.put(&tree, "b", "1").unwrap();
    txn.rollback_to(&savepoint).unwrap();
    assert!(!txn.contains(&tree, "b").unwrap());
    txn.release(&savepoint).unwrap();
    assert_eq!(
        txn.rollback_to(&savepoint).unwrap_err().code(),
        Code::InvalidArgument
    );
    let mut nested = txn.nested().unwrap();
    nested.put(&tree, "c", "1").unwrap();
    let inner = nested.nested().unwrap();
    inner.put(&tree, "d", "1").unwrap();
    inner.abort().unwrap();
    nested.commit().unwrap();
    let nested = txn.nested().unwrap();
    nested.put(&tree, "e", "1").unwrap();
    drop(nested);
    txn.commit_with(Durability::Full).unwrap();
    let keys: Vec<_> = db
        .range(&tree, ..)
        .unwrap()
        .map(|entry| entry.unwrap().0)
        .collect();
    assert_eq!(keys, [b"a", b"c"]);
}

#[test]
fn two_phases_over_a_restart() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    for id in ["one", "two", "three"] {
        let mut txn = db.begin().unwrap();
        txn.put(&tree, id, "1").unwrap();
        txn.prepare(id).unwrap();
        assert_eq!(
            txn.put(&tree, "late", "").unwrap_err().code(),
            Code::InvalidArgument
        );
        if id == "three" {
            txn.commit().unwrap();
        }
    }
    assert!(!db.contains(&tree, "one").unwrap() && db.contains(&tree, "three").unwrap());
    drop(tree);
    db.close().unwrap();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let mut ids: Vec<_> = db
        .prepared()
        .unwrap()
        .into_iter()
        .map(|row| row.id)
        .collect();
    ids.sort();
    assert_eq!(ids, ["one", "two"]);
    db.commit_prepared("one", Durability::Full).unwrap();
    db.rollback_prepared("two").unwrap();
    assert!(db.rollback_prepared("two").unwrap_err().is_not_found());
    assert!(db.contains(&tree, "one").unwrap() && !db.contains(&tree, "two").unwrap());
}

#[test]
fn pessimistic_ones_lock() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let options = TransactionOptions::new()
        .mode(Mode::Pessimistic)
        .lock_timeout_ms(1);
    let (first, second) = (
        db.begin_with(&options).unwrap(),
        db.begin_with(&options).unwrap(),
    );
    first.lock(&tree, "k", RowLock::Exclusive).unwrap();
    assert!(second.put(&tree, "k", "2").unwrap_err().is_timed_out());
    assert!(second
        .lock_timeout(&tree, "k", RowLock::Shared, 0)
        .unwrap_err()
        .is_timed_out());
    first.put(&tree, "k", "1").unwrap();
    assert_eq!(first.get_for_update(&tree, "k").unwrap().unwrap(), "1");
    first.commit().unwrap();
    second.put(&tree, "other", "2").unwrap();
    second.commit().unwrap();
    assert_eq!(db.count(&tree, ..).unwrap(), 2);
}

#[test]
fn exclusive_ones_take_turns_and_move_between_threads() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let options = TransactionOptions::new().mode(Mode::Exclusive);
    let txn = db.begin_with(&options).unwrap();
    txn.put(&tree, "k", "1").unwrap();
    std::thread::scope(|scope| scope.spawn(move || txn.commit()).join().unwrap()).unwrap();
    assert!(db.begin_with(&options).is_ok());
    assert!(db.contains(&tree, "k").unwrap());
}

#[test]
fn values_in_place() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let mut txn = db.begin().unwrap();
    let mut reserved = txn.put_reserve(&tree, "k", 5).unwrap();
    assert_eq!(&reserved[..], [0; 5]);
    reserved.copy_from_slice(b"hello");
    reserved.finish().unwrap();
    txn.put_reserve(&tree, "dropped", 2).unwrap()[0] = b'x';
    assert_eq!(txn.get(&tree, "dropped").unwrap().unwrap(), "x\0");
    txn.put_reserve(&tree, "empty", 0)
        .unwrap()
        .finish()
        .unwrap();
    txn.commit().unwrap();
    let mut txn = db.begin().unwrap();
    let pinned = txn.get_pinned(&tree, "k").unwrap().unwrap();
    assert_eq!(txn.get_pinned(&tree, "none").unwrap(), None);
    txn.put(&tree, "k", "other").unwrap();
    let mut cursor = txn.cursor(&tree).unwrap();
    assert!(cursor.last().unwrap());
    let (key, value) = txn.pin(&cursor).unwrap();
    assert!(cursor.first().unwrap());
    assert_eq!(
        (pinned, key, value),
        (&b"hello"[..], &b"k"[..], &b"other"[..])
    );
    drop(cursor);
    txn.release_pinned().unwrap();
    txn.commit().unwrap();
}

#[test]
fn trees_of_a_transaction_show_when_it_commits() {
    let dir = Dir::new();
    let db = open(&dir);
    let txn = db.begin().unwrap();
    let tree = txn.tree("new").unwrap();
    txn.put(&tree, "k", "1").unwrap();
    assert_eq!(txn.list_trees().unwrap(), ["new"]);
    assert!(db.list_trees().unwrap().is_empty());
    txn.commit().unwrap();
    assert_eq!(db.get(&tree, "k").unwrap().unwrap(), "1");
    let txn = db.begin().unwrap();
    txn.rename_tree("new", "renamed").unwrap();
    txn.commit().unwrap();
    assert_eq!(db.list_trees().unwrap(), ["renamed"]);
    let txn = db.begin().unwrap();
    txn.drop_tree("renamed").unwrap();
    txn.abort().unwrap();
    assert_eq!(db.find_tree("renamed").unwrap().id(), tree.id());
}

#[test]
fn what_was_shown_stays_under_writes() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    for i in 0..50u8 {
        db.put(&tree, [i], vec![i; 300]).unwrap();
    }
    let txn = db.begin().unwrap();
    txn.put(&tree, [10], vec![110; 300]).unwrap();
    let savepoint = txn.savepoint().unwrap();
    txn.put(&tree, [11], vec![111; 300]).unwrap();
    let (own, later, committed) = (
        txn.get(&tree, [10]).unwrap().unwrap(),
        txn.get(&tree, [11]).unwrap().unwrap(),
        txn.get(&tree, [12]).unwrap().unwrap(),
    );
    let pinned = txn.get_pinned(&tree, [11]).unwrap().unwrap();
    let answers = txn.multi_get(&tree, &[[10], [11], [12]]).unwrap();
    let (mut first, mut second) = (txn.cursor(&tree).unwrap(), txn.cursor(&tree).unwrap());
    assert!(first.seek([11]).unwrap() && second.seek([10]).unwrap());
    let entry = first.entry().unwrap();
    let entries = second.next_batch(20).unwrap();
    let mut range = txn.range(&tree, [10]..).unwrap();
    assert_eq!(range.next().unwrap().unwrap().1, vec![110; 300]);
    for i in 0..200u8 {
        txn.put(&tree, [i], vec![1; 500]).unwrap();
        db.put(&tree, [i, i], vec![2; 500]).unwrap();
    }
    txn.rollback_to(&savepoint).unwrap();
    for i in 10..40u8 {
        txn.del(&tree, [i]).unwrap();
    }
    txn.delete_range(&tree, ..).unwrap();
    db.flush().unwrap();
    assert_eq!(own, vec![110; 300]);
    assert_eq!(later, vec![111; 300]);
    assert_eq!(committed, vec![12; 300]);
    assert_eq!(pinned, vec![111; 300]);
    assert_eq!(answers.to_vecs()[1], Some(vec![111; 300]));
    assert_eq!(entry, (&[11][..], &vec![111; 300][..]));
    for (key, value) in entries.iter() {
        let expected = if key[0] < 12 { 100 + key[0] } else { key[0] };
        assert_eq!(value, vec![expected; 300]);
    }
    if let Some(entry) = range.next() {
        let (key, value) = entry.unwrap(); // of the batch that was read before
        assert_eq!((key, value), (vec![11], vec![111; 300]));
    }
}
