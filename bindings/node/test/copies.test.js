'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const hawthorn = require('..');
const { directory, open, text } = require('./helpers');

const { Database, Repository, Follower } = hawthorn;
const small = { memoryBudgetBytes: '32M' };

async function filled(t) {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const batch = db.batch();
  for (let i = 0; i < 2000; i += 1) batch.put(tree, `k${i}`, `v${i}`);
  await db.write(batch);
  return { db, tree };
}

async function holds(path, count) {
  const db = await Database.open(path, small);
  const tree = await db.findTree('t', text);
  assert.equal(await tree.count(), count);
  assert.equal(await tree.get('k1999'), 'v1999');
  await db.close();
}

test('checkpoints are databases', async (t) => {
  const { db, tree } = await filled(t);
  const target = directory(t);
  const told = [];
  await db.checkpoint(target, { copyBlocks: true, onProgress: (bytes) => told.push(bytes) });
  await tree.put('later', 'x');
  await holds(target, 2000);
  await assert.rejects(db.checkpoint(target), hawthorn.HawthornError);
});

test('repositories of backups', async (t) => {
  const { db, tree } = await filled(t);
  const repository = await Repository.open(directory(t));
  const first = await db.backup(repository);
  await tree.put('k2000', 'x');
  const second = await db.backup(repository);
  assert.deepEqual((await repository.list()).map(({ id }) => id), [first.id, second.id]);
  await repository.verify(second.id);
  const target = directory(t);
  await repository.restore(first.id, target);
  await holds(target, 2000);
  await repository.remove(first.id);
  await assert.rejects(repository.restore(first.id, directory(t)), hawthorn.NotFoundError);
  repository.close();
  await assert.rejects(repository.list(), hawthorn.ClosedError);
});

test('backups by stream', async (t) => {
  const { db } = await filled(t);
  const pieces = [];
  const info = await db.backupTo(async (piece) => { pieces.push(piece); });
  assert.ok(info.bytes > 0 && pieces.length > 0);
  assert.equal((await hawthorn.verifyBackup(pieces)).id, info.id);
  const target = directory(t);
  await hawthorn.restoreBackup((async function* stream() { yield* pieces; }()), target);
  await holds(target, 2000);
  const broken = pieces.map((piece) => Buffer.from(piece));
  broken[0][Math.floor(broken[0].length / 2)] ^= 1;
  await assert.rejects(hawthorn.verifyBackup(broken), hawthorn.CorruptionError);
  await assert.rejects(db.backupTo(() => { throw new RangeError('full'); }), RangeError);
});

test('bulk loading, sorted or not', async (t) => {
  const db = await open(t);
  const tree = await db.tree('t', text);
  const sorted = await db.ingest(tree);
  for (let i = 100; i < 300; i += 1) await sorted.add(`a${i}`, 'v');
  await assert.rejects(sorted.add('a100', 'again'), hawthorn.InvalidArgumentError);
  sorted.close();
  const loose = await db.ingest(tree, { unsorted: true });
  loose.addSync('z', '1');
  await loose.add('b', '2');
  await loose.addColumns({
    keyBytes: Buffer.from('yx'),
    keyOffsets: BigInt64Array.from([0n, 1n, 2n]),
    valueBytes: Buffer.from('78'),
    valueOffsets: BigInt64Array.from([0n, 1n, 2n]),
  });
  await loose.addStream('streamed', 6, ['abc', Buffer.from('def')]);
  assert.equal(await tree.count(), 0);
  const stats = await loose.finish();
  assert.equal(stats.entries, 5);
  assert.deepEqual(await tree.range().toArray(),
    [['b', '2'], ['streamed', 'abcdef'], ['x', '8'], ['y', '7'], ['z', '1']]);
});

test('feeds tell what was committed, and replicas stay equal', async (t) => {
  const { db, tree } = await filled(t);
  await db.createFeed('changes');
  const target = await open(t);
  const replica = await target.replica();
  await replica.copy(db);
  const feed = await db.feed('changes');
  assert.equal(replica.sourceId, await db.id());
  assert.equal(feed.sourceId, replica.sourceId);
  const waiting = feed.nextPieces({ timeoutMs: 240_000 });
  const batch = db.batch().put(tree, 'new', 'x').del(tree, 'k0').deleteRange(tree, { gte: 'k5' });
  await db.write(batch);
  const commit = await waiting;
  await replica.apply(commit, { durability: 'async' });
  assert.equal(replica.position, commit.timestamp);
  const copy = await target.findTree('t', text);
  assert.deepEqual(await copy.keys().toArray(), await tree.keys().toArray());
  await feed.acknowledge(commit.timestamp);
  assert.equal(feed.position, commit.timestamp);
  await tree.put('k1', 'changed');
  await tree.del('k2');
  const seen = [];
  for await (const { changes } of feed.commits({ timeoutMs: 240_000 })) {
    for (const { type, tree: name, key, value } of changes) {
      seen.push([type, name, key.toString(), value?.toString()]);
    }
    if (seen.length >= 2) break;
  }
  assert.deepEqual(seen, [['put', 't', 'k1', 'changed'], ['delete', 't', 'k2', undefined]]);
  assert.equal((await db.listFeeds())[0].name, 'changes');
  await assert.rejects(db.dropFeed('changes'), hawthorn.BusyError);
  feed.close();
  replica.close();
  await db.dropFeed('changes');
});

test('followers read beside the process that writes', async (t) => {
  const { db, tree } = await filled(t);
  const follower = await Follower.open(db.path, small);
  const old = await follower.latest();
  await tree.put('new', 'x');
  const fresh = await follower.latest();
  assert.equal(await (await fresh.findTree('t', text)).get('new'), 'x');
  await assert.rejects((await fresh.findTree('t', text)).put('a', 'b'), hawthorn.HawthornError);
  await old.close();
  await fresh.close();
  follower.close();
});

test('damage is found, and what is readable is repaired', async (t) => {
  const { db } = await filled(t);
  await db.close();
  const target = directory(t);
  const told = [];
  const onProgress = (...numbers) => told.push(numbers);
  const report = await hawthorn.repair(db.path, target, { database: small, onProgress });
  assert.equal(report.ok, true);
  assert.ok(told.length > 0 && told.every(([done, all]) => done <= all));
  await holds(target, 2000);
});

test('checks tell what they have done', async (t) => {
  const { db } = await filled(t);
  await db.flush();
  const told = [];
  const report = await db.check({ onProgress: async (done, all) => told.push([done, all]) });
  assert.equal(report.ok, true);
  assert.ok(told.length > 0);
  const [done, all] = told.at(-1);
  assert.ok(all > 0 && done === all, `${done} of ${all}`);
  await assert.rejects(db.check({ onProgress: () => { throw new Error('mine'); } }), /mine/);
  await assert.rejects(db.check({ onProgress: 1 }), hawthorn.InvalidArgumentError);
  assert.throws(() => db.checkSync({ onProgress() {} }), hawthorn.NotSupportedError);
  assert.equal(db.checkSync().ok, true);
  await db.close();
});
