#pragma once
// Objects that come with the library, by their names, and the names of others.
//
//   comparator          leveldb.BytewiseComparator, rocksdb.ReverseBytewiseComparator
//   merge operator      put, uint64add, stringappend, max, bytesxor (builtin_merges.h)
//   prefix              rocksdb.FixedPrefix.8 or fixed:8, rocksdb.CappedPrefix.8 or capped:8,
//                       rocksdb.Noop
//   memtable            skip_list, vector, prefix_hash, hash_linkedlist, each also with :COUNT
//   filter policy       bloomfilter:10:false, ribbonfilter:10:0
//   table               BlockBasedTable, PlainTable, CuckooTable, or {id=...;option=value}
//   cache               64M, or {capacity=64M;num_shard_bits=4}
//   none                nullptr
//
// Used by option_values.h, whose overloads these are. Threads: any.
// Errors: NotSupported for names of other objects; InvalidArgument.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "shims/rocksdb/src/option_text.h"

namespace hawthorn::rocks {

template <typename T>
using Shared = std::shared_ptr<T>;

rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            const rocksdb::Comparator** value);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            const rocksdb::CompactionFilter** value);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<rocksdb::CompactionFilterFactory>* value);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<rocksdb::MergeOperator>* value);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<const rocksdb::SliceTransform>* value);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<rocksdb::MemTableRepFactory>* value);
rocksdb::Status make_memtable(const std::string& text,
                              std::unique_ptr<rocksdb::MemTableRepFactory>* made);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<const rocksdb::FilterPolicy>* value);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<rocksdb::Cache>* value);
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<rocksdb::Statistics>* value);
// Of bytes per second.
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            Shared<rocksdb::RateLimiter>* value);

// Changes one option where `part` names one; otherwise those that the text names, of a factory of
// the kind that is there, or of a new one with defaults.
rocksdb::Status parse_table_factory(const rocksdb::ConfigOptions& config, std::string_view part,
                                    const std::string& text, Shared<rocksdb::TableFactory>* value);
// The text is the options of this kind; a factory of another kind is an error.
rocksdb::Status parse_options_of_table(const rocksdb::ConfigOptions& config, const char* kind,
                                       std::string_view part, const std::string& text,
                                       Shared<rocksdb::TableFactory>* value);
// Those that the map names. A factory may be another one's, too, so that it is replaced.
rocksdb::Status parse_table_options(const rocksdb::ConfigOptions& config, const OptionMap& options,
                                    Shared<rocksdb::TableFactory>* value);
// The table of a factory's options, and these; empty where it has none.
struct TableOptionsOf {
  OptionTable table;
  const void* options = nullptr;
};
TableOptionsOf options_of_table(const rocksdb::TableFactory* factory);

std::optional<std::string> show_value(const rocksdb::ConfigOptions& config,
                                      const Shared<rocksdb::TableFactory>& value);
std::optional<std::string> show_value(const rocksdb::ConfigOptions& config,
                                      const Shared<rocksdb::MergeOperator>& value);
// Caches, limits and statistics are shared between databases, so that a text cannot name them.
std::optional<std::string> show_value(const rocksdb::ConfigOptions& config,
                                      const Shared<rocksdb::Cache>& value);
std::optional<std::string> show_value(const rocksdb::ConfigOptions& config,
                                      const Shared<rocksdb::RateLimiter>& value);
std::optional<std::string> show_value(const rocksdb::ConfigOptions& config,
                                      const Shared<rocksdb::Statistics>& value);
// Others are shown by their id, in one line and without what begins a comment.
std::string line_of_id(const std::string& id);
template <typename Pointer>
  requires requires(const Pointer& pointer) { pointer->GetId(); }
std::optional<std::string> show_value(const rocksdb::ConfigOptions&, const Pointer& value) {
  return value == nullptr ? "nullptr" : line_of_id(value->GetId());
}

}  // namespace hawthorn::rocks
