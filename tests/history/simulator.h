#pragma once
// A multi-version store of lists with snapshot isolation or serializability, for one thread that
// interleaves the transactions of several processes; its bugs can be switched on. What it leaves is
// a history as clients of an engine would record it.
//
// Not here: the engine. Used by simulator_test.cc, to see the checker pass right executions and
// catch wrong ones.

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "tests/history/history.h"

namespace hawthorn::history {

enum class Bug : uint8_t {
  kNone,
  kNoValidation,   // serializable, but what was read is not validated: snapshot isolation
  kLateAppends,    // no first committer wins; appends go to the newest list
  kOverwrites,     // no first committer wins; the list of the snapshot is put back, longer
  kManySnapshots,  // each read sees the newest commit
  kDirtyReads,     // reads see what others have not committed
  kPhantoms,       // serializable, but reads of ranges are not validated
  kOldSnapshot,    // begins at an older commit now and then
  kOwnUnseen,      // reads do not see the transaction's own appends
  kHalfCommit,     // a commit becomes visible in two steps
  kLosesCommits,   // a commit that was acknowledged is now and then not there
};

struct SimulatorOptions {
  uint64_t seed = 1;
  uint64_t transactions = 1000;
  uint64_t processes = 6;
  uint64_t pool = 6;               // keys in use at a time
  uint64_t appends_per_pool = 60;  // then come fresh keys
  bool serializable = false;
  Bug bug = Bug::kNone;
};

class Simulator {
 public:
  explicit Simulator(const SimulatorOptions& options) : options_(options), prng_(options.seed) {}

  History run() {
    std::vector<std::unique_ptr<Open>> open(options_.processes);
    for (uint64_t done = 0; done < options_.transactions;) {
      const uint64_t process = prng_.below(open.size());
      if (open[process] == nullptr) {
        open[process] = begin(process);
      } else if (open[process]->steps > 0) {
        --open[process]->steps;
        step(*open[process]);
      } else {
        end(*open[process]);
        open_.erase(open[process].get());
        open[process].reset();
        ++done;
      }
    }
    while (!open_.empty()) {
      end(**open_.begin());
      open_.erase(open_.begin());
    }
    finish_half();
    read_everything();
    return std::move(history_);
  }

 private:
  struct Version {
    uint64_t commit = 0;
    List list;
  };
  struct Open {
    Transaction record;
    uint64_t snapshot = 0;
    uint64_t steps = 0;
    Key pool = 0;
    std::map<Key, List> own;
    std::set<Key> read;         // single keys
    std::set<Key> read_ranges;  // keys of ranges
  };

  bool bug(Bug bug) const { return options_.bug == bug; }

  std::unique_ptr<Open> begin(uint64_t process) {
    auto txn = std::make_unique<Open>();
    txn->record.id = ++ids_;
    txn->record.process = process;
    txn->record.begin = ++clock_;
    txn->snapshot = visible_;
    if (bug(Bug::kOldSnapshot) && prng_.one_in(10)) {
      txn->snapshot -= std::min<uint64_t>(txn->snapshot, prng_.below(5));
    }
    txn->steps = prng_.between(4, 8);
    txn->pool = elements_ / options_.appends_per_pool * options_.pool;
    open_.insert(txn.get());
    return txn;
  }

  const List& list_at(Key key, uint64_t commit) {
    static const List kEmpty;
    const std::vector<Version>& versions = versions_[key];
    for (size_t i = versions.size(); i > 0; --i) {
      if (versions[i - 1].commit <= commit) return versions[i - 1].list;
    }
    return kEmpty;
  }

  List read(Open& txn, Key key) {
    List list = list_at(key, bug(Bug::kManySnapshots) ? visible_ : txn.snapshot);
    if (bug(Bug::kDirtyReads) && prng_.one_in(4)) {
      for (Open* const other : open_) {
        if (other == &txn || !other->own.contains(key)) continue;
        for (const Element element : other->own[key]) list.push_back(element);
        break;
      }
    }
    if (!bug(Bug::kOwnUnseen)) {
      for (const Element element : txn.own[key]) list.push_back(element);
    }
    return list;
  }

