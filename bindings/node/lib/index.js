'use strict';
// What the package exports. index.d.ts documents each name.

const { native } = require('./native');
const { Database, Tree, Snapshot, Batch, Transaction } = require('./database');
const { Cursor, Columns } = require('./cursor');
const { encodeUint64, decodeUint64 } = require('./codecs');
const errors = require('./errors');

const { options, version, formatVersion, abiVersion, ...limits } = native.library();
const { errorOf, ...errorClasses } = errors;

module.exports = {
  Database,
  Tree,
  Snapshot,
  Batch,
  Transaction,
  Cursor,
  Columns,
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
