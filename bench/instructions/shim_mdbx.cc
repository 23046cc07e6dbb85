// Counted by `hawthorn-bench instructions`: a write transaction with one put, through libmdbx's
// interface (0.14), without a sync.

#include <mdbx.h>

#include "bench/instructions/counting.h"
#include "bench/instructions/shim.h"

namespace hawthorn::bench {
namespace {

void must(int code) {
  if (code != MDBX_SUCCESS) fail(std::string("mdbx: ") + mdbx_strerror(code));
}

MDBX_val val(const std::string& text) { return {const_cast<char*>(text.data()), text.size()}; }

class MdbxShim : public ShimDatabase {
 public:
  explicit MdbxShim(const std::string& directory) {
    must(mdbx_env_create(&env_));
    must(mdbx_env_set_geometry(env_, -1, -1, intptr_t{1} << 33, -1, -1, -1));
    // The thread that holds the snapshot writes, too.
    must(mdbx_env_open(env_, directory.c_str(), MDBX_UTTERLY_NOSYNC | MDBX_NOSTICKYTHREADS, 0600));
    begin_load();
    must(mdbx_dbi_open(txn_, nullptr, MDBX_DB_DEFAULTS, &dbi_));
    end_load();
  }
  ~MdbxShim() override { must(mdbx_env_close(env_)); }

  void begin_load() override { must(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn_)); }
  void load(const std::string& key, const std::string& value) override {
    put(key, value, MDBX_NOOVERWRITE);
  }
  void end_load() override { must(mdbx_txn_commit(txn_)); }

  void insert(const std::string& key, const std::string& value) override {
    begin_load();
    put(key, value, MDBX_NOOVERWRITE);
    end_load();
  }
  void update(const std::string& key, const std::string& value) override {
    begin_load();
    put(key, value, MDBX_UPSERT);
    end_load();
  }

  void hold_snapshot() override {
    must(mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &reader_));
    // Some keep their moment from the first read on.
    MDBX_stat stat;
    must(mdbx_dbi_stat(reader_, dbi_, &stat, sizeof(stat)));
  }
  void release_snapshot() override {
    if (reader_ != nullptr) must(mdbx_txn_abort(reader_));
    reader_ = nullptr;
  }

 private:
  void put(const std::string& key, const std::string& value, MDBX_put_flags_t flags) {
    const MDBX_val k = val(key);
    MDBX_val v = val(value);
    must(mdbx_put(txn_, dbi_, &k, &v, flags));
  }

  MDBX_env* env_ = nullptr;
  MDBX_dbi dbi_ = 0;
  MDBX_txn* txn_ = nullptr;
  MDBX_txn* reader_ = nullptr;
};

}  // namespace
}  // namespace hawthorn::bench

int main(int argc, char** argv) {
  using namespace hawthorn::bench;
  return count_shim(argc, argv, "mdbx",
                    [](const std::string& directory) -> std::unique_ptr<ShimDatabase> {
                      return std::make_unique<MdbxShim>(directory);
                    });
}
