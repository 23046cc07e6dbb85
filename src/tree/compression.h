#pragma once
// How the trees of a database are compressed: a codec for each, and the dictionaries of Zstd.
//
// What a tree is set to counts for what is written from then on; what lies on disk says itself how
// it is packed, so any mixture is read. A tree of Zstd gets one dictionary, trained from the first
// content that merges pack for it.
//
// Not here: packing (format/packing.h), making a dictionary durable before it is used
// (db/dictionaries.cc). Threads: any.
//
// 1. A dictionary is used for packing only once the manifest has it; it goes with the object of its
//    tree, which whoever unpacks something of that tree keeps (tree_ref.h).

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/packing.h"
#include "os/arena.h"
#include "os/sync.h"

namespace hawthorn::tree {

class Compression {
 public:
  static constexpr size_t kDictionaryBytes = size_t{16} << 10;

  struct Plan {
    format::Codec codec = format::Codec::kNone;
    const format::Dictionary* dictionary = nullptr;
  };

  // What it has on the heap counts against the arena's budget.
  explicit Compression(os::Arena* arena);

  void set_codec(uint32_t tree, format::Codec codec);
  // Nobody uses its object any more: its dictionary goes, too.
  void forget_tree(uint32_t tree);
  // How a tree's next runs and extents are packed.
  Plan plan(uint32_t tree) const;

  // The manifest has this dictionary. False: the bytes are no dictionary.
  bool add_dictionary(uint32_t tree, uint32_t id, std::string_view bytes);
  // Null for id 0 and for one that does not exist.
  const format::Dictionary* dictionary(uint32_t id) const;

  // Content of a tree that is to have a dictionary and has none yet; others ignore it. Few trees
  // are sampled at a time, half a megabyte of each.
  void offer_sample(uint32_t tree, const char* content, size_t bytes);
  // A tree with enough samples, which are taken, and its next dictionary's id; false: none.
  struct Samples {
    uint32_t tree = 0;
    uint32_t dictionary = 0;
    std::string bytes;
  };
  bool take_samples(Samples* samples);

 private:
  struct State {
    format::Codec codec = format::Codec::kNone;
    const format::Dictionary* dictionary = nullptr;
    bool sampling = false;
  };
  struct Sampled {
    std::string bytes;
    uint64_t offered = 0;  // when its last sample was taken
  };
  void drop_samples(uint32_t tree) REQUIRES(mutex_);
  bool find_place() REQUIRES(mutex_);

  os::Arena* const arena_;
  uint64_t offers_ GUARDED_BY(mutex_) = 0;
  mutable os::Mutex mutex_;
  std::map<uint32_t, State> trees_ GUARDED_BY(mutex_);  // those that are packed
  std::map<uint32_t, Sampled> sampled_ GUARDED_BY(mutex_);
  struct Owned {
    uint32_t tree;
    std::unique_ptr<format::Dictionary> dictionary;
  };
  std::map<uint32_t, Owned> dictionaries_ GUARDED_BY(mutex_);
  uint32_t next_dictionary_ GUARDED_BY(mutex_) = 1;
};

}  // namespace hawthorn::tree
