// The C API of what a program plugs in: comparators, merge operators, filters, transforms, loggers.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "shims/rocksdb/src/builtin_merges.h"
#include "shims/rocksdb/src/c_types.h"

namespace hawthorn::rocks {

// What a program hands over, for the destructor when the object goes.
struct CallbackState {
  CallbackState(void* of, void (*destructor_of)(void*)) : state(of), destructor(destructor_of) {}
  ~CallbackState() {
    if (destructor != nullptr) destructor(state);
  }
  CallbackState(const CallbackState&) = delete;
  CallbackState& operator=(const CallbackState&) = delete;
  void* const state;
  void (*const destructor)(void*);
};

}  // namespace hawthorn::rocks

namespace {

using rocksdb::Slice;

using NameOf = const char* (*)(void* state);
using CompareOf = int (*)(void* state, const char* a, size_t a_size, const char* b, size_t b_size);
using FullMergeOf = char* (*)(void* state, const char* key, size_t key_size,
                              const char* existing_value, size_t existing_value_size,
                              const char* const* operands, const size_t* operand_sizes,
                              int operand_count, unsigned char* success, size_t* new_value_size);
using PartialMergeOf = char* (*)(void* state, const char* key, size_t key_size,
                                 const char* const* operands, const size_t* operand_sizes,
                                 int operand_count, unsigned char* success, size_t* new_value_size);
using DeleteValueOf = void (*)(void* state, const char* value, size_t value_size);
using TransformOf = char* (*)(void* state, const char* key, size_t key_size, size_t* result_size);
using InOf = unsigned char (*)(void* state, const char* key, size_t key_size);
using FilterOf = unsigned char (*)(void* state, int level, const char* key, size_t key_size,
                                   const char* existing_value, size_t value_size, char** new_value,
                                   size_t* new_value_size, unsigned char* value_changed);
using MakeFilterOf = rocksdb_compactionfilter_t* (*)(void* state,
                                                     rocksdb_compactionfiltercontext_t* context);
using LogOf = void (*)(void* state, unsigned level, char* text, size_t size);

struct Pieces {
  template <typename Operands>
  explicit Pieces(const Operands& operands) {
    for (const Slice& operand : operands) {
      bytes.push_back(operand.data());
      sizes.push_back(operand.size());
    }
  }
  int count() const { return static_cast<int>(bytes.size()); }
  std::vector<const char*> bytes;
  std::vector<size_t> sizes;
};

}  // namespace

struct rocksdb_comparator_t final : rocksdb::Comparator {
  rocksdb_comparator_t(void* state, void (*destructor)(void*), CompareOf compare_of, NameOf name_of,
                       size_t timestamp_size)
      : rocksdb::Comparator(timestamp_size),
        of(state, destructor),
        compare(compare_of),
        name(name_of) {}
  const char* Name() const override { return name(of.state); }
  int Compare(const Slice& a, const Slice& b) const override {
    return compare(of.state, a.data(), a.size(), b.data(), b.size());
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  const hawthorn::rocks::CallbackState of;
  const CompareOf compare;
  const NameOf name;
};

struct rocksdb_mergeoperator_t final : rocksdb::MergeOperator {
  rocksdb_mergeoperator_t(void* state, void (*destructor)(void*), FullMergeOf full_merge_of,
                          PartialMergeOf partial_merge_of, DeleteValueOf delete_value_of,
                          NameOf name_of)
      : of(state, destructor),
        full_merge(full_merge_of),
        partial_merge(partial_merge_of),
        delete_value(delete_value_of),
        name(name_of) {}
  const char* Name() const override { return name(of.state); }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    const Pieces operands(in.operand_list);
    const Slice* const existing = in.existing_value;
    unsigned char success = 0;
    size_t size = 0;
    char* const value = full_merge(
        of.state, in.key.data(), in.key.size(), existing == nullptr ? nullptr : existing->data(),
        existing == nullptr ? 0 : existing->size(), operands.bytes.data(), operands.sizes.data(),
        operands.count(), &success, &size);
    return take(value, size, success, &out->new_value);
  }
  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                         std::string* new_value, rocksdb::Logger*) const override {
    if (partial_merge == nullptr) return false;
    const Pieces operands(operand_list);
    unsigned char success = 0;
    size_t size = 0;
    char* const value = partial_merge(of.state, key.data(), key.size(), operands.bytes.data(),
                                      operands.sizes.data(), operands.count(), &success, &size);
    return take(value, size, success, new_value);
  }
  bool PartialMerge(const Slice& key, const Slice& left, const Slice& right, std::string* new_value,
                    rocksdb::Logger* logger) const override {
    return PartialMergeMulti(key, {left, right}, new_value, logger);
  }
  // A copy of what the program has made, which goes back to it.
  bool take(char* value, size_t size, unsigned char success, std::string* to) const {
    if (success != 0 && value != nullptr) to->assign(value, size);
    if (success != 0 && value == nullptr) to->clear();
    if (delete_value != nullptr) {
      delete_value(of.state, value, size);
    } else {
      std::free(value);
    }
    return success != 0;
  }
  const hawthorn::rocks::CallbackState of;
  const FullMergeOf full_merge;
  const PartialMergeOf partial_merge;
  const DeleteValueOf delete_value;
  const NameOf name;
};

