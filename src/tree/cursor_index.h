#pragma once
// The index blocks that a cursor has read for itself, where the front of a container's run is not
// in memory: those around the place it was put to.
//
//   outline ──groups that can have the key──> load_heads, load ──> run(), for entries() only
//
// So a seek just after an open costs the header area and a block or two of the index, and not all
// of it. Not here: when a cursor goes by this, and when it goes over to the front
// (cursor_place.cc); the windows of records and values, which this tells the places of
// (cursor_window.h). Threads: one at a time.
//
// 1. The file is pinned from before begin to after reset; its run is not wide.
// 2. Entries have the numbers that they have in the whole run.
// 3. Of the groups that are loaded the heads are known, of entries() all: also where their records
// end, which a block behind them may have to tell. They have all versions of their keys.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "hawthorn/status.h"
#include "tree/cursor_window.h"
#include "tree/residency.h"
#include "tree/run.h"
#include "tree/run_file.h"

namespace hawthorn::tree {

class CursorIndex {
 public:
  explicit CursorIndex(Residency* residency) : residency_(residency), blocks_(residency) {}

  // Takes the outline of a file. False: it is not in memory, or will not do.
  bool begin(RunFile* file);
  void reset();
  // Between begin and reset.
  bool begun() const { return outline_ != nullptr; }
  // The cursor is put to another place: as many blocks may be read as at first.
  void begin_place() { loads_ = 0; }

  enum class Load : uint8_t {
    kThere,    // it was loaded before
    kLoaded,   // run() is another one
    kTooMuch,  // the front is the better choice; reset comes next
  };
  // Has the heads of all groups with these entries; where `range` is empty, of the next entry in
  // the direction of travel. Errors: kCorruption, kIoError, kOutOfMemory; reset comes next.
  Result<Load> load_heads(Run::Range range, bool forward);
  // The same of all that the index tells of the entries.
  Result<Load> load(Run::Range range, bool forward);

  // The outline, with the blocks that were loaded last.
  const Run& run() const { return run_ ? *run_ : *outline_; }
  Run::Range entries() const { return entries_; }
  // As Run::range_in.
  Run::Range range_of(std::string_view key) const { return run().range_in(groups_, key); }
  // How many bytes were loaded since the last call.
  size_t take_bytes() { return std::exchange(bytes_, 0); }

 private:
  static constexpr uint32_t kLoadsMax = 5;  // at one place
  static constexpr size_t kBytesMax = size_t{16} << 10;

  Run::Range blocks_of(Run::Range entries) const;
  Result<Load> read(Run::Range groups);
  void keep_whole_keys();

  Residency* const residency_;
  RunFile* file_ = nullptr;
  const Run* outline_ = nullptr;
  CursorWindow blocks_;
  std::optional<Run> run_;
  Run::Range groups_{0, 0};
  Run::Range entries_{0, 0};
  uint32_t loads_ = 0;
  size_t bytes_ = 0;
};

}  // namespace hawthorn::tree
