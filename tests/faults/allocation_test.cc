// A system that gives no memory: each call says so or succeeds, nothing is thrown, nothing hangs,
// what was acknowledged is there, and all works again when there is memory.
//
// This program's operator new refuses what it is told to, as the library's does: it calls the
// new-handler, and throws where there is none.

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/memory_reserve.h"
#include "tests/support/child_process.h"
#include "tests/support/engine_test.h"

namespace {

// How many more allocations are given before one is refused, of all threads; negative: all are.
std::atomic<int64_t> given{-1};
// From as many bytes on nothing is given, whoever asks; 0: of any size.
std::atomic<size_t> bytes_max{0};
// Whether the new-handler is not asked: what was set aside is gone already.
std::atomic<bool> helpless{false};

bool refuses(size_t bytes) {
  const size_t max = bytes_max.load(std::memory_order_relaxed);
  if (max != 0 && bytes >= max) return true;
  if (given.load(std::memory_order_relaxed) < 0) return false;
  return given.fetch_sub(1, std::memory_order_relaxed) == 0;
}

void* take(size_t bytes, size_t align) {
  for (;;) {
    if (!refuses(bytes)) {
      const size_t rounded = (std::max<size_t>(bytes, 1) + align - 1) / align * align;
      if (void* const memory = std::aligned_alloc(align, rounded); memory != nullptr) return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr || helpless.load(std::memory_order_relaxed)) throw std::bad_alloc();
    handler();
  }
}

// Of this thread: what the C library takes for thread-local objects is refused.
constinit thread_local bool no_calloc = false;

}  // namespace

