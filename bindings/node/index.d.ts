// Types and documentation of the package `hawthorn`.
//
// What holds for all: methods return promises and run on other threads; those with `Sync` behind
// their names block the thread, and throw what the promises would reject with. Errors are
// HawthornErrors. Keys and values are strings (UTF-8) or bytes, and come back as Buffers unless the
// tree has encodings. Buffers that come from many-at-once calls (multiGet, range) are parts of one
// buffer: who keeps a few of them for long copies them.
//
// Objects belong to the thread of JavaScript that made them; `Database.share` gives a database to
// others. Database, Tree and Snapshot may be used by any number of calls at a time; the calls of a
// Transaction with its cursors, of a Cursor, Ingest, Feed or Replica are put in line. What is not
// closed is freed by the garbage collector. Use after close is a ClosedError.

export * from './types/options';
export * from './types/tree';
export * from './types/transaction';
export * from './types/database';
export * from './types/copies';
export * from './types/errors';
