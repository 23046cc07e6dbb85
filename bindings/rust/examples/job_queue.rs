//! A queue of jobs for several workers: a job that is claimed comes back when its worker dies or takes
//! too long, and is set aside when it has failed too often. Two trees: `jobs` holds what is to do, `due`
//! the moments from which on a job may be claimed, the earliest first.
//!
//!     job_queue DIRECTORY add ID WORK...     adds a job
//!     job_queue DIRECTORY work               does all that is due: prints each, and acknowledges it
//!     job_queue DIRECTORY list               prints what is waiting, and what was set aside
//!     job_queue DIRECTORY demo               workers in threads, one of which fails now and then

use hawthorn::prelude::*;
use hawthorn::{Error, Mode, Result};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LEASE_MS: u64 = 60_000;
const PAUSE_MS: u64 = 5;
const ATTEMPTS_MAX: u8 = 3;

fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_millis() as u64)
}

/// A key of `due`: eight bytes whose order is that of the moments, and the job.
fn due_key(moment_ms: u64, id: &[u8]) -> Vec<u8> {
    let mut key = moment_ms.to_be_bytes().to_vec();
    key.extend_from_slice(id);
    key
}

/// A job in the hands of a worker. The lease is its key in `due`: while that is there, it is ours.
struct Claim {
    lease: Vec<u8>,
    id: Vec<u8>,
    work: Vec<u8>,
    attempt: u8,
}

struct JobQueue<'db> {
    db: &'db Db,
    jobs: Tree,
    due: Tree,
}

impl<'db> JobQueue<'db> {
    fn open(db: &'db Db) -> Result<JobQueue<'db>> {
        Ok(JobQueue {
            db,
            jobs: db.tree("jobs")?,
            due: db.tree("due")?,
        })
    }

    /// Adds a job; false where there is one with this id.
    fn enqueue(&self, id: &str, work: &str) -> Result<bool> {
        self.db.transaction(|txn| {
            let job = [&[0], work.as_bytes()].concat(); // a byte that counts attempts, and the work
            if !txn.insert(&self.jobs, id, job)? {
                return Ok(false);
            }
            txn.put(&self.due, due_key(now_ms(), id.as_bytes()), "")?;
            Ok(true)
        })
    }

    /// The job that has been due for longest, for so long that a worker is sure to be done, or dead.
    fn claim(&self, lease_ms: u64) -> Result<Option<Claim>> {
        // One claims at a time, so two never get the same job. Lost with the power: claimed again.
        let options = TransactionOptions::new()
            .mode(Mode::Exclusive)
            .durability(Durability::None);
        self.db.transaction_with(&options, |txn| {
            let end = due_key(now_ms() + 1, b"");
            let (old, _) = match txn.range(&self.due, ..end)?.next() {
                Some(entry) => entry?,
                None => return Ok(None),
            };
            let id = old[8..].to_vec();
            let mut job = txn.get_vec(&self.jobs, &id)?.unwrap_or_else(|| vec![0]);
            job[0] += 1;
            txn.put(&self.jobs, &id, &job)?;
            txn.del(&self.due, old)?;
            let lease = due_key(now_ms() + lease_ms, &id);
            txn.put(&self.due, &lease, "")?;
            Ok(Some(Claim {
                lease,
                id,
                work: job[1..].to_vec(),
                attempt: job[0],
            }))
        })
    }

    /// Done. False: it took longer than the lease, and somebody else has the job, or has done it.
    fn acknowledge(&self, claim: &Claim) -> Result<bool> {
        self.finish(claim, |txn| txn.del(&self.jobs, &claim.id))
    }

    /// Failed: again after a pause, which doubles; after so many attempts it is set aside.
    fn retry(&self, claim: &Claim) -> Result<bool> {
        self.finish(claim, |txn| {
            if claim.attempt >= ATTEMPTS_MAX {
                return Ok(());
            }
            let moment = now_ms() + (PAUSE_MS << (claim.attempt - 1));
            txn.put(&self.due, due_key(moment, &claim.id), "")
        })
    }

    fn finish(&self, claim: &Claim, next: impl Fn(&Transaction<'_>) -> Result<()>) -> Result<bool> {
        let options = TransactionOptions::new().mode(Mode::Exclusive);
        self.db.transaction_with(&options, |txn| {
            if !txn.contains(&self.due, &claim.lease)? {
                return Ok(false);
            }
            txn.del(&self.due, &claim.lease)?;
            next(txn)?;
            Ok(true)
        })
    }

    fn waiting(&self) -> Result<u64> {
        self.db.count(&self.due, ..)
    }

    fn failed(&self) -> Result<u64> {
        Ok(self.db.count(&self.jobs, ..)? - self.waiting()?)
    }
}

/// Four workers do 200 jobs, of which some work at the second attempt, and one never.
fn demo(queue: &JobQueue<'_>) -> Result<()> {
    for i in 0..200 {
        let work = match i {
            7 => "never",
            _ if i % 10 == 0 => "later",
            _ => "ok",
        };
        queue.enqueue(&format!("job{}", i), work)?;
    }
    let worker = || -> Result<u32> {
        let mut done = 0;
        while queue.waiting()? > 0 {
            let claim = match queue.claim(LEASE_MS)? {
                Some(claim) => claim,
                None => {
                    std::thread::sleep(Duration::from_millis(1)); // all are claimed, or pause
                    continue;
                }
            };
            match &claim.work[..] {
                b"ok" => done += u32::from(queue.acknowledge(&claim)?),
                b"later" if claim.attempt == 2 => done += u32::from(queue.acknowledge(&claim)?),
                _ => drop(queue.retry(&claim)?),
            }
        }
        Ok(done)
    };
    let done: u32 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum::<Result<u32>>()
    })?;
    println!("done {}, set aside {}", done, queue.failed()?);

