#include "tree/operands.h"

#include <algorithm>

#include "hawthorn/merge_operator.h"
#include "tree/large_read.h"
#include "tree/tree.h"

namespace hawthorn::tree {

bool Operands::add_older_list(std::string_view encoded) {
  std::vector<std::string_view> oldest_first;
  while (!encoded.empty()) {
    if (!format::take_operand(&encoded, &oldest_first.emplace_back())) return false;
  }
  newest_first_.insert(newest_first_.end(), oldest_first.rbegin(), oldest_first.rend());
  return true;
}

ChainRead read_operands(const Version* newest, const ReadView& view, const TxnSlots& slots,
                        bool frozen, Operands* operands) {
  struct Seen {
    Lsn cts;
    const Version* version;
  };
  ChainRead result;
  std::vector<Seen> seen;
  for (const Version* v = newest; v != nullptr; v = v->older.load(std::memory_order_acquire)) {
    const uint8_t flags = v->flags.load(std::memory_order_acquire);
    const bool operand = v->kind == VersionKind::kMerge;
    if ((flags & kMoved) != 0) {
      if (frozen) continue;
      result.stale = true;
      return result;
    }
    if (view.own != 0 && v->stamp.load(std::memory_order_acquire) == (kIntentBit | view.own)) {
      seen.push_back({format::kLsnMax, v});
      if (!operand) break;  // own intents stand newest first, and rank above all others
      continue;
    }
    const Resolved r = resolve(v, slots);
    if (r.outcome == TxnSlots::Outcome::kGone) {
      result.stale = true;
      return result;
    }
    if (r.outcome == TxnSlots::Outcome::kActive) result.skipped_newer = true;
    if (r.outcome != TxnSlots::Outcome::kCommitted) continue;
    if (r.cts > view.ts) {
      result.skipped_newer = true;
      continue;
    }
    seen.push_back({r.cts, v});
    HAWTHORN_TEST_POINT("operands.seen");
    if (!operand && (flags & kUnordered) == 0) break;  // everything below ranks lower
  }
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) {
    return a.cts != b.cts ? a.cts > b.cts : a.version->seq > b.version->seq;
  });
  for (const Seen& next : seen) {
    if (next.version->kind != VersionKind::kMerge) {
      result.version = next.version;
      result.cts = next.cts;
      break;
    }
    operands->add_older(next.version->value());
  }
  return result;
}

// ---- The operator

namespace {
// For keys that are not stored as they are.
class ShapedOperator : public MergeOperator {
 public:
  ShapedOperator(const MergeOperator* of, const format::TreeShape* shape)
      : of_(of), shape_(shape) {}
  std::string_view name() const override { return of_->name(); }
  bool merge(std::string_view key, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    std::string loaded;
    return shape_->load(key, &loaded, nullptr).ok() &&
           of_->merge(loaded, existing, operands, result);
  }
  bool combine(std::string_view key, std::string_view left, std::string_view right,
               std::string* result) const override {
    std::string loaded;
    return shape_->load(key, &loaded, nullptr).ok() && of_->combine(loaded, left, right, result);
  }

 private:
  const MergeOperator* const of_;
  const format::TreeShape* const shape_;
};
}  // namespace

void TreeState::set_merge_operator(const MergeOperator* to) {
  if (shape_ != nullptr) {
    shaped_operator_ = std::make_unique<ShapedOperator>(to, shape_.get());
    to = shaped_operator_.get();
  }
  merge_operator_.store(to, std::memory_order_release);
}

Status TreeState::can_merge() const {
  if (merge_operator() != nullptr) return {};
  return Status(StatusCode::kInvalidArgument,
                "tree " + std::to_string(id_) + " has no merge operator");
}

Status TreeState::fold(std::string_view key, std::optional<std::string_view> existing,
                       const Operands& operands, std::string* result) const {
  const MergeOperator* merge_operator = this->merge_operator();
  const std::vector<std::string_view> oldest_first = operands.oldest_first();
  if (!fold_operands(merge_operator, key, existing, oldest_first, result)) {
    return Status(StatusCode::kCorruption,
                  "tree " + std::to_string(id_) + ", key " + quoted_key(key) + ": " +
                      (merge_operator == nullptr
                           ? std::string("there are operands, and the tree has no merge operator")
                           : "the merge operator \"" + std::string(merge_operator->name()) +
                                 "\" refuses the operands"));
  }
  if (result->size() > kLargeValueBytesMax) return too_large_to_read(result->size());
  return {};
}

bool fold_operands(const MergeOperator* merge_operator, std::string_view key,
                   std::optional<std::string_view> existing,
                   std::span<const std::string_view> oldest_first, std::string* result) {
  if (merge_operator == nullptr) return false;
  result->clear();
  try {
    return merge_operator->merge(key, existing, oldest_first, result);
  } catch (...) {
    return false;
  }
}

bool combine_operands(const MergeOperator* merge_operator, std::string_view key,
                      std::string_view left, std::string_view right, std::string* result) {
  if (merge_operator == nullptr) return false;
  result->clear();
  try {
    return merge_operator->combine(key, left, right, result);
  } catch (...) {
    return false;
  }
}

}  // namespace hawthorn::tree
