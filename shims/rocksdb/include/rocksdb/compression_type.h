#pragma once
// How data are compressed on disk.
//
// The engine has two: LZ4, which also stands for Snappy, and Zstd, which also stands for zlib and
// bzip2. It compresses nothing in memory, and values of more than 64 KB nowhere.

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
enum CompressionType : unsigned char {
  kNoCompression = 0x00,
  kSnappyCompression = 0x01,
  kZlibCompression = 0x02,
  kBZip2Compression = 0x03,
  kLZ4Compression = 0x04,
  kLZ4HCCompression = 0x05,
  kXpressCompression = 0x06,  // [refused]
  kZSTD = 0x07,
  kLastBuiltinCompression = kZSTD,
  kDisableCompressionOption = 0xff,
};

// Levels and dictionaries are the engine's matter. [accepted]
struct CompressionOptions {
  static constexpr int kDefaultCompressionLevel = 32767;
  int window_bits = -14;
  int level = kDefaultCompressionLevel;
  int strategy = 0;
  uint32_t max_dict_bytes = 0;
  uint32_t zstd_max_train_bytes = 0;
  uint32_t parallel_threads = 1;
  bool enabled = false;
  uint64_t max_dict_buffer_bytes = 0;
  bool use_zstd_dict_trainer = true;
  int max_compressed_bytes_per_kb = 1024 * 7 / 8;
  bool checksum = false;
};

}  // namespace ROCKSDB_NAMESPACE
