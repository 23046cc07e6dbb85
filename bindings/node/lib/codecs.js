'use strict';
// How keys and values of a tree are written as bytes.

const { InvalidArgumentError } = require('./errors');

const identity = (value) => value;

function encodeUint64(number) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
}
const decodeUint64 = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  .readBigUInt64LE();

const codecs = {
  buffer: { encode: identity, decode: identity, plain: true },
  utf8: { encode: identity, decode: (bytes) => bytes.toString('utf8') },
  json: {
    encode: (value) => {
      const text = JSON.stringify(value);
      if (text === undefined) throw new InvalidArgumentError('the value has no JSON');
      return text;
    },
    decode: (bytes) => JSON.parse(bytes.toString('utf8')),
  },
  uint64: { encode: encodeUint64, decode: decodeUint64 },
};

function codecOf(encoding) {
  if (encoding === undefined) return codecs.buffer;
  if (typeof encoding === 'string' && Object.hasOwn(codecs, encoding)) return codecs[encoding];
  if (typeof encoding?.encode === 'function' && typeof encoding?.decode === 'function') {
    return encoding;
  }
  throw new InvalidArgumentError(`no encoding ${String(encoding)}`);
}

const bytesOf = (value) => {
  if (typeof value === 'string') return Buffer.from(value, 'utf8');
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  throw new InvalidArgumentError('a key, value or name is neither a string nor bytes');
};

module.exports = { codecOf, bytesOf, encodeUint64, decodeUint64 };