  void step(Open& txn) {
    const Key key = txn.pool + prng_.below(options_.pool);
    std::vector<Operation>& operations = txn.record.operations;
    switch (prng_.below(4)) {
      case 0: {
        std::vector<List> lists;
        for (Key k = key; k < txn.pool + options_.pool; ++k) {
          lists.push_back(read(txn, k));
          txn.read_ranges.insert(k);
        }
        operations.push_back(Operation::range(key, std::move(lists)));
        break;
      }
      case 1:
        operations.push_back(Operation::read(key, read(txn, key)));
        txn.read.insert(key);
        break;
      default:
        if (prng_.one_in(2)) {
          operations.push_back(Operation::read(key, read(txn, key)));
          txn.read.insert(key);
        }
        operations.push_back(Operation::append(key, ++elements_));
        txn.own[key].push_back(elements_);
        break;
    }
  }

  bool changed(Key key, uint64_t since) {
    return !versions_[key].empty() && versions_[key].back().commit > since;
  }

  bool may_commit(const Open& txn) {
    if (prng_.one_in(30)) return false;
    const auto any_changed = [&](const std::set<Key>& keys) {
      for (const Key key : keys) {
        if (changed(key, txn.snapshot)) return true;
      }
      return false;
    };
    if (options_.serializable && !bug(Bug::kNoValidation)) {
      if (any_changed(txn.read)) return false;
      if (!bug(Bug::kPhantoms) && any_changed(txn.read_ranges)) return false;
    }
    if (bug(Bug::kLateAppends) || bug(Bug::kOverwrites)) return true;
    for (const auto& [key, own] : txn.own) {
      if (!own.empty() && changed(key, txn.snapshot)) return false;
    }
    return true;
  }

  void install(const Open& txn, uint64_t commit, bool even) {
    for (const auto& [key, own] : txn.own) {
      if (own.empty() || (key % 2 == 0) != even) continue;
      List list = list_at(key, bug(Bug::kOverwrites) ? txn.snapshot : ~uint64_t{0});
      list.insert(list.end(), own.begin(), own.end());
      versions_[key].push_back({commit, std::move(list)});
    }
  }

  void finish_half() {
    if (half_ == nullptr) return;
    install(*half_, ++visible_, false);
    half_.reset();
  }

  void end(Open& txn) {
    const bool commits = may_commit(txn);
    if (commits && !(bug(Bug::kLosesCommits) && prng_.one_in(100))) {
      finish_half();
      const uint64_t commit = ++visible_;
      install(txn, commit, true);
      if (bug(Bug::kHalfCommit)) {
        half_ = std::make_unique<Open>(txn);
      } else {
        install(txn, commit, false);
      }
    }
    txn.record.outcome = prng_.one_in(20) ? Outcome::kUnknown
                         : commits        ? Outcome::kCommitted
                                          : Outcome::kAborted;
    txn.record.end = ++clock_;
    history_.transactions.push_back(std::move(txn.record));
  }

  void read_everything() {
    Transaction last;
    last.id = ++ids_;
    last.process = options_.processes;
    last.begin = ++clock_;
    std::vector<List> lists;
    const Key end = (elements_ / options_.appends_per_pool + 1) * options_.pool;
    for (Key key = 0; key < end; ++key) lists.push_back(list_at(key, visible_));
    last.operations.push_back(Operation::range(0, std::move(lists)));
    last.end = ++clock_;
    history_.last_read = last.id;
    history_.transactions.push_back(std::move(last));
  }

  const SimulatorOptions options_;
  Prng prng_;
  std::map<Key, std::vector<Version>> versions_;
  std::set<Open*> open_;
  std::unique_ptr<Open> half_;  // committed; its odd keys are not visible yet
  uint64_t visible_ = 0;
  uint64_t clock_ = 0;
  uint64_t ids_ = 0;
  Element elements_ = 0;
  History history_;
};

}  // namespace hawthorn::history
