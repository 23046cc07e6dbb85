'use strict';
// What the tests share: directories that go away, databases, numbers that repeat.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Database } = require('..');

// What was made last is closed and removed first.
function after(t, undo) {
  if (t.undone === undefined) {
    const list = [];
    Object.defineProperty(t, 'undone', { value: list });
    t.after(async () => {
      for (const one of list.reverse()) await one();
    });
  }
  t.undone.push(undo);
}

function directory(t) {
  const made = fs.mkdtempSync(path.join(process.env.HAWTHORN_NODE_TMP ?? os.tmpdir(), 'hawthorn-'));
  after(t, () => fs.rmSync(made, { recursive: true, force: true }));
  return path.join(made, 'db');
}

async function open(t, options = {}) {
  const where = directory(t);
  const db = await Database.open(where, {
    memoryBudgetBytes: '32M', durability: 'none', ...options,
  });
  after(t, () => db.close({ force: true }).catch((error) => {
    if (error.code !== 'CLOSED') throw error;
  }));
  return db;
}

// Numbers from 0 to 2 ** 32, the same for the same seed.
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return (z ^ (z >>> 14)) >>> 0;
  };
}

// Looks again and again until it is so. No test says how long things take: the end is for hangs.
async function until(done) {
  const end = Date.now() + 240_000;
  while (!await done()) {
    if (Date.now() > end) throw new Error('it hangs');
    await new Promise((wake) => { setTimeout(wake, 5); });
  }
}

const text = { keyEncoding: 'utf8', valueEncoding: 'utf8' };

module.exports = { directory, open, generator, text, until };
