'use strict';
// One class of errors, with a subclass for each code of the library.

class HawthornError extends Error {
  constructor(message, code = 'INTERNAL', errno = 101) {
    super(message);
    this.code = code;
    this.errno = errno;
  }

  get name() {
    return this.constructor.name;
  }

  get retryable() {
    return this.code === 'CONFLICT' || this.code === 'DEADLOCK' || this.code === 'TIMED_OUT';
  }
}

// The numbers of c/base.h.
const codes = {
  NOT_FOUND: [1, 'NotFoundError'],
  INVALID_ARGUMENT: [2, 'InvalidArgumentError'],
  NOT_SUPPORTED: [3, 'NotSupportedError'],
  CORRUPTION: [4, 'CorruptionError'],
  IO_ERROR: [5, 'IoError'],
  NO_SPACE: [6, 'NoSpaceError'],
  BUSY: [7, 'BusyError'],
  CONFLICT: [8, 'ConflictError'],
  READ_ONLY: [9, 'ReadOnlyError'],
  OUT_OF_MEMORY: [10, 'OutOfMemoryError'],
  FORKED: [11, 'ForkedError'],
  UNKNOWN_OUTCOME: [12, 'UnknownOutcomeError'],
  CLOSED: [13, 'ClosedError'],
  TIMED_OUT: [14, 'TimedOutError'],
  DEADLOCK: [15, 'DeadlockError'],
  TOO_OLD: [16, 'TooOldError'],
  NOT_IN_MEMORY: [17, 'NotInMemoryError'],
  PERMISSION_DENIED: [18, 'PermissionDeniedError'],
  BUFFER_TOO_SMALL: [100, 'BufferTooSmallError'],
  INTERNAL: [101, 'InternalError'],
};

const classes = {};
const byNumber = new Map();
for (const [code, [number, name]] of Object.entries(codes)) {
  const type = {
    [name]: class extends HawthornError {
      constructor(message) {
        super(message, code, number);
      }
    },
  }[name];
  classes[name] = type;
  byNumber.set(number, type);
}

// Called by the addon.
function errorOf(number, name, message) {
  const type = byNumber.get(number);
  return type ? new type(message) : new HawthornError(`${name}: ${message}`, name, number);
}

module.exports = { HawthornError, errorOf, ...classes };
