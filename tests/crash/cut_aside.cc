#include "tests/crash/cut_aside.h"

#include <algorithm>
#include <set>

#include "tests/crash/workload_commits.h"
#include "tests/support/encryption_test.h"
#include "tests/support/subtrees.h"

namespace hawthorn::tests {
namespace {

using Contents = Known::Contents;

constexpr const char* kLeft = "prepared, left";
constexpr const char* kRight = "prepared, right";
constexpr const char* kForests[] = {"forest a", "forest b"};
constexpr const char* kMoving = "forest, moving";
constexpr const char* kBelow = "below";
constexpr uint64_t kOpenMax = 3;  // that are prepared at once

// ---- Prepared transactions

std::string id_of(uint64_t number) { return std::to_string(number); }
bool commits(uint64_t seed, uint64_t number) { return mix64(seed ^ mix64(number)) % 3 != 0; }

// What one writes, into both trees alike. Its first key is its number.
Contents entries_of(uint64_t number) {
  Contents entries;
  entries[big_endian(number)] = value_of(number, number % 13 == 5 ? 90'000 : number % 900);
  // Many chunks of the log, now and then.
  for (uint64_t i = 0; number % 17 == 7 && i < 300; ++i) {
    entries[big_endian(number) + std::to_string(i)] = value_of(i, 1000);
  }
  return entries;
}

std::string read(Db& db, const std::string& name, Contents* contents) {
  const Result<Tree> tree = db.find_tree(name);
  if (tree.status().is_not_found()) return {};
  if (!tree.ok()) return name + ": " + tree.status().to_string();
  const Status status = db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) contents->emplace(entry.key, entry.value);
    return true;
  });
  return status.ok() ? std::string() : name + ": " + status.to_string();
}

// Which transactions up to a number are committed, as their first keys say.
std::set<uint64_t> committed_in(const Contents& contents) {
  std::set<uint64_t> numbers;
  for (const auto& [key, value] : contents) {
    uint64_t number = 0;
    for (const char byte : key.substr(0, 8)) number = number << 8 | static_cast<uint8_t>(byte);
    if (key.size() == 8) numbers.insert(number);
  }
  return numbers;
}
std::set<uint64_t> committed_up_to(uint64_t seed, uint64_t number) {
  std::set<uint64_t> numbers;
  for (uint64_t n = 1; n <= number; ++n) {
    if (commits(seed, n)) numbers.insert(n);
  }
  return numbers;
}

std::string verify_prepared(Db& db, uint64_t seed, const CutPromise& promise, CutFound* found) {
  const Result<std::vector<PreparedTransaction>> list = db.prepared();
  if (!list.ok()) return "what is prepared: " + list.status().to_string();
  std::set<uint64_t> open;
  for (const PreparedTransaction& one : *list) open.insert(std::stoull(one.id));
  found->prepared = open.size();
  Contents left;
  Contents right;
  if (std::string error = read(db, kLeft, &left); !error.empty()) return error;
  if (std::string error = read(db, kRight, &right); !error.empty()) return error;
  if (left != right) return "half a prepared transaction is committed";

  // Those that have ended come first, then those that are open.
  const std::set<uint64_t> committed = committed_in(left);
  uint64_t least = std::max(promise.at_least[kOutcomes], promise.at_least[kPrepares]);
  if (!committed.empty()) least = std::max(least, *committed.rbegin());
  if (!open.empty()) {
    least = *open.begin() - 1;
    if (*open.rbegin() != least + open.size()) return "some between are not prepared any more";
  }
  uint64_t most = least;
  const uint64_t begun = std::min(promise.at_most[kOutcomes], promise.at_most[kPrepares]);
  while (open.empty() && most < begun && !commits(seed, most + 1)) ++most;
  const auto text = [&] {
    return std::to_string(least) + " have ended, " + std::to_string(open.size()) +
           " are prepared, " + std::to_string(committed.size()) + " are committed; " +
           std::to_string(promise.at_least[kPrepares]) + " were prepared, " +
           std::to_string(promise.at_least[kOutcomes]) + " ended, " +
           std::to_string(promise.at_most[kPrepares]) + " and " +
           std::to_string(promise.at_most[kOutcomes]) + " begun";
  };
  if (least > begun || committed != committed_up_to(seed, least)) {
    return "prepared transactions: " + text();
  }
  found->least[kOutcomes] = least;
  found->most[kOutcomes] = most;
  found->least[kPrepares] = least + open.size();
  found->most[kPrepares] = most + open.size();
  for (const CutActor actor : {kPrepares, kOutcomes}) {
    if (found->most[actor] < promise.at_least[actor]) return "lost a prepared one: " + text();
    if (found->least[actor] > promise.at_most[actor]) return "prepared by nobody: " + text();
  }
  Contents expected;
  for (const uint64_t number : committed) expected.merge(entries_of(number));
  return left == expected ? std::string() : "a prepared transaction has other entries";
}