struct rocksdb_slicetransform_t : rocksdb::SliceTransform {};

struct rocksdb_filterpolicy_t final : rocksdb::FilterPolicy {
  explicit rocksdb_filterpolicy_t(const rocksdb::FilterPolicy* of) : rep(of) {}
  const char* Name() const override { return rep->Name(); }
  std::string GetId() const override { return rep->GetId(); }
  const char* CompatibilityName() const override { return rep->CompatibilityName(); }
  const std::unique_ptr<const rocksdb::FilterPolicy> rep;
};

struct rocksdb_compactionfiltercontext_t {
  rocksdb::CompactionFilter::Context rep;
};

struct rocksdb_compactionfilter_t final : rocksdb::CompactionFilter {
  rocksdb_compactionfilter_t(void* state, void (*destructor)(void*), FilterOf filter_of,
                             NameOf name_of)
      : of(state, destructor), filter(filter_of), name(name_of) {}
  const char* Name() const override { return name(of.state); }
  bool Filter(int level, const Slice& key, const Slice& existing_value, std::string* new_value,
              bool* value_changed) const override {
    char* value = nullptr;
    size_t size = 0;
    unsigned char changed = 0;
    const unsigned char removed =
        filter(of.state, level, key.data(), key.size(), existing_value.data(),
               existing_value.size(), &value, &size, &changed);
    // The value stays the program's: nothing says who would free it.
    if (changed != 0) new_value->assign(value, size);
    *value_changed = changed != 0;
    return removed != 0;
  }
  bool IgnoreSnapshots() const override { return ignore_snapshots; }
  const hawthorn::rocks::CallbackState of;
  const FilterOf filter;
  const NameOf name;
  bool ignore_snapshots = true;
};

struct rocksdb_compactionfilterfactory_t final : rocksdb::CompactionFilterFactory {
  rocksdb_compactionfilterfactory_t(void* state, void (*destructor)(void*), MakeFilterOf make_of,
                                    NameOf name_of)
      : of(state, destructor), make(make_of), name(name_of) {}
  const char* Name() const override { return name(of.state); }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override {
    rocksdb_compactionfiltercontext_t shown{context};
    return std::unique_ptr<rocksdb::CompactionFilter>(make(of.state, &shown));
  }
  const hawthorn::rocks::CallbackState of;
  const MakeFilterOf make;
  const NameOf name;
};

