#include "db/check_extents.h"

#include <algorithm>
#include <vector>

#include "os/epoch.h"
#include "os/file.h"
#include "os/test_point.h"

namespace hawthorn::db {

using format::ExtentAddress;
using Kind = CheckItem::Kind;

namespace {

using Claim = ExtentClaim;

// Extents of two moments may overlap without fault, so all files stay referenced as long as this
// lives.
struct Claims {
  std::vector<Claim> all;
  std::vector<tree::RunFileRef> files;
  uint64_t blocks = 0;

  void add(const ExtentAddress& extent, const format::ContainerRecord& of) {
    if (extent.blocks == 0) return;
    all.push_back({extent, of.tree, of.id});
    blocks += extent.blocks;
  }
  void add(tree::TreeState* tree) {
    // One moment of the tree.
    os::MutexLock lock(tree->structure_mutex());
    const os::epoch::Guard guard;
    for (const tree::Container* container : tree->directory().all()) {
      tree::RunFile* const file = container->descriptor.load(std::memory_order_acquire)->run;
      files.emplace_back(file);
      const format::ContainerRecord& record = file->record;
      add(record.run, record);
      for (const format::ValueExtentRecord& value : record.values) add(value.address, record);
      for (const ExtentAddress& large : record.large) add(large, record);
    }
  }
};

std::string text_of(const Claim& claim) {
  return "container " + std::to_string(claim.container) + " of tree " + std::to_string(claim.tree);
}

CheckItem item_of(const ExtentAddress& first, const ExtentAddress& second, std::string what) {
  const uint64_t begin = std::max(first.block, second.block);
  const uint64_t end =
      std::min(uint64_t{first.block} + first.blocks, uint64_t{second.block} + second.blocks);
  CheckItem item;
  item.kind = Kind::kOverlap;
  item.file = space::data_file_name(first.file);
  item.offset = begin * os::kBlockBytes;
  item.bytes = (end - begin) * os::kBlockBytes;
  item.what = std::move(what);
  return item;
}

bool overlap(const ExtentAddress& first, const ExtentAddress& second) {
  return first.file == second.file && uint64_t{first.block} + first.blocks > second.block &&
         uint64_t{second.block} + second.blocks > first.block;
}

// Whichever of those before reaches furthest is the one that a later one may overlap.
void add_overlaps(const std::vector<Claim>& claims, std::vector<CheckItem>* found) {
  const Claim* furthest = nullptr;
  for (const Claim& claim : claims) {
    if (furthest != nullptr && overlap(furthest->extent, claim.extent)) {
      found->push_back(
          item_of(furthest->extent, claim.extent,
                  "is claimed by " + text_of(*furthest) + " and by " + text_of(claim)));
    }
    const bool further = furthest == nullptr || furthest->extent.file != claim.extent.file ||
                         uint64_t{claim.extent.block} + claim.extent.blocks >
                             uint64_t{furthest->extent.block} + furthest->extent.blocks;
    if (further) furthest = &claim;
  }
}

// Both in the order of their places.
void add_free(const std::vector<Claim>& claims, const std::vector<ExtentAddress>& free,
              std::vector<CheckItem>* found) {
  size_t next = 0;
  for (const Claim& claim : claims) {
    const auto before = [&](const ExtentAddress& range) {
      return range.file < claim.extent.file ||
             (range.file == claim.extent.file &&
              uint64_t{range.block} + range.blocks <= claim.extent.block);
    };
    while (next < free.size() && before(free[next])) ++next;
    if (next == free.size()) return;
    if (overlap(free[next], claim.extent)) {
      found->push_back(item_of(claim.extent, free[next],
                               "is in use by " + text_of(claim) + ", and counts as free"));
    }
  }
}
}  // namespace

std::vector<CheckItem> find_overlaps(std::vector<Claim>& claims, std::vector<ExtentAddress>& free) {
  std::sort(claims.begin(), claims.end(),
            [](const Claim& a, const Claim& b) { return a.extent < b.extent; });
  std::sort(free.begin(), free.end());
  std::vector<CheckItem> found;
  add_overlaps(claims, &found);
  add_free(claims, free, &found);
  return found;
}

void check_extents(Db::Impl& database, CheckSink& sink) {
  Claims claims;
  for (tree::TreeState* tree : database.catalog_->all()) {
    HAWTHORN_TEST_POINT("check.before_tree");
    claims.add(tree);
  }
  // What was evicted keeps its extent until nobody can be reading it: lets that go, and no more.
  database.residency_->make_room(0);
  std::vector<ExtentAddress> free = database.space_->free_ranges();
  const uint64_t used = database.space_->used_blocks();
  const uint64_t others = database.store_.large->blocks() +
                          database.feeds_->held_bytes() / os::kBlockBytes + claims.blocks;
  for (CheckItem& item : find_overlaps(claims.all, free)) sink.add(std::move(item));
  sink.bytes_unaccounted.store((used - std::min(used, others)) * os::kBlockBytes);
}

}  // namespace hawthorn::db
