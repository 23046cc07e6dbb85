'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const hawthorn = require('..');
const { open, generator, text } = require('./helpers');

const { Columns } = hawthorn;

test('ranges against a sorted model, with random operations', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const seed = Number(process.env.HAWTHORN_SEED ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}`);
  const random = generator(seed);
  const model = new Map();
  const key = () => `k${String(random() % 3000).padStart(4, '0')}`.slice(0, 3 + (random() % 3));
  for (let round = 0; round < 30; round += 1) {
    for (let i = 0; i < 150; i += 1) {
      const k = key();
      if (random() % 3 === 0) {
        await tree.del(k);
        model.delete(k);
      } else {
        tree.putSync(k, `v${round}.${i}`);
        model.set(k, `v${round}.${i}`);
      }
    }
    if (round % 10 === 9) await db.flush();
    const sorted = [...model.keys()].sort();
    for (let i = 0; i < 20; i += 1) {
      const range = { reverse: random() % 2 === 0 };
      if (random() % 4 === 0) {
        range.prefix = key();
      } else {
        if (random() % 2) range[random() % 2 ? 'gte' : 'gt'] = key();
        if (random() % 2) range[random() % 2 ? 'lte' : 'lt'] = key();
      }
      if (random() % 3 === 0) range.limit = random() % 100;
      let expected = sorted.filter((k) => (range.gte === undefined || k >= range.gte)
        && (range.gt === undefined || k > range.gt) && (range.lte === undefined || k <= range.lte)
        && (range.lt === undefined || k < range.lt)
        && (range.prefix === undefined || k.startsWith(range.prefix)));
      if (range.reverse) expected.reverse();
      expected = expected.slice(0, range.limit);
      const what = JSON.stringify(range);
      assert.deepEqual(await tree.range(range).toArray(),
        expected.map((k) => [k, model.get(k)]), what);
      assert.deepEqual([...tree.keysSync(range)], expected, what);
      assert.deepEqual(tree.valuesSync(range).toArray(), expected.map((k) => model.get(k)), what);
    }
    assert.equal(await tree.count(), model.size);
  }
});

test('an iterator that is left lets go of its cursor', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  for (let i = 0; i < 5000; i += 1) tree.putSync(`k${i}`, 'v');
  let seen = 0;
  for await (const [key] of tree.range()) {
    assert.ok(key.startsWith('k'));
    seen += 1;
    if (seen === 3000) break;
  }
  for (const key of tree.keysSync()) {
    assert.ok(key);
    break;
  }
  await db.close(); // would be BUSY
});

test('an iterator shows one state, and may be asked ahead', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  for (let i = 100; i < 400; i += 1) tree.putSync(`k${i}`, 'v');
  const range = tree.keys();
  const first = await range.next();
  await tree.deleteRange({});
  const rest = await Promise.all(Array.from({ length: 300 }, () => range.next()));
  const keys = [first, ...rest].filter((one) => !one.done).map((one) => one.value);
  assert.deepEqual(keys, Array.from({ length: 300 }, (_, i) => `k${i + 100}`));
  assert.equal(rest.at(-1).done, true);
  assert.deepEqual(await range.return(7), { value: 7, done: true });
});

test('large entries do not stop a walk', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t');
  await tree.put('a', Buffer.alloc(3_000_000, 1));
  await tree.put(Buffer.alloc(60_000, 'b'), 'x');
  await tree.put('c', Buffer.alloc(3_000_000, 2));
  const sizes = [];
  for await (const [key, value] of tree.range()) sizes.push([key.length, value.length]);
  assert.deepEqual(sizes, [[1, 3_000_000], [60_000, 1], [1, 3_000_000]]);
});

test('cursors go where they are sent', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  for (const key of ['b', 'd', 'f', 'h']) tree.putSync(key, key.toUpperCase());
  const cursor = await tree.cursor({ gte: 'b', lt: 'h' });
  assert.deepEqual(await cursor.first(), ['b', 'B']);
  assert.deepEqual(cursor.nextSync(), ['d', 'D']);
  assert.deepEqual(await cursor.last(), ['f', 'F']);
  assert.equal(await cursor.next(), undefined);
  assert.deepEqual(await cursor.seek('c'), ['d', 'D']);
  assert.deepEqual(await cursor.seekForPrev('c'), ['b', 'B']);
  assert.deepEqual(await cursor.skip(2), ['f', 'F']);
  assert.deepEqual(await cursor.skip(-1), ['d', 'D']);
  assert.deepEqual(await cursor.prev(), ['b', 'B']);
  assert.ok(['b', 'd', 'f'].includes((await cursor.seekRandom(12345))[0]));
  assert.equal((await cursor.entryInfo()).isSubtree, false);
  cursor.close();
  const keys = await tree.cursor({ keysOnly: true });
  assert.deepEqual(await keys.first(), ['b', undefined]);
  keys.close();
});

test('columns: both directions, answers to many keys, too little room', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t');
  for (let i = 100; i < 350; i += 1) tree.putSync(`k${i}`, `value${i}`);
  const columns = new Columns({ rows: 100, keyBytes: 300, valueBytes: 1000 });
  for (const direction of ['next', 'prev']) {
    const cursor = await tree.cursor();
    await (direction === 'next' ? cursor.first() : cursor.last());
    const keys = [];
    while (await cursor[`${direction}Columns`](columns) > 0) {
      for (let row = 0; row < columns.rows; row += 1) {
        keys.push(columns.key(row).toString());
        assert.equal(columns.value(row).toString(), `value${keys.at(-1).slice(1)}`);
      }
      assert.ok(columns.keyOffsets instanceof BigInt64Array);
    }
    if (direction === 'prev') keys.reverse();
    assert.deepEqual(keys, Array.from({ length: 250 }, (_, i) => `k${i + 100}`));
    cursor.close();
  }
  const offsets = BigInt64Array.from([0n, 4n, 8n, 12n]);
  assert.equal(await tree.multiGetColumns({ bytes: 'k100nonek349', offsets }, columns), 3);
  assert.deepEqual([...columns.found.subarray(0, 3)], [1, 0, 1]);
  assert.equal(columns.value(2).toString(), 'value349');
  const one = { bytes: 'k100', offsets: offsets.slice(0, 2) };
  assert.equal(tree.multiGetColumnsSync(one, columns), 1);
  await assert.rejects(tree.multiGetColumns({ bytes: 'k1', offsets }, columns),
    hawthorn.InvalidArgumentError);
  const tiny = new Columns({ rows: 10, keyBytes: 2, valueBytes: 2 });
  const cursor = await tree.cursor();
  await cursor.first();
  await assert.rejects(cursor.nextColumns(tiny), (error) => (
    error instanceof hawthorn.BufferTooSmallError && error.keyBytesNeeded >= 4
    && error.valueBytesNeeded >= 8));
  assert.ok(await cursor.nextColumns(columns) > 0);
  const pending = cursor.nextColumns(columns);
  await assert.rejects(cursor.nextColumns(columns), hawthorn.BusyError);
  assert.throws(() => columns.key(0), hawthorn.BusyError);
  await pending;
  cursor.close();
});

test('walks in columns', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', { keyEncoding: 'utf8' });
  for (let i = 100; i < 350; i += 1) tree.putSync(`k${i}`, `value${i}`);
  tree.putSync('large', Buffer.alloc(5000, 'x'));
  const read = async (at, ...args) => {
    const keys = [];
    for await (const columns of at.columns(...args)) {
      assert.ok(columns instanceof Columns);
      for (let row = 0; row < columns.rows; row += 1) {
        const key = columns.key(row).toString();
        const value = key === 'large' ? 'x'.repeat(5000) : `value${key.slice(1)}`;
        assert.equal(columns.value(row).toString(), value);
        keys.push(key);
      }
    }
    return keys;
  };
  const small = { rows: 7, keyBytes: 60, valueBytes: 200 };
  const all = await tree.keys().toArray();
  assert.equal(all.length, 251);
  assert.deepEqual(await read(tree), all);
  assert.deepEqual(await read(tree, small), all); // `large` makes them grow
  assert.deepEqual(await read(tree, { ...small, reverse: true }), [...all].reverse());
  assert.deepEqual(await read(tree, { ...small, gte: 'k120', lte: 'k140' }), all.slice(20, 41));
  assert.deepEqual(await read(tree, { prefix: 'k20' }), all.slice(100, 110));
  assert.deepEqual(await read(tree, { gte: 'zzz' }), []);
  const snapshot = await db.snapshot();
  await db.transaction(async (txn) => {
    await txn.put(tree, 'k351', 'value351');
    assert.equal((await read(txn, tree, small)).length, 252);
  });
  assert.deepEqual(await read(tree, { ...small, snapshot }), all);
  snapshot.close();
  await assert.rejects(tree.columns({ limit: 3 }).next(), hawthorn.NotSupportedError);
  await assert.rejects(tree.columns({ gt: 'a' }).next(), hawthorn.NotSupportedError);
  await assert.rejects(tree.columns({ lower: 'a' }).next(), hawthorn.InvalidArgumentError);
  for await (const columns of tree.columns(small)) {
    assert.equal(columns.rows, 7);
    break; // frees its cursor: the database closes
  }
  await db.close();
});

test('a value that no walk shows ends it with an error', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  await tree.put('a', '1');
  await tree.resize('z', (64 << 20) + 1);
  for (const options of [{}, { reverse: true }]) {
    await assert.rejects(tree.range(options).toArray(), hawthorn.NotSupportedError);
    await assert.rejects(tree.values(options).toArray(), hawthorn.NotSupportedError);
    assert.throws(() => [...tree.rangeSync(options)], hawthorn.NotSupportedError);
    await assert.rejects(async () => {
      for await (const columns of tree.columns(options)) assert.equal(columns.rows, 1);
    }, hawthorn.NotSupportedError);
  }
  const cursor = await tree.cursor();
  await assert.rejects(cursor.last(), hawthorn.NotSupportedError);
  await assert.rejects(cursor.seek('b'), hawthorn.NotSupportedError);
  cursor.close();
  assert.deepEqual(await tree.keys().toArray(), ['a', 'z']);
  await db.close();
});
