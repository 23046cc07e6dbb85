#pragma once
// A B+tree of records whose order only a function knows: an index by a program's own collation.
//
// The engine's trees cannot have such an order: they compare where there is no connection, and so
// no function. Here nodes of some 4 KB are values of the engine's tree, and the order is in them.
//
// Not here: the bytes of nodes (collated_node.h), what a record is, where nodes are kept, and which
// trees are such ones (cursor.h). Used by HwCursor and by integrity checks. Threads: those of the
// connection, one at a time.
//
// Errors: functions that return int return a result code of SQLite's. SQLITE_CORRUPT: damage, which
// sqlite3_log has; SQLITE_ABORT: the tree was changed by the function that compares; what that
// function or the store returns.
//
// 1. Every record is in one leaf, and no two are equal. A leaf is never empty, a node is at a depth
//    that its level says, and so a walk ends whatever is stored.
// 2. The function may be wrong, or another one than yesterday: then records are where nobody finds
//    them, and nothing worse happens. A place is a path, and needs no function.
// 3. Everything is read before anything is written, so what fails because of damage, or because of
//    the function, has changed nothing.
// 4. A node that shrinks below a quarter merges with a neighbour below the same node, where both
//    together leave a quarter free. One that is empty goes. The root has more than one child.
// 5. A record of more than an eighth of a node has a value of its own, and so has a copy of it that
//    separates nodes: nodes stay small, and a record may be as large as SQLite allows.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shims/sqlite/src/collated_node.h"

namespace hawthorn::sqlite {

class NodeStore {
 public:
  virtual ~NodeStore() = default;
  // SQLITE_NOTFOUND: there is none.
  virtual int get(std::string_view key, std::string* value) = 0;
  virtual int put(std::string_view key, std::string_view value) = 0;
  virtual int remove(std::string_view key) = 0;
  virtual int each_key(const std::function<void(std::string_view key)>& use) = 0;
};

// What is sought.
class Sought {
 public:
  virtual ~Sought() = default;
  // order < 0: the record is smaller; 0: equal in what is sought.
  virtual int compare(std::string_view record, int* order) = 0;
};

constexpr size_t kNodeBytes = 4096;
constexpr size_t kNodeBytesMin = 128;  // so that a node has some cells

class CollatedCursor {
 public:
  explicit CollatedCursor(NodeStore* store, size_t node_bytes = kNodeBytes);

  // Of the place and of all that was read: due before something else changes the tree, and where
  // the moment that is read becomes another one.
  void forget();
  bool valid() const { return is_valid_; }

  // Nowhere where there is no entry.
  int first();
  int last();
  // From a valid place. Nowhere behind the last entry, and before the first one.
  int next();
  int previous();
  // The first entry that is not smaller; or, behind_equal, the first one that is greater. order:
  // what it compares as, where there is one.
  int seek(Sought& sought, bool behind_equal, int* order);
  // Until the place changes, with kSlackBytes that can be read behind it. SQLITE_ABORT: there is
  // none.
  int record(std::string_view* record);

  // A record that is equal goes. `sought` compares with this one. It leaves no place, and so does
  // remove().
  int insert(Sought& sought, std::string_view record);
  int remove();
  // Whether there is a tree; and its entries.
  int exists(bool* exists);
  int entries(uint64_t* entries);

 private:
  struct Step {
    uint64_t number = 0;  // 0: nothing was read
    CollatedNode node;
    size_t cell = 0;
  };
  struct Write {
    std::string key;
    std::optional<std::string> value;  // none: removed
  };

  int load_header();
  int load(size_t depth, uint64_t number);
  int load_node(uint64_t number, unsigned level, CollatedNode* node);
  int start();
  int go_to_end(size_t depth, bool last);
  int step(bool forward);
  int compare(Sought& sought, const CollatedKey& key, int* order);
  int read_elsewhere(const CollatedKey& key, PaddedRecord* record);
  int descend(Sought& sought, bool nodes_behind, bool leaf_behind, int* order, bool* is_known);

  std::string new_key(std::string_view record);
  void forget_key(const CollatedKey& key);
  int copy_key(const CollatedKey& key, std::string* copy);
  void write(uint64_t number, const CollatedNode& node);
  int split_up(bool appended);
  int shrink_up();
  int merge(size_t depth, bool* merged);
  void drop_child(CollatedNode* parent, size_t cell);
  int drop_roots();
  int apply();

  NodeStore* const store_;
  const size_t node_bytes_;
  bool is_header_read_ = false;
  std::optional<CollatedHeader> header_;  // none: no entry
  std::vector<Step> path_;                // root first
  bool is_valid_ = false;
  PaddedRecord record_;  // where the entry's is elsewhere
  bool is_record_read_ = false;
  PaddedRecord compared_;
  int comparing_ = 0;
  bool is_changed_ = false;  // by the function that compares
  std::vector<Write> writes_;
};

// What is wrong with a tree. `compare`: none where no order is known. `use` gets each record.
// Errors: those of the store, but for damage, which is told to `complain`.
int check_collated(NodeStore& store,
                   const std::function<int(std::string_view, std::string_view, int*)>& compare,
                   const std::function<void(std::string_view record)>& use,
                   const std::function<void(const std::string& what)>& complain, uint64_t* entries);

}  // namespace hawthorn::sqlite
