#pragma once
// The order of a tree's keys, whether a key may have several values there, whether entries end, and
// whether values may be trees: chosen when the tree is made, and kept with it.
//
//   Tree events = db->tree("events", {.order = "reverse"}).value();             // newest first
//   Tree edges = db->tree("edges", {.order = "uint64", .multi_value = true}).value();
//   db->put(edges, from, to_1);
//   db->put(edges, from, to_2);                                                 // beside the first
//   Tree sessions = db->tree("sessions", {.expires = true, .ttl_ms = 3'600'000}).value();
//
// Orders that come with the library:
//   "bytewise"  byte by byte, unsigned; a key comes before those that it begins: the default
//   "reverse"   the other way round
//   "from_end"  byte by byte from the last one backwards; a key comes before those that it ends
//   "uint32", "uint64", "int32", "int64"
//               numbers of 4 or 8 bytes as this machine stores them; other sizes are no keys
//
// Others are given with Options::key_orders, as an encoding: a function that makes of a key bytes
// which, compared byte by byte, stand in the order that is meant (a sort key). That is stored in
// place of the key and decoded for whoever reads, so such a tree is as fast as any other, and takes
// what the encoding adds. Or, with Options::key_comparators, as a comparison, which costs more.
//
// Everything that speaks of an order goes by the tree's: cursors, ranges and their ends, counts,
// sorted ingests, batches of scans. An empty lower end of a range is none, in every order. Messages
// (of locks, say) name keys as they are stored.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hawthorn/export.h"

namespace hawthorn {

// An order of keys. Its functions must be pure, and stay the same for as long as there is a tree
// that has it.
//
// Threads: called from any thread, several at a time. They must not call the database, nor throw.
// Lifetime: shared with the database that it was given to.
class HAWTHORN_EXPORT KeyOrder {
 public:
  virtual ~KeyOrder() = default;

  // What a tree remembers it by: 1 to 255 bytes, always the same.
  virtual std::string_view name() const = 0;

  // Appends the sort key. Of two keys, that comes first whose sort key does, compared byte by byte,
  // and different keys have different ones. A sort key has at most limits().key_bytes_max bytes.
  // False: these bytes are no key in this order; who asked gets kInvalidArgument.
  virtual bool encode(std::string_view key, std::string* sort_key) const = 0;

  // Appends the key of which encode has made this. False: of none; who reads gets kCorruption.
  virtual bool decode(std::string_view sort_key, std::string* key) const = 0;

  // The size of all sort keys, where they have the same: trees of several values to a key are
  // smaller then. 0: they have not.
  virtual size_t fixed_bytes() const { return 0; }
};

// An order of keys that is given as a comparison, for programs that have nothing else; where there
// is a choice, an encoding (KeyOrder) is faster and smaller. Given by Options::key_comparators, and
// chosen by its name as any order.
//
// The tree remembers each key that was ever stored in it, and its place among the others, beside
// the entries: about the key's size and 20 bytes more, also when the entry is deleted, and those of
// the ends of deleted ranges and of what kSerializable transactions looked for. That goes with the
// tree. A call with a key looks for its place by comparisons: some 20 steps among a million that
// are not in memory. Of keys that compare equal the one that came first is kept, and shown for all.
// Keys that are added again and again between the same two take ever more bytes (about a byte for
// each five of them), up to the limit of keys.
//
// Threads, Lifetime: as KeyOrder's. It must not call the database, nor throw.
class HAWTHORN_EXPORT KeyComparator {
 public:
  virtual ~KeyComparator() = default;

  // What a tree remembers it by: 1 to 255 bytes, always the same.
  virtual std::string_view name() const = 0;

  // Less than, equal to or greater than 0 where `a` comes before, is, or comes behind `b`. A total
  // order that never changes.
  virtual int compare(std::string_view a, std::string_view b) const = 0;
};

// When an entry ends. By the wall clock, in milliseconds since 1970, but never backwards.
class HAWTHORN_EXPORT Expiry {
 public:
  static Expiry never() { return Expiry(Kind::kAt, 0); }
  static Expiry at_ms(uint64_t since_1970) { return Expiry(Kind::kAt, since_1970); }
  static Expiry after_ms(uint64_t from_now) { return Expiry(Kind::kAfter, from_now); }
  // The moment, where it is `now`. 0: never.
  uint64_t moment_ms(uint64_t now) const {
    if (kind_ == Kind::kAt) return ms_;
    return ms_ > UINT64_MAX - now ? 0 : now + ms_;
  }

 private:
  enum class Kind : uint8_t { kAt, kAfter };
  Expiry(Kind kind, uint64_t ms) : kind_(kind), ms_(ms) {}
  Kind kind_;
  uint64_t ms_;
};

// What a tree is made with.
struct TreeOptions {
  // The name of an order. Empty: "bytewise".
  std::string order = {};

  // A key may have several values, which are a sorted set: put adds one, del takes away all,
  // remove_if a certain one, insert tells whether it was missing. get reads the first. Cursors show
  // each with its key. A value is a part of what is sorted: with its key it has at most
  // limits().key_bytes_max bytes, as stored (a zero byte in a key counts twice). Not for such
  // trees (kNotSupported): multi_get and read queues, get_for_update, get_pinned and lock, update
  // and replace, merges, streamed values and parts of values, put_reserve.
  bool multi_value = false;
  // The order of a key's values, where there are several. Empty: "bytewise".
  std::string value_order = {};

  // Entries may end: each put may say when (Expiry); one that does not takes `ttl_ms`, from its put
  // on (0: never). An entry that has ended is gone for every read at once, for snapshots as of the
  // moment at which they were taken, and for transactions (but kReadCommitted) at their begin. Soon
  // after, the background removes it for good, and Options::on_expiry is told. Takes 8 bytes of
  // each value, and for an entry that ends a second one, of its key, until then. Moves of cursors
  // and counts look at what has ended and is not removed; skip goes step by step. Not for such
  // trees (kNotSupported): merges, values of more than 64 MB, sorted ingests where ttl_ms is not 0.
  bool expires = false;
  uint64_t ttl_ms = 0;

  // Values may be trees (Db::create_subtree). Every write of such a tree first looks whether a
  // subtree hangs at its key, so a put takes about as long as a get and a put, and where others
  // hang or take off a subtree at the same key in the meantime, the write is tried again, or in a
  // transaction, conflicts. Keys have at most limits().key_bytes_max - 5 bytes, as stored. Reads
  // take as long as ever. Not for such trees (kNotSupported): several values, entries that end,
  // merges, bulk ingests, clones. A database in which there ever was one cannot be opened by
  // versions before them.
  bool subtrees = false;

  bool operator==(const TreeOptions&) const = default;
};

}  // namespace hawthorn
