'use strict';
// Rates of reads in columns and as objects: node bench.js DIR [entries]. Makes DIR if it is not
// there: 1,000,000 entries with keys of 16 bytes and values of 100. Each result is checked by count
// and total bytes.

const { Database, Columns } = require('..');

const entries = Number(process.argv[3] ?? 1000000);
const batchKeys = 1000;
const valueSize = 100;
const digits = Buffer.from('0123456789abcdef');

// A product of 64 bits by halves of 32, and within them by 16: no BigInt where keys are made.
class Mixer {
  constructor() {
    this.high = 0;
    this.low = 0;
  }

  multiply(high, lowPart) {
    const a = this.low;
    const b = lowPart;
    const a0 = a & 0xffff;
    const a1 = a >>> 16;
    const b0 = b & 0xffff;
    const b1 = b >>> 16;
    const p00 = a0 * b0;
    const p01 = a0 * b1;
    const p10 = a1 * b0;
    const middle = (p00 >>> 16) + (p01 & 0xffff) + (p10 & 0xffff);
    const carried = (a1 * b1) + Math.floor(p01 / 65536) + Math.floor(p10 / 65536) + (middle >>> 16);
    this.high = (carried + Math.imul(this.high, b) + Math.imul(a, high)) >>> 0;
    this.low = (((middle & 0xffff) << 16) | (p00 & 0xffff)) >>> 0;
  }

  shift(bits) {
    const l = ((this.low >>> bits) | (this.high << (32 - bits))) >>> 0;
    const h = this.high >>> bits;
    this.low = (this.low ^ l) >>> 0;
    this.high = (this.high ^ h) >>> 0;
  }

  // splitmix64 of a number.
  mix(high, lowPart) {
    const sum = lowPart + 0x7f4a7c15;
    this.low = sum >>> 0;
    this.high = (high + 0x9e3779b9 + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    this.shift(30);
    this.multiply(0xbf58476d, 0x1ce4e5b9);
    this.shift(27);
    this.multiply(0x94d049bb, 0x133111eb);
    this.shift(31);
  }

  // What is left of the number by `by`, which is below 2 ** 21.
  rest(by) {
    return ((this.high % by) * (4294967296 % by) + this.low) % by;
  }
}
const mixer = new Mixer();

function makeKey(i, to, at) {
  mixer.mix(0, i);
  for (let d = 0; d < 8; d += 1) to[at + d] = digits[(mixer.high >>> (28 - 4 * d)) & 15];
  for (let d = 0; d < 8; d += 1) to[at + 8 + d] = digits[(mixer.low >>> (28 - 4 * d)) & 15];
}

function check(truth, what) {
  if (!truth) throw new Error(`the benchmark got a wrong ${what}`);
}

const seconds = () => Number(process.hrtime.bigint()) / 1e9;
let random = 1;
function randomKeys(to) {
  for (let i = 0; i < batchKeys; i += 1) {
    mixer.mix(0, random);
    random += 1;
    makeKey(mixer.rest(entries), to, i * 16);
  }
}

async function load(db, tree) {
  const key = Buffer.alloc(16);
  const value = Buffer.alloc(valueSize, 'v');
  for (let i = 0; i < entries; i += batchKeys) {
    const batch = db.batch();
    for (let k = i; k < Math.min(i + batchKeys, entries); k += 1) {
      makeKey(k, key, 0);
      key.copy(value);
      batch.put(tree, key, value);
    }
    await db.write(batch, { durability: 'none' });
  }
  await db.flush();
}

async function twice(name, work) {
  await work();
  const started = seconds();
  await work();
  console.log(`${name} ${Math.round(entries / (seconds() - started))}`);
}

async function main(directory) {
  const db = await Database.open(directory, { memoryBudgetBytes: '512M' });
  const tree = await db.tree('bench');
  const there = await tree.count();
  if (there === 0) await load(db, tree);
  check(await tree.count() === entries, 'number of entries');
  const columns = [new Columns(), new Columns()];
  const wanted = [Buffer.alloc(batchKeys * 16), Buffer.alloc(batchKeys * 16)];
  const offsets = new BigInt64Array(batchKeys + 1);
  for (let i = 0; i <= batchKeys; i += 1) offsets[i] = BigInt(i * 16);

  // A batch is on its way while the keys of the next one are made.
  await twice('multi_get_columns', async () => {
    let rows = 0;
    let bytes = 0;
    let pending;
    for (let b = 0; b < entries / batchKeys; b += 1) {
      const into = columns[b & 1];
      randomKeys(wanted[b & 1]);
      const next = tree.multiGetColumns({ bytes: wanted[b & 1], offsets }, into);
      if (pending !== undefined) {
        const got = await pending;
        rows += got;
        bytes += Number(columns[(b + 1) & 1].valueOffsets[got]);
      }
      pending = next;
    }
    const got = await pending;
    rows += got;
    bytes += Number(columns[(entries / batchKeys - 1) & 1].valueOffsets[got]);
    check(rows === entries && bytes === entries * valueSize, 'answer to many keys');
  });

  await twice('scan_columns', async () => {
    let rows = 0;
    let bytes = 0;
    const cursor = await tree.cursor();
    await cursor.first();
    let pending = cursor.nextColumns(columns[0]);
    for (let b = 0; ; b += 1) {
      const got = await pending;
      if (got === 0) break;
      pending = cursor.nextColumns(columns[(b + 1) & 1]);
      const { keyOffsets, valueOffsets } = columns[b & 1];
      rows += got;
      bytes += Number(keyOffsets[got]) + Number(valueOffsets[got]);
    }
    cursor.close();
    check(rows === entries && bytes === entries * (16 + valueSize), 'scan');
  });

  await twice('multi_get_objects', async () => {
    let rows = 0;
    let bytes = 0;
    for (let b = 0; b < entries / batchKeys; b += 1) {
      const all = Buffer.alloc(batchKeys * 16);
      randomKeys(all);
      const keys = [];
      for (let i = 0; i < batchKeys; i += 1) keys.push(all.subarray(i * 16, i * 16 + 16));
      for (const value of await tree.multiGet(keys)) {
        rows += 1;
        bytes += value.length;
      }
    }
    check(rows === entries && bytes === entries * valueSize, 'answer to many keys');
  });

  await twice('scan_objects', async () => {
    let rows = 0;
    let bytes = 0;
    for await (const [key, value] of tree.range()) {
      rows += 1;
      bytes += key.length + value.length;
    }
    check(rows === entries && bytes === entries * (16 + valueSize), 'scan');
  });

  await twice('scan_objects_sync', async () => {
    let rows = 0;
    let bytes = 0;
    for (const [key, value] of tree.rangeSync()) {
      rows += 1;
      bytes += key.length + value.length;
    }
    check(rows === entries && bytes === entries * (16 + valueSize), 'scan');
  });
  await db.close();
}

if (process.argv[2] === undefined) {
  console.error('usage: node bench.js DIR [entries]');
  process.exit(2);
}
main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