namespace {

// What the program's function returns lies in the key, or stays the program's.
struct OwnTransform final : rocksdb_slicetransform_t {
  OwnTransform(void* state, void (*destructor)(void*), TransformOf transform_of, InOf in_domain_of,
               InOf in_range_of, NameOf name_of)
      : of(state, destructor),
        transform(transform_of),
        in_domain(in_domain_of),
        in_range(in_range_of),
        name(name_of) {}
  const char* Name() const override { return name(of.state); }
  Slice Transform(const Slice& key) const override {
    size_t size = 0;
    const char* const bytes = transform(of.state, key.data(), key.size(), &size);
    return {bytes, size};
  }
  bool InDomain(const Slice& key) const override {
    return in_domain(of.state, key.data(), key.size()) != 0;
  }
  bool InRange(const Slice& key) const override {
    return in_range != nullptr && in_range(of.state, key.data(), key.size()) != 0;
  }
  const hawthorn::rocks::CallbackState of;
  const TransformOf transform;
  const InOf in_domain;
  const InOf in_range;
  const NameOf name;
};

struct LibraryTransform final : rocksdb_slicetransform_t {
  explicit LibraryTransform(const rocksdb::SliceTransform* of) : rep(of) {}
  const char* Name() const override { return rep->Name(); }
  std::string GetId() const override { return rep->GetId(); }
  Slice Transform(const Slice& key) const override { return rep->Transform(key); }
  bool InDomain(const Slice& key) const override { return rep->InDomain(key); }
  const std::unique_ptr<const rocksdb::SliceTransform> rep;
};

class Callback final : public rocksdb::Logger {
 public:
  Callback(rocksdb::InfoLogLevel level, LogOf log, void* state)
      : rocksdb::Logger(level), log_(log), state_(state) {}
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::INFO_LEVEL, format, arguments);
  }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (log_ == nullptr || level < GetInfoLogLevel()) return;
    va_list again;
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, arguments);
    std::string text(static_cast<size_t>(std::max(size, 0)), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    log_(state_, static_cast<unsigned>(level), text.data(), text.size());
  }

 private:
  const LogOf log_;
  void* const state_;
};

class Stderr final : public rocksdb::Logger {
 public:
  Stderr(rocksdb::InfoLogLevel level, const char* prefix)
      : rocksdb::Logger(level), prefix_(prefix == nullptr ? "" : std::string(prefix) + " ") {}
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    // One call for a line, so that lines of several threads do not mix.
    std::vfprintf(stderr, (prefix_ + format + "\n").c_str(), arguments);
  }

 private:
  const std::string prefix_;
};

}  // namespace

const rocksdb::Comparator* hawthorn::rocks::comparator_of(const rocksdb_comparator_t* comparator) {
  return comparator;
}

extern "C" {

// ---- Comparators

rocksdb_comparator_t* rocksdb_comparator_create(void* state, void (*destructor)(void*),
                                                CompareOf compare, NameOf name) try {
  return new rocksdb_comparator_t(state, destructor, compare, name, 0);
} catch (...) {
  return nullptr;
}
rocksdb_comparator_t* rocksdb_comparator_with_ts_create(
    void* state, void (*destructor)(void*), CompareOf compare, CompareOf,
    int (*)(void*, const char*, size_t, unsigned char, const char*, size_t, unsigned char),
    NameOf name, size_t timestamp_size) try {
  return new rocksdb_comparator_t(state, destructor, compare, name, timestamp_size);
} catch (...) {
  return nullptr;
}
void rocksdb_comparator_destroy(rocksdb_comparator_t* comparator) { delete comparator; }
void rocksdb_options_set_comparator(rocksdb_options_t* options, rocksdb_comparator_t* comparator) {
  options->rep.comparator = comparator;
}

// ---- Merge operators

rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(void* state, void (*destructor)(void*),
                                                      FullMergeOf full_merge,
                                                      PartialMergeOf partial_merge,
                                                      DeleteValueOf delete_value, NameOf name) try {
  return new rocksdb_mergeoperator_t(state, destructor, full_merge, partial_merge, delete_value,
                                     name);
} catch (...) {
  return nullptr;
}
void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator) {
  delete merge_operator;
}
void rocksdb_options_set_merge_operator(rocksdb_options_t* options,
                                        rocksdb_mergeoperator_t* merge_operator) try {
  options->rep.merge_operator.reset(merge_operator);
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* options) try {
  options->rep.merge_operator = hawthorn::rocks::builtin_merge("uint64add");
} catch (...) {
  options->short_of_memory = true;
}

