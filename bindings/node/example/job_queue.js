'use strict';
// A queue of jobs for several workers: a job that is claimed comes back when its worker dies or
// takes too long, and is set aside when it has failed too often. Two trees: `jobs` holds what is to
// do, `due` the moments from which on a job may be claimed, the earliest first.
//
//   node job_queue.js DIRECTORY

const { Database } = require('..');

// The moment and the id: keys in the order of moments.
function dueKey(atMs, id) {
  const key = Buffer.alloc(8 + Buffer.byteLength(id));
  key.writeBigUInt64BE(BigInt(atMs));
  key.write(id, 8);
  return key;
}

class JobQueue {
  static async open(path) {
    const queue = new JobQueue();
    queue.db = await Database.open(path, { memoryBudgetBytes: '64M' });
    queue.jobs = await queue.db.tree('jobs', { keyEncoding: 'utf8', valueEncoding: 'json' });
    queue.due = await queue.db.tree('due');
    return queue;
  }

  async enqueue(id, work) {
    const batch = this.db.batch();
    batch.put(this.jobs, id, { work, attempts: 0 });
    batch.put(this.due, dueKey(Date.now(), id), '');
    await this.db.write(batch);
  }

  // The job that has been due for longest, for so long that a worker is sure to be done, or dead.
  claim(leaseMs) {
    return this.db.transaction(async (txn) => {
      for await (const key of txn.keys(this.due, { lt: dueKey(Date.now() + 1, ''), limit: 1 })) {
        const id = key.subarray(8).toString();
        const job = await txn.getForUpdate(this.jobs, id);
        job.attempts += 1;
        const lease = dueKey(Date.now() + leaseMs, id);
        await txn.put(this.jobs, id, job);
        await txn.del(this.due, key);
        await txn.put(this.due, lease, '');
        return { id, lease, ...job };
      }
      return undefined;
    }, { mode: 'exclusive' });
  }

  // Done. False: it took longer than the lease, and somebody else has the job, or has done it.
  ack(claim) {
    return this.#finish(claim, async (txn) => txn.del(this.jobs, claim.id));
  }

  // Failed: again after a pause, which doubles; after `attemptsMax` it is set aside.
  retry(claim, pauseMs, attemptsMax) {
    return this.#finish(claim, async (txn) => {
      if (claim.attempts >= attemptsMax) return;
      const at = Date.now() + pauseMs * 2 ** (claim.attempts - 1);
      await txn.put(this.due, dueKey(at, claim.id), '');
    });
  }

  #finish(claim, next) {
    return this.db.transaction(async (txn) => {
      if (!(await txn.has(this.due, claim.lease))) return false;
      await txn.del(this.due, claim.lease);
      await next(txn);
      return true;
    }, { mode: 'exclusive' });
  }

  async failed() {
    return (await this.jobs.count()) - (await this.due.count());
  }

  close() {
    return this.db.close();
  }
}

async function main(path) {
  const queue = await JobQueue.open(path);
  for (let i = 0; i < 60; i += 1) {
    await queue.enqueue(`job${i}`, i === 7 ? 'never works' : i % 10 === 0 ? 'later' : 'ok');
  }
  let done = 0;
  const worker = async () => {
    while ((await queue.due.count()) > 0) {
      const claim = await queue.claim(60_000);
      if (claim === undefined) {
        await new Promise((wake) => { setTimeout(wake, 1); });
        continue; // all are claimed, or pause
      }
      const works = claim.work === 'ok' || (claim.work === 'later' && claim.attempts === 2);
      if (works ? await queue.ack(claim) : (await queue.retry(claim, 2, 3), false)) done += 1;
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);

  // Who is too slow is told so.
  await queue.enqueue('slow', 'ok');
  const slow = await queue.claim(0);
  await new Promise((wake) => { setTimeout(wake, 3); });
  const second = await queue.claim(60_000);
  const inTime = await queue.ack(second);
  const tooLate = await queue.ack(slow);
  const failed = await queue.failed();
  console.log(`${done} jobs done, ${failed} set aside`);
  if (done !== 59 || failed !== 1 || second.attempts !== 2 || !inTime || tooLate) {
    throw new Error('the queue does not hold');
  }
  await queue.close();
}

if (require.main === module) {
  main(process.argv[2] ?? 'example.db').catch((error) => {
    console.error(error);
    process.exit(1);
  });
}
module.exports = { JobQueue };
