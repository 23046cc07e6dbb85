'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const hawthorn = require('..');
const { directory, open, text, until } = require('./helpers');

const { Database, encodeUint64, decodeUint64 } = hawthorn;

test('puts, gets and deletes, at once and by promises', async (t) => {
  const db = await open(t);
  const tree = await db.tree('users', text);
  await tree.put('ada', '1815');
  tree.putSync('grace', '1906');
  assert.equal(tree.getSync('ada'), '1815');
  assert.equal(await tree.get('grace'), '1906');
  assert.equal(await tree.get('nobody'), undefined);
  assert.equal(await tree.has('ada'), true);
  assert.equal(await tree.has('nobody'), false);
  await tree.del('ada');
  await tree.del('nobody');
  assert.equal(tree.hasSync('ada'), false);
  assert.equal(tree.countSync(), 1);
  assert.equal(await tree.getInMemory('grace'), '1906');
});

test('keys and values are bytes of any kind', async (t) => {
  const db = await open(t);
  const tree = await db.tree('bytes');
  const key = Buffer.from([0, 255, 0]);
  await tree.put(key, new Uint8Array(0));
  await tree.put(new Uint8Array([1, 2, 3, 4]).subarray(1, 3), new Uint8Array([9]).buffer);
  assert.deepEqual(await tree.get(key), Buffer.alloc(0));
  assert.deepEqual(await tree.get(Buffer.from([2, 3])), Buffer.from([9]));
  await tree.put('schlüssel', Buffer.alloc(300000, 7));
  assert.deepEqual(tree.getSync('schlüssel'), Buffer.alloc(300000, 7));
});

test('encodings: JSON, numbers, and own ones', async (t) => {
  const db = await open(t);
  const json = await db.tree('json', { keyEncoding: 'utf8', valueEncoding: 'json' });
  await json.put('a', { b: [1, null] });
  assert.deepEqual(await json.get('a'), { b: [1, null] });
  assert.deepEqual(await json.multiGet(['x', 'a']), [undefined, { b: [1, null] }]);
  await assert.rejects(json.put('a', undefined), { code: 'INVALID_ARGUMENT' });
  const numbers = await db.tree('numbers', { order: 'uint64', keyEncoding: 'uint64' });
  for (const n of [300n, 2n, 70000n]) await numbers.put(n, 'x');
  assert.deepEqual(await numbers.keys().toArray(), [2n, 300n, 70000n]);
  const upper = { encode: (s) => s.toUpperCase(), decode: (b) => b.toString().toLowerCase() };
  const own = json.withEncoding({ key: upper, value: 'buffer' });
  await own.put('q', 'r');
  assert.deepEqual(await own.keys({ gte: 'q', lt: 'r' }).toArray(), ['q']);
  assert.equal(decodeUint64(encodeUint64(2n ** 64n - 1n)), 2n ** 64n - 1n);
});

test('many keys at once', async (t) => {
  const db = await open(t);
  const tree = await db.tree('many', text);
  const keys = [];
  for (let i = 0; i < 500; i += 1) {
    keys.push(`key${i}`);
    if (i % 3 !== 0) tree.putSync(`key${i}`, `value${i}`);
  }
  const values = await tree.multiGet(keys);
  values.forEach((value, i) => assert.equal(value, i % 3 === 0 ? undefined : `value${i}`));
  assert.deepEqual(tree.multiGetSync([]), []);
  const snapshot = db.snapshot();
  await tree.del('key1');
  assert.deepEqual(await tree.multiGet(['key1'], { snapshot }), ['value1']);
  assert.deepEqual(await tree.multiGet(['key1']), [undefined]);
  snapshot.close();
});

test('compare and set', async (t) => {
  const db = await open(t);
  const tree = await db.tree('cas', text);
  assert.equal(await tree.insert('a', '1'), true);
  assert.equal(await tree.insert('a', '2'), false);
  assert.equal(await tree.update('b', '1'), false);
  assert.equal(tree.updateSync('a', '2'), true);
  assert.equal(await tree.replace('a', '1', '3'), false);
  assert.equal(await tree.replace('a', '2', '3'), true);
  assert.equal(await tree.replace('c', undefined, 'new'), true);
  assert.equal(await tree.removeIf('a', '2'), false);
  assert.equal(await tree.removeIf('a', '3'), true);
  assert.deepEqual(await tree.range().toArray(), [['c', 'new']]);
});

