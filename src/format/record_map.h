#pragma once
// Records of trees and of containers by their ids, packed: a database may have a hundred thousand
// of them, most of which nobody looks at for as long as it is open.
//
// Not here: records on disk (manifest_record.h), which of them there are (db/manifest.h).
// Threads: as for any value; reading changes nothing.
//
// 1. Records are given out as copies. One that is changed is set again.
// 2. Chunks are in the order of their ids, none is empty, and each has the records from its first
//    id on, below that of the next.
// 3. The same record is always packed into the same bytes.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace hawthorn::format {

struct ContainerRecord;
struct TreeRecord;

// Without their ids. What is unpacked has been packed before.
void pack_record(const ContainerRecord& record, std::string* to);
void pack_record(const TreeRecord& record, std::string* to);
void unpack_record(std::string_view from, ContainerRecord* record);
void unpack_record(std::string_view from, TreeRecord* record);

// Bytes by number.
class PackedMap {
 public:
  struct Place {
    size_t chunk = 0;
    size_t offset = 0;  // of the entry in it
    bool operator==(const Place&) const = default;
  };
  struct Entry {
    uint64_t id = 0;
    std::string_view bytes;
    size_t end = 0;  // its offset behind the entry
  };

  size_t size() const { return size_; }
  void clear();
  // The end where there is none.
  Place find(uint64_t id) const;
  Place begin() const { return {}; }
  Place end() const { return {chunks_.size(), 0}; }
  Entry at(const Place& place) const;
  Place after(const Place& place, const Entry& entry) const;
  // Added, or replaced.
  void set(uint64_t id, std::string_view bytes);
  bool erase(uint64_t id);
  // What it takes of the heap, about.
  size_t heap_bytes() const;

 private:
  // An entry is the distance of its id from `first`, the number of its bytes, and these.
  struct Chunk {
    uint64_t first = 0;
    uint32_t count = 0;
    std::string entries = {};
  };
  static constexpr uint32_t kCountMax = 32;
  static constexpr size_t kBytesMax = 4096;  // but for a single record that is larger
  using Entries = std::vector<std::pair<uint64_t, std::string_view>>;

  size_t chunk_of(uint64_t id) const;  // the last that begins at or below the id; else 0
  Entries entries_of(size_t chunk) const;
  static Chunk packed(const Entries& entries, size_t from, size_t to);
  void put_back(size_t chunk, const Entries& entries);
  void splice(size_t number, size_t from, size_t to, std::string_view bytes);
  void add_last(uint64_t id, std::string_view bytes);

  std::vector<Chunk> chunks_;
  size_t size_ = 0;
  uint64_t id_max_ = 0;  // there is none above
};

// As std::map, but for rule 1.
template <typename Id, typename Record>
class RecordMap {
 public:
  using value_type = std::pair<Id, Record>;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = RecordMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    Iterator(const PackedMap* map, PackedMap::Place place) : map_(map), place_(place) { read(); }
    // Until the iterator moves on.
    reference operator*() const { return value_; }
    pointer operator->() const { return &value_; }
    Iterator& operator++() {
      place_ = map_->after(place_, entry_);
      read();
      return *this;
    }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }

   private:
    void read() {
      if (place_ == map_->end()) return;
      entry_ = map_->at(place_);
      value_.first = static_cast<Id>(entry_.id);
      value_.second = Record();
      value_.second.id = value_.first;
      unpack_record(entry_.bytes, &value_.second);
    }

    const PackedMap* map_;
    PackedMap::Place place_;
    PackedMap::Entry entry_;
    value_type value_;
  };
  using const_iterator = Iterator;

  size_t size() const { return packed_.size(); }
  bool empty() const { return size() == 0; }
  void clear() { packed_.clear(); }
  Iterator begin() const { return Iterator(&packed_, packed_.begin()); }
  Iterator end() const { return Iterator(&packed_, packed_.end()); }
  Iterator find(Id id) const { return Iterator(&packed_, packed_.find(id)); }
  bool contains(Id id) const { return packed_.find(id) != packed_.end(); }
  std::optional<Record> get(Id id) const {
    const Iterator found = find(id);
    return found == end() ? std::optional<Record>() : found->second;
  }
  // Of one that is there.
  Record at(Id id) const {
    std::optional<Record> found = get(id);
    HAWTHORN_ASSERT(found.has_value());
    return *std::move(found);
  }
  // Added, or replaced, by the id that it has.
  void set(const Record& record) {
    std::string bytes;
    pack_record(record, &bytes);
    packed_.set(record.id, bytes);
  }
  bool erase(Id id) { return packed_.erase(id); }
  template <typename Predicate>
  void erase_if(Predicate predicate) {
    std::vector<Id> ids;
    for (const auto& [id, record] : *this) {
      if (predicate(record)) ids.push_back(id);
    }
    for (const Id id : ids) erase(id);
  }
  size_t heap_bytes() const { return packed_.heap_bytes(); }

  bool operator==(const RecordMap& other) const {
    if (size() != other.size()) return false;
    PackedMap::Place mine = packed_.begin();
    PackedMap::Place theirs = other.packed_.begin();
    while (mine != packed_.end()) {
      const PackedMap::Entry a = packed_.at(mine);
      const PackedMap::Entry b = other.packed_.at(theirs);
      if (a.id != b.id || a.bytes != b.bytes) return false;
      mine = packed_.after(mine, a);
      theirs = other.packed_.after(theirs, b);
    }
    return true;
  }

 private:
  PackedMap packed_;
};

}  // namespace hawthorn::format
