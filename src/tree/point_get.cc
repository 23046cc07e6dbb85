#include "tree/point_get.h"

#include <utility>

#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/value_access.h"

namespace hawthorn::tree {

// One look at the key inside a guard; false: something is missing, or it has to look again.
bool PointGet::look(Missing* missing) {
  os::epoch::Guard guard;
  // In the guard in which it is used: nothing can take it away before.
  if (cold_) cold_->look_again();
  if (read_) cold_->add(*std::exchange(read_, std::nullopt));
  // Before the descriptor: what concerns nobody any more is in the tree by then.
  layers_ = tree_->layers().state();
  layered_ = tree_->layers().concern(view_, registered_);
  const Container* container = tree_->directory().find(key_);
  container->prefetch_read();
  const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
  // The descriptor comes before the timestamp (R15).
  HAWTHORN_TEST_POINT("tree.get.between_descriptor_and_timestamp");
  const auto read_key = [&] {
    ColdBlocks* cold = cold_ ? &*cold_ : nullptr;
    PointRead found = tree_->read_at(*descriptor, key_, view_, registered_, cold,
                                     gathers_ ? &operands_ : nullptr);
    if (found.state != PointRead::State::kOperands) return found;
    gathers_ = true;
    return tree_->read_at(*descriptor, key_, view_, registered_, cold, &operands_);
  };
  PointRead read = read_key();
  if (read.state == PointRead::State::kNeedBlocks && !cold_) {
    cold_.emplace(*tree_->store()->residency);
    read = read_key();
  }
  again_ = read.state == PointRead::State::kStale;
  large_ = read.state == PointRead::State::kLarge;
  absent_ = read.state == PointRead::State::kAbsent;
  hidden_ = false;
  cts_ = read.cts;
  cut_ = descriptor->run->record.cut;
  switch (read.state) {
    case PointRead::State::kAbsent:
      status_ = Status::not_found();
      return true;
    case PointRead::State::kFound:
    case PointRead::State::kLarge:
      internal::ValueAccess::copy(*value_, read.value);
      status_ = Status();
      if (cold_ && cold_->ripe() != nullptr && read.file != nullptr) {
        ripe_file_ = PinnedRunFile(read.file);
        ripe_ = cold_->ripe();
      }
      return true;
    case PointRead::State::kStale:
    case PointRead::State::kOperands:  // is read again with something to gather them in
      return false;
    case PointRead::State::kDamaged:
    case PointRead::State::kNeedRun:
    case PointRead::State::kNeedBlocks:
      missing->file = PinnedRunFile(read.file);
      missing->blocks = read.state == PointRead::State::kNeedBlocks ? read.needed : BlockRange{};
      missing->damaged = read.state == PointRead::State::kDamaged;
      return false;
  }
  return false;
}

// Makes what is missing resident as a whole where all of the database has room, or begins to read
// the blocks.
Status PointGet::start_read(const Missing& missing) {
  Residency& residency = *tree_->store()->residency;
  RunFile* file = missing.file.get();
  if (missing.damaged) {
    return Status(StatusCode::kCorruption,
                  "container " + std::to_string(file->record.id) + ": an entry is malformed");
  }
  const Extent* extent = missing.blocks.extent;
  if (extent == nullptr) return residency.load_for_get(file);
  if (missing.blocks.groups && residency.wants_front(file)) return residency.load_run(file);
  if (residency.roomy(extent->memory_bytes())) {
    if (extent->is_index) return residency.load_run(file, RunPart::kWhole);
    const uint32_t number = file->number_of(extent);
    Status status = residency.load_values(file, number);
    if (!status.ok() && !status.is(StatusCode::kOutOfMemory)) return status;
    if (status.ok() && file->bases[number].load(std::memory_order_acquire) != nullptr) return {};
    // A newer file has taken the extent over, or there is no room after all.
  }
  Result<BlockRead> read = BlockRead::begin(residency, file, missing.blocks);
  if (!read.ok()) return read.status();
  read_.emplace(std::move(read).value());
  return {};
}

// What the operands make of what was found.
void PointGet::fold() {
  std::string result;
  std::optional<std::string_view> existing;
  if (!absent_) existing = value_->view();
  status_ = tree_->fold(key_, existing, operands_, &result);
  if (status_.ok()) internal::ValueAccess::copy(*value_, result);
}

bool PointGet::look_into(TreeState* layer, Value* found, Status* status) const {
  if (reach_ == Reach::kDisk) {
    *status = layer->get(key_, kNewestOfLayer, true, *found);
    return true;
  }
  PointGet get(layer, key_, kNewestOfLayer, true, found, reach_);
  if (!get.advance() || (get.status().ok() && get.large())) return false;
  *status = get.status();
  return true;
}

bool PointGet::look_at_layers() {
  if (!layered_) return true;
  if (!registered_) {
    // At which moment the tree was read nobody knows.
    registration_.emplace(*tree_->store()->snapshots, *tree_->store()->visible);
    view_.ts = registration_->ts();
    registered_ = true;
    return false;
  }
  const std::vector<Layers::Seen> layers = tree_->layers().seen(view_);
  // A range may have gone since, which hid what the container had then.
  if (tree_->layers().state() != layers_) return false;
  for (const Layers::Seen& seen : layers) {
    if (cts_ >= seen.cts) return true;
    if (seen.layer->deletes()) {
      if (!seen.layer->range.covers(key_)) continue;
      // Whatever the layers below have, it hides; of the tree only what it was not made without.
      if (cut_ >= seen.cts) return true;
      status_ = Status::not_found();
      absent_ = true;
      hidden_ = true;
      large_ = false;
      operands_.clear();
      return true;
    }
    Value found;
    Status status;
    missed_ = !look_into(seen.layer->data, &found, &status);
    if (missed_) return true;
    if (status.is_not_found()) continue;
    status_ = status;
    large_ = false;
    operands_.clear();
    if (!status.ok()) return true;
    const LayerEntry entry = decode_layer_entry(found.view());
    absent_ = entry.kind == VersionKind::kTombstone;
    hidden_ = absent_;
    if (absent_) {
      status_ = Status::not_found();
    } else {
      internal::ValueAccess::copy(*value_, entry.value);
    }
    return true;
  }
  return true;
}

// A delete has a timestamp.
bool PointGet::descend() {
  const CloneBase* base = tree_->base();
  const bool found = !absent_ || hidden_ || cts_ != 0;
  if (found || !status_.is_not_found()) return false;
  // What it had is gone, and says nothing of what its user had found.
  if (tree_->dropped.load(std::memory_order_acquire)) [[unlikely]] {
    status_ = Status(StatusCode::kInvalidArgument, "the tree was dropped");
    return false;
  }
  if (base == nullptr) return false;
  if (registered_ && !base->shown_to(view_)) return false;
  const bool committed = base->at.load(std::memory_order_acquire) != PinList::kNoMoment;
  view_ = base->view(view_);
  tree_ = base->source;
  registered_ = registered_ || committed;
  cold_.reset();
  return true;
}

bool PointGet::advance() {
  if (arrived_) {
    arrived_ = false;
    if (status_.ok()) status_ = read_->confirm();
    if (!status_.ok()) return true;
  }
  for (;;) {
    Missing missing;
    if (look(&missing)) {
      if (!look_at_layers() || (!missed_ && descend())) continue;
      if (missed_) return false;
      if (gathers_ && !large_ && !operands_.empty()) fold();
      return true;
    }
    if (again_) {
      wait_.once();
      continue;
    }
    if (reach_ == Reach::kMemory && !missing.damaged) return false;
    HAWTHORN_TEST_POINT("tree.get.before_fetch");
    status_ = start_read(missing);
    if (!status_.ok()) return true;
    if (read_) return false;
  }
}

os::IoRead PointGet::request() const {
  const std::span<char> room = read_->room();
  return {read_->disk(), read_->disk_offset(), room.data(), room.size(), nullptr};
}

bool PointGet::same_blocks(const PointGet& other) const {
  return read_->disk() == other.read_->disk() &&
         read_->disk_offset() == other.read_->disk_offset() &&
         read_->room().size() == other.read_->room().size();
}

void PointGet::settle() {
  if (ripe_ != nullptr) tree_->store()->residency->settle(ripe_file_.get(), *ripe_);
  ripe_ = nullptr;
  ripe_file_.reset();
}

void PointGet::arrived(Status status) {
  status_ = std::move(status);
  arrived_ = true;
}

}  // namespace hawthorn::tree