test('merge operators of the library', async (t) => {
  const db = await open(t, { mergeOperators: ['uint64_add', 'append:,'] });
  const counters = await db.tree('counters', { mergeOperator: 'uint64_add' });
  for (let i = 0; i < 5; i += 1) await counters.merge('visits', encodeUint64(3));
  assert.equal(decodeUint64(await counters.get('visits')), 15n);
  const lists = await db.tree('lists', { mergeOperator: 'append:,', valueEncoding: 'utf8' });
  await lists.merge('l', 'a');
  await lists.merge('l', 'b');
  assert.equal(await lists.get('l'), 'a,b');
  await assert.rejects(lists.setMergeOperator('uint64_add'), { code: 'INVALID_ARGUMENT' });
});

test('ranges are deleted, counted and estimated', async (t) => {
  const db = await open(t);
  const tree = await db.tree('ranges', text);
  for (let i = 10; i < 60; i += 1) tree.putSync(`k${i}`, 'v');
  assert.equal(await tree.count({ gte: 'k20', lt: 'k30' }), 10);
  await tree.deleteRange({ gte: 'k20', lt: 'k50' });
  assert.equal(await tree.count(), 20);
  await tree.deleteRange({ gte: 'k55' });
  assert.equal(await tree.count(), 15);
  const about = await tree.estimate();
  assert.equal(typeof about.entries, 'number');
  assert.equal((await tree.explain('k10')).found, true);
  assert.equal((await tree.explain('k25')).found, false);
});

test('entries end', async (t) => {
  const ended = [];
  const db = await open(t, { onExpiry: (what) => ended.push(what) });
  const tree = await db.tree('sessions', { expires: true, ttlMs: 3_600_000, ...text });
  const before = Date.now();
  await tree.put('default', 'x');
  await tree.put('never', 'x', { neverExpires: true });
  await tree.put('at', 'x', { expiresAt: new Date(before + 5_000_000) });
  await tree.put('soon', 'x', { expiresIn: 1 });
  assert.ok(await tree.expiresAt('default') >= before + 3_600_000);
  assert.equal(await tree.expiresAt('never'), 0);
  assert.equal(await tree.expiresAt('at'), before + 5_000_000);
  assert.equal(await tree.expiresAt('nobody'), undefined);
  await until(async () => await tree.get('soon') === undefined);
  assert.equal(await tree.count(), 3);
});

test('several values to a key', async (t) => {
  const db = await open(t);
  const edges = await db.tree('edges', { multiValue: true, ...text });
  for (const to of ['3', '1', '2']) await edges.put('a', to);
  await edges.put('b', '9');
  await edges.delValue('a', '2');
  assert.deepEqual(await edges.range().toArray(), [['a', '1'], ['a', '3'], ['b', '9']]);
  const cursor = await edges.cursor();
  assert.deepEqual(await cursor.first(), ['a', '1']);
  assert.equal((await cursor.entryInfo({ countValues: true })).values, 2);
  assert.deepEqual(await cursor.nextKey(), ['b', '9']);
  assert.deepEqual(await cursor.seekValue('a', '2'), ['a', '3']);
  assert.equal(await cursor.nextValue(), undefined);
  cursor.close();
});

test('trees: made, found, renamed, cloned, dropped; their options', async (t) => {
  const db = await open(t);
  const tree = await db.tree('first', { order: 'reverse', compression: 'lz4', ...text });
  await tree.put('a', '1');
  await tree.put('b', '2');
  assert.deepEqual(await tree.keys().toArray(), ['b', 'a']);
  assert.equal((await tree.options()).order, 'reverse');
  assert.ok(tree.id > 0);
  await db.renameTree('first', 'second');
  await assert.rejects(db.findTree('first'), hawthorn.NotFoundError);
  assert.equal(await (await db.findTree('second', text)).get('a'), '1');
  const clone = await db.cloneTree('second', 'third', text);
  await clone.put('c', '3');
  assert.equal(await clone.count(), 3);
  assert.equal(await tree.count(), 2);
  assert.deepEqual((await db.listTrees()).sort(), ['second', 'third']);
  await db.dropTree('third');
  assert.deepEqual(db.listTreesSync(), ['second']);
  await assert.rejects(db.tree('second', { order: 'bytewise', multiValue: true }),
    hawthorn.InvalidArgumentError);
  await assert.rejects(tree.range({ lte: 'a' }).toArray(), hawthorn.NotSupportedError);
});

