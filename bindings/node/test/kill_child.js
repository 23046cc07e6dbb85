'use strict';
// Writes numbers until it is killed, and says of each that it was acknowledged.

const { writeSync } = require('node:fs');
const { Database } = require('..');

(async () => {
  const db = await Database.open(process.argv[2], { memoryBudgetBytes: '32M' });
  const tree = await db.tree('t', { keyEncoding: 'utf8', valueEncoding: 'json' });
  const durability = process.argv[3];
  for (let i = 0; ; i += 1) {
    await db.transaction(async (txn) => {
      await txn.put(tree, `a${i}`, i);
      await txn.put(tree, `b${i}`, i);
    }, { durability });
    writeSync(1, `${i}\n`);
  }
})();