// ---- Trees that hang in trees

// One round: a tree is made, or that of the round before is moved, and all trees from there down
// get the round's number and something else. Nothing else hangs anywhere.
class Round {
 public:
  // Without a transaction only the forest is changed.
  Round(uint64_t seed, uint64_t number, Forest& forest, Transaction* t)
      : number_(number), forest_(forest), t_(t), dice_(mix64(seed) ^ mix64(number)) {}

  Status run() {
    if (t_ != nullptr) {
      for (size_t i = 0; i < 2; ++i) {
        const Result<Tree> found = t_->find_tree(kForests[i]);
        if (!found.ok()) return found.status();
        parents_[i] = *found;
      }
    }
    const size_t to = dice_.below(2);
    const std::string key = "k" + std::to_string(dice_.below(3));
    const uint64_t how = dice_.below(6);
    Status status = how < 3 ? remove(how == 0) : Status();
    if (status.ok() && find()) {
      status = move(to, key, how == 3);
    } else if (status.ok()) {
      status = how == 1 ? make(1 - to, "made") : make(to, key);
      if (status.ok() && how == 1) status = move(to, key, dice_.one_in(2));
    }
    return status.ok() ? number_all(to, key) : status;
  }

 private:
  // Where one hangs.
  bool find() {
    for (at_ = 0; at_ < 2; ++at_) {
      const auto& below = forest_[kForests[at_]].below;
      if (below.empty()) continue;
      key_ = below.begin()->first;
      return true;
    }
    return false;
  }

  Status remove(bool range) {
    if (!find()) return {};
    forest_[kForests[at_]].below.clear();
    if (t_ == nullptr) return {};
    return range ? t_->delete_range(parents_[at_], "") : t_->del(parents_[at_], key_);
  }

  Status move(size_t to, const std::string& key, bool by_name) {
    if (!find() || (to == at_ && key == key_)) return {};
    Grown taken = std::move(forest_[kForests[at_]].below[key_]);
    forest_[kForests[at_]].below.clear();
    forest_[kForests[to]].below[key] = std::move(taken);
    if (t_ == nullptr) return {};
    if (!by_name) return t_->move_subtree(parents_[at_], key_, parents_[to], key);
    if (Status s = t_->detach(parents_[at_], key_, kMoving); !s.ok()) return s;
    return t_->attach(parents_[to], key, kMoving);
  }

  Status make(size_t to, const std::string& key) {
    Grown* grown = &forest_[kForests[to]];
    Tree tree = parents_[to];
    std::string at = key;
    for (uint64_t depth = dice_.between(1, 4); depth > 0; --depth) {
      grown = &grown->below[at];
      grown->holds = true;
      if (t_ != nullptr) {
        const Result<Tree> made = t_->create_subtree(tree, at, {.subtrees = true});
        if (!made.ok()) return made.status();
        tree = *made;
      }
      at = kBelow;
    }
    return {};
  }

  Status number_all(size_t to, const std::string& key) {
    Grown* grown = &forest_[kForests[to]];
    Tree tree = parents_[to];
    for (std::string at = key; grown->below.contains(at); at = kBelow) {
      grown = &grown->below[at];
      if (t_ != nullptr) {
        const Result<Tree> found = t_->subtree(tree, at);
        if (!found.ok()) return found.status();
        tree = *found;
      }
      const std::string other = "v" + std::to_string(dice_.below(6));
      grown->values["n"] = number_text(number_);
      grown->values[other] = value_of(dice_.next(), random_size(dice_, true));
      if (t_ == nullptr) continue;
      for (const std::string& put : {std::string("n"), other}) {
        if (Status s = t_->put(tree, put, grown->values[put]); !s.ok()) return s;
      }
    }
    return {};
  }

  const uint64_t number_;
  Forest& forest_;
  Transaction* const t_;
  Prng dice_;
  Tree parents_[2];
  size_t at_ = 0;
  std::string key_;
};

Forest forest_after(uint64_t seed, uint64_t number) {
  Forest forest;
  for (const char* const name : kForests) forest[name].holds = true;
  for (uint64_t n = 1; n <= number; ++n) {
    static_cast<void>(Round(seed, n, forest, nullptr).run().ok());
  }
  return forest;
}

