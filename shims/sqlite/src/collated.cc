#include "shims/sqlite/src/collated.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace hawthorn::sqlite {
namespace {

int damaged(const char* what, uint64_t number) {
  sqlite3_log(SQLITE_CORRUPT, "hawthorn: index by a program's collation: node %llu %s",
              static_cast<unsigned long long>(number), what);
  return SQLITE_CORRUPT;
}

}  // namespace

CollatedCursor::CollatedCursor(NodeStore* store, size_t node_bytes)
    : store_(store), node_bytes_(std::max(node_bytes, kNodeBytesMin)) {}

void CollatedCursor::forget() {
  if (comparing_ != 0) {
    // What is compared is in these nodes.
    is_changed_ = true;
    return;
  }
  is_valid_ = false;
  is_record_read_ = false;
  is_header_read_ = false;
  header_.reset();
  path_.clear();
}

// ---- Nodes

int CollatedCursor::load_header() {
  if (is_header_read_) return SQLITE_OK;
  std::string bytes;
  const int code = store_->get(kCollatedHeaderKey, &bytes);
  if (code != SQLITE_OK && code != SQLITE_NOTFOUND) return code;
  header_.reset();
  if (code == SQLITE_OK) {
    header_ = CollatedHeader::decode(bytes);
    if (!header_.has_value()) return damaged("is no header", 0);
  }
  path_.clear();
  is_header_read_ = true;
  return SQLITE_OK;
}

int CollatedCursor::load_node(uint64_t number, unsigned level, CollatedNode* node) {
  std::string bytes;
  const int code = store_->get(collated_node_key(number), &bytes);
  if (code == SQLITE_NOTFOUND) return damaged("is missing", number);
  if (code != SQLITE_OK) return code;
  if (!node->parse(bytes) || node->level() != level) return damaged("is damaged", number);
  return SQLITE_OK;
}

int CollatedCursor::load(size_t depth, uint64_t number) {
  Step& step = path_[depth];
  if (step.number == number && number != 0) return SQLITE_OK;
  step.number = 0;
  const auto level = static_cast<unsigned>(path_.size() - 1 - depth);
  const int code = load_node(number, level, &step.node);
  if (code == SQLITE_OK) step.number = number;
  return code;
}

// The root, where there is one.
int CollatedCursor::start() {
  is_valid_ = false;
  is_record_read_ = false;
  if (const int code = load_header(); code != SQLITE_OK) return code;
  if (!header_.has_value()) return SQLITE_OK;
  path_.resize(header_->height);
  return load(0, header_->root);
}

int CollatedCursor::read_elsewhere(const CollatedKey& key, PaddedRecord* record) {
  const int code = record->fill([this, &key](std::string* bytes) {
    return store_->get(collated_node_key(key.number), bytes);
  });
  if (code == SQLITE_NOTFOUND) return damaged("is missing, a record", key.number);
  if (code != SQLITE_OK) return code;
  if (record->view().size() != key.size) return damaged("is a record of another size", key.number);
  return SQLITE_OK;
}

int CollatedCursor::compare(Sought& sought, const CollatedKey& key, int* order) {
  std::string_view record = key.bytes;
  if (key.elsewhere) {
    if (const int code = read_elsewhere(key, &compared_); code != SQLITE_OK) return code;
    record = compared_.view();
  }
  ++comparing_;
  const int code = sought.compare(record, order);
  --comparing_;
  if (!is_changed_ || comparing_ != 0) return code;
  is_changed_ = false;
  forget();
  return code != SQLITE_OK ? code : SQLITE_ABORT;
}

// ---- Places

// Below the cell at which the node above stands, to its first or last leaf.
int CollatedCursor::go_to_end(size_t depth, bool last) {
  for (size_t at = depth;; ++at) {
    Step& step = path_[at];
    step.cell = last ? step.node.cells() - 1 : 0;
    if (step.node.is_leaf()) break;
    if (const int code = load(at + 1, step.node.child(step.cell)); code != SQLITE_OK) return code;
  }
  is_valid_ = true;
  return SQLITE_OK;
}

