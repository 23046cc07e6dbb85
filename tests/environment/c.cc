// The C API.

#include "hawthorn/c.h"

#include <array>
#include <memory>
#include <utility>

#include "tests/environment/store.h"

namespace hawthorn::tests {
namespace {

// Takes the error.
Outcome outcome_of(hawthorn_code code, hawthorn_error* error) {
  if (code == HAWTHORN_OK) return {};
  size_t size = 0;
  const char* const message = hawthorn_error_message(error, &size);
  const std::string_view text = message == nullptr ? std::string_view() : std::string_view(message);
  Ending ending = Ending::kRefused;
  if (code == HAWTHORN_CONFLICT) ending = Ending::kAgain;
  if (code == HAWTHORN_UNKNOWN_OUTCOME) ending = Ending::kUnknown;
  const Outcome outcome =
      Outcome::of(ending, text.empty() ? hawthorn_code_name(code) : text.data());
  hawthorn_error_free(error);
  return outcome;
}

class CStore final : public Store {
 public:
  CStore() {
    hawthorn_options_set(options_, "memory_budget_bytes", "16M", nullptr);
    for (hawthorn_value*& value : values_) value = hawthorn_value_create();
  }
  ~CStore() override {
    for (hawthorn_value* const value : values_) hawthorn_value_free(value);
    hawthorn_options_free(options_);
  }

  Outcome open(const std::string& path) override {
    hawthorn_error* error = nullptr;
    hawthorn_code code = hawthorn_db_open(path.c_str(), options_, &db_, &error);
    if (code != HAWTHORN_OK) return outcome_of(code, error);
    code = hawthorn_db_tree(db_, "t", 1, nullptr, &tree_, &error);
    if (code == HAWTHORN_OK) return {};
    hawthorn_db_free(std::exchange(db_, nullptr));
    return outcome_of(code, error);
  }

  Outcome close() override {
    for (hawthorn_value* const value : values_) hawthorn_value_release(value);
    hawthorn_tree_free(std::exchange(tree_, nullptr));
    hawthorn_error* error = nullptr;
    const hawthorn_code code = hawthorn_db_close(db_, &error);
    hawthorn_db_free(std::exchange(db_, nullptr));
    return outcome_of(code, error);
  }

  Outcome write(unsigned thread, std::span<const Write> writes) override {
    hawthorn_error* error = nullptr;
    hawthorn_txn* transaction = nullptr;
    hawthorn_code code = hawthorn_txn_begin(db_, nullptr, &transaction, &error);
    if (code != HAWTHORN_OK) return outcome_of(code, error);
    code = hawthorn_txn_get(transaction, tree_, writes[0].key.data(), writes[0].key.size(),
                            values_[thread], &error);
    if (code == HAWTHORN_NOT_FOUND) {
      hawthorn_error_free(std::exchange(error, nullptr));
      code = HAWTHORN_OK;
    }
    for (const Write& write : writes) {
      if (code != HAWTHORN_OK) break;
      code = write.remove
                 ? hawthorn_txn_del(transaction, tree_, write.key.data(), write.key.size(), &error)
                 : hawthorn_txn_put(transaction, tree_, write.key.data(), write.key.size(),
                                    write.value.data(), write.value.size(), nullptr, &error);
    }
    if (code == HAWTHORN_OK) {
      code = hawthorn_txn_commit(transaction, HAWTHORN_DURABILITY_FULL, &error);
    }
    hawthorn_txn_free(transaction);
    return outcome_of(code, error);
  }

  Outcome get(unsigned thread, std::string_view key, std::string_view& value) override {
    hawthorn_error* error = nullptr;
    const hawthorn_code code =
        hawthorn_db_get(db_, tree_, key.data(), key.size(), nullptr, values_[thread], &error);
    size_t size = 0;
    const void* const data = hawthorn_value_data(values_[thread], &size);
    value = {static_cast<const char*>(data), size};
    Outcome outcome = outcome_of(code, error);
    if (code == HAWTHORN_NOT_FOUND) outcome.ending = Ending::kNone;
    return outcome;
  }

  Outcome scan(unsigned, std::string_view low, std::string_view high, Visit visit,
               void* context) override {
    struct Told {
      Visit visit;
      void* context;
    } told{visit, context};
    const auto tell = [](void* to, const hawthorn_entry* entries, size_t count) {
      const auto& whom = *static_cast<const Told*>(to);
      for (size_t i = 0; i < count; ++i) {
        whom.visit(whom.context, {static_cast<const char*>(entries[i].key), entries[i].key_size},
                   {static_cast<const char*>(entries[i].value), entries[i].value_size});
      }
      return 1;
    };
    hawthorn_error* error = nullptr;
    const hawthorn_code code = hawthorn_db_scan(db_, tree_, low.data(), low.size(), high.data(),
                                                high.size(), nullptr, 0, tell, &told, &error);
    return outcome_of(code, error);
  }

  Outcome tend(unsigned, uint64_t turn) override {
    hawthorn_error* error = nullptr;
    const hawthorn_code code =
        turn % 2 == 0 ? hawthorn_db_flush(db_, &error) : hawthorn_db_compact(db_, &error);
    return outcome_of(code, error);
  }

  Outcome check(unsigned) override {
    hawthorn_error* error = nullptr;
    hawthorn_records* records = nullptr;
    const hawthorn_code code = hawthorn_db_check(db_, nullptr, &records, &error);
    if (code != HAWTHORN_OK) return outcome_of(code, error);
    const bool is_good = hawthorn_records_number(records, 0, "ok", 0) != 0;
    hawthorn_records_free(records);
    return is_good ? Outcome{} : Outcome::of(Ending::kRefused, "the check finds something");
  }

 private:
  hawthorn_options* const options_ = hawthorn_options_create();
  hawthorn_db* db_ = nullptr;
  hawthorn_tree* tree_ = nullptr;
  std::array<hawthorn_value*, kThreads> values_{};
};

}  // namespace
}  // namespace hawthorn::tests

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  return run_environment(argc, argv, "c", [] { return std::make_unique<CStore>(); });
}
