// The extents of large values in a merge: which stay, which go, which were moved.

#include <algorithm>

#include "tree/merge_work.h"

namespace hawthorn::tree {

// Versions of a key may share the extents of large values: of those that were dropped since, none
// goes that a version in key_versions names.
void Merger::Work::keep_shared_large(size_t from) {
  const auto first = large_dropped.begin() + static_cast<ptrdiff_t>(from);
  std::vector<ExtentAddress> named;
  for (const Kept& kept : key_versions) {
    std::string_view encoded;
    if (kept.version == nullptr) {
      const RunEntry entry = run->entry(kept.index);
      if (entry.kind == EntryKind::kLarge) encoded = entry.inline_value;
    } else if (kept.version->kind == VersionKind::kLarge) {
      encoded = kept.version->value();
    }
    if (encoded.empty()) continue;
    const Result<format::LargeValue> value = format::decode_large_value(encoded);
    if (!value.ok()) continue;  // as in note_large
    named.insert(named.end(), value->extents.begin(), value->extents.end());
  }
  std::sort(named.begin(), named.end());
  large_dropped.erase(std::remove_if(first, large_dropped.end(),
                                     [&named](const ExtentAddress& address) {
                                       return std::binary_search(named.begin(), named.end(),
                                                                 address);
                                     }),
                      large_dropped.end());
}

void Merger::Work::note_large(std::string_view encoded, bool keep) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return;  // checked when it was written and when the run was attached
  for (const ExtentAddress& address : value->extents)
    (keep ? large_kept : large_dropped).push_back(address);
}

// Of a large value's extents, those that are not where it was any more.
void Merger::Work::note_moved(std::string_view encoded) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return;  // as above
  for (const ExtentAddress& address : value->extents) {
    if (moved_large->contains(address)) large_dropped.push_back(address);
  }
}

// The encoded large value with its extents' new addresses.
std::string Merger::Work::moved(std::string_view encoded) const {
  std::string result(encoded);
  if (moved_large == nullptr) return result;
  Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return result;  // checked when the run was attached
  for (ExtentAddress& address : value->extents) {
    const auto to = moved_large->find(address);
    if (to != moved_large->end()) address = to->second;
  }
  result.clear();
  format::append_large_value(result, *value);
  return result;
}

// The extent of a large value that an input's run refers to already.
const ExtentRef* Merger::Work::old_large(const ExtentAddress& address) const {
  for (const MergeInput& input : inputs) {
    for (const ExtentRef& extent : input.file->large) {
      if (extent->address == address) return &extent;
    }
  }
  return nullptr;
}

}  // namespace hawthorn::tree