int CollatedCursor::first() {
  const int code = start();
  return code != SQLITE_OK || !header_.has_value() ? code : go_to_end(0, false);
}

int CollatedCursor::last() {
  const int code = start();
  return code != SQLITE_OK || !header_.has_value() ? code : go_to_end(0, true);
}

int CollatedCursor::step(bool forward) {
  is_record_read_ = false;
  is_valid_ = false;
  for (size_t depth = path_.size(); depth-- != 0;) {
    Step& at = path_[depth];
    const bool more = forward ? at.cell + 1 < at.node.cells() : at.cell != 0;
    if (!more) continue;
    at.cell = forward ? at.cell + 1 : at.cell - 1;
    if (at.node.is_leaf()) {
      is_valid_ = true;
      return SQLITE_OK;
    }
    const int code = load(depth + 1, at.node.child(at.cell));
    return code != SQLITE_OK ? code : go_to_end(depth + 1, !forward);
  }
  return SQLITE_OK;
}

int CollatedCursor::next() { return step(true); }
int CollatedCursor::previous() { return step(false); }

// From the root to the first cell of a leaf that is not before what is sought; that may be behind
// the leaf's last one. before: smaller, or equal too (behind). is_known: that cell's order is.
int CollatedCursor::descend(Sought& sought, bool nodes_behind, bool leaf_behind, int* order,
                            bool* is_known) {
  *is_known = false;
  for (size_t depth = 0; depth < path_.size(); ++depth) {
    const bool is_leaf = path_[depth].node.is_leaf();
    const bool behind = is_leaf ? leaf_behind : nodes_behind;
    size_t low = is_leaf ? 0 : 1;
    size_t high = path_[depth].node.cells();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      int its_order = 0;
      const int code = compare(sought, path_[depth].node.key(middle), &its_order);
      if (code != SQLITE_OK) return code;
      if (its_order < 0 || (behind && its_order == 0)) {
        low = middle + 1;
      } else {
        high = middle;
        if (is_leaf) {
          *order = its_order;
          *is_known = true;
        }
      }
    }
    Step& step = path_[depth];
    step.cell = is_leaf ? low : low - 1;
    if (is_leaf) break;
    if (const int code = load(depth + 1, step.node.child(step.cell)); code != SQLITE_OK) {
      return code;
    }
  }
  return SQLITE_OK;
}

int CollatedCursor::seek(Sought& sought, bool behind_equal, int* order) {
  int code = start();
  if (code != SQLITE_OK || !header_.has_value()) return code;
  bool is_known = false;
  code = descend(sought, behind_equal, behind_equal, order, &is_known);
  if (code != SQLITE_OK) return code;
  Step& leaf = path_.back();
  is_valid_ = leaf.cell < leaf.node.cells();
  if (is_valid_) return SQLITE_OK;
  leaf.cell = leaf.node.cells() - 1;
  code = step(true);
  if (code != SQLITE_OK || !is_valid_) return code;
  code = compare(sought, path_.back().node.key(path_.back().cell), order);
  if (code != SQLITE_OK) is_valid_ = false;
  return code;
}

int CollatedCursor::record(std::string_view* record) {
  // So it is while something is sought.
  if (!is_valid_) return SQLITE_ABORT;
  const CollatedKey key = path_.back().node.key(path_.back().cell);
  *record = key.bytes;
  if (!key.elsewhere) return SQLITE_OK;
  if (!is_record_read_) {
    if (const int code = read_elsewhere(key, &record_); code != SQLITE_OK) return code;
    is_record_read_ = true;
  }
  *record = record_.view();
  return SQLITE_OK;
}

int CollatedCursor::exists(bool* exists) {
  const int code = load_header();
  *exists = header_.has_value();
  return code;
}

int CollatedCursor::entries(uint64_t* entries) {
  const int code = load_header();
  *entries = header_.has_value() ? header_->entries : 0;
  return code;
}

// ---- Changes: of what is in memory; then all is written

