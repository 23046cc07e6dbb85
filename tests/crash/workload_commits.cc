#include "tests/crash/workload_commits.h"

#include <cstring>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kKeys = 4000;
constexpr uint64_t kExtraKeys = 600;
// Which of so many commits make, change and drop trees.
constexpr uint64_t kCycle = 48;
// One of so many commits has an ingest, into the next of so many ranges of keys.
constexpr uint64_t kIngestCycle = 16;
constexpr uint64_t kIngestRanges = 6;

using Kind = WorkChange::Kind;

class Maker {
 public:
  Maker(uint64_t seed, uint32_t writer, uint64_t number)
      : writer_(writer), number_(number), prng_(mix64(seed) ^ mix64(number * 16 + writer)) {}

  WorkCommit make() {
    change_trees();
    load();
    const uint64_t pick = prng_.below(1000);
    if (pick < 350) {
      transfer();
      puts(prng_.below(4), false);
    } else if (pick < 850) {
      puts(prng_.between(1, 12), prng_.one_in(20));
    } else if (pick < 900) {
      delete_range();
      puts(prng_.below(6), false);
    } else if (pick < 950) {
      puts(prng_.between(50, 300), false);
    } else if (pick < 960) {
      wave();
    } else if (pick < 970) {
      puts(3000, false);
    } else if (pick < 973) {
      spill();
    } else {
      puts(prng_.between(1, 3), true);
      large();
    }
    for (const std::string& tree : {tree_a(writer_), tree_b(writer_)}) {
      put(tree, kNumberKey, number_text(number_));
    }
    // The last change: a clone has what its transaction writes behind it, too.
    if (clones_) {
      commit_.changes.push_back({Kind::kClone, tree_copy(writer_), "", tree_a(writer_)});
    }
    decide_how();
    return std::move(commit_);
  }

 private:
  void put(std::string tree, std::string key, std::string value) {
    commit_.changes.push_back({Kind::kPut, std::move(tree), std::move(key), std::move(value)});
  }
  std::string any_tree() { return prng_.one_in(2) ? tree_a(writer_) : tree_b(writer_); }
  std::string any_key() { return key_of(1 + prng_.below(kKeys)); }
  std::string any_value(bool large) { return value_of(prng_.next(), random_size(prng_, large)); }

  void puts(uint64_t count, bool large) {
    for (uint64_t i = 0; i < count; ++i) {
      std::string tree = any_tree();
      std::string key = any_key();
      if (prng_.one_in(5)) {
        commit_.changes.push_back({Kind::kDelete, std::move(tree), std::move(key), ""});
      } else {
        put(std::move(tree), std::move(key), any_value(large));
      }
    }
  }

  void large() {
    put(any_tree(), key_of(1 + prng_.below(20)),
        value_of(prng_.next(), prng_.between(65000, 260000)));
  }

  void delete_range() {
    std::string low = big_endian(prng_.below(kKeys));
    std::string high = big_endian(prng_.below(kKeys));
    if (high < low) std::swap(low, high);
    commit_.changes.push_back({Kind::kDeleteRange, any_tree(), std::move(low), std::move(high)});
  }

  // What is left of the containers is joined.
  void wave() {
    const std::string tree = any_tree();
    for (uint64_t key = 1; key <= kKeys; ++key) {
      if (key % 40 != 0) commit_.changes.push_back({Kind::kDelete, tree, key_of(key), ""});
    }
  }

  // More than a quarter of the memory budget.
  void spill() {
    const std::string tree = any_tree();
    for (uint64_t i = 0; i < 1800; ++i) {
      put(tree, key_of(1 + prng_.below(kKeys)), value_of(prng_.next(), 3000));
    }
  }

  void transfer() {
    commit_.transfers = true;
    commit_.transfer = {prng_.below(kAccounts), prng_.below(kAccounts), prng_.below(50)};
  }