// ---- Compaction filters

rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(void* state, void (*destructor)(void*),
                                                            FilterOf filter, NameOf name) try {
  return new rocksdb_compactionfilter_t(state, destructor, filter, name);
} catch (...) {
  return nullptr;
}
void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t* filter,
                                                   unsigned char value) {
  filter->ignore_snapshots = value != 0;
}
void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t* filter) { delete filter; }
unsigned char rocksdb_compactionfiltercontext_is_full_compaction(
    rocksdb_compactionfiltercontext_t* context) {
  return context->rep.is_full_compaction ? 1 : 0;
}
unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(
    rocksdb_compactionfiltercontext_t* context) {
  return context->rep.is_manual_compaction ? 1 : 0;
}
rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void*), MakeFilterOf create_compaction_filter,
    NameOf name) try {
  return new rocksdb_compactionfilterfactory_t(state, destructor, create_compaction_filter, name);
} catch (...) {
  return nullptr;
}
void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t* factory) {
  delete factory;
}
void rocksdb_options_set_compaction_filter(rocksdb_options_t* options,
                                           rocksdb_compactionfilter_t* filter) {
  options->rep.compaction_filter = filter;
}
void rocksdb_options_set_compaction_filter_factory(rocksdb_options_t* options,
                                                   rocksdb_compactionfilterfactory_t* factory) try {
  options->rep.compaction_filter_factory.reset(factory);
} catch (...) {
  options->short_of_memory = true;
}

// ---- Transforms

rocksdb_slicetransform_t* rocksdb_slicetransform_create(void* state, void (*destructor)(void*),
                                                        TransformOf transform, InOf in_domain,
                                                        InOf in_range, NameOf name) try {
  return new OwnTransform(state, destructor, transform, in_domain, in_range, name);
} catch (...) {
  return nullptr;
}
rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t value) try {
  return new LibraryTransform(rocksdb::NewFixedPrefixTransform(value));
} catch (...) {
  return nullptr;
}
rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop() try {
  return new LibraryTransform(rocksdb::NewNoopTransform());
} catch (...) {
  return nullptr;
}
void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform) { delete transform; }
void rocksdb_options_set_prefix_extractor(rocksdb_options_t* options,
                                          rocksdb_slicetransform_t* prefix_extractor) try {
  options->rep.prefix_extractor.reset(prefix_extractor);
} catch (...) {
  options->short_of_memory = true;
}

// ---- Filter policies

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key) try {
  return new rocksdb_filterpolicy_t(rocksdb::NewBloomFilterPolicy(bits_per_key));
} catch (...) {
  return nullptr;
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key) {
  return rocksdb_filterpolicy_create_bloom(bits_per_key);
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bloom_equivalent_bits_per_key) {
  return rocksdb_filterpolicy_create_ribbon_hybrid(bloom_equivalent_bits_per_key, -1);
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(
    double bloom_equivalent_bits_per_key, int bloom_before_level) try {
  return new rocksdb_filterpolicy_t(
      rocksdb::NewRibbonFilterPolicy(bloom_equivalent_bits_per_key, bloom_before_level));
} catch (...) {
  return nullptr;
}
void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy) { delete policy; }
void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t* options,
                                                   rocksdb_filterpolicy_t* filter_policy) try {
  options->rep.filter_policy.reset(filter_policy);
} catch (...) {
  options->short_of_memory = true;
}

// ---- Loggers

rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int log_level, const char* prefix) try {
  return new rocksdb_logger_t{
      std::make_shared<Stderr>(static_cast<rocksdb::InfoLogLevel>(log_level), prefix)};
} catch (...) {
  return nullptr;
}
rocksdb_logger_t* rocksdb_logger_create_callback_logger(int log_level, LogOf callback,
                                                        void* state) try {
  return new rocksdb_logger_t{
      std::make_shared<Callback>(static_cast<rocksdb::InfoLogLevel>(log_level), callback, state)};
} catch (...) {
  return nullptr;
}
void rocksdb_logger_destroy(rocksdb_logger_t* logger) { delete logger; }

}  // extern "C"