std::string CollatedCursor::new_key(std::string_view record) {
  if (record.size() <= node_bytes_ / 8) return encode_collated_key(record);
  const uint64_t number = header_->next_number++;
  writes_.push_back({collated_node_key(number), std::string(record)});
  return encode_collated_key_elsewhere(number, record.size());
}

void CollatedCursor::forget_key(const CollatedKey& key) {
  if (key.elsewhere) writes_.push_back({collated_node_key(key.number), std::nullopt});
}

int CollatedCursor::copy_key(const CollatedKey& key, std::string* copy) {
  if (!key.elsewhere) {
    *copy = key.encoded;
    return SQLITE_OK;
  }
  // It may have been written just now.
  const std::string its_key = collated_node_key(key.number);
  const auto written = std::find_if(writes_.begin(), writes_.end(),
                                    [&](const Write& one) { return one.key == its_key; });
  PaddedRecord record;
  if (written != writes_.end() && written->value.has_value()) {
    record = PaddedRecord(*written->value);
  } else if (const int code = read_elsewhere(key, &record); code != SQLITE_OK) {
    return code;
  }
  *copy = new_key(record.view());
  return SQLITE_OK;
}

void CollatedCursor::write(uint64_t number, const CollatedNode& node) {
  writes_.push_back({collated_node_key(number), std::string(node.bytes())});
}

int CollatedCursor::apply() {
  writes_.push_back({std::string(kCollatedHeaderKey), std::nullopt});
  if (header_.has_value()) writes_.back().value = header_->encode();
  int code = SQLITE_OK;
  for (const Write& one : writes_) {
    code = one.value.has_value() ? store_->put(one.key, *one.value) : store_->remove(one.key);
    if (code != SQLITE_OK) break;
  }
  return code;
}

int CollatedCursor::insert(Sought& sought, std::string_view record) {
  writes_.clear();
  int code = start();
  bool appended = false;
  if (code == SQLITE_OK && !header_.has_value()) {
    header_.emplace();
    header_->height = 1;
    header_->entries = 1;
    header_->root = header_->next_number++;
    path_.resize(1);
    path_[0] = {.number = header_->root, .node = CollatedNode(0), .cell = 0};
    path_[0].node.replace(0, 0, new_key(record));
  } else if (code == SQLITE_OK) {
    int order = 0;
    bool is_known = false;
    code = descend(sought, true, false, &order, &is_known);
    if (code == SQLITE_OK) {
      Step& leaf = path_.back();
      const bool equal = leaf.cell < leaf.node.cells() && is_known && order == 0;
      if (equal) {
        forget_key(leaf.node.key(leaf.cell));
      } else {
        ++header_->entries;
      }
      leaf.node.replace(leaf.cell, equal ? 1 : 0, new_key(record));
      appended = std::all_of(path_.begin(), path_.end(),
                             [](const Step& step) { return step.cell + 1 == step.node.cells(); });
    }
  }
  if (code == SQLITE_OK) code = split_up(appended);
  if (code == SQLITE_OK) code = apply();
  writes_.clear();
  is_valid_ = false;
  if (code != SQLITE_OK) forget();
  return code;
}

// Writes the leaf, and each node that this changes.
int CollatedCursor::split_up(bool appended) {
  for (size_t depth = path_.size() - 1;; --depth) {
    Step& step = path_[depth];
    if (step.node.bytes().size() <= node_bytes_ || step.node.cells() < 2) {
      write(step.number, step.node);
      return SQLITE_OK;
    }
    // What is filled in order fills its nodes.
    CollatedNode right = step.node.split(appended ? step.node.cells() - 1 : step.node.middle());
    std::string separator;
    if (right.is_leaf()) {
      if (const int code = copy_key(right.key(0), &separator); code != SQLITE_OK) return code;
    } else {
      separator = right.key(0).encoded;
      right.empty_first_key();
    }
    const uint64_t number = header_->next_number++;
    write(step.number, step.node);
    write(number, right);
    const std::string cell = encode_collated_child(number, separator);
    if (depth != 0) {
      path_[depth - 1].node.replace(path_[depth - 1].cell + 1, 0, cell);
      continue;
    }
    if (path_.size() == kCollatedHeightMax) return damaged("is too high", step.number);
    CollatedNode root(step.node.level() + 1);
    root.replace(0, 0, encode_collated_first_child(step.number) + cell);
    header_->root = header_->next_number++;
    ++header_->height;
    write(header_->root, root);
    path_.clear();
    return SQLITE_OK;
  }
}