extern "C" {
void* __libc_calloc(size_t count, size_t bytes);
void* calloc(size_t count, size_t bytes) {
  if (!no_calloc) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
}

void* operator new(size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t align) {
  return take(bytes, static_cast<size_t>(align));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace hawthorn::tests {
namespace {

constexpr uint64_t kBefore = 300;
constexpr size_t kValueBytes = 300;
constexpr size_t kLarge = size_t{8} << 20;

Options options() {
  Options options;
  options.memory_budget_bytes = size_t{64} << 20;
  options.durability = Durability::kNone;
  return options;
}

// A call that a program makes, or a few: what it answers. It takes no memory itself: the strings
// are short enough to have none.
struct Work {
  const char* name;
  std::function<Status(Db&, const Tree&, const std::string& unique)> run;
};

template <typename T>
Status status_of(const Result<T>& result) {
  return result.status();
}

Status walk(Cursor cursor, bool forward) {
  for (bool there = forward ? cursor.first() : cursor.last(); there;
       there = forward ? cursor.next() : cursor.prev()) {
    if (cursor.value().empty()) return Status(StatusCode::kCorruption, "an empty value");
  }
  return cursor.status();
}

const std::vector<Work>& works() {
  static const std::vector<Work> all = {
      {"put", [](Db& db, const Tree& t, const std::string& u) { return db.put(t, "put" + u, u); }},
      {"get",
       [](Db& db, const Tree& t, const std::string&) {
         Value value;
         return db.get(t, counter_key_of(7), value);
       }},
      {"del", [](Db& db, const Tree& t, const std::string& u) { return db.del(t, "put" + u); }},
      {"batch",
       [](Db& db, const Tree& t, const std::string& u) {
         WriteBatch batch;
         for (int i = 0; i < 20; ++i) batch.put(t, "batch" + u + std::to_string(i), u);
         batch.delete_range(t, "batch" + u + "1", "batch" + u + "2");
         return db.write(batch);
       }},
      {"transaction",
       [](Db& db, const Tree& t, const std::string& u) {
         Result<Transaction> txn = db.begin({.mode = TxnMode::kPessimistic});
         if (!txn.ok()) return txn.status();
         Status status = txn->put(t, "txn" + u, u);
         const Result<Savepoint> savepoint = txn->savepoint();
         if (!savepoint.ok()) return savepoint.status();
         if (status.ok()) status = txn->put(t, "txn2" + u, u);
         if (status.ok()) status = txn->rollback_to(*savepoint);
         Value value;
         if (status.ok()) status = txn->get(t, "txn" + u, value);
         if (status.ok()) status = walk(txn->cursor(t, {}), false);
         return status.ok() ? txn->commit() : status;
       }},
      {"prepared",
       [](Db& db, const Tree& t, const std::string& u) {
         Result<Transaction> txn = db.begin(TxnMode::kPessimistic);
         if (!txn.ok()) return txn.status();
         Status status = txn->put(t, "prepared" + u, u);
         if (status.ok()) status = txn->prepare(u);
         return status.ok() ? db.commit_prepared(u) : status;
       }},
      {"walk", [](Db& db, const Tree& t, const std::string&) { return walk(db.cursor(t), true); }},
      {"multi_get",
       [](Db& db, const Tree& t, const std::string&) {
         const std::string one = counter_key_of(1);
         const std::array<std::string_view, 2> keys = {one, "none"};
         ReadBatch out;
         return db.multi_get(t, keys, out);
       }},
      {"count", [](Db& db, const Tree& t,
                   const std::string&) { return status_of(db.count(t, "", std::nullopt)); }},
      {"estimate", [](Db& db, const Tree& t,
                      const std::string&) { return status_of(db.estimate(t, "", std::nullopt)); }},
      {"explain", [](Db& db, const Tree& t,
                     const std::string&) { return status_of(db.explain(t, counter_key_of(3))); }},
      {"flush", [](Db& db, const Tree&, const std::string&) { return db.flush(); }},
      {"tree", [](Db& db, const Tree&, const std::string& u) { return status_of(db.tree(u)); }},
      {"rename_tree",
       [](Db& db, const Tree&, const std::string& u) {
         if (Status s = db.tree("from" + u).status(); !s.ok()) return s;
         return db.rename_tree("from" + u, "to" + u);
       }},
      {"clone_tree",
       [](Db& db, const Tree&, const std::string& u) {
         return status_of(db.clone_tree("t", "clone" + u));
       }},
      {"drop_tree",
       [](Db& db, const Tree&, const std::string& u) {
         if (Status s = db.tree("drop" + u).status(); !s.ok()) return s;
         return db.drop_tree("drop" + u);
       }},
      {"list_trees",
       [](Db& db, const Tree&, const std::string&) { return status_of(db.list_trees()); }},
      {"named_snapshot",
       [](Db& db, const Tree&, const std::string& u) {
         if (Status s = db.create_snapshot(u); !s.ok()) return s;
         if (Status s = db.open_snapshot(u).status(); !s.ok()) return s;
         return db.drop_snapshot(u);
       }},
      {"feed",
       [](Db& db, const Tree&, const std::string& u) {
         if (Status s = db.create_feed(u); !s.ok()) return s;
         if (Status s = db.open_feed(u).status(); !s.ok()) return s;
         return db.drop_feed(u);
       }},
      {"ingest",
       [](Db& db, const Tree& t, const std::string& u) {
         Result<Ingest> ingest = db.ingest(t);
         if (!ingest.ok()) return ingest.status();
         Status status = ingest->add("ingest" + u, u);
         return status.ok() ? ingest->finish() : status;
       }},
      {"check", [](Db& db, const Tree&, const std::string&) { return status_of(db.check()); }},
      {"compact", [](Db& db, const Tree&, const std::string&) { return db.compact(); }},
  };
  return all;
}

class Allocation : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(os::memory_short());
    ASSERT_FALSE(works().empty());  // made while there is memory
    open();
    for (uint64_t i = 0; i < kBefore; ++i) {
      ASSERT_OK(db_->put(tree_, counter_key_of(i), value_of(i, kValueBytes)));
    }
    ASSERT_OK(db_->flush());
  }
  void open() {
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options());
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = *db_->tree("t");
  }
  void expect_all_there() {
    for (uint64_t i = 0; i < kBefore; ++i) {
      Value value;
      ASSERT_OK(db_->get(tree_, counter_key_of(i), value));
      ASSERT_EQ(value.view(), value_of(i, kValueBytes));
    }
    ASSERT_TRUE(clean(*db_));
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

// Any one, on whichever thread it falls: what is set aside is enough for it, so nobody notices.
TEST_F(Allocation, any_one_is_made_up_for) {
  uint64_t refused = 0;
  for (const Work& work : works()) {
    SCOPED_TRACE(work.name);
    // All of the first, then one of some: a work that syncs has hundreds.
    for (int64_t nth = 0;; nth += 1 + nth / 12) {
      const std::string unique = "u" + std::to_string(nth);
      given = nth;
      const Status status = work.run(*db_, tree_, unique);
      const bool all_given = given.exchange(-1) >= 0;
      ASSERT_OK(status);
      ASSERT_FALSE(os::memory_short());
      if (all_given) break;
      ++refused;
    }
  }
  EXPECT_GT(refused, 200u);
  expect_all_there();
  ASSERT_OK(db_->close());
  db_.reset();
  open();
  expect_all_there();
}

// The same of opening and closing.
TEST_F(Allocation, any_one_of_an_open_is_made_up_for) {
  const std::string path = directory_ / "db";
  const Options opens = options();
  // An open and a close take syncs: all of the first, then one of some.
  for (int64_t nth = 0;; nth += 1 + nth / 16) {
    ASSERT_OK(db_->close());
    db_.reset();
    given = nth;  // before there is a reserve, too
    Result<std::unique_ptr<Db>> opened = Db::open(path, opens);
    const bool all_given = given.exchange(-1) >= 0;
    if (opened.ok()) {
      db_ = std::move(opened).value();
      tree_ = *db_->tree("t");
    } else {
      EXPECT_TRUE(opened.status().is(StatusCode::kOutOfMemory)) << opened.status().to_string();
      open();
    }
    if (all_given) break;
  }
  expect_all_there();
}

// The C library ends a process that has no memory for the destructor of a thread-local object.
TEST_F(Allocation, first_calls_of_threads_take_none_of_the_c_library) {
  for (const Work& work : works()) {
    SCOPED_TRACE(work.name);
    Status status;
    std::thread([&] {
      no_calloc = true;
      status = work.run(*db_, tree_, "first");
      no_calloc = false;
    }).join();
    EXPECT_TRUE(status.ok() || status.is(StatusCode::kOutOfMemory)) << status.to_string();
  }
  expect_all_there();
}

// What is larger than all that is set aside: the call says so, and has changed nothing.
TEST_F(Allocation, large_ones_are_refused) {
  const std::string large(kLarge, 'x');
  ASSERT_OK(db_->put(tree_, "large", large));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->tree("other").status());
  const std::vector<Work> large_works = {
      {"get",
       [](Db& db, const Tree& t, const std::string&) {
         Value value;
         return db.get(t, "large", value);
       }},
      {"get in a transaction",
       [](Db& db, const Tree& t, const std::string&) {
         Transaction txn = *db.begin(TxnMode::kOptimistic);
         Value value;
         return txn.get(t, "large", value);
       }},
      {"batch",
       [&](Db& db, const Tree& t, const std::string&) {
         WriteBatch batch;
         batch.put(t, "a", "1");
         batch.put(t, "new", large);
         return db.write(batch);
       }},
      {"multi_get",
       [](Db& db, const Tree& t, const std::string&) {
         const std::vector<std::string_view> keys = {"large"};
         ReadBatch out;
         return db.multi_get(t, keys, out);
       }},
      {"read queue",
       [](Db& db, const Tree& t, const std::string&) {
         Status told;
         const std::unique_ptr<ReadQueue> queue = std::move(db.read_queue()).value();
         queue->get_async(t, "large", [&](const Status& status, Value&) { told = status; });
         while (queue->pending() > 0) queue->wait();
         return told;
       }},
  };
  for (const Work& work : large_works) {
    SCOPED_TRACE(work.name);
    bytes_max = size_t{2} << 20;
    const Status status = work.run(*db_, tree_, "");
    bytes_max = 0;
    EXPECT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
    EXPECT_NE(status.message(), "");
    EXPECT_FALSE(os::memory_short());
    Value value;
    ASSERT_OK(db_->get(tree_, "large", value));
    EXPECT_EQ(value.view(), large);
    EXPECT_TRUE(db_->get(tree_, "new", value).is_not_found());
    EXPECT_TRUE(db_->get(tree_, "a", value).is_not_found());
  }
  expect_all_there();
}

// Not even the reserve is there when one is refused to a flush: it fails, and goes on later, or
// ends the process where it cannot stop; what was written is there in each case.
TEST_F(Allocation, a_flush_without_the_reserve_loses_nothing) {
  ASSERT_OK(db_->close());
  db_.reset();
  uint64_t refused = 0;
  bool all_given = false;
  for (int64_t nth = 0; !all_given; nth += 1 + nth / 12) {
    SCOPED_TRACE(nth);
    const pid_t child = start_child([&]() noexcept {
      alarm(240);  // it hangs
      open();
      for (uint64_t i = 0; i < kBefore; ++i) {
        if (!db_->put(tree_, counter_key_of(i), value_of(i, kValueBytes)).ok()) _exit(2);
      }
      helpless = true;
      given = nth;
      const Status flushed = db_->flush();
      const bool none = given.exchange(-1) >= 0;
      helpless = false;
      for (uint64_t i = 0; i < kBefore; ++i) {
        Value value;
        if (!db_->get(tree_, counter_key_of(i), value).ok()) _exit(3);
        if (value.view() != value_of(i, kValueBytes)) _exit(4);
      }
      if (none) _exit(flushed.ok() ? 0 : 5);
      // Of the background's allocations the call knows nothing.
      if (!flushed.ok() && !flushed.is(StatusCode::kOutOfMemory) &&
          !flushed.is(StatusCode::kReadOnly)) {
        std::fprintf(stderr, "in the child: %s\n", flushed.to_string().c_str());
        _exit(6);
      }
      const Status again = db_->flush();
      if (!again.ok() && !again.is(StatusCode::kReadOnly)) _exit(7);
      _exit(1);
    });
    ASSERT_GT(child, 0);
    int result = 0;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    const bool ended = WIFEXITED(result) && WEXITSTATUS(result) <= 1;
    EXPECT_TRUE(ended || (WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT)) << result;
    all_given = WIFEXITED(result) && WEXITSTATUS(result) == 0;
    refused += all_given ? 0 : 1;
    open();
    expect_all_there();
    ASSERT_OK(db_->close());
    db_.reset();
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(refused, 10u);
}

// The process may not have more than it has, and has used all of that: as long as that lasts each
// call succeeds or says so.
TEST_F(Allocation, none_at_all_of_the_system) {
  const pid_t child = start_child([&]() noexcept {
    alarm(240);  // it hangs
    std::string wrong;
    {
      // Of its own: the parent's threads are not here.
      Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "of the child", options());
      if (!opened.ok()) _exit(2);
      Db& db = **opened;
      const Tree tree = *db.tree("t");
      for (uint64_t i = 0; i < kBefore; ++i) {
        if (!db.put(tree, counter_key_of(i), value_of(i, kValueBytes)).ok()) _exit(3);
      }
      // The first of each kind, on this thread: the C library ends the process where it has no
      // memory to note what is to be destroyed with the thread.
      for (const Work& work : works()) {
        if (!work.run(db, tree, "first").ok()) _exit(4);
      }
      rlimit before{};
      getrlimit(RLIMIT_AS, &before);
      const rlimit none{1, before.rlim_max};
      uint64_t refused = 0;
      for (int round = 0; round < 3 && wrong.empty(); ++round) {
        setrlimit(RLIMIT_AS, &none);
        void* eaten = nullptr;
        for (size_t bytes = size_t{1} << 20; bytes >= 16; bytes /= 2) {
          while (void* const more = std::malloc(bytes)) {
            *static_cast<void**>(more) = eaten;
            eaten = more;
          }
        }
        Status last;
        const Work* at = nullptr;
        for (int turn = 0; turn < 3 && wrong.empty(); ++turn) {
          for (const Work& work : works()) {
            at = &work;
            const char unique[] = {static_cast<char>('a' + round), static_cast<char>('a' + turn),
                                   0};
            last = work.run(db, tree, unique);
            if (last.is(StatusCode::kOutOfMemory)) {
              ++refused;
            } else if (!last.ok()) {
              break;
            }
            last = Status();
          }
          if (!last.ok()) break;
        }
        setrlimit(RLIMIT_AS, &before);
        while (eaten != nullptr) std::free(std::exchange(eaten, *static_cast<void**>(eaten)));
        if (!last.ok()) wrong = std::string(at->name) + ": " + last.to_string();
        for (const Work& work : works()) {
          const Status status = work.run(db, tree, "after" + std::to_string(round));
          if (!status.ok()) wrong += std::string(work.name) + " behind it: " + status.to_string();
        }
        if (!clean(db)) wrong += "the check finds something";
      }
      if (refused == 0) wrong += "nothing was refused";
      if (const Status closed = db.close(); !closed.ok()) wrong += closed.to_string();
    }
    if (wrong.empty()) {
      Result<std::unique_ptr<Db>> again = Db::open(directory_ / "of the child", options());
      if (!again.ok()) wrong = "open: " + again.status().to_string();
    }
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

}  // namespace
}  // namespace hawthorn::tests
