// Compiled, not run: what programs in TypeScript write.

import { Columns, ConflictError, Database, HawthornError, Tree } from 'hawthorn';

async function main(): Promise<void> {
  const db: Database = await Database.open('db', { memoryBudgetBytes: '64M', onEvent() {} });
  const users = await db.tree<string, { born: number }>('users', {
    keyEncoding: 'utf8', valueEncoding: 'json',
  });
  await users.put('ada', { born: 1815 }, { durability: 'full' });
  const ada: { born: number } | undefined = await users.get('ada');
  const all: ({ born: number } | undefined)[] = await users.multiGet(['ada', 'grace']);
  for await (const [key, { born }] of users.range({ gte: 'a', reverse: true })) {
    console.log(key.toUpperCase(), born.toFixed());
  }
  for (const key of users.keysSync({ prefix: 'a' })) console.log(key.length);
  const sum: number = await db.transaction(async (txn) => {
    const found = await txn.getForUpdate(users, 'ada');
    await txn.put(users, 'ada', { born: (found?.born ?? 0) + 1 });
    return txn.count(users);
  }, { mode: 'pessimistic', retries: 3 });
  const columns = new Columns({ rows: 10 });
  for await (const turn of users.columns({ prefix: 'a', rows: 100 })) {
    const first: Buffer = turn.key(0);
    first.toString();
  }
  const cursor = await users.cursor({ snapshot: db.snapshot() });
  await cursor.first();
  const rows: number = await cursor.nextColumns(columns);
  const other: Tree<Buffer, Buffer> = users.withEncoding({});
  try {
    // @ts-expect-error: a value of this tree is an object with a number
    await users.put('grace', 'x');
    // @ts-expect-error: there is no such durability
    await other.put(Buffer.from('a'), Buffer.from('b'), { durability: 'very' });
  } catch (error) {
    if (error instanceof ConflictError && error.retryable) return;
    if (error instanceof HawthornError) console.log(error.code, error.errno, sum, rows, ada, all);
  }
  await db.close({ force: true });
}
void main();
