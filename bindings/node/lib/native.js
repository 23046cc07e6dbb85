'use strict';
// Loads the addon, and says how the other modules call it.

const fs = require('node:fs');
const path = require('node:path');
const { errorOf, InvalidArgumentError } = require('./errors');

const file = [process.env.HAWTHORN_NODE_ADDON, path.join(__dirname, '..', 'build', 'hawthorn.node')]
  .find((one) => one && fs.existsSync(one));
if (!file) {
  throw new Error('hawthorn: the addon is not built; run `npm run install` in this package');
}
const native = require(file);
native.setErrorMaker(errorOf);

// The native object of one of ours.
const kHandle = Symbol('hawthorn.handle');

// Gives a class two methods for each operation: `name`, which returns a promise, and `nameSync`,
// which blocks the thread and returns or throws. Operations get which of both it is.
function both(target, operations, prefixOf = () => []) {
  for (const [name, operation] of Object.entries(operations)) {
    define(target, name, function asynchronous(...args) {
      try {
        return operation.call(this, false, ...prefixOf(this), ...args);
      } catch (error) {
        return Promise.reject(error);
      }
    });
    define(target, `${name}Sync`, function synchronous(...args) {
      return operation.call(this, true, ...prefixOf(this), ...args);
    });
  }
}

function define(target, name, value) {
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}

// What follows a call, be it a promise or a value.
function then(sync, result, next) {
  return sync ? next(result) : result.then(next);
}

function handleOf(object, type, name) {
  if (object === undefined || object === null) return undefined;
  if (!(object instanceof type)) throw new InvalidArgumentError(`not a ${name}`);
  return object[kHandle];
}

// `close()` for classes whose objects hold something, and `using` where this Node.js has it.
function disposable(type) {
  define(type.prototype, 'close', function close() {
    native.dispose(this[kHandle]);
  });
  if (Symbol.dispose) {
    define(type.prototype, Symbol.dispose, function dispose() {
      native.dispose(this[kHandle]);
    });
  }
}

module.exports = { native, kHandle, both, define, then, handleOf, disposable };
