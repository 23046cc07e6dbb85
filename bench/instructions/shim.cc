#include "bench/instructions/shim.h"

#include <filesystem>
#include <vector>

#include "bench/instructions/counted_machine.h"
#include "bench/instructions/counting.h"
#include "bench/instructions/data.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kPoints = 2'000;
constexpr uint64_t kWarm = 100;  // of each kind, before the counting: statements, cursors, slots
constexpr uint64_t kBatch = 100;
constexpr const char* kDirectory = "shim";

class ShimRows {
 public:
  ShimRows(const Shape& shape, std::string_view program, std::string_view state)
      : shape_(shape), program_(program), state_(state) {}

  void run(OpenShim open) {
    std::filesystem::create_directory(kDirectory);
    database_ = open(kDirectory);
    for (uint64_t i = 0; i < kCountedEntries; i += kBatch) {
      database_->begin_load();
      for (uint64_t j = i; j < i + kBatch; ++j) {
        database_->load(key_of(shape_, j), value_of(shape_, j));
      }
      database_->end_load();
    }
    if (state_ != kUnflushed) flush();
    if (state_ == kPartly) {
      database_->hold_snapshot();
      update_some(kPartlyUpdates, 50);
    }
    require_state(state_);
    rows();
    database_->release_snapshot();
    database_.reset();
    std::filesystem::remove_all(kDirectory);
  }

 private:
  void flush() { check(counted_db().flush(), "flush"); }

  void update_some(uint64_t count, uint64_t salt) {
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t entry = random_entry(i, salt);
      database_->update(key_of(shape_, entry), value_of(shape_, entry, 1));
    }
  }

  void rows() {
    std::vector<std::string> absent;
    std::vector<std::string> present;
    for (uint64_t i = 0; i < kWarm + kPoints; ++i) {
      absent.push_back(key_of(shape_, kCountedEntries + i));
      present.push_back(key_of(shape_, random_entry(i, 2)));
    }
    const std::string value = value_of(shape_, 1, 2);
    for (uint64_t i = 0; i < kWarm; ++i) database_->insert(absent[i], value);
    settle();
    count({program_, "insert", state_}, kPoints, [&] {
      for (uint64_t i = 0; i < kPoints; ++i) database_->insert(absent[kWarm + i], value);
    });
    for (uint64_t i = 0; i < kWarm; ++i) database_->update(present[i], value);
    settle();
    count({program_, "update", state_}, kPoints, [&] {
      for (uint64_t i = 0; i < kPoints; ++i) database_->update(present[kWarm + i], value);
    });
  }

  // As before the first row; and nothing waits for the log.
  void settle() {
    if (state_ == kFlushed) flush();
    check(counted_db().sync(), "sync");
  }

  const Shape shape_;
  const std::string program_;
  const std::string state_;
  std::unique_ptr<ShimDatabase> database_;
};

}  // namespace

int count_shim(int argc, char** argv, std::string_view program, OpenShim open) {
  fix_vector_width();
  const Shape shape = shape_of(argc, argv);
  for (const std::string_view state : kStates) ShimRows(shape, program, state).run(open);
  return 0;
}

}  // namespace hawthorn::bench
