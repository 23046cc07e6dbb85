'use strict';

const assert = require('node:assert');
const { spawn } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
const hawthorn = require('..');
const { directory, open, text, until } = require('./helpers');

const { Database, ClosedError, InvalidArgumentError } = hawthorn;
const packagePath = JSON.stringify(path.join(__dirname, '..'));

for (const durability of ['none', 'full']) {
  test(`what was acknowledged survives kill -9 (${durability})`, async (t) => {
    const where = directory(t);
    const child = spawn(process.execPath, [path.join(__dirname, 'kill_child.js'), where,
      durability], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
      if (output.split('\n').length > 60) child.kill('SIGKILL');
    });
    const [, signal] = await new Promise((ended) => {
      child.on('close', (...how) => ended(how));
    });
    assert.equal(signal, 'SIGKILL');
    const acknowledged = output.split('\n').slice(0, -1).map(Number);
    assert.ok(acknowledged.length >= 60);
    const db = await Database.open(where, { memoryBudgetBytes: '32M' });
    const tree = await db.findTree('t', { keyEncoding: 'utf8', valueEncoding: 'json' });
    for (const i of acknowledged) {
      assert.equal(await tree.get(`a${i}`), i);
      assert.equal(await tree.get(`b${i}`), i);
    }
    assert.equal(await tree.count({ gte: 'a', lt: 'b' }), await tree.count({ gte: 'b', lt: 'c' }));
    assert.equal((await db.check()).ok, true);
    await db.close();
  });
}

test('use after close is an error', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  await tree.put('a', 'b');
  const txn = await db.begin();
  const cursor = await txn.cursor(tree);
  const snapshot = db.snapshot();
  await assert.rejects(db.close(), hawthorn.BusyError);
  assert.equal(await tree.get('a'), 'b');
  await txn.commit();
  await assert.rejects(cursor.first(), InvalidArgumentError);
  await assert.rejects(txn.get(tree, 'a'), ClosedError);
  assert.equal(await txn.isOpen(), false);
  await txn.abort();
  cursor.close();
  cursor.close();
  await assert.rejects(cursor.first(), ClosedError);
  snapshot.close();
  txn.close();
  await assert.rejects(txn.get(tree, 'a'), ClosedError);
  await db.close();
  await db.close().then(() => assert.fail('closed twice'), (error) => (
    assert.ok(error instanceof ClosedError)));
  await assert.rejects(tree.get('a'), ClosedError);
  assert.throws(() => tree.putSync('a', 'b'), ClosedError);
  assert.throws(() => db.snapshot(), ClosedError);
  await assert.rejects(db.begin(), ClosedError);
  await assert.rejects(tree.range().toArray(), ClosedError);
});

test('closing waits for calls that are under way, and force ends the rest', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const writes = Array.from({ length: 300 }, (_, i) => tree.put(`k${i}`, 'v'));
  const txn = await db.begin({ mode: 'pessimistic' });
  const within = Array.from({ length: 50 }, (_, i) => txn.put(tree, `t${i}`, 'v'));
  const range = tree.range();
  await db.close({ force: true });
  const outcomes = await Promise.allSettled([...writes, ...within]);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length >= 300, true);
  await assert.rejects(txn.commit(), ClosedError);
  await assert.rejects(range.next(), ClosedError);
  const again = await Database.open(db.path, { memoryBudgetBytes: '32M' });
  assert.equal(await (await again.findTree('t')).count(), 300);
  await again.close();
});

test('wrong arguments are errors', async (t) => {
  const db = await open(t);
  const other = await open(t);
  const tree = await db.tree('t', text);
  const foreign = await other.tree('t', text);
  const { snapshot } = { snapshot: other.snapshot() };
  await assert.rejects(tree.get(undefined), InvalidArgumentError);
  await assert.rejects(tree.get(5), InvalidArgumentError);
  await assert.rejects(tree.put('a', {}), InvalidArgumentError);
  await assert.rejects(tree.put('a', 'b', { durable: true }), InvalidArgumentError);
  await assert.rejects(tree.put('a', 'b', { durability: 'very' }), InvalidArgumentError);
  await assert.rejects(tree.put('a', 'b', { expiresIn: -1 }), InvalidArgumentError);
  await assert.rejects(tree.put('', 'b').then(() => { throw new InvalidArgumentError('empty'); }),
    InvalidArgumentError);
  await assert.rejects(tree.put('k'.repeat(70000), 'b'), InvalidArgumentError);
  await assert.rejects(tree.get('a', { snapshot }), InvalidArgumentError);
  await assert.rejects(db.transaction((txn) => txn.put(foreign, 'a', 'b')), InvalidArgumentError);
  await assert.rejects(db.transaction((txn) => txn.put({}, 'a', 'b')), hawthorn.HawthornError);
  await assert.rejects(db.transaction((txn) => txn.get(tree, 'a', { snapshot: db.snapshot() })),
    InvalidArgumentError);
  await assert.rejects(db.write({}), InvalidArgumentError);
  await assert.rejects(db.begin({ mode: 'fast' }), InvalidArgumentError);
  await assert.rejects(Database.open('a\0b'), InvalidArgumentError);
  await assert.rejects(Database.open(7), InvalidArgumentError);
  assert.throws(() => tree.range({ limit: -1 }), InvalidArgumentError);
  assert.throws(() => tree.range({ prefix: 'a', gte: 'b' }), InvalidArgumentError);
  assert.throws(() => db.batch().put(foreign, 'a', 'b'), InvalidArgumentError);
  assert.throws(() => new hawthorn.Columns({ rows: 0 }), InvalidArgumentError);
  assert.throws(() => db.batch().putColumns(tree, {
    keyBytes: Buffer.from('ab'),
    keyOffsets: BigInt64Array.from([0n, 2n, 1n]),
    valueBytes: Buffer.from(''),
    valueOffsets: BigInt64Array.from([0n, 0n, 0n]),
  }), InvalidArgumentError);
  snapshot.close();
});

