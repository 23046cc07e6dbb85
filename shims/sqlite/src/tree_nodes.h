#pragma once
// The nodes of an index by a program's own collation, where a connection sees them: in its
// transaction, or as of the moment that it reads.
//
// What is written stays with the connection for a while (HwConnection::kept_nodes).
//
// Not here: what nodes are (collated_node.h). Threads: that of the connection.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shims/sqlite/src/collated.h"
#include "shims/sqlite/src/connection.h"

namespace hawthorn::sqlite {

class TreeNodes : public NodeStore {
 public:
  TreeNodes(HwConnection* connection, uint32_t root, const Tree& tree)
      : connection_(connection), root_(root), tree_(tree) {}

  int get(std::string_view key, std::string* value) override;
  int put(std::string_view key, std::string_view value) override;
  int remove(std::string_view key) override;
  int each_key(const std::function<void(std::string_view key)>& use) override;
  // Whether there is anything, nodes or not.
  int is_empty(bool* empty);

 private:
  int keep(std::string_view key, std::optional<std::string> value);

  HwConnection* const connection_;
  const uint32_t root_;
  const Tree tree_;
  Value value_;
};

}  // namespace hawthorn::sqlite