test('trees as values', async (t) => {
  const db = await open(t);
  const parent = await db.tree('parent', { subtrees: true, keyEncoding: 'utf8' });
  const child = await parent.createSubtree('one', text);
  await child.put('k', 'v');
  assert.equal(await (await parent.subtree('one', text)).get('k'), 'v');
  assert.deepEqual(await parent.listSubtrees(), ['one']);
  await parent.moveSubtree('one', parent, 'two');
  assert.deepEqual(await parent.listSubtrees(), ['two']);
  const copy = await parent.cloneSubtree('two', 'copy', text);
  assert.equal(await copy.get('k'), 'v');
  await parent.detach('two', 'free');
  assert.deepEqual(await parent.listSubtrees(), []);
  await parent.attach('three', 'free');
  assert.deepEqual(await parent.listSubtrees(), ['three']);
});

test('batches are written whole, or not at all', async (t) => {
  const db = await open(t);
  const tree = await db.tree('batch', text);
  await tree.put('old', 'x');
  const batch = db.batch().put(tree, 'a', '1').put(tree, 'b', '2').del(tree, 'old');
  assert.equal(batch.count, 3);
  assert.ok(batch.bytes > 0);
  await db.write(batch, { durability: 'async' });
  assert.deepEqual(await tree.range().toArray(), [['a', '1'], ['b', '2']]);
  batch.clear().deleteRange(tree, { gte: 'b' });
  db.writeSync(batch);
  assert.deepEqual(await tree.keys().toArray(), ['a']);
  batch.clear().putColumns(tree, {
    keyBytes: Buffer.from('xyy'),
    keyOffsets: BigInt64Array.from([0n, 1n, 3n]),
    valueBytes: Buffer.from('12'),
    valueOffsets: BigInt64Array.from([0n, 1n, 2n]),
  });
  await db.write(batch);
  assert.deepEqual(await tree.range({ gte: 'x' }).toArray(), [['x', '1'], ['yy', '2']]);
});

test('snapshots, also with names', async (t) => {
  const db = await open(t);
  const tree = await db.tree('snap', text);
  await tree.put('a', '1');
  const before = db.snapshot();
  await db.createSnapshot('kept');
  await tree.put('a', '2');
  assert.equal(await tree.get('a', { snapshot: before }), '1');
  assert.equal(await tree.changedSince('a', before), true);
  assert.ok(typeof before.timestamp === 'bigint' && before.nowMs >= 0);
  const kept = await db.openSnapshot('kept');
  assert.deepEqual(await tree.range({ snapshot: kept }).toArray(), [['a', '1']]);
  assert.equal((await db.listSnapshots())[0].name, 'kept');
  kept.close();
  await db.dropSnapshot('kept');
  await assert.rejects(db.openSnapshot('kept'), hawthorn.NotFoundError);
  before.close();
  assert.throws(() => tree.getSync('a', { snapshot: before }), hawthorn.ClosedError);
});

test('values by parts', async (t) => {
  const db = await open(t);
  const tree = await db.tree('parts');
  await tree.put('v', 'hello world');
  assert.equal((await tree.readPart('v', 6, 5)).toString(), 'world');
  assert.equal(await tree.readPart('nobody', 0, 5), undefined);
  await tree.writePart('v', 0, 'HELLO');
  assert.equal(await tree.append('v', '!'), 11);
  assert.equal(await tree.sizeOf('v'), 12);
  await tree.resize('v', 5);
  assert.equal((await tree.get('v')).toString(), 'HELLO');
  const large = Buffer.alloc(1_500_000, 'abcdefghijk');
  await tree.put('large', large);
  const pieces = [];
  for await (const piece of tree.readStream('large')) pieces.push(piece);
  assert.ok(pieces.length > 3);
  assert.ok(Buffer.concat(pieces).equals(large));
});

