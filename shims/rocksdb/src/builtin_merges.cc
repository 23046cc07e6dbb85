#include "shims/rocksdb/src/builtin_merges.h"

#include <algorithm>
#include <cstdint>

#include "shims/rocksdb/src/own_kind.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::Slice;

// Each folds a value and an operand.
class Fold : public rocksdb::AssociativeMergeOperator {
 public:
  explicit Fold(const char* name) : name_(name) {}
  const char* Name() const override { return name_; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result = existing == nullptr ? first(value) : fold(*existing, value);
    return true;
  }

 protected:
  virtual std::string first(const Slice& value) const { return value.ToString(); }
  virtual std::string fold(const Slice& existing, const Slice& value) const = 0;

 private:
  const char* const name_;
};

class Put final : public Fold {
 public:
  Put() : Fold("PutOperator") {}

 protected:
  std::string fold(const Slice&, const Slice& value) const override { return value.ToString(); }
};

// What does not have eight bytes counts as 0.
class AddNumbers final : public Fold {
 public:
  AddNumbers() : Fold("UInt64AddOperator") {}

 protected:
  std::string first(const Slice& value) const override { return fold(Slice(), value); }
  std::string fold(const Slice& existing, const Slice& value) const override {
    const uint64_t sum = number(existing) + number(value);
    std::string result;
    for (int shift = 0; shift < 64; shift += 8) {
      result.push_back(static_cast<char>((sum >> shift) & 0xff));
    }
    return result;
  }

 private:
  static uint64_t number(const Slice& bytes) {
    uint64_t result = 0;
    if (bytes.size() != sizeof(result)) return 0;
    for (size_t i = sizeof(result); i-- > 0;) {
      result = result << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return result;
  }
};

class Append final : public Fold {
 public:
  Append(const char* name, std::string delimiter) : Fold(name), delimiter_(std::move(delimiter)) {
    OwnKind<Append>::note(this);
  }
  const std::string& delimiter() const { return delimiter_; }

 protected:
  std::string fold(const Slice& existing, const Slice& value) const override {
    return existing.ToString() + delimiter_ + value.ToString();
  }

 private:
  const std::string delimiter_;
};

class Max final : public Fold {
 public:
  Max() : Fold("MaxOperator") {}

 protected:
  std::string fold(const Slice& existing, const Slice& value) const override {
    return (existing.compare(value) < 0 ? value : existing).ToString();
  }
};

class Xor final : public Fold {
 public:
  Xor() : Fold("BytesXOR") {}

 protected:
  std::string fold(const Slice& existing, const Slice& value) const override {
    const Slice& longer = existing.size() < value.size() ? value : existing;
    const Slice& other = existing.size() < value.size() ? existing : value;
    std::string result = longer.ToString();
    for (size_t i = 0; i < other.size(); ++i) result[i] = static_cast<char>(result[i] ^ other[i]);
    return result;
  }
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> builtin_merge(const std::string& name,
                                                      const std::string& delimiter) {
  if (name == "PutOperator" || name == "put" || name == "put_v1") return std::make_shared<Put>();
  if (name == "UInt64AddOperator" || name == "uint64add") return std::make_shared<AddNumbers>();
  if (name == "StringAppendOperator" || name == "stringappend") {
    return std::make_shared<Append>("StringAppendOperator", delimiter);
  }
  if (name == "StringAppendTESTOperator" || name == "stringappendtest") {
    return std::make_shared<Append>("StringAppendTESTOperator", delimiter);
  }
  if (name == "MaxOperator" || name == "max") return std::make_shared<Max>();
  if (name == "BytesXOR" || name == "bytesxor") return std::make_shared<Xor>();
  return nullptr;
}

const std::string* delimiter_of(const rocksdb::MergeOperator& of) {
  const auto* const append = OwnKind<Append>::find(&of);
  return append == nullptr ? nullptr : &append->delimiter();
}

}  // namespace hawthorn::rocks
