#pragma once
// What the tests of kept databases share: bytes that must never change, a writer that writes to a
// database and to the model of its contents, making databases as a process leaves them, and
// comparing them.
//
// Used by the tests of this folder. Threads: one.

#include <filesystem>
#include <map>
#include <string>

#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {

using Entries = std::map<std::string, std::string>;
using Contents = std::map<std::string, Entries>;  // by the trees' names

Options with(bool read_only);

// Their own functions: others may change, these must not. Bytes that look random; eight of them,
// big-endian; and mostly zeros, which cost nothing where they are kept.
std::string frozen_bytes(uint64_t number, size_t size);
std::string frozen_number(uint64_t number);
std::string frozen_wide(uint64_t number, size_t size);

// Writes to a database and to the model of its contents; without a database to the model only.
class Writer {
 public:
  Writer(Contents& contents, Db* db) : contents_(contents), db_(db) {}

  Tree tree(const std::string& name) {
    contents_[name];
    if (db_ == nullptr) return {};
    const Result<Tree> tree = db_->tree(name);
    EXPECT_OK(tree.status());
    return *tree;
  }
  void drop(const std::string& name) {
    contents_.erase(name);
    if (db_ != nullptr) EXPECT_OK(db_->drop_tree(name));
  }
  void put(const std::string& name, const std::string& key, const std::string& value) {
    const Tree to = tree(name);
    contents_[name][key] = value;
    if (db_ != nullptr) EXPECT_OK(db_->put(to, key, value, Durability::kNone));
  }
  void del(const std::string& name, const std::string& key) {
    const Tree to = tree(name);
    contents_[name].erase(key);
    if (db_ != nullptr) EXPECT_OK(db_->del(to, key, Durability::kNone));
  }
  // Each of the entries in one commit.
  void transaction(const std::string& name, const Entries& entries) {
    const Tree to = tree(name);
    for (const auto& [key, value] : entries) contents_[name][key] = value;
    if (db_ == nullptr) return;
    Result<Transaction> transaction = db_->begin(TxnMode::kOptimistic);
    EXPECT_OK(transaction.status());
    for (const auto& [key, value] : entries) EXPECT_OK(transaction->put(to, key, value));
    EXPECT_OK(transaction->commit(Durability::kNone));
  }
  void batch(const std::string& name, const Entries& entries, const std::string& deleted) {
    const Tree to = tree(name);
    WriteBatch batch;
    for (const auto& [key, value] : entries) {
      batch.put(to, key, value);
      contents_[name][key] = value;
    }
    batch.del(to, deleted);
    contents_[name].erase(deleted);
    if (db_ != nullptr) EXPECT_OK(db_->write(batch, Durability::kNone));
  }
  // In the order of the keys, or the other way around.
  void ingest(const std::string& name, const Entries& entries, bool sorted, IngestStats* stats) {
    const Tree to = tree(name);
    for (const auto& [key, value] : entries) contents_[name][key] = value;
    if (db_ == nullptr) return;
    Result<Ingest> ingest = db_->ingest(to, {.sorted = sorted, .durability = Durability::kNone});
    EXPECT_OK(ingest.status());
    if (sorted) {
      for (const auto& [key, value] : entries) EXPECT_OK(ingest->add(key, value));
    } else {
      for (auto at = entries.rbegin(); at != entries.rend(); ++at) {
        EXPECT_OK(ingest->add(at->first, at->second));
      }
    }
    EXPECT_OK(ingest->finish());
    if (stats != nullptr) *stats = ingest->stats();
  }
  void compress(const std::string& name, Compression how) {
    const Tree which = tree(name);
    if (db_ != nullptr) EXPECT_OK(db_->set_compression(which, how));
  }
  void stream(const std::string& name, const std::string& key, const std::string& value) {
    const Tree to = tree(name);
    contents_[name][key] = value;
    if (db_ == nullptr) return;
    Result<Transaction> transaction = db_->begin(TxnMode::kOptimistic);
    EXPECT_OK(transaction.status());
    size_t given = 0;
    EXPECT_OK(transaction->put_stream(
        to, key, value.size(), [&](std::span<char> buffer) -> Result<size_t> {
          const size_t count = std::min(buffer.size(), value.size() - given);
          std::memcpy(buffer.data(), value.data() + given, count);
          given += count;
          return count;
        }));
    EXPECT_OK(transaction->commit(Durability::kNone));
  }
  void append(const std::string& name, const std::string& key, const std::string& bytes) {
    const Tree to = tree(name);
    contents_[name][key] += bytes;
    if (db_ != nullptr) EXPECT_OK(db_->append(to, key, bytes, Durability::kNone).status());
  }
  void write_part(const std::string& name, const std::string& key, size_t offset,
                  const std::string& bytes) {
    const Tree to = tree(name);
    contents_[name][key].replace(offset, bytes.size(), bytes);
    if (db_ != nullptr) EXPECT_OK(db_->write_part(to, key, offset, bytes, Durability::kNone));
  }
  void resize(const std::string& name, const std::string& key, size_t size) {
    const Tree to = tree(name);
    contents_[name][key].resize(size, '\0');
    if (db_ != nullptr) EXPECT_OK(db_->resize(to, key, size, Durability::kNone));
  }

 private:
  Contents& contents_;
  Db* const db_;
};

// Real files; one thread, so that what is drained and flushed does not depend on the moment.
class QuietMachine {
 public:
  QuietMachine();
  Result<std::unique_ptr<Db>> open(const std::string& path, const Options& how = with(false)) {
    return Db::open_on(machine_, path, how);
  }
  const os::Machine& machine() const { return machine_; }

 private:
  testing::SimRandom random_{1};
  os::Machine machine_;
};

// What a killed process leaves, the open one's files being all in the page cache.
void copy_as_killed(const std::string& from, const std::string& to);

Contents read_all(Db& db);
void expect_contents(Db& db, const Contents& expected);

// Name, size and bytes of every file; `scratch` is made.
std::map<std::string, std::string> files_of(const std::string& path, const std::string& scratch);

// The folders v<version> are in it.
std::string kept_versions();

}  // namespace hawthorn::tests
