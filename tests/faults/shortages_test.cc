// A system that has no thread, or no descriptor, to give any more: each call says so and goes on or
// changes nothing, no call hangs or throws, what was acknowledged is there, and all works again
// when the shortage has passed, without a new open.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "base/sanitizers.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "os/test_point.h"
#include "testing/deny_system_call.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kBefore = 500;  // entries that are there when the shortage begins
constexpr size_t kValueBytes = 2000;
constexpr const char* kOk = "";

struct Quiet final : EventListener {};
struct KeepAll final : FlushFilter {
  std::string_view name() const override { return "all stay"; }
  Decision filter(std::string_view, std::string_view, std::string*) override {
    return Decision::kKeep;
  }
};

// With every kind of background work that there is.
Options busy_options() {
  Options options;
  options.memory_budget_bytes = size_t{64} << 20;
  options.durability = Durability::kNone;
  options.scrub_bytes_per_second = 1 << 20;
  options.listeners = {std::make_shared<Quiet>()};
  options.flush_filters["t"] = std::make_shared<KeepAll>();
  return options;
}

Status put(Db& db, const Tree& tree, uint64_t number) {
  return db.put(tree, counter_key_of(number), value_of(number, kValueBytes));
}

// Empty, or what is wrong. All entries below `end` are there, and can be written.
std::string complaint(Db& db, uint64_t end) {
  const Result<Tree> tree = db.find_tree("t");
  if (!tree.ok()) return "find_tree: " + tree.status().to_string();
  Value value;
  for (uint64_t number = 0; number < end; ++number) {
    const Status status = db.get(*tree, counter_key_of(number), value);
    if (!status.ok()) return "get " + std::to_string(number) + ": " + status.to_string();
    if (value.view() != value_of(number, kValueBytes)) return "another value";
  }
  return kOk;
}

std::string works(Db& db, uint64_t end) {
  if (std::string wrong = complaint(db, end); !wrong.empty()) return wrong;
  const Result<Tree> tree = db.find_tree("t");
  for (uint64_t number = 0; number < end; ++number) {
    if (Status s = put(db, *tree, number); !s.ok()) return "put behind it: " + s.to_string();
  }
  if (Status s = db.compact(); !s.ok()) return "compact behind it: " + s.to_string();
  if (!clean(db)) return "the check finds something";
  return kOk;
}

class Shortages : public ::testing::Test {
 protected:
  Shortages() {
    // So that files are made all the time.
    db::log_segment_bytes = size_t{1} << 20;
    db::log_bytes_min = size_t{2} << 20;
    db::data_file_bytes_first = db::data_file_bytes_max = uint64_t{4} << 20;
  }

  // A child, which has the machine for itself: nothing was opened in this process before.
  void expect_in_child(const std::function<std::string()>& body) {
    const pid_t child = start_child([&] {
      alarm(240);  // it hangs
      const std::string wrong = body();
      if (wrong.empty()) _exit(0);
      std::fprintf(stderr, "in the child: %s\n", wrong.c_str());
      _exit(1);
    });
    ASSERT_GT(child, 0);
    int result = 0;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0)
        << (WIFSIGNALED(result) ? "hung, or crashed: " : "") << result;
  }
  std::string fill() const {
    auto db = Db::open(path_, busy_options());
    if (!db.ok()) return db.status().to_string();
    auto tree = (*db)->tree("t");
    if (!tree.ok()) return tree.status().to_string();
    for (uint64_t number = 0; number < kBefore; ++number) {
      if (Status s = put(**db, *tree, number); !s.ok()) return s.to_string();
    }
    return (*db)->close().to_string() == "OK" ? kOk : "close";
  }
  std::string opens_again(uint64_t end) const {
    auto db = Db::open(path_, busy_options());
    if (!db.ok()) return "open behind it: " + db.status().to_string();
    if (std::string wrong = works(**db, end); !wrong.empty()) return wrong;
    const Status closed = (*db)->close();
    return closed.ok() ? kOk : "close behind it: " + closed.to_string();
  }

  TempDirectory directory_;
  const std::string path_ = directory_ / "db";
};

// ---- Threads

bool says_thread(const Status& status) {
  return status.is(StatusCode::kIoError) &&
         status.message().find("the thread ") != std::string_view::npos;
}

TEST_F(Shortages, no_thread_from_the_beginning) {
  expect_in_child([&] { return fill(); });
  expect_in_child([&]() -> std::string {
    if (!testing::deny_system_call(SYS_clone3, EAGAIN) ||
        !testing::deny_system_call(SYS_clone, EAGAIN)) {
      return "no filter";
    }
    for (int i = 0; i < 3; ++i) {
      const Status status = Db::open(path_, busy_options()).status();
      if (!says_thread(status)) return status.to_string();
    }
    const Status other = Db::open(directory_ / "new", busy_options()).status();
    return says_thread(other) ? kOk : other.to_string();
  });
  expect_in_child([&] { return opens_again(kBefore); });
}

#if defined(HAWTHORN_TEST_POINTS)
// How many more threads there are.
std::atomic<int64_t> threads_left{INT64_MAX};

void count_threads() {
  os::set_test_point("thread.start", [] {
    if (threads_left.fetch_sub(1) > 0) return;
    throw std::system_error(EAGAIN, std::generic_category());
  });
}

