// The orders and prefixes that come with the library. The engine has both orders by itself
// (hawthorn/key_order.h), so these comparisons are for programs, and for checks of ranges.

#include "rocksdb/comparator.h"

#include <algorithm>

#include "rocksdb/slice_transform.h"
#include "shims/of_process.h"

namespace rocksdb {
namespace {

class Bytewise final : public Comparator {
 public:
  const char* Name() const override { return "leveldb.BytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
};

class ReverseBytewise final : public Comparator {
 public:
  const char* Name() const override { return "rocksdb.ReverseBytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
};

class FixedPrefix final : public SliceTransform {
 public:
  explicit FixedPrefix(size_t bytes)
      : bytes_(bytes), id_("rocksdb.FixedPrefix." + std::to_string(bytes)) {}
  const char* Name() const override { return "rocksdb.FixedPrefix"; }
  std::string GetId() const override { return id_; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), bytes_); }
  bool InDomain(const Slice& key) const override { return key.size() >= bytes_; }
  bool InRange(const Slice& dst) const override { return dst.size() == bytes_; }

 private:
  const size_t bytes_;
  const std::string id_;
};

class CappedPrefix final : public SliceTransform {
 public:
  explicit CappedPrefix(size_t bytes)
      : bytes_(bytes), id_("rocksdb.CappedPrefix." + std::to_string(bytes)) {}
  const char* Name() const override { return "rocksdb.CappedPrefix"; }
  std::string GetId() const override { return id_; }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), std::min(key.size(), bytes_));
  }
  bool InDomain(const Slice&) const override { return true; }
  bool InRange(const Slice& dst) const override { return dst.size() <= bytes_; }

 private:
  const size_t bytes_;
  const std::string id_;
};

class WholeKey final : public SliceTransform {
 public:
  const char* Name() const override { return "rocksdb.Noop"; }
  Slice Transform(const Slice& key) const override { return key; }
  bool InDomain(const Slice&) const override { return true; }
  bool InRange(const Slice&) const override { return true; }
};

}  // namespace

const Comparator* BytewiseComparator() { return &hawthorn::MadeOnce<Bytewise>::get(); }
const Comparator* ReverseBytewiseComparator() {
  return &hawthorn::MadeOnce<ReverseBytewise>::get();
}

const SliceTransform* NewFixedPrefixTransform(size_t prefix_len) {
  return new FixedPrefix(prefix_len);
}
const SliceTransform* NewCappedPrefixTransform(size_t cap_len) { return new CappedPrefix(cap_len); }
const SliceTransform* NewNoopTransform() { return new WholeKey; }

}  // namespace rocksdb