std::string verify_forest(Db& db, uint64_t seed, const CutPromise& promise, CutFound* found) {
  Forest there;
  uint64_t number = 0;
  const Snapshot snapshot = db.snapshot();
  for (const char* const name : kForests) {
    there[name].holds = true;
    const Result<Tree> tree = db.find_tree(name);
    if (tree.status().is_not_found()) continue;
    Status status = tree.status();
    if (status.ok()) status = read_tree(db, *tree, snapshot, &there[name]);
    if (!status.ok()) return std::string(name) + ": " + status.to_string();
    for (const auto& [key, below] : there[name].below) {
      const auto at = below.values.find("n");
      if (at == below.values.end() || !read_number(at->second, &number)) {
        return "a tree without a number: " + text_of(there);
      }
    }
  }
  // read_tree says so where reads of a tree differ.
  if (::testing::Test::HasFailure()) return "reads of the forest differ: " + text_of(there);
  const std::string rounds = "round " + std::to_string(number) + " of the forest, had returned " +
                             std::to_string(promise.at_least[kForest]) + ", begun " +
                             std::to_string(promise.at_most[kForest]);
  if (number < promise.at_least[kForest] || number > promise.at_most[kForest]) return rounds;
  found->least[kForest] = found->most[kForest] = number;
  const Forest expected = forest_after(seed, number);
  if (there == expected) return {};
  return rounds + ": found" + text_of(there) + ", wanted" + text_of(expected);
}

// ---- All of it

// What had returned when an act began is there when the act is.
std::string verify_order(const CutPromise& promise, const CutFound& found) {
  for (uint32_t actor = 0; actor < kCutActors; ++actor) {
    const auto before = promise.before.find({actor, found.least[actor]});
    if (before == promise.before.end()) continue;
    for (uint32_t other = 0; other < kCutActors; ++other) {
      if (found.most[other] >= before->second[other]) continue;
      return "act " + std::to_string(found.least[actor]) + " of actor " + std::to_string(actor) +
             " is there, and not act " + std::to_string(before->second[other]) + " of actor " +
             std::to_string(other) + ", which had returned before it began";
    }
  }
  return {};
}

}  // namespace

CutFeatures features_of(uint64_t seed) {
  Prng dice(mix64(seed ^ 0xa51de));
  CutFeatures features;
  features.encrypted = dice.one_in(3);
  features.prepares = dice.one_in(2);
  features.forest = dice.one_in(2);
  features.copies = dice.one_in(2);
  return features;
}

Options cut_options(uint64_t seed) {
  Options options = workload_options();
  if (features_of(seed).encrypted) options.encryption = encryption_of();
  return options;
}

Aside::Aside(Db& db, uint64_t seed, const CutNumbers& from, CutWitness& witness, uint64_t dice)
    : db_(db),
      seed_(seed),
      features_(features_of(seed)),
      numbers_(from),
      witness_(witness),
      dice_(dice),
      forest_(forest_after(seed, from[kForest])) {}

Status Aside::begin() {
  if (features_.prepares) {
    for (const char* const name : {kLeft, kRight}) {
      if (const Result<Tree> tree = db_.tree(name); !tree.ok()) return tree.status();
    }
  }
  if (features_.forest) {
    for (const char* const name : kForests) {
      const Result<Tree> tree = db_.tree(name, {.subtrees = true});
      if (!tree.ok()) return tree.status();
    }
  }
  return end_all();
}

Status Aside::end_all() {
  while (numbers_[kOutcomes] < numbers_[kPrepares]) {
    if (Status s = end_oldest(); !s.ok()) return s;
  }
  return {};
}

Status Aside::step() {
  const uint64_t pick = dice_.below(16);
  if (pick == 0 && features_.encrypted) return rotate();
  if (pick < 6 && features_.forest) return retry([this] { return grow(); });
  if (!features_.prepares) return {};
  const uint64_t open = numbers_[kPrepares] - numbers_[kOutcomes];
  if (open == kOpenMax || (open > 0 && dice_.one_in(2))) return end_oldest();
  return retry([this] { return prepare(); });
}

// Who has all to himself waits for what is prepared, and others wait for him.
Status Aside::retry(const std::function<Status()>& act) {
  Status status;
  for (uint32_t tries = 0; tries < kTriesMax; ++tries) {
    status = act();
    if (!is_worth_another_try(status)) return status;
    if (Status s = end_all(); !s.ok()) return s;
  }
  return status;
}

Status Aside::rotate() {
  const uint64_t key = dice_.below(100);
  const Status status =
      key % 2 == 0 ? db_.rotate_data_key() : db_.rotate_key("key " + std::to_string(key));
  if (status.is(StatusCode::kNotSupported)) return {};  // there are data keys enough
  if (status.ok()) witness_.mark(CutMark::kRotated, 0, db_.encryption().generation);
  return status;
}

