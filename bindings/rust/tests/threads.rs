//! What may be sent to, and shared with, other threads; what may not is in the types' documentation, as
//! programs that must not compile. And a process that dies.

mod common;
use common::{open, Dir};
use hawthorn::prelude::*;
use hawthorn::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn send<T: Send>() {}
fn shared<T: Send + Sync>() {}

#[test]
fn what_may_go_where() {
    shared::<Db>();
    shared::<Tree>();
    shared::<Snapshot<'_>>();
    shared::<Value<'_>>();
    shared::<Follower>();
    shared::<View>();
    shared::<Repository>();
    shared::<AsyncReader>();
    shared::<Error>();
    shared::<Record>();
    shared::<Columns>();
    send::<Options>();
    send::<Batch>();
    send::<Transaction<'_>>();
    send::<Cursor<'_, Db>>();
    send::<Cursor<'_, Snapshot<'_>>>();
    send::<Range<'_, Db>>();
    send::<MultiGet<'_>>();
    send::<Feed<'_>>();
    send::<Replica<'_>>();
    send::<Ingest<'_>>();
    send::<ReadQueue<'_>>();
    send::<GetFuture>();
}

#[test]
fn threads_share_a_database() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let (db, tree) = (&db, &tree);
            scope.spawn(move || {
                for i in 0..500u32 {
                    let key = [&[thread][..], &i.to_be_bytes()].concat();
                    db.put(tree, &key, &key).unwrap();
                    assert_eq!(db.get(tree, &key).unwrap().unwrap(), key);
                }
                assert_eq!(db.count(tree, [thread]..[thread + 1]).unwrap(), 500);
            });
        }
    });
    let mut cursor = db.cursor(&tree).unwrap();
    let counted = std::thread::scope(|scope| {
        let count = scope.spawn(move || {
            let mut count = 0;
            let mut more = cursor.first().unwrap();
            while more {
                count += 1;
                more = cursor.next().unwrap();
            }
            count
        });
        count.join().unwrap()
    });
    assert_eq!(counted, 2000);
}

/// Runs in the child of the test below: tells each commit that was acknowledged, until it is killed.
#[test]
#[ignore = "the child of the test below"]
fn child_of_the_kill() {
    let path = std::env::var_os("HAWTHORN_TEST_KILL").unwrap();
    let mut options = Options::new().unwrap();
    options.durability(Durability::None).unwrap();
    let db = Db::open_with(path, &options).unwrap();
    let tree = db.tree("t").unwrap();
    for i in 0u64.. {
        db.transaction(|txn| -> Result<()> {
            txn.put(&tree, i.to_be_bytes(), i.to_string())?;
            txn.put(&tree, "last", i.to_string())
        })
        .unwrap();
        println!("acknowledged {}", i);
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let dir = Dir::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "child_of_the_kill",
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("HAWTHORN_TEST_KILL", dir.db())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = None;
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines {
        let line = line.unwrap();
        // The first one follows words of the test's harness.
        if let Some(at) = line.find("acknowledged ") {
            let number: u64 = line[at + "acknowledged ".len()..].parse().unwrap();
            acknowledged = Some(number);
            if number == 2000 {
                child.kill().unwrap();
            }
        }
    }
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let acknowledged = acknowledged.unwrap();
    let db = Db::open(dir.db()).unwrap();
    let tree = db.find_tree("t").unwrap();
    let last: u64 = String::from_utf8(db.get_vec(&tree, "last").unwrap().unwrap())
        .unwrap()
        .parse()
        .unwrap();
    assert!(last >= acknowledged && acknowledged >= 2000);
    assert_eq!(db.count(&tree, ..).unwrap(), last + 2); // both writes of each, or none
    for i in 0..=last {
        assert_eq!(
            db.get(&tree, i.to_be_bytes()).unwrap().unwrap(),
            i.to_string()
        );
    }
    assert!(db.check(&CheckOptions::default()).unwrap().ok);
}

#[test]
fn a_forked_child_is_refused() {
    extern "C" {
        fn fork() -> i32;
        fn _exit(status: i32) -> !;
        fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    }
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let child = unsafe { fork() };
    if child == 0 {
        let refused = matches!(db.put(&tree, "k", "v"), Err(e) if e.code() == Code::Forked);
        unsafe { _exit(if refused { 0 } else { 1 }) };
    }
    let mut status = -1;
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    db.put(&tree, "k", "v").unwrap();
}
