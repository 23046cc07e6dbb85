'use strict';
// What the package exports. index.d.ts documents each name.

const { native } = require('./native');
const { Database, Tree, Snapshot, Batch, Transaction } = require('./database');
const { Cursor, Columns } = require('./cursor');
const { encodeUint64, decodeUint64 } = require('./codecs');
const copies = require('./copies');
const feeds = require('./feeds');
const errors = require('./errors');

const { options, version, formatVersion, abiVersion, ...limits } = native.library();
const { errorOf, ...errorClasses } = errors;

copies.addTo(Database, Transaction);
const Follower = feeds.addTo(Database);

module.exports = {
  Database,
  Tree,
  Snapshot,
  Batch,
  Transaction,
  Cursor,
  Columns,
  Repository: copies.Repository,
  Ingest: copies.Ingest,
  restoreBackup: copies.restoreBackup,
  verifyBackup: copies.verifyBackup,
  repair: copies.repair,
  Feed: feeds.Feed,
  Replica: feeds.Replica,
  Follower,
  encodeUint64,
  decodeUint64,
  generateKey: () => native.generateKey(true),
  version,
  formatVersion,
  abiVersion,
  limits: Object.freeze(limits),
  optionNames: Object.freeze(options),
  ...errorClasses,
};