Status Aside::grow() {
  const uint64_t number = numbers_[kForest] + 1;
  Result<Transaction> t = db_.begin(TxnMode::kOptimistic);
  if (!t.ok()) return t.status();
  Forest forest = forest_;
  if (Status s = Round(seed_, number, forest, &*t).run(); !s.ok()) return s;
  const auto level = static_cast<Durability>(dice_.between(1, 3));
  witness_.begins(kForest, number);
  if (Status s = t->commit(level); !s.ok()) return s;
  witness_.ends(kForest, number, level == Durability::kFull);
  numbers_[kForest] = number;
  forest_ = std::move(forest);
  return {};
}

Status Aside::prepare() {
  const uint64_t number = numbers_[kPrepares] + 1;
  TxnOptions how;
  how.mode = number % 2 == 0 ? TxnMode::kPessimistic : TxnMode::kOptimistic;
  if (number % 5 == 0) how.isolation = Isolation::kSerializable;
  Result<Transaction> t = db_.begin(how);
  if (!t.ok()) return t.status();
  for (const char* const name : {kLeft, kRight}) {
    const Result<Tree> tree = t->find_tree(name);
    if (!tree.ok()) return tree.status();
    for (const auto& [key, value] : entries_of(number)) {
      if (Status s = t->put(*tree, key, value); !s.ok()) return s;
    }
  }
  witness_.begins(kPrepares, number);
  if (Status s = t->prepare(id_of(number)); !s.ok()) return s;
  witness_.ends(kPrepares, number, true);
  numbers_[kPrepares] = number;
  return {};
}

Status Aside::end_oldest() {
  const uint64_t number = numbers_[kOutcomes] + 1;
  const auto level = static_cast<Durability>(dice_.between(1, 3));
  const bool commit = commits(seed_, number);
  witness_.begins(kOutcomes, number);
  const Status status =
      commit ? db_.commit_prepared(id_of(number), level) : db_.rollback_prepared(id_of(number));
  if (!status.ok()) return status;
  witness_.ends(kOutcomes, number, !commit || level == Durability::kFull);
  numbers_[kOutcomes] = number;
  return {};
}

std::string verify_cut(Db& db, uint64_t seed, const CutPromise& promise, CutFound* found) {
  const EncryptionInfo encryption = db.encryption();
  if (encryption.encrypted != features_of(seed).encrypted) return "encrypted or not";
  if (encryption.generation < promise.key_generation) {
    return "keys of generation " + std::to_string(encryption.generation) + ", there were " +
           std::to_string(promise.key_generation);
  }
  Promise of_writers;
  of_writers.set_up = promise.set_up;
  of_writers.at_least = writers_of(promise.at_least);
  of_writers.at_most = writers_of(promise.at_most);
  of_writers.others = {kLeft, kRight, kForests[0], kForests[1]};
  advance(found->known, seed, of_writers.at_least);
  std::string error = verify(db, seed, of_writers, found->known);
  if (error.empty()) error = verify_prepared(db, seed, promise, found);
  if (error.empty()) error = verify_forest(db, seed, promise, found);
  if (!error.empty()) return error;
  for (CutNumbers* numbers : {&found->least, &found->most}) {
    std::copy_n(found->known.numbers.begin(), kWriters, numbers->begin());
  }
  return verify_order(promise, *found);
}

std::string end_prepared(Db& db, uint64_t seed, const CutFound& found) {
  for (uint64_t number = found.most[kOutcomes] + 1; number <= found.most[kPrepares]; ++number) {
    const std::string who = "prepared transaction " + id_of(number) + ": ";
    const Result<Tree> tree = db.find_tree(kRight);
    if (!tree.ok()) return who + tree.status().to_string();
    Result<Transaction> other = db.begin({.mode = TxnMode::kPessimistic, .lock_timeout_ms = 0});
    if (!other.ok()) return who + other.status().to_string();
    const Status locked = other->lock(*tree, big_endian(number), RowLock::kExclusive);
    if (!locked.is(StatusCode::kTimedOut)) return who + "its row is free: " + locked.to_string();
    other->abort();
    const Status ended = commits(seed, number) ? db.commit_prepared(id_of(number))
                                               : db.rollback_prepared(id_of(number));
    if (!ended.ok()) return who + ended.to_string();
  }
  CutPromise promise;
  CutFound now;
  for (const CutActor actor : {kPrepares, kOutcomes}) {
    promise.at_least[actor] = promise.at_most[actor] = found.most[kPrepares];
  }
  if (std::string error = verify_prepared(db, seed, promise, &now); !error.empty()) return error;
  if (const auto lost = nothing_lost(db); !lost) return lost.message();
  return {};
}

}  // namespace hawthorn::tests