const withGc = { skip: typeof global.gc !== 'function' };
test('objects that nobody holds are freed', withGc, async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  for (let i = 0; i < 50; i += 1) tree.putSync(`k${i}`, 'v');
  const leave = async () => {
    const txn = db.beginSync();
    txn.putSync(tree, 'x', 'y');
    txn.cursorSync(tree).firstSync();
    tree.cursorSync().firstSync();
    db.snapshot();
    db.batch().put(tree, 'a', 'b');
    await tree.range().next();
    new hawthorn.Columns({ rows: 10, keyBytes: 10, valueBytes: 10 }).rows = 0;
  };
  for (let i = 0; i < 100; i += 1) await leave();
  await until(() => {
    global.gc();
    return db.close().then(() => true, () => false); // BUSY until all are freed
  });
});

test('the thread of JavaScript goes on while a call waits', async (t) => {
  const db = await open(t, { lockTimeoutMs: 600_000 });
  const tree = await db.tree('t', text);
  const holder = await db.begin({ mode: 'pessimistic' });
  await holder.put(tree, 'a', 'b');
  let written = false;
  const waiting = tree.put('a', 'c').then(() => { written = true; });
  let turns = 0;
  await until(() => { turns += 1; return turns >= 10; });
  assert.equal(written, false);
  await holder.commit();
  await waiting;
});

function inWorker(code, data) {
  const worker = new Worker(`const { workerData, parentPort } = require('node:worker_threads');
    const { Database } = require(${packagePath});
    (async () => { ${code} })().catch((error) => { throw error; });`,
  { eval: true, workerData: data });
  return new Promise((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (message) => { worker.last = message; });
    worker.on('exit', (status) => resolve({ status, last: worker.last }));
    inWorker.last = worker;
  });
}

test('worker threads share a database by its token', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', { keyEncoding: 'utf8', valueEncoding: 'json' });
  await tree.put('n', 0);
  const code = `const db = Database.attach(workerData);
    const tree = await db.tree('t', { keyEncoding: 'utf8', valueEncoding: 'json' });
    for (let i = 0; i < 25; i += 1) {
      await db.transaction(async (txn) => {
        await txn.put(tree, 'n', await txn.getForUpdate(tree, 'n') + 1);
      }, { retries: 1000 });
    }
    parentPort.postMessage('done');`;
  const all = await Promise.all([0, 1, 2].map(() => inWorker(code, db.share())));
  assert.deepEqual(all.map(({ status, last }) => [status, last]), Array(3).fill([0, 'done']));
  assert.equal(await tree.get('n'), 75);
  assert.throws(() => Database.attach(987654n), hawthorn.NotFoundError);
});

test('threads that end in the middle of calls leave the database usable', async (t) => {
  const db = await open(t, { lockTimeoutMs: 500 });
  const tree = await db.tree('t', text);
  const holder = await db.begin({ mode: 'pessimistic' });
  await holder.put(tree, 'row', 'held');
  const code = `const db = Database.attach(workerData);
    const tree = await db.tree('t');
    const txn = await db.begin({ mode: 'pessimistic' });
    await txn.put(tree, 'other', 'x');
    for (let i = 0; i < 20; i += 1) {
      tree.put('row', 'w').catch(() => {});
      tree.put('k' + i, 'w').catch(() => {});
      txn.put(tree, 'x' + i, 'y').catch(() => {});
    }
    parentPort.postMessage('begun');
    setInterval(() => {}, 1000);`;
  for (let round = 0; round < 3; round += 1) {
    const ended = inWorker(code, db.share());
    const worker = inWorker.last;
    await new Promise((begun) => { worker.once('message', begun); });
    await worker.terminate();
    await ended;
  }
  await holder.commit();
  // When the transactions of the ended threads have gone.
  await until(() => tree.put('other', 'free').then(() => true, (error) => {
    assert.ok(error instanceof hawthorn.TimedOutError, String(error));
    return false;
  }));
  assert.equal(await tree.get('other'), 'free');
  await db.close();
});

test('closing by force closes what calls under way are making', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const made = [tree.cursor(), db.begin(), db.begin({ mode: 'exclusive' }), tree.cursor()];
  await db.close({ force: true });
  for (const one of made) {
    const object = await one;
    if (object.commit) await assert.rejects(object.commit(), hawthorn.ClosedError);
    else await assert.rejects(object.first(), hawthorn.ClosedError);
  }
});

test('a process ends by itself when nothing is under way', async (t) => {
  const where = directory(t);
  const code = `const { Database } = require(${packagePath});
    Database.open(${JSON.stringify(where)}, { memoryBudgetBytes: '32M', onEvent() {} })
      .then(async (db) => { const tree = await db.tree('t'); await tree.put('a', 'b'); });`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'inherit' });
  const ended = await Promise.race([
    new Promise((resolve) => { child.on('exit', resolve); }),
    new Promise((resolve) => { setTimeout(resolve, 240_000, 'still there').unref(); }),
  ]);
  if (ended === 'still there') child.kill('SIGKILL');
  assert.equal(ended, 0);
  const db = await Database.open(where, { memoryBudgetBytes: '32M' });
  assert.equal((await (await db.findTree('t', text)).get('a')), 'b');
  await db.close();
});
