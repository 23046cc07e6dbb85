'use strict';
// Options as programs write them, to the words and numbers of the library.

const { InvalidArgumentError, NotSupportedError } = require('./errors');

function oneOf(words, value, what) {
  if (value === undefined || value === null) return 0;
  const index = words.indexOf(value);
  if (index < 0) {
    throw new InvalidArgumentError(`${what} is ${words.filter(Boolean).join(', ')}; not ${value}`);
  }
  return index;
}

const durabilityOf = (value) =>
  oneOf(['default', 'none', 'async', 'full'], value, 'durability');
const compressionOf = (value) => oneOf(['none', 'lz4', 'zstd'], value, 'compression');
const modeOf = (value) => oneOf(['optimistic', 'exclusive', 'pessimistic'], value, 'mode');
const isolationOf = (value) =>
  oneOf(['snapshot', 'readCommitted', 'serializable'], value, 'isolation');
const lockOf = (value) => oneOf(['shared', 'upgradable', 'exclusive'], value, 'lock');

function known(options, names, what) {
  if (options === undefined || options === null) return {};
  if (typeof options !== 'object') throw new InvalidArgumentError(`${what} are not an object`);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new InvalidArgumentError(`${what} have no ${name}`);
  }
  return options;
}

const writeNames = ['durability', 'expiresAt', 'expiresIn', 'neverExpires'];
const plainWrite = [0, 0, 0];

// Durability, kind of expiry and its milliseconds.
function writeOptions(options) {
  if (options === undefined) return plainWrite;
  const given = known(options, writeNames, 'write options');
  const durability = durabilityOf(given.durability);
  if (given.neverExpires) return [durability, 1, 0];
  if (given.expiresAt !== undefined) {
    const at = given.expiresAt;
    return [durability, 2, at instanceof Date ? at.getTime() : at];
  }
  if (given.expiresIn !== undefined) return [durability, 3, given.expiresIn];
  return [durability, 0, 0];
}

const treeNames = ['order', 'valueOrder', 'multiValue', 'expires', 'subtrees', 'ttlMs',
  'compression', 'mergeOperator', 'keyEncoding', 'valueEncoding', 'durability'];
const shapeNames = treeNames.slice(0, 6);

// The arguments that say what a tree is made with: none where no shape is given.
function treeOptions(options) {
  const given = known(options, treeNames, 'tree options');
  refuseFunction(given.mergeOperator, 'merge operators');
  refuseFunction(given.order, 'orders of keys');
  refuseFunction(given.valueOrder, 'orders of values');
  const shaped = shapeNames.some((name) => given[name] !== undefined);
  return [shaped, given.order ?? '', given.valueOrder ?? '', Boolean(given.multiValue),
    Boolean(given.expires), Boolean(given.subtrees), given.ttlMs ?? 0];
}

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function optionText(name, value) {
  if (name === 'file_mode' && typeof value === 'number') return value.toString(8);
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      throw new InvalidArgumentError(`option ${name} is neither a word, a number nor a boolean`);
  }
}

// Of what the library calls on threads of its own, and waits for: JavaScript cannot run there, and
// its own thread may itself be waiting for the library.
function refuseFunction(value, what) {
  if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return;
  throw new NotSupportedError(`${what} cannot be written in JavaScript: the library calls them on `
    + 'threads of its own while the thread of JavaScript may wait for it; those of the library go '
    + 'by their names (see "Not supported" in the README)');
}
const unwritable = {
  merge_operators: 'merge operators',
  key_orders: 'orders of keys',
  key_comparators: 'orders of keys',
  flush_filters: 'flush filters',
  commit_hooks: 'commit hooks that refuse',
};

const callbacks = ['log', 'onEvent', 'onExpiry', 'onCommit'];

// Pairs of name and value for hawthorn_options_set, and the callbacks.
function databaseOptions(options) {
  const pairs = [];
  const functions = {};
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === undefined) continue;
    if (callbacks.includes(name)) {
      if (typeof value !== 'function') {
        throw new InvalidArgumentError(`option ${name} is not a function`);
      }
      functions[name] = value;
    } else if (name === 'encryption') {
      const { key, keyId } = known(value, ['key', 'keyId'], 'encryption options');
      if (keyId !== undefined) pairs.push('encryption.key_id', String(keyId));
      if (key !== undefined) {
        const digits = typeof key === 'string' ? key : Buffer.from(key).toString('hex');
        pairs.push('encryption.key', digits);
      }
    } else {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (unwritable[snake(name)]) refuseFunction(one, unwritable[snake(name)]);
        pairs.push(snake(name), optionText(snake(name), one));
      }
    }
  }
  return { pairs, functions };
}

// One function for all that a database tells.
function listenerOf(functions) {
  const to = {
    log: functions.log,
    event: functions.onEvent,
    expiry: functions.onExpiry,
    commit: functions.onCommit,
  };
  return Object.keys(functions).length === 0 ? undefined : (kind, what) => to[kind]?.(what);
}

module.exports = {
  durabilityOf, compressionOf, modeOf, isolationOf, lockOf, known, writeOptions, treeOptions,
  databaseOptions, listenerOf, refuseFunction,
};