// Each of those that an open starts is the first one that is missing.
TEST_F(Shortages, any_thread_of_an_open) {
  expect_in_child([&] { return fill(); });
  for (int64_t allowed = 0;; ++allowed) {
    SCOPED_TRACE(allowed);
    bool opened = false;
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    expect_in_child([&]() -> std::string {
      count_threads();
      threads_left.store(allowed);
      {
        auto db = Db::open(path_, busy_options());
        const bool short_of = threads_left.load() < 0;
        if (db.ok()) {
          if (std::string wrong = complaint(**db, kBefore); !wrong.empty()) return wrong;
          if (!short_of && write(pipes[1], "o", 1) != 1) return "pipe";
        } else if (!says_thread(db.status())) {
          return db.status().to_string();
        }
        threads_left.store(INT64_MAX);
        if (db.ok()) {
          if (std::string wrong = works(**db, kBefore); !wrong.empty()) return wrong;
        }
      }
      return opens_again(kBefore);
    });
    close(pipes[1]);
    char byte = 0;
    opened = read(pipes[0], &byte, 1) == 1;
    close(pipes[0]);
    if (HasFailure() || opened) break;
    ASSERT_LT(allowed, 100);
  }
}

// Nothing that an open database does needs a new thread.
TEST_F(Shortages, no_more_threads_while_it_is_open) {
  expect_in_child([&]() -> std::string {
    count_threads();
    auto db = Db::open(path_, busy_options());
    if (!db.ok()) return db.status().to_string();
    auto tree = (*db)->tree("t");
    if (!tree.ok()) return tree.status().to_string();
    threads_left.store(0);
    for (uint64_t number = 0; number < 4 * kBefore; ++number) {
      if (Status s = put(**db, *tree, number); !s.ok()) return s.to_string();
    }
    // A transaction whose writes have no room in memory, and so become a layer.
    auto large = (*db)->begin(TxnOptions{});
    if (!large.ok()) return large.status().to_string();
    for (uint64_t number = 0; number < 30'000; ++number) {
      if (Status s = large->put(*tree, big_endian(number), value_of(number, kValueBytes));
          !s.ok()) {
        return "large: " + s.to_string();
      }
    }
    if (Status s = large->commit(); !s.ok()) return "commit: " + s.to_string();
    TreeOptions expiring;
    expiring.expires = true;
    auto ends = (*db)->tree("ends", expiring);
    if (!ends.ok()) return ends.status().to_string();
    CheckOptions by_four;
    by_four.threads = 4;
    auto report = (*db)->check(by_four);
    if (!report.ok() || !report->ok()) return "check";
    if (Status s = (*db)->checkpoint(directory_ / "copy"); !s.ok()) return s.to_string();
    if (std::string wrong = works(**db, 4 * kBefore); !wrong.empty()) return wrong;
    threads_left.store(INT64_MAX);
    if (std::string wrong = works(**db, 4 * kBefore); !wrong.empty()) return wrong;
    return (*db)->close().ok() ? kOk : "close";
  });
}
#endif

// ---- Descriptors

#if defined(HAWTHORN_ASAN)
constexpr const char* kNeedsDescriptors =
    "UndefinedBehaviorSanitizer looks at objects through a pipe, and takes them for wrong without";
#endif

int highest_descriptor() {
  int highest = 0;
  DIR* const all = opendir("/proc/self/fd");
  while (const dirent* const entry = readdir(all)) highest = std::max(highest, atoi(entry->d_name));
  closedir(all);
  return highest;
}

void limit_descriptors(std::optional<rlim_t> count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = count.value_or(limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool says_descriptors(const Status& status) {
  return status.message().find("Too many open files") != std::string_view::npos;
}

// So many are left when an open begins.
TEST_F(Shortages, descriptors_of_an_open) {
#if defined(HAWTHORN_ASAN)
  GTEST_SKIP() << kNeedsDescriptors;
#endif
  expect_in_child([&] { return fill(); });
  for (rlim_t left = 0; left < 24; ++left) {
    SCOPED_TRACE(left);
    expect_in_child([&]() -> std::string {
      limit_descriptors(static_cast<rlim_t>(highest_descriptor()) + left);
      {
        auto db = Db::open(path_, busy_options());
        if (!db.ok() && !says_descriptors(db.status())) return db.status().to_string();
        if (db.ok()) {
          if (std::string wrong = complaint(**db, kBefore); !wrong.empty()) return wrong;
        }
        limit_descriptors({});
        if (db.ok()) {
          if (std::string wrong = works(**db, kBefore); !wrong.empty()) return wrong;
        }
      }
      return opens_again(kBefore);
    });
    if (HasFailure()) break;
  }
}

// So many are left while the log, the data and the manifest go on to new files.
TEST_F(Shortages, descriptors_of_an_open_database) {
#if defined(HAWTHORN_ASAN)
  GTEST_SKIP() << kNeedsDescriptors;
#endif
  for (rlim_t left = 0; left < 4; ++left) {
    SCOPED_TRACE(left);
    expect_in_child([&]() -> std::string {
      auto db = Db::open(path_, busy_options());
      if (!db.ok()) return db.status().to_string();
      auto tree = (*db)->tree("t");
      if (!tree.ok()) return tree.status().to_string();
      limit_descriptors(static_cast<rlim_t>(highest_descriptor()) + 1 + left);
      uint64_t end = 0;
      for (; end < 6'000; ++end) {
        const Status status = put(**db, *tree, end);
        if (status.ok()) continue;
        if (!status.is(StatusCode::kNoSpace) || !says_descriptors(status)) {
          return status.to_string();
        }
        break;
      }
      // Reads go on, and flushes say what they are short of.
      if (std::string wrong = complaint(**db, end); !wrong.empty()) return wrong;
      const Status flushed = (*db)->flush();
      if (!flushed.ok() && !flushed.is(StatusCode::kNoSpace)) return flushed.to_string();
      limit_descriptors({});
      if (std::string wrong = works(**db, end); !wrong.empty()) return wrong;
      if (Status s = (*db)->close(); !s.ok()) return s.to_string();
      db->reset();
      return opens_again(end);
    });
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace hawthorn::tests