    // Who is too slow is told so.
    queue.enqueue("slow", "ok")?;
    let slow = queue.claim(0)?.expect("it is due");
    std::thread::sleep(Duration::from_millis(2));
    let second = queue.claim(LEASE_MS)?.expect("its lease has ended");
    println!(
        "attempt {} of {}: {}, of the slow one: {}",
        second.attempt,
        String::from_utf8_lossy(&second.id),
        queue.acknowledge(&second)?,
        queue.acknowledge(&slow)?
    );
    Ok(())
}

fn work(queue: &JobQueue<'_>) -> Result<()> {
    while let Some(claim) = queue.claim(LEASE_MS)? {
        println!(
            "{}: {}",
            String::from_utf8_lossy(&claim.id),
            String::from_utf8_lossy(&claim.work)
        );
        queue.acknowledge(&claim)?;
    }
    Ok(())
}

fn list(queue: &JobQueue<'_>) -> Result<()> {
    for entry in queue.db.range(&queue.jobs, ..)? {
        let (id, job) = entry?;
        let work = String::from_utf8_lossy(&job[1..]).into_owned();
        println!(
            "{}: {} ({} attempts)",
            String::from_utf8_lossy(&id),
            work,
            job[0]
        );
    }
    println!(
        "waiting {}, set aside {}",
        queue.waiting()?,
        queue.failed()?
    );
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let usage = Error::new(
        hawthorn::Code::InvalidArgument,
        "job_queue DIRECTORY add|work|list|demo",
    );
    let directory = words.first().ok_or_else(|| usage.clone())?;
    let db = Db::open(directory)?;
    let queue = JobQueue::open(&db)?;
    match &words[1..] {
        ["add", id, work @ ..] => {
            let added = queue.enqueue(id, &work.join(" "))?;
            println!(
                "{}",
                if added {
                    "added"
                } else {
                    "there is one with this id"
                }
            );
        }
        ["work"] => work(&queue)?,
        ["list"] => list(&queue)?,
        ["demo"] => demo(&queue)?,
        _ => return Err(usage),
    }
    drop(queue);
    db.close()
}
