#include "c/callbacks.h"

#include <vector>

#include "c/buffer.h"

namespace hawthorn::c {

namespace {

class CallbackMerge final : public MergeOperator {
 public:
  explicit CallbackMerge(const hawthorn_merge_operator& functions)
      : name_(functions.name),
        context_(functions.context, functions.destroy),
        merge_(functions.merge),
        combine_(functions.combine) {}

  std::string_view name() const override { return name_; }

  bool merge(std::string_view key, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    std::vector<hawthorn_bytes> given;
    given.reserve(operands.size());
    for (const std::string_view operand : operands) {
      given.push_back({operand.data(), operand.size()});
    }
    // What is there has an address, also where it is empty: NULL is what is absent.
    const void* there = nullptr;
    if (existing.has_value()) there = existing->empty() ? "" : existing->data();
    hawthorn_buffer buffer{result};
    return merge_(context_.get(), key.data(), key.size(), there, existing ? existing->size() : 0,
                  given.data(), given.size(), &buffer) != 0;
  }

  bool combine(std::string_view key, std::string_view left, std::string_view right,
               std::string* result) const override {
    if (combine_ == nullptr) return false;
    hawthorn_buffer buffer{result};
    return combine_(context_.get(), key.data(), key.size(), left.data(), left.size(), right.data(),
                    right.size(), &buffer) != 0;
  }

 private:
  const std::string name_;
  const Context context_;
  decltype(hawthorn_merge_operator::merge) const merge_;
  decltype(hawthorn_merge_operator::combine) const combine_;
};

class CallbackOrder final : public KeyOrder {
 public:
  explicit CallbackOrder(const hawthorn_key_order& functions)
      : name_(functions.name),
        context_(functions.context, functions.destroy),
        encode_(functions.encode),
        decode_(functions.decode),
        fixed_bytes_(functions.fixed_bytes) {}

  std::string_view name() const override { return name_; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    hawthorn_buffer buffer{sort_key};
    return encode_(context_.get(), key.data(), key.size(), &buffer) != 0;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    hawthorn_buffer buffer{key};
    return decode_(context_.get(), sort_key.data(), sort_key.size(), &buffer) != 0;
  }
  size_t fixed_bytes() const override { return fixed_bytes_; }

 private:
  const std::string name_;
  const Context context_;
  decltype(hawthorn_key_order::encode) const encode_;
  decltype(hawthorn_key_order::decode) const decode_;
  const size_t fixed_bytes_;
};

class CallbackComparator final : public KeyComparator {
 public:
  CallbackComparator(const char* name, hawthorn_compare function, void* context,
                     hawthorn_destroy destroy)
      : name_(name), context_(context, destroy), compare_(function) {}

  std::string_view name() const override { return name_; }
  int compare(std::string_view a, std::string_view b) const override {
    return compare_(context_.get(), a.data(), a.size(), b.data(), b.size());
  }

 private:
  const std::string name_;
  const Context context_;
  const hawthorn_compare compare_;
};

class CallbackFilter final : public FlushFilter {
 public:
  explicit CallbackFilter(const hawthorn_flush_filter& functions)
      : name_(functions.name),
        context_(functions.context, functions.destroy),
        filter_(functions.filter),
        keys_only_(functions.keys_only != 0) {}

  std::string_view name() const override { return name_; }
  Decision filter(std::string_view key, std::string_view value, std::string* changed) override {
    hawthorn_buffer buffer{changed};
    switch (filter_(context_.get(), key.data(), key.size(), value.data(), value.size(), &buffer)) {
      case HAWTHORN_FILTER_REMOVE:
        return Decision::kRemove;
      case HAWTHORN_FILTER_CHANGE:
        return Decision::kChange;
      default:
        return Decision::kKeep;
    }
  }
  bool needs_values() const override { return !keys_only_; }

 private:
  const std::string name_;
  const Context context_;
  const hawthorn_filter_callback filter_;
  const bool keys_only_;
};

class CallbackHook final : public CommitHook {
 public:
  CallbackHook(hawthorn_before_commit asked, hawthorn_after_commit told, void* context,
               hawthorn_destroy destroy)
      : context_(context, destroy), before_(asked), after_(told) {}

  Status before(const CommitInfo& info) override {
    if (before_ == nullptr) return {};
    return take_error(before_(context_.get(), info.operations, level(info)));
  }
  void after(const CommitInfo& info, uint64_t cts, const Status& outcome) override {
    if (after_ == nullptr) return;
    hawthorn_error* error = nullptr;
    hawthorn_code code = HAWTHORN_OK;
    if (!outcome.ok()) code = answer(outcome, &error);
    after_(context_.get(), info.operations, level(info), cts, code, error);
    hawthorn_error_free(error);
  }

 private:
  static hawthorn_durability level(const CommitInfo& info) {
    return static_cast<hawthorn_durability>(info.durability);
  }
  const Context context_;
  const hawthorn_before_commit before_;
  const hawthorn_after_commit after_;
};

}  // namespace

std::shared_ptr<const MergeOperator> make_merge_operator(const hawthorn_merge_operator& functions) {
  return std::make_shared<CallbackMerge>(functions);
}
std::shared_ptr<const KeyOrder> make_key_order(const hawthorn_key_order& functions) {
  return std::make_shared<CallbackOrder>(functions);
}
std::shared_ptr<const KeyComparator> make_comparator(const char* name, hawthorn_compare compare,
                                                     void* context, hawthorn_destroy destroy) {
  return std::make_shared<CallbackComparator>(name, compare, context, destroy);
}
std::shared_ptr<FlushFilter> make_flush_filter(const hawthorn_flush_filter& functions) {
  return std::make_shared<CallbackFilter>(functions);
}
std::shared_ptr<CommitHook> make_commit_hook(hawthorn_before_commit before,
                                             hawthorn_after_commit after, void* context,
                                             hawthorn_destroy destroy) {
  return std::make_shared<CallbackHook>(before, after, context, destroy);
}

std::shared_ptr<const MergeOperator> builtin_merge_operator(std::string_view name) {
  if (name == "uint64_add") return uint64_add();
  if (name == "max") return bytewise_max();
  if (name == "append") return append_with("");
  if (name.starts_with("append:")) return append_with(name.substr(7));
  return nullptr;
}

}  // namespace hawthorn::c