  // The range is emptied by the commit before, if it was there: it attaches containers mostly.
  void load() {
    const uint64_t range = number_ / kIngestCycle % kIngestRanges;
    if (number_ % kIngestCycle == 6) {
      commit_.changes.push_back({Kind::kDeleteRange, tree_load(writer_), big_endian(range << 32),
                                 big_endian((range + 1) << 32)});
    }
    if (number_ % kIngestCycle != 7) return;
    const uint64_t count = prng_.one_in(3) ? prng_.between(1, 60) : prng_.between(300, 700);
    for (uint64_t i = 0; i < count; ++i) {
      commit_.ingest.emplace_back(big_endian((range << 32) + i * 3),
                                  value_of(prng_.next(), prng_.between(0, 1500)));
    }
  }

  void change_trees() {
    const std::string extra = tree_extra(writer_);
    const std::string copy = tree_copy(writer_);
    const auto fill = [&](const std::string& tree, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) {
        put(tree, key_of(1 + prng_.below(kExtraKeys)), any_value(i % 64 == 0));
      }
    };
    switch (number_ % kCycle) {
      case 4:
        commit_.changes.push_back({Kind::kMake, extra, "", ""});
        fill(extra, prng_.between(1, 200));
        break;
      case 10:
        clones_ = true;
        break;
      case 8:
      case 14:
      case 22:
        fill(extra, 100);
        break;
      case 18:
        fill(copy, 60);
        break;
      case 26:
        commit_.changes.push_back({Kind::kDrop, extra, "", ""});
        commit_.drops = true;
        break;
      case 36:
        commit_.changes.push_back({Kind::kDrop, copy, "", ""});
        commit_.drops = true;
        break;
      default:
        break;
    }
  }

  void decide_how() {
    static constexpr Durability kLevels[] = {Durability::kNone, Durability::kNone,
                                             Durability::kAsync, Durability::kFull};
    commit_.durability = kLevels[prng_.below(4)];
    bool only_entries = !commit_.transfers;
    for (const WorkChange& change : commit_.changes) {
      only_entries = only_entries && change.kind <= Kind::kDeleteRange;
    }
    commit_.as_batch = only_entries && prng_.one_in(2);
    // Trees that a savepoint's rollback takes away are tested elsewhere.
    commit_.rolls_back = !commit_.as_batch && prng_.one_in(4);
    switch (prng_.below(5)) {
      case 0:
        commit_.how.mode = TxnMode::kPessimistic;
        break;
      case 1:
        commit_.how.mode = TxnMode::kExclusive;
        break;
      case 2:
        commit_.how.isolation = Isolation::kSerializable;
        break;
      default:
        break;
    }
  }

  const uint32_t writer_;
  const uint64_t number_;
  Prng prng_;
  WorkCommit commit_;
  bool clones_ = false;
};

std::string of_writer(uint32_t writer, const char* name) {
  return "writer " + std::to_string(writer) + ", " + name;
}

}  // namespace

WorkCommit work_commit(uint64_t seed, uint32_t writer, uint64_t number) {
  return Maker(seed, writer, number).make();
}

std::string tree_a(uint32_t writer) { return of_writer(writer, "a"); }
std::string tree_b(uint32_t writer) { return of_writer(writer, "b"); }
std::string tree_sum(uint32_t writer) { return of_writer(writer, "sum"); }
std::string tree_extra(uint32_t writer) { return of_writer(writer, "extra"); }
std::string tree_copy(uint32_t writer) { return of_writer(writer, "copy"); }
std::string tree_load(uint32_t writer) { return of_writer(writer, "load"); }

std::string account_key(uint64_t account) { return "account " + std::to_string(account); }

std::string number_text(uint64_t number) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &number, text.size());
  return text;
}

bool read_number(std::string_view text, uint64_t* number) {
  if (text.size() != sizeof(*number)) return false;
  std::memcpy(number, text.data(), sizeof(*number));
  return true;
}

std::string journal_entry(uint32_t writer, uint64_t number, const Transfer& transfer) {
  return number_text(writer) + number_text(number) + number_text(transfer.from) +
         number_text(transfer.to) + number_text(transfer.amount);
}

}  // namespace hawthorn::tests
