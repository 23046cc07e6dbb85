// Counted by `hawthorn-bench instructions`: a write transaction with one put, through LMDB's
// interface, without a sync.

#include <lmdb.h>

#include "bench/instructions/counting.h"
#include "bench/instructions/shim.h"

namespace hawthorn::bench {
namespace {

void must(int code) {
  if (code != MDB_SUCCESS) fail(std::string("lmdb: ") + mdb_strerror(code));
}

MDB_val val(const std::string& text) { return {text.size(), const_cast<char*>(text.data())}; }

class LmdbShim : public ShimDatabase {
 public:
  explicit LmdbShim(const std::string& directory) {
    must(mdb_env_create(&env_));
    must(mdb_env_set_mapsize(env_, size_t{1} << 33));
    must(mdb_env_open(env_, directory.c_str(), MDB_NOSYNC, 0600));
    begin_load();
    must(mdb_dbi_open(txn_, nullptr, 0, &dbi_));
    end_load();
  }
  ~LmdbShim() override { mdb_env_close(env_); }

  void begin_load() override { must(mdb_txn_begin(env_, nullptr, 0, &txn_)); }
  void load(const std::string& key, const std::string& value) override {
    put(key, value, MDB_NOOVERWRITE);
  }
  void end_load() override { must(mdb_txn_commit(txn_)); }

  void insert(const std::string& key, const std::string& value) override {
    begin_load();
    put(key, value, MDB_NOOVERWRITE);
    end_load();
  }
  void update(const std::string& key, const std::string& value) override {
    begin_load();
    put(key, value, 0);
    end_load();
  }

  void hold_snapshot() override {
    must(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &reader_));
    MDB_stat stat;
    must(mdb_stat(reader_, dbi_, &stat));
  }
  void release_snapshot() override {
    if (reader_ != nullptr) mdb_txn_abort(reader_);
    reader_ = nullptr;
  }

 private:
  void put(const std::string& key, const std::string& value, unsigned flags) {
    MDB_val k = val(key);
    MDB_val v = val(value);
    must(mdb_put(txn_, dbi_, &k, &v, flags));
  }

  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
  MDB_txn* txn_ = nullptr;
  MDB_txn* reader_ = nullptr;
};

}  // namespace
}  // namespace hawthorn::bench

int main(int argc, char** argv) {
  using namespace hawthorn::bench;
  return count_shim(argc, argv, "lmdb",
                    [](const std::string& directory) -> std::unique_ptr<ShimDatabase> {
                      return std::make_unique<LmdbShim>(directory);
                    });
}
