// What is wrong with an index by a program's own collation.

#include <sqlite3.h>

#include <set>

#include "shims/sqlite/src/collated.h"

namespace hawthorn::sqlite {
namespace {

class CollatedCheck {
 public:
  using Compare = std::function<int(std::string_view, std::string_view, int*)>;
  using Use = std::function<void(std::string_view)>;
  using Complain = std::function<void(const std::string&)>;

  CollatedCheck(NodeStore& store, const Compare& compare, const Use& use, const Complain& complain)
      : store_(store), compare_(compare), use_(use), complain_(complain) {}

  int run(uint64_t* entries) {
    *entries = 0;
    std::string bytes;
    int code = store_.get(kCollatedHeaderKey, &bytes);
    if (code != SQLITE_OK && code != SQLITE_NOTFOUND) return code;
    uint64_t counted = 0;
    if (code == SQLITE_OK) {
      header_ = CollatedHeader::decode(bytes);
      if (!header_.has_value()) {
        complain_("the header is damaged");
        return SQLITE_OK;
      }
      counted = header_->entries;
      code = node(header_->root, header_->height - 1, nullptr);
      if (code != SQLITE_OK) return code;
    }
    if (counted != entries_) {
      complain_("the header counts " + std::to_string(counted) + " entries, there are " +
                std::to_string(entries_));
    }
    *entries = entries_;
    return find_unused();
  }

 private:
  // False: it is used twice, or was never given.
  bool take(uint64_t number) {
    if (number != 0 && number < header_->next_number && taken_.insert(number).second) return true;
    complain_(name(number) + " is used twice or was never made");
    return false;
  }

  static std::string name(uint64_t number) { return "node " + std::to_string(number); }

  // Nothing: SQLITE_NOTFOUND, and it has complained.
  int read(uint64_t number, std::string* bytes) {
    if (!take(number)) return SQLITE_NOTFOUND;
    const int code = store_.get(collated_node_key(number), bytes);
    if (code != SQLITE_NOTFOUND && code != SQLITE_CORRUPT) return code;
    complain_(name(number) + " cannot be read");
    return SQLITE_NOTFOUND;
  }

  // least: no entry below it is smaller; none where nothing says so.
  int node(uint64_t number, unsigned level, const PaddedRecord* least) {
    std::string bytes;
    int code = read(number, &bytes);
    if (code != SQLITE_OK) return code == SQLITE_NOTFOUND ? SQLITE_OK : code;
    CollatedNode read_node;
    if (!read_node.parse(bytes) || read_node.level() != level) {
      complain_(name(number) + " is damaged");
      return SQLITE_OK;
    }
    for (size_t i = 0; i < read_node.cells() && code == SQLITE_OK; ++i) {
      PaddedRecord record;
      code = read_record(read_node.key(i), &record);
      if (code == SQLITE_NOTFOUND) {
        code = SQLITE_OK;
        continue;
      }
      if (code != SQLITE_OK) return code;
      // The first child has what the node has.
      const PaddedRecord* const its_least = i == 0 ? least : &record;
      if (read_node.is_leaf()) {
        code = entry(record, i == 0 ? least : nullptr);
        continue;
      }
      if (i != 0 && before_.has_value()) code = ordered(*before_, record, false);
      if (code == SQLITE_OK) code = node(read_node.child(i), level - 1, its_least);
    }
    return code;
  }

  int read_record(const CollatedKey& key, PaddedRecord* record) {
    if (!key.elsewhere) {
      *record = PaddedRecord(key.bytes);
      return SQLITE_OK;
    }
    const int code =
        record->fill([this, &key](std::string* bytes) { return read(key.number, bytes); });
    if (code != SQLITE_OK || record->view().size() == key.size) return code;
    complain_(name(key.number) + ", a record, has another size");
    return SQLITE_NOTFOUND;
  }

  int entry(const PaddedRecord& record, const PaddedRecord* least) {
    ++entries_;
    use_(record.view());
    int code = SQLITE_OK;
    if (before_.has_value()) code = ordered(*before_, record, false);
    if (code == SQLITE_OK && least != nullptr) code = ordered(*least, record, true);
    before_ = record;
    return code;
  }

  int ordered(const PaddedRecord& smaller, const PaddedRecord& greater, bool may_be_equal) {
    if (!compare_) return SQLITE_OK;
    int order = 0;
    const int code = compare_(smaller.view(), greater.view(), &order);
    if (code == SQLITE_CORRUPT) {
      complain_("entry " + std::to_string(entries_) + " cannot be compared");
      return SQLITE_OK;
    }
    if (code != SQLITE_OK) return code;
    if (order > 0 || (order == 0 && !may_be_equal)) {
      complain_("entry " + std::to_string(entries_) + " is out of order");
    }
    return SQLITE_OK;
  }

  int find_unused() {
    return store_.each_key([this](std::string_view key) {
      if (key == kCollatedHeaderKey) return;
      const std::optional<uint64_t> number = collated_node_number(key);
      if (!number.has_value()) {
        complain_("there is an entry that belongs to no node");
      } else if (!taken_.contains(*number)) {
        complain_(name(*number) + " is not used");
      }
    });
  }

  NodeStore& store_;
  const Compare& compare_;
  const Use& use_;
  const Complain& complain_;
  std::optional<CollatedHeader> header_;
  std::set<uint64_t> taken_;
  std::optional<PaddedRecord> before_;  // the last entry
  uint64_t entries_ = 0;
};

}  // namespace

int check_collated(NodeStore& store,
                   const std::function<int(std::string_view, std::string_view, int*)>& compare,
                   const std::function<void(std::string_view record)>& use,
                   const std::function<void(const std::string& what)>& complain,
                   uint64_t* entries) {
  return CollatedCheck(store, compare, use, complain).run(entries);
}

}  // namespace hawthorn::sqlite