int CollatedCursor::remove() {
  writes_.clear();
  Step& leaf = path_.back();
  forget_key(leaf.node.key(leaf.cell));
  leaf.node.replace(leaf.cell, 1, {});
  --header_->entries;
  is_valid_ = false;
  is_record_read_ = false;
  int code = shrink_up();
  if (code == SQLITE_OK) code = drop_roots();
  if (code == SQLITE_OK) code = apply();
  writes_.clear();
  if (code != SQLITE_OK) forget();
  return code;
}

// A child that is gone or is part of another one.
void CollatedCursor::drop_child(CollatedNode* parent, size_t cell) {
  forget_key(parent->key(cell));
  parent->replace(cell, 1, {});
  if (cell != 0 || parent->cells() == 0) return;
  forget_key(parent->key(0));
  parent->empty_first_key();
}

// Writes the leaf, and each node that this changes.
int CollatedCursor::shrink_up() {
  for (size_t depth = path_.size() - 1;; --depth) {
    Step& step = path_[depth];
    if (step.node.cells() == 0) {
      writes_.push_back({collated_node_key(step.number), std::nullopt});
      step.number = 0;
      if (depth == 0) {
        header_.reset();
        path_.clear();
        return SQLITE_OK;
      }
      drop_child(&path_[depth - 1].node, path_[depth - 1].cell);
      continue;
    }
    bool merged = false;
    if (depth != 0 && step.node.bytes().size() < node_bytes_ / 4) {
      if (const int code = merge(depth, &merged); code != SQLITE_OK) return code;
    }
    write(step.number, step.node);
    if (!merged) return SQLITE_OK;
  }
}

// With the node to the left, or else to the right; the path has what both are.
int CollatedCursor::merge(size_t depth, bool* merged) {
  Step& step = path_[depth];
  Step& parent = path_[depth - 1];
  if (parent.node.cells() < 2) return SQLITE_OK;
  const bool is_right = parent.cell != 0;
  const size_t right_cell = is_right ? parent.cell : 1;
  const uint64_t number = parent.node.child(is_right ? parent.cell - 1 : 1);
  CollatedNode other;
  if (const int code = load_node(number, step.node.level(), &other); code != SQLITE_OK) {
    return code;
  }
  CollatedNode& left = is_right ? other : step.node;
  CollatedNode& right = is_right ? step.node : other;
  const CollatedKey separator = parent.node.key(right_cell);
  const size_t together = left.bytes().size() + right.all_cells().size() + separator.encoded.size();
  if (together > node_bytes_ / 4 * 3) return SQLITE_OK;
  const uint64_t right_number = is_right ? step.number : number;
  if (right.is_leaf()) {
    forget_key(separator);
  } else {
    right.replace(0, 1, encode_collated_child(right.child(0), separator.encoded));
  }
  left.replace(left.cells(), 0, right.all_cells());
  writes_.push_back({collated_node_key(right_number), std::nullopt});
  parent.node.replace(right_cell, 1, {});
  if (is_right) {
    step.node = std::move(other);
    step.number = number;
  }
  *merged = true;
  return SQLITE_OK;
}

// Roots of one child.
int CollatedCursor::drop_roots() {
  while (header_.has_value() && header_->height > 1 && path_[0].node.cells() == 1) {
    const uint64_t child = path_[0].node.child(0);
    if (path_[1].number != child) {
      if (const int code = load(1, child); code != SQLITE_OK) return code;
    }
    writes_.push_back({collated_node_key(path_[0].number), std::nullopt});
    path_.erase(path_.begin());
    header_->root = child;
    --header_->height;
  }
  return SQLITE_OK;
}

}  // namespace hawthorn::sqlite
