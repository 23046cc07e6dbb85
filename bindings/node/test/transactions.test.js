'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const hawthorn = require('..');
const { open, text } = require('./helpers');

const pause = (ms) => new Promise((wake) => { setTimeout(wake, ms); });

test('a transaction is seen whole, and what throws leaves nothing', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const result = await db.transaction(async (txn) => {
    await txn.put(tree, 'a', '1');
    await txn.put(tree, 'b', '2');
    assert.equal(await txn.get(tree, 'a'), '1');
    assert.equal(await tree.get('a'), undefined);
    assert.deepEqual(await txn.range(tree, { reverse: true }).toArray(), [['b', '2'], ['a', '1']]);
    assert.equal(await txn.count(tree), 2);
    return 'done';
  });
  assert.equal(result, 'done');
  assert.equal(await tree.count(), 2);
  await assert.rejects(db.transaction(async (txn) => {
    await txn.del(tree, 'a');
    throw new RangeError('no');
  }), RangeError);
  assert.equal(await tree.get('a'), '1');
  assert.equal(db.transactionSync((txn) => {
    txn.putSync(tree, 'c', '3');
    return txn.getSync(tree, 'c');
  }), '3');
  assert.throws(() => db.transactionSync(async () => {}), hawthorn.InvalidArgumentError);
});

test('of two that write a key one conflicts', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  await tree.put('n', '0');
  const first = await db.begin();
  const second = await db.begin();
  assert.equal(await first.get(tree, 'n'), '0');
  assert.equal(await second.get(tree, 'n'), '0');
  await first.put(tree, 'n', '1');
  await first.commit();
  await assert.rejects(async () => {
    await second.put(tree, 'n', '2');
    await second.commit();
  }, (error) => error instanceof hawthorn.ConflictError && error.code === 'CONFLICT'
    && error.retryable && error.errno === 8);
  await second.abort();
  assert.equal(await tree.get('n'), '1');
});

for (const mode of ['optimistic', 'pessimistic', 'exclusive']) {
  test(`concurrent ${mode} transactions lose no update`, async (t) => {
    const db = await open(t);
    const tree = await db.tree('t', { keyEncoding: 'utf8', valueEncoding: 'json' });
    await tree.put('n', 0);
    const add = () => db.transaction(async (txn) => {
      const n = await txn.getForUpdate(tree, 'n');
      await pause(Math.random());
      await txn.put(tree, 'n', n + 1);
    }, { mode, retries: 10000, lockTimeoutMs: 240_000 });
    await Promise.all(Array.from({ length: 40 }, add));
    assert.equal(await tree.get('n'), 40);
  });
}

test('many writers wait for a row without keeping its holder from going on', async (t) => {
  const db = await open(t, { lockTimeoutMs: 240_000 });
  const tree = await db.tree('t', text);
  const holder = await db.begin({ mode: 'pessimistic' });
  await holder.put(tree, 'row', 'held');
  const waiting = Array.from({ length: 100 }, (_, i) => tree.put('row', `w${i}`));
  await pause(50);
  assert.equal(await holder.get(tree, 'row'), 'held');
  await holder.commit();
  await Promise.all(waiting);
  assert.match(await tree.get('row'), /^w\d+$/);
});

test('locks: timeouts, and circles that are refused', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const a = await db.begin({ mode: 'pessimistic', lockTimeoutMs: 600_000 });
  const b = await db.begin({ mode: 'pessimistic', lockTimeoutMs: 600_000 });
  await a.lock(tree, 'x');
  await b.lock(tree, 'y', { lock: 'exclusive' });
  await assert.rejects(b.lock(tree, 'x', { timeoutMs: 10 }), hawthorn.TimedOutError);
  // Who is the second to wait is refused, and the other has its lock when that one has ended.
  const refused = [];
  const cross = async (txn, key) => {
    try {
      await txn.lock(tree, key);
    } catch (error) {
      refused.push(error);
    }
    await txn.abort();
  };
  await Promise.all([cross(a, 'y'), cross(b, 'x')]);
  assert.equal(refused.length, 1);
  assert.ok(refused[0] instanceof hawthorn.DeadlockError, String(refused[0]));
});

