//! Iteration against a sorted model, many keys at once, columns, reads that do not wait.

mod common;
use common::{open, Dir, Random};
use hawthorn::prelude::*;
use hawthorn::{AsyncReader, Code, ColumnParts, Columns, Cursor, CursorOptions, KeyColumn};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn key(random: &mut Random) -> Vec<u8> {
    let size = random.below(4) as usize;
    (0..size).map(|_| b'a' + random.below(5) as u8).collect()
}

fn bounded(model: &Model, low: &[u8], high: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let inside = |key: &[u8]| key >= low && key < high;
    model
        .iter()
        .filter(|(key, _)| inside(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

/// Random moves of a cursor, beside an index into the sorted entries.
fn walk<R: Read>(cursor: &mut Cursor<'_, R>, entries: &[(Vec<u8>, Vec<u8>)], random: &mut Random) {
    let mut at: Option<usize> = None;
    for _ in 0..30 {
        let found = match random.below(7) {
            0 => {
                at = if entries.is_empty() { None } else { Some(0) };
                cursor.first().unwrap()
            }
            1 => {
                at = entries.len().checked_sub(1);
                cursor.last().unwrap()
            }
            2 => {
                let key = key(random);
                at = entries.iter().position(|(other, _)| *other >= key);
                cursor.seek(&key).unwrap()
            }
            3 => {
                let key = key(random);
                at = entries.iter().rposition(|(other, _)| *other <= key);
                cursor.seek_for_prev(&key).unwrap()
            }
            4 => {
                at = at.map(|at| at + 1).filter(|at| *at < entries.len());
                cursor.next().unwrap()
            }
            5 => {
                at = at.and_then(|at| at.checked_sub(1));
                cursor.prev().unwrap()
            }
            _ => {
                let by = random.below(7) as i64 - 3;
                let to = at.map(|at| at as i64 + by);
                at = to
                    .filter(|to| (0..entries.len() as i64).contains(to))
                    .map(|to| to as usize);
                cursor.skip(by).unwrap()
            }
        };
        assert_eq!(found, at.is_some());
        assert_eq!(cursor.is_valid(), found);
        let expected = at.map(|at| (&entries[at].0[..], &entries[at].1[..]));
        assert_eq!(cursor.entry(), expected);
    }
    cursor.status().unwrap();
}

fn compare<R: Read>(source: &R, tree: &Tree, model: &Model, random: &mut Random) {
    let (mut low, mut high) = (key(random), key(random));
    if low > high {
        std::mem::swap(&mut low, &mut high);
    }
    let expected = bounded(model, &low, &high);
    let ascending: Vec<_> = source
        .range(tree, &low..&high)
        .unwrap()
        .map(|entry| entry.unwrap())
        .collect();
    assert_eq!(ascending, expected);
    let mut descending: Vec<_> = source
        .range_rev(tree, &low..&high)
        .unwrap()
        .map(|entry| entry.unwrap())
        .collect();
    descending.reverse();
    assert_eq!(descending, expected);
    assert_eq!(
        source.count(tree, &low..&high).unwrap(),
        expected.len() as u64
    );
    let options = CursorOptions::new().range(&low..&high);
    let mut cursor = source.cursor_with(tree, &options).unwrap();
    walk(&mut cursor, &expected, random);
    // By columns that are too small at first, both ways, and by batches.
    let mut columns = Columns::with_capacity(random.below(5) as usize, 0, 3);
    let mut rows = Vec::new();
    cursor.first().unwrap();
    while cursor.next_columns(&mut columns).unwrap() > 0 {
        rows.extend(
            (0..columns.len()).map(|i| (columns.key(i).to_vec(), columns.value(i).to_vec())),
        );
    }
    assert_eq!(rows, expected);
    rows.clear();
    cursor.last().unwrap();
    while cursor.prev_columns(&mut columns).unwrap() > 0 {
        rows.extend(
            (0..columns.len()).map(|i| (columns.key(i).to_vec(), columns.value(i).to_vec())),
        );
    }
    rows.reverse();
    assert_eq!(rows, expected);
    rows.clear();
    cursor.first().unwrap();
    loop {
        let batch = cursor.next_batch(1 + random.below(9) as usize).unwrap();
        if batch.is_empty() {
            break;
        }
        rows.extend(
            batch
                .iter()
                .map(|(key, value)| (key.to_vec(), value.to_vec())),
        );
    }
    assert_eq!(rows, expected);
    let keys: Vec<_> = (0..20).map(|_| key(random)).collect();
    let answers = source.multi_get(tree, &keys).unwrap();
    for (key, answer) in keys.iter().zip(answers.iter()) {
        assert_eq!(answer, model.get(key).map(|value| &value[..]));
    }
}

#[test]
fn iteration_is_that_of_a_sorted_model() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    let mut random = Random(7);
    let mut model = Model::new();
    for round in 0..300u32 {
        let before = model.clone();
        let snapshot = db.snapshot().unwrap();
        let txn = db.begin().unwrap();
        for _ in 0..random.below(8) {
            let (k, v) = (key(&mut random), round.to_le_bytes().to_vec());
            match random.below(8) {
                0 => {
                    txn.del(&tree, &k).unwrap();
                    model.remove(&k);
                }
                1 => {
                    let high = [&k[..], b"b"].concat();
                    txn.delete_range(&tree, &k..&high).unwrap();
                    model.retain(|other, _| *other < k || *other >= high);
                }
                _ => {
                    txn.put(&tree, &k, &v).unwrap();
                    model.insert(k, v);
                }
            }
        }
        compare(&txn, &tree, &model, &mut random);
        txn.commit().unwrap();
        compare(&db, &tree, &model, &mut random);
        compare(&snapshot, &tree, &before, &mut random);
        if random.below(40) == 0 {
            drop(snapshot);
            db.flush().unwrap();
        }
    }
    assert!(model.len() > 20);
}

#[test]
fn many_keys_into_columns() {
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    for i in 0..100u8 {
        db.put(&tree, [i], vec![i; usize::from(i)]).unwrap();
    }
    let bytes: Vec<u8> = (50..150).collect();
    let offsets: Vec<i64> = (0..=100).collect();
    let keys = KeyColumn::new(&bytes, &offsets).unwrap();
    for capacity in [0, 1, 60, 1 << 16] {
        let mut columns = Columns::with_capacity(0, 0, capacity);
        db.multi_get_columns(&tree, keys, &mut columns).unwrap();
        assert_eq!(columns.len(), 100);
        for row in 0..100 {
            let there = row < 50;
            assert_eq!(columns.found()[row] == 1, there);
            let value = if there {
                vec![50 + row as u8; 50 + row]
            } else {
                vec![]
            };
            assert_eq!(columns.value(row), value);
            assert_eq!(columns.key(row), b"");
        }
        let ColumnParts {
            value_bytes,
            value_offsets,
            found,
            ..
        } = columns.into_parts();
        assert_eq!(value_bytes.len(), value_offsets[100] as usize);
        assert_eq!((value_offsets.len(), found.len()), (101, 100));
    }
    let txn = db.begin().unwrap();
    txn.put(&tree, [149], "new").unwrap();
    let mut columns = Columns::default();
    txn.multi_get_columns(&tree, keys, &mut columns).unwrap();
    assert_eq!(columns.value(99), b"new");
    let none = KeyColumn::new(b"", &[0]).unwrap();
    txn.multi_get_columns(&tree, none, &mut columns).unwrap();
    assert!(columns.is_empty() && db.multi_get(&tree, &[] as &[&str]).unwrap().is_empty());
    for wrong in [&[][..], &[0, 2, 1], &[-1, 0], &[0, 4]] {
        assert_eq!(
            KeyColumn::new(b"abc", wrong).unwrap_err().code(),
            Code::InvalidArgument
        );
    }
}

#[test]
fn queues_by_tags() {
    use std::os::unix::io::AsRawFd;
    let dir = Dir::new();
    let db = open(&dir);
    let tree = db.tree("t").unwrap();
    for i in 0..100u8 {
        db.put(&tree, [i], [i; 10]).unwrap();
    }
    let snapshot = db.snapshot().unwrap();
    db.put(&tree, [0], "new").unwrap();
    let mut queue = db.read_queue(4).unwrap();
    assert!(queue.as_raw_fd() >= 0);
    assert!(queue.take().unwrap().is_none());
    for i in 0..120u8 {
        queue
            .get(&tree, [i], Some(&snapshot), u64::from(i))
            .unwrap();
    }
    queue.get(&tree, [0], None, 1000).unwrap();
    let mut seen = 0;
    loop {
        while let Some((tag, result)) = queue.take().unwrap() {
            let value = result.unwrap();
            match tag {
                1000 => assert_eq!(value.unwrap(), "new"),
                100..=119 => assert!(value.is_none()),
                _ => assert_eq!(value.unwrap(), [tag as u8; 10]),
            }
            seen += 1;
        }
        if queue.pending() == 0 && queue.wait().unwrap() == 0 {
            break;
        }
        queue.poll().unwrap();
    }
    assert_eq!(seen, 121);
    assert!(db.read_queue(1_000_000).is_err());
}

/// An executor of one thread: parks until it is woken.
fn block_on<F: Future>(mut future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = unsafe { Pin::new_unchecked(&mut future) };
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn gets_as_futures() {
    let dir = Dir::new();
    let mut options = Options::new().unwrap();
    options.memory_budget_bytes(16 << 20).unwrap();
    options.durability(Durability::None).unwrap();
    let db = Arc::new(Db::open_with(dir.db(), &options).unwrap());
    let tree = db.tree("t").unwrap();
    // More than the memory budget, so that the disk is read.
    const ENTRIES: u32 = 20_000;
    let mut batch = Batch::new().unwrap();
    for i in 0..ENTRIES {
        batch
            .put(&tree, i.to_be_bytes(), vec![i as u8; 2000])
            .unwrap();
        if batch.len() == 500 {
            db.write(&batch).unwrap();
            batch.clear().unwrap();
        }
    }
    db.flush().unwrap();
    let reader: AsyncReader = db.async_reader(32).unwrap();
    let old = db.snapshot().unwrap();
    db.put(&tree, 5u32.to_be_bytes(), "new").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (reader, tree) = (&reader, &tree);
            scope.spawn(move || {
                let mut random = Random(thread);
                for _ in 0..20 {
                    let keys: Vec<u32> = (0..50)
                        .map(|_| 6 + random.below(u64::from(ENTRIES)) as u32)
                        .collect();
                    let gets: Vec<_> = keys
                        .iter()
                        .map(|key| reader.get(tree, key.to_be_bytes()))
                        .collect();
                    for (key, get) in keys.into_iter().zip(gets) {
                        match block_on(get).unwrap() {
                            Some(value) => assert_eq!(value, vec![key as u8; 2000]),
                            None => assert!(key >= ENTRIES),
                        }
                    }
                }
            });
        }
    });
    let both = async {
        let new = reader
            .get(&tree, 5u32.to_be_bytes())
            .await?
            .unwrap()
            .into_vec();
        let old = reader
            .get_at(&tree, 5u32.to_be_bytes(), &old)
            .await?
            .unwrap()
            .into_vec();
        Ok::<_, hawthorn::Error>((new, old))
    };
    assert_eq!(block_on(both).unwrap(), (b"new".to_vec(), vec![5; 2000]));
    drop(old);
    let other_dir = Dir::new();
    let other = open(&other_dir);
    let foreign = other.tree("t").unwrap();
    let refused = block_on(reader.get(&foreign, "k")).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    // Futures outlive the reader, and are completed by then; values keep the database open.
    let late: Vec<_> = (10..200u32)
        .map(|key| reader.get(&tree, (key * 100).to_be_bytes()))
        .collect();
    drop(reader);
    let values: Vec<_> = late
        .into_iter()
        .map(|get| block_on(get).unwrap().unwrap())
        .collect();
    let db = Arc::try_unwrap(db).ok().unwrap();
    // Values that are views keep it open; copies of what was read from disk do not.
    if let Err(error) = db.close() {
        assert!(error.is_busy());
    }
    for (key, value) in (10..200u32).zip(values) {
        assert_eq!(value, vec![(key * 100) as u8; 2000]);
    }
}
