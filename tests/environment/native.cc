// The C++ API, with every kind of background work that there is.

#include <array>
#include <memory>

#include "hawthorn/hawthorn.h"
#include "tests/environment/store.h"

namespace hawthorn::tests {
namespace {

struct Quiet final : EventListener {};
struct KeepAll final : FlushFilter {
  std::string_view name() const override { return "all stay"; }
  Decision filter(std::string_view, std::string_view, std::string*) override {
    return Decision::kKeep;
  }
};

Outcome outcome_of(const Status& status) {
  if (status.ok()) return {};
  Ending ending = Ending::kRefused;
  if (status.is_conflict()) ending = Ending::kAgain;
  if (status.is(StatusCode::kUnknownOutcome)) ending = Ending::kUnknown;
  return Outcome::of(ending, status.message());
}

class NativeStore final : public Store {
 public:
  NativeStore() {
    options_.memory_budget_bytes = size_t{16} << 20;
    options_.scrub_bytes_per_second = 1 << 20;
    options_.listeners = {std::make_shared<Quiet>()};
    options_.flush_filters["t"] = std::make_shared<KeepAll>();
  }

  Outcome open(const std::string& path) override {
    auto db = Db::open(path, options_);
    if (!db.ok()) return outcome_of(db.status());
    auto tree = (*db)->tree("t");
    if (!tree.ok()) return outcome_of(tree.status());
    db_ = std::move(*db);
    tree_ = *tree;
    return {};
  }

  Outcome close() override {
    for (Value& value : values_) value.reset();
    const Status status = db_->close();
    db_.reset();
    return outcome_of(status);
  }

  Outcome write(unsigned thread, std::span<const Write> writes) override {
    auto transaction = db_->begin(TxnMode::kOptimistic);
    if (!transaction.ok()) return outcome_of(transaction.status());
    Status status = transaction->get(tree_, writes[0].key, values_[thread]);
    if (status.is_not_found()) status = Status();
    for (const Write& write : writes) {
      if (!status.ok()) break;
      status = write.remove ? transaction->del(tree_, write.key)
                            : transaction->put(tree_, write.key, write.value);
    }
    return outcome_of(status.ok() ? transaction->commit(Durability::kFull) : status);
  }

  Outcome get(unsigned thread, std::string_view key, std::string_view& value) override {
    const Status status = db_->get(tree_, key, values_[thread]);
    value = values_[thread].view();
    return status.is_not_found() ? Outcome::of(Ending::kNone) : outcome_of(status);
  }

  Outcome scan(unsigned, std::string_view low, std::string_view high, Visit visit,
               void* context) override {
    const std::pair<Visit, void*> told(visit, context);
    return outcome_of(db_->scan(tree_, low, high, [&told](std::span<const Entry> entries) {
      for (const Entry& entry : entries) told.first(told.second, entry.key, entry.value);
      return true;
    }));
  }

  Outcome tend(unsigned, uint64_t turn) override {
    return outcome_of(turn % 2 == 0 ? db_->flush() : db_->compact());
  }

  Outcome check(unsigned) override {
    const Result<CheckReport> report = db_->check();
    if (!report.ok()) return outcome_of(report.status());
    if (report->ok()) return {};
    return Outcome::of(Ending::kRefused, report->errors.empty() ? "" : report->errors[0]);
  }

 private:
  Options options_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  std::array<Value, kThreads> values_;
};

}  // namespace
}  // namespace hawthorn::tests

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  return run_environment(argc, argv, "native", [] { return std::make_unique<NativeStore>(); });
}
