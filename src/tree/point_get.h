#pragma once
// One point read on its way: as far as memory goes, then a request for what is on disk, and on.
//
//   advance() ──> done, or request() ──> I/O by the caller ──> arrived() ──> advance() ...
//
// A get does the I/O at once, multi_get for many keys together, an asynchronous get when its queue
// comes to it. Not here: registering the timestamp, values of more than 64 KB (tree_read.cc).
// Threads: one object from one thread at a time. Lifetime: key, tree and value of the caller.
//
// 1. No epoch guard is held between calls (R17).
// 2. What is read is verified before anything is taken from it.

#include <optional>
#include <string_view>

#include "hawthorn/value.h"
#include "os/io_queue.h"
#include "os/sync.h"
#include "tree/block_read.h"
#include "tree/snapshots.h"
#include "tree/tree.h"

namespace hawthorn::tree {

class PointGet {
 public:
  enum class Reach : uint8_t { kDisk, kMemory };
  // `registered`: see TreeState::get.
  PointGet(TreeState* tree, std::string_view key, const ReadView& view, bool registered,
           Value* value, Reach reach = Reach::kDisk)
      : tree_(tree),
        key_(key),
        view_(view),
        registered_(registered),
        reach_(reach),
        value_(value) {}

  // Goes on; true: it is done, status() says how. False: request() waits to be read; of one that
  // reaches for memory alone: memory does not tell, and that was all.
  bool advance();
  // What has to be read; valid until arrived() is called.
  os::IoRead request() const;
  // Whether another read is for the same blocks: one of them may wait for the other, and is then
  // told by skip().
  bool same_blocks(const PointGet& other) const;
  void skip() { read_.reset(); }
  // The request was carried out.
  void arrived(Status status);

  // Once it is done: where what it found should settle, does so. Blocking; of no need for the get
  // itself.
  void settle();
  // kNotFound; kCorruption; kIoError; kOutOfMemory.
  const Status& status() const { return status_; }
  // The value is an encoded format::LargeValue; with operands, what they are to be folded onto.
  bool large() const { return large_; }
  const Operands& operands() const { return operands_; }
  // That has it: of a clone perhaps its source.
  const TreeState* tree() const { return tree_; }
  std::string_view key() const { return key_; }
  Value* value() const { return value_; }

 private:
  // What a look at the key could not see.
  struct Missing {
    PinnedRunFile file;
    BlockRange blocks;     // extent null: the front of the run
    bool damaged = false;  // nothing is missing, an entry is malformed
  };
  bool look(Missing* missing);
  // Asks the tree's layers, where it has some. False: it has to look again.
  bool look_at_layers();
  // What a layer has of the key. False: memory does not tell.
  bool look_into(TreeState* layer, Value* found, Status* status) const;
  // The tree is a clone and knows nothing of the key: goes on in what it was made of.
  bool descend();
  void fold();
  Status start_read(const Missing& missing);

  TreeState* tree_;
  const std::string_view key_;
  ReadView view_;
  bool registered_;
  const Reach reach_;
  Value* const value_;
  bool large_ = false;
  bool again_ = false;
  bool absent_ = false;
  bool hidden_ = false;                       // by a layer
  bool gathers_ = false;                      // an operand was met
  bool missed_ = false;                       // a layer is not in memory
  Lsn cts_ = 0;                               // PointRead::cts of what was found
  Lsn cut_ = 0;                               // of the run that was looked at
  bool layered_ = false;                      // layers may have it
  uint64_t layers_ = 0;                       // Layers::state() before the tree was looked at
  std::optional<HeldSnapshot> registration_;  // taken for the layers
  Operands operands_;
  Status status_;
  std::optional<ColdBlocks> cold_;
  std::optional<BlockRead> read_;
  PinnedRunFile ripe_file_;
  Extent* ripe_ = nullptr;  // of ripe_file_, to settle
  bool arrived_ = false;
  os::SpinWait wait_;
};

}  // namespace hawthorn::tree
