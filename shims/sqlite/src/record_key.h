#pragma once
// Keys whose order as bytes is SQLite's order of records: an index of SQLite becomes a tree of ours
// whose keys compare without a look at collations or types.
//
// Not here: what a record is (record.h), collations that a program has made itself. Used by the
// cursors of indexes. Threads: pure functions.
//
// A field is one of these, a descending one with all its bytes complemented:
//
//   NULL      05
//   number    16 to 2A, see below; integers and reals by their exact values
//   text      40, the text, 00 01
//   blob      60, the blob, 00 01
//
// A 00 in a text or a blob is 00 FF. A number that is not 0 is its magnitude:
//
//   0                       20
//   integer part and rest   21 + n, the integer part in n bytes (0 to 8), and 00 where there is no
//                           rest, else 01 and the rest, which is a double of 8 bytes
//   2^64 and above          2A, the double in 8 bytes
//
// where numbers have their high bytes first. That of a negative one has the tag 40 - t, and all
// bytes behind it are complemented.
//
// 1. Keys of the same orders compare by memcmp, a prefix first, as SQLite compares the records, and
//    they are equal where it finds the records equal. NaN is NULL, -0.0 is 0, 2.0 is 2.
// 2. No field's bytes begin with those of another field that is not equal. So a key begins with the
//    key of n fields where its first n fields are equal to these.
// 3. A number takes 1 to 17 bytes, a text or a blob its own and 3 more, and one for each 00.
// 4. The order is kept in databases: it never changes.
//
// kNoCase: SQLite compares up to a 00 in both texts, and what is equal so far by length alone. So
// all bytes behind the first 00 become 00 too. kNoCase and kRtrim are of UTF-8; a database with
// texts of UTF-16 has to convert them first, as SQLite does, while kBinary takes any bytes.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shims/sqlite/src/record.h"

namespace hawthorn::sqlite {

enum class Collation : uint8_t { kBinary, kNoCase, kRtrim };

struct ColumnOrder {
  Collation collation = Collation::kBinary;
  bool descending = false;
};

// Those of an index: of few columns without an allocation.
class ColumnOrders {
 public:
  void add(const ColumnOrder& order) {
    if (count_ < kFew) {
      few_[count_] = order;
    } else {
      if (count_ == kFew) many_.assign(few_, few_ + kFew);
      many_.push_back(order);
    }
    ++count_;
  }
  std::span<const ColumnOrder> all() const {
    return {count_ <= kFew ? few_ : many_.data(), count_};
  }

 private:
  static constexpr size_t kFew = 8;
  ColumnOrder few_[kFew];
  std::vector<ColumnOrder> many_;
  size_t count_ = 0;
};

void append_field(const Field& field, const ColumnOrder& order, std::string* key);

// Appends fields[i] by orders[i] for all of the orders, or for all of the fields where these are
// fewer: then it is a prefix of keys.
void append_key(std::span<const Field> fields, std::span<const ColumnOrder> orders,
                std::string* key);

// Makes of a prefix the least string above all that begin with it. False where there is none, and
// the prefix stays as it is: it is empty or all FF, which no key is.
bool make_successor(std::string* prefix);

// Entries of indexes: what has to be kept beside a key, so that the record of an entry, of which it
// is the key, comes back. Nothing where the key has all of it; 00 and the record of the fields
// behind the key's where it has these; else, and where the record is longer than bytes_max, the
// record itself.
// False: the value is the record, and `value` is as it was.
bool shorten_record(std::string_view key, std::span<const ColumnOrder> orders,
                    std::string_view record, size_t bytes_max, std::string* value);
// Of longer ones a key is a small part, and they would be copied for each read.
constexpr size_t kShortRecordBytesMax = 512;
// Whether a value is one of the short ones, which no record is.
inline bool is_short(std::string_view value) { return value.empty() || value.front() == '\0'; }
// The record of an entry with a short value. False: these are none that shorten_record makes.
bool restore_record(std::string_view key, std::span<const ColumnOrder> orders,
                    std::string_view value, std::string* record);
// Whether a key is one of some orders, where these are not known.
bool is_key(std::string_view key);

// The fields of a key, or of a prefix of whole fields. Numbers come back as integers where they
// are, so 2.0 as 2 and -0.0 as 0, and reals where they are beyond int64_t. The texts and blobs are
// in `scratch`, which loses what it had, and has to stay as it is for as long as they are used.
// False: append_key() with these orders does not make such a key, or it has a text of kNoCase or
// kRtrim, which cannot be told from it. The fields mean nothing then.
bool take_key_apart(std::string_view key, std::span<const ColumnOrder> orders,
                    std::vector<Field>* fields, std::string* scratch);

}  // namespace hawthorn::sqlite