test('isolations: what is read again', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  await tree.put('k', '1');
  const snapshot = await db.begin();
  const committed = await db.begin({ isolation: 'readCommitted' });
  await tree.put('k', '2');
  assert.equal(await snapshot.get(tree, 'k'), '1');
  assert.equal(await committed.get(tree, 'k'), '2');
  await snapshot.abort();
  await committed.abort();
  const serial = await db.begin({ isolation: 'serializable' });
  await serial.get(tree, 'k');
  await serial.put(tree, 'other', 'x');
  await tree.put('k', '3');
  await assert.rejects(serial.commit(), hawthorn.ConflictError);
  const reader = await db.begin({ readOnly: true });
  await assert.rejects(reader.put(tree, 'k', 'x'), hawthorn.HawthornError);
  await reader.abort();
});

test('savepoints and nested transactions', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const txn = await db.begin();
  await txn.put(tree, 'a', '1');
  const point = await txn.savepoint();
  await txn.put(tree, 'b', '2');
  await txn.rollbackTo(point);
  await txn.release(point);
  await assert.rejects(txn.rollbackTo(point), hawthorn.InvalidArgumentError);
  const inner = await txn.begin();
  await inner.put(tree, 'c', '3');
  await assert.rejects(txn.put(tree, 'd', '4'), hawthorn.InvalidArgumentError);
  await inner.commit();
  const undone = await txn.begin();
  await undone.put(tree, 'e', '5');
  await undone.abort();
  assert.equal(await txn.isOpen(), true);
  await txn.commit({ durability: 'full' });
  assert.deepEqual(await tree.keys().toArray(), ['a', 'c']);
  assert.equal(await txn.isOpen(), false);
});

test('prepared transactions are ended by their ids', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  for (const id of ['yes', 'no']) {
    const txn = await db.begin();
    await txn.put(tree, id, 'x');
    await txn.prepare(id);
    txn.close();
  }
  assert.deepEqual((await db.prepared()).map((one) => one.id).sort(), ['no', 'yes']);
  await db.commitPrepared('yes');
  await db.rollbackPrepared('no');
  assert.deepEqual(await tree.keys().toArray(), ['yes']);
});

test('trees are made and dropped by transactions', async (t) => {
  const db = await open(t);
  await db.tree('old');
  const txn = await db.begin();
  const tree = await txn.tree('new', text);
  await txn.put(tree, 'a', '1');
  await txn.dropTree('old');
  assert.deepEqual(await txn.listTrees(), ['new']);
  assert.deepEqual(await db.listTrees(), ['old']);
  await txn.commit();
  assert.deepEqual(await db.listTrees(), ['new']);
  assert.equal(await tree.get('a'), '1');
});

test('calls for one transaction come one after the other', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  await db.transaction(async (txn) => {
    await Promise.all(Array.from({ length: 200 }, (_, i) => txn.put(tree, `k${i}`, 'v')));
    await Promise.all([txn.put(tree, 'last', '1'), txn.put(tree, 'last', '2'),
      txn.put(tree, 'last', '3')]);
  });
  assert.equal(await tree.count(), 201);
  assert.equal(await tree.get('last'), '3');
  const txn = await db.begin();
  const pending = txn.put(tree, 'x', '1');
  assert.throws(() => txn.putSync(tree, 'x', '2'), hawthorn.BusyError);
  await pending;
  await txn.abort();
});

test('values by pieces', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t');
  async function* pieces() {
    for (let i = 0; i < 30; i += 1) {
      await pause(0);
      yield Buffer.alloc(100_000, i);
    }
  }
  await db.transaction(async (txn) => {
    await txn.putStream(tree, 'large', 3_000_000, pieces());
    assert.equal(await txn.appendStream(tree, 'large', 5, ['he', 'llo']), 3_000_000);
    await txn.writePartStream(tree, 'large', 0, 2, [Buffer.from('ab')]);
  });
  assert.equal(await tree.sizeOf('large'), 3_000_005);
  assert.equal((await tree.readPart('large', 0, 3)).toString('latin1'), 'ab\0');
  assert.equal((await tree.readPart('large', 2_999_999, 9)).toString('latin1'), '\u001dhello');
  await assert.rejects(db.transaction((txn) => txn.putStream(tree, 'bad', 10, (function* fails() {
    yield 'abc';
    throw new SyntaxError('broken source');
  }()))), SyntaxError);
  assert.equal(await tree.has('bad'), false);
});