test('options by their names', async (t) => {
  const where = directory(t);
  await assert.rejects(Database.open(where, { createIfMissing: false }), hawthorn.NotFoundError);
  await assert.rejects(Database.open(where, { noSuchOption: 1 }), hawthorn.HawthornError);
  await assert.rejects(Database.open(where, { memoryBudgetBytes: 'much' }),
    hawthorn.InvalidArgumentError);
  await assert.rejects(Database.open(where, { keyOrders: 'x' }), hawthorn.NotSupportedError);
  const add = (key, old, operands) => operands.at(-1);
  for (const refused of [{ mergeOperators: add }, { mergeOperators: ['max', add] },
    { mergeOperators: { name: 'add', merge: add } }, { keyOrders: [add] }, { flushFilters: add }]) {
    await assert.rejects(Database.open(where, refused), (error) => (
      error instanceof hawthorn.NotSupportedError && /JavaScript/.test(error.message)));
  }
  assert.ok(hawthorn.optionNames.includes('memory_budget_bytes'));
  const db = await Database.open(where, {
    memory_budget_bytes: 33554432, durability: 'async', compression: 'zstd', fileMode: 0o640,
    lockTimeoutMs: 50, spaceTarget: 1.2, ioMode: 'buffered',
  });
  assert.equal(db.path, where);
  assert.match(await db.id(), /^[0-9a-f]{32}$/);
  await assert.rejects(db.tree('t', { mergeOperator: add }), hawthorn.NotSupportedError);
  await assert.rejects(db.tree('t', { order: add }), hawthorn.NotSupportedError);
  const tree = await db.tree('t');
  await assert.rejects(tree.setMergeOperator(add), hawthorn.NotSupportedError);
  assert.throws(() => tree.setMergeOperatorSync(add), hawthorn.NotSupportedError);
  await db.close();
  const fs = require('node:fs');
  assert.equal(fs.readdirSync(where).some((file) => (
    (fs.statSync(`${where}/${file}`).mode & 0o777) === 0o640)), true);
  await Database.destroy(where);
  await assert.rejects(Database.destroy(where), hawthorn.NotFoundError);
});

test('encryption', async (t) => {
  const where = directory(t);
  const key = hawthorn.generateKey();
  const options = { memoryBudgetBytes: '32M', encryption: { keyId: 'main', key } };
  const db = await Database.open(where, options);
  const tree = await db.tree('secret', text);
  await tree.put('a', 'b');
  assert.equal((await db.encryption()).encrypted, true);
  await db.rotateDataKey();
  await db.close();
  await assert.rejects(Database.open(where, { ...options, encryption: { keyId: 'main',
    key: hawthorn.generateKey() } }), hawthorn.HawthornError);
  const again = await Database.open(where, options);
  assert.equal(await (await again.tree('secret', text)).get('a'), 'b');
  await again.close();
});

test('figures, maintenance, what a database tells', async (t) => {
  const events = [];
  const commits = [];
  const logs = [];
  const where = directory(t);
  const db = await Database.open(where, {
    memoryBudgetBytes: '32M',
    onEvent: (event) => events.push(event),
    onCommit: (commit) => commits.push(commit),
    log: (line) => logs.push(line),
  });
  const tree = await db.tree('t', text);
  await tree.put('a', 'b');
  await db.sync();
  await db.flush();
  await db.compact();
  await db.drain();
  await db.warmUp();
  await db.setMemoryBudget(40 * 1024 * 1024);
  await db.setBackgroundIoLimit(0);
  const stats = await db.stats();
  assert.ok(stats.commits >= 1);
  assert.ok(Array.isArray(stats.trees));
  assert.ok(await db.stat('commits') >= 1);
  await assert.rejects(db.stat('nothing'), hawthorn.NotFoundError);
  const report = await db.check();
  assert.equal(report.ok, true);
  await db.close();
  await until(() => events.some(({ event }) => event === 'flush_completed'));
  assert.ok(commits.some(({ operations, outcome }) => operations === 1 && outcome === 'OK'),
    JSON.stringify(commits, (k, v) => (typeof v === 'bigint' ? String(v) : v)));
  assert.equal((await Database.readCounters(where)).closed, true);
});
