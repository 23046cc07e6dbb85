// RocksDB's C++ API.

#include <rocksdb/db.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>

#include <array>
#include <memory>
#include <new>

#include "tests/environment/store.h"

namespace hawthorn::tests {
namespace {

// Takes no memory, which may be what is short: not the words of Status::ToString.
Outcome outcome_of(const rocksdb::Status& status) {
  if (status.ok()) return {};
  const std::string_view words = status.getState() == nullptr ? "" : status.getState();
  Ending ending = Ending::kRefused;
  if (status.IsBusy() || status.IsTryAgain()) ending = Ending::kAgain;
  if (words.find("UnknownOutcome") != std::string_view::npos) ending = Ending::kUnknown;
  if (!words.empty()) return Outcome::of(ending, words);
  return Outcome::of(ending, status.IsMemoryLimit() ? "Memory limit reached" : "no words");
}

// Functions that have no other way to say it throw, as RocksDB's do (docs/from-rocksdb.md).
Outcome without_memory(Ending ending) { return Outcome::of(ending, "no memory: std::bad_alloc"); }

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

class RocksdbStore final : public Store {
 public:
  RocksdbStore() {
    options_.create_if_missing = true;
    options_.write_buffer_size = size_t{4} << 20;
    durable_.sync = true;
    for (std::string& value : values_) value.reserve(size_t{128} << 10);
  }

  Outcome open(const std::string& path) override {
    rocksdb::OptimisticTransactionDB* db = nullptr;
    const rocksdb::Status status = rocksdb::OptimisticTransactionDB::Open(options_, path, &db);
    db_.reset(db);
    return outcome_of(status);
  }

  Outcome close() override {
    const rocksdb::Status status = db_->Close();
    db_.reset();
    return outcome_of(status);
  }

  Outcome write(unsigned thread, std::span<const Write> writes) override {
    Ending ending = Ending::kRefused;
    try {
      return write_in(thread, writes, ending);
    } catch (const std::bad_alloc&) {
      return without_memory(ending);
    }
  }

  Outcome get(unsigned thread, std::string_view key, std::string_view& value) override try {
    const rocksdb::Status status = db_->Get({}, slice(key), &values_[thread]);
    value = values_[thread];
    return status.IsNotFound() ? Outcome::of(Ending::kNone) : outcome_of(status);
  } catch (const std::bad_alloc&) {
    return without_memory(Ending::kRefused);
  }

  Outcome scan(unsigned, std::string_view low, std::string_view high, Visit visit,
               void* context) override try {
    const std::unique_ptr<rocksdb::Iterator> walk(db_->NewIterator({}));
    for (walk->Seek(slice(low)); walk->Valid(); walk->Next()) {
      if (walk->key().ToStringView() >= high) break;
      visit(context, walk->key().ToStringView(), walk->value().ToStringView());
    }
    return outcome_of(walk->status());
  } catch (const std::bad_alloc&) {
    return without_memory(Ending::kRefused);
  }

  Outcome tend(unsigned, uint64_t turn) override try {
    return outcome_of(turn % 2 == 0 ? db_->Flush({}) : db_->CompactRange({}, nullptr, nullptr));
  } catch (const std::bad_alloc&) {
    return without_memory(Ending::kRefused);
  }

  Outcome check(unsigned) override { return outcome_of(db_->VerifyChecksum()); }

 private:
  // `ending`: what an exception means.
  Outcome write_in(unsigned thread, std::span<const Write> writes, Ending& ending) {
    const std::unique_ptr<rocksdb::Transaction> transaction(db_->BeginTransaction(durable_));
    rocksdb::Status status = transaction->Get({}, slice(writes[0].key), &values_[thread]);
    if (status.IsNotFound()) status = rocksdb::Status::OK();
    for (const Write& write : writes) {
      if (!status.ok()) break;
      status = write.remove ? transaction->Delete(slice(write.key))
                            : transaction->Put(slice(write.key), slice(write.value));
    }
    if (!status.ok()) return outcome_of(status);
    ending = Ending::kUnknown;
    return outcome_of(transaction->Commit());
  }

  rocksdb::Options options_;
  rocksdb::WriteOptions durable_;
  std::unique_ptr<rocksdb::OptimisticTransactionDB> db_;
  std::array<std::string, kThreads> values_;
};

}  // namespace
}  // namespace hawthorn::tests

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  return run_environment(argc, argv, "rocksdb", [] { return std::make_unique<RocksdbStore>(); });
}
