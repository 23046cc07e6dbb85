'use strict';
// Worker threads that end while calls are under way: what those have made goes with them.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
const { Database } = require('..');
const { directory, open, text } = require('./helpers');

const packagePath = JSON.stringify(path.join(__dirname, '..'));

// Calls that make something, and that nobody waits for.
const calls = {
  begin: 'db.begin();',
  'begin pessimistic': "db.begin({ mode: 'pessimistic' });",
  'begin exclusive': "db.begin({ mode: 'exclusive' });",
  'begin exclusive twice': "db.begin({ mode: 'exclusive' }); db.begin({ mode: 'exclusive' });",
  nested: 'const txn = await db.begin(); txn.begin();',
  'a transaction that is kept':
    "globalThis.kept = await db.begin({ mode: 'exclusive' }); await kept.put(tree, 'k', 'lost');",
  'a put behind it':
    "globalThis.kept = await db.begin({ mode: 'exclusive' }); tree.put('k', 'lost');",
  walk: 'tree.range()[Symbol.asyncIterator]().next();',
  'walk of a transaction':
    'const txn = await db.begin(); txn.range(tree)[Symbol.asyncIterator]().next();',
  snapshot: 'globalThis.kept = db.snapshot(); db.snapshot();',
  ingest: 'db.ingest(tree);',
  feed: "db.feed('f');",
  'feed that waits': "(await db.feed('f')).next({ timeoutMs: 10_000_000 });",
  replica: `const target = await Database.open(workerData.other, { memoryBudgetBytes: '16M' });
    target.replica();`,
  repository: 'Repository.open(workerData.other);',
  follower: "Follower.open(workerData.path, { memoryBudgetBytes: '16M' });",
  open: "Database.open(workerData.other, { memoryBudgetBytes: '16M' });",
};
const ends = {
  exit: 'process.exit(0);',
  throw: "setImmediate(() => { throw new Error('thrown'); });",
  terminate: "parentPort.postMessage('called'); setInterval(() => {}, 1000);",
};

// Runs a worker to its end.
async function runWorker(code, data) {
  const worker = new Worker(`const { workerData, parentPort } = require('node:worker_threads');
    const { Database, Repository, Follower } = require(${packagePath});
    (async () => { ${code} })();`, { eval: true, workerData: data });
  worker.on('error', (error) => { if (error.message !== 'thrown') worker.failed = error; });
  const ended = new Promise((resolve) => { worker.on('exit', resolve); });
  await Promise.race([ended, new Promise((called) => { worker.once('message', called); })]);
  await worker.terminate();
  await ended;
  assert.equal(worker.failed, undefined);
}

for (const [name, call] of Object.entries(calls)) {
  test(`a worker ends during a call: ${name}`, async (t) => {
    const db = await open(t, { lockTimeoutMs: 10_000_000 });
    const tree = await db.tree('t', text);
    await tree.put('k', 'there');
    await db.createFeed('f');
    for (const [how, end] of Object.entries(ends)) {
      const other = directory(t);
      await runWorker(`const db = Database.attach(workerData.token);
        const tree = await db.tree('t', { keyEncoding: 'utf8', valueEncoding: 'utf8' });
        ${call} ${end}`, { token: db.share(), path: db.path, other });
      // Nobody is in the way of others, and a feed has one reader at a time.
      await db.transaction((txn) => txn.put(tree, how, 'written'), { mode: 'exclusive' });
      const feed = await db.feed('f');
      feed.close();
      if (name === 'open' || name === 'replica') {
        await (await Database.open(other, { memoryBudgetBytes: '16M' })).close();
      }
    }
    assert.equal(await tree.get('k'), 'there');
    await db.close();  // BUSY while anything of it is open
  });
}

test('a call that blocks a worker while that is terminated makes nothing', async (t) => {
  const db = await open(t, { lockTimeoutMs: 10_000_000 });
  const tree = await db.tree('t', text);
  const holder = await db.begin({ mode: 'exclusive' });
  await holder.put(tree, 'k', 'v');
  const worker = new Worker(`const { workerData, parentPort } = require('node:worker_threads');
    const { Database } = require(${packagePath});
    parentPort.postMessage('calls');
    Database.attach(workerData).beginSync({ mode: 'exclusive' });
    setInterval(() => {}, 1000);`, { eval: true, workerData: db.share() });
  await new Promise((called) => { worker.once('message', called); });
  const ended = worker.terminate();
  await holder.commit();
  await ended;
  await db.transaction((txn) => txn.put(tree, 'k', 'w'), { mode: 'exclusive' });
  await db.close();
});

test('results that cannot be made any more crash nothing', async (t) => {
  const where = directory(t);
  const code = `const { Worker } = require('node:worker_threads');
    const { Database } = require(${packagePath});
    (async () => {
      const db = await Database.open(${JSON.stringify(where)}, { memoryBudgetBytes: '32M' });
      const tree = await db.tree('t');
      for (let i = 0; i < 50; i += 1) tree.putSync('k' + i, Buffer.alloc(200, i));
      const calls = ["tree.multiGetSync(['k1', 'k2'])", "tree.getSync('k5')", 'db.statsSync()',
        'for (const one of tree.rangeSync({ limit: 3 })) void one', 'db.snapshot().close()',
        'db.beginSync().abortSync()'];
      for (const call of calls) for (let round = 0; round < 8; round += 1) {
        const worker = new Worker(\`const { workerData, parentPort } =
          require('node:worker_threads');
          const { Database } = require(${packagePath.replaceAll('\\', '\\\\')});
          const db = Database.attach(workerData);
          const tree = db.treeSync('t');
          parentPort.postMessage('called');
          for (;;) { \${call}; }\`, { eval: true, workerData: db.share() });
        worker.on('error', (error) => { console.error(error); process.exit(3); });
        await new Promise((called) => { worker.once('message', called); });
        await worker.terminate();
      }
      await db.close();
    })();`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'inherit' });
  const ended = await new Promise((resolve) => {
    child.on('exit', (status, signal) => resolve(signal ?? status));
  });
  assert.equal(ended, 0);
});
