// What the crash workload must have left (workload.h).
#include <set>
#include <utility>

#include "tests/crash/workload.h"
#include "tests/crash/workload_commits.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using Kind = WorkChange::Kind;
using Contents = Known::Contents;

std::string shown(const std::string& key) {
  return ::testing::PrintToString(key.substr(0, 40)) + " of " + std::to_string(key.size()) +
         " bytes";
}

void apply(const WorkChange& change, std::map<std::string, Contents>& trees) {
  switch (change.kind) {
    case Kind::kPut:
      trees[change.tree][change.key] = change.text;
      break;
    case Kind::kDelete:
      trees[change.tree].erase(change.key);
      break;
    case Kind::kDeleteRange: {
      Contents& tree = trees[change.tree];
      tree.erase(tree.lower_bound(change.key), tree.lower_bound(change.text));
      break;
    }
    case Kind::kMake:
      trees[change.tree] = {};
      break;
    case Kind::kDrop:
      trees.erase(change.tree);
      break;
    case Kind::kClone:
      trees[change.tree] = trees[change.text];
      break;
  }
}

void load(const WorkCommit& work, uint32_t writer, std::map<std::string, Contents>& trees) {
  for (const auto& [key, value] : work.ingest) trees[tree_load(writer)][key] = value;
}

void advance_writer(Known& known, uint64_t seed, uint32_t writer, uint64_t number) {
  for (uint64_t n = known.numbers[writer] + 1; n <= number; ++n) {
    const WorkCommit work = work_commit(seed, writer, n);
    load(work, writer, known.trees[writer]);
    for (const WorkChange& change : work.changes) apply(change, known.trees[writer]);
    if (work.transfers) known.transfers[writer][n] = work.transfer;
  }
  known.numbers[writer] = number;
}

class Verifier {
 public:
  Verifier(Db& db, uint64_t seed, const Promise& promise, const Known& known)
      : db_(db), seed_(seed), promise_(promise), known_(known), found_(known) {}

  std::string run() {
    const Result<std::vector<std::string>> names = db_.list_trees();
    if (!names.ok()) return "list of trees: " + names.status().to_string();
    names_.insert(names->begin(), names->end());
    const bool ready = names_.contains(kBank);
    if (promise_.set_up && !ready) return "the trees of the beginning are lost";
    for (uint32_t writer = 0; writer < kWriters; ++writer) {
      if (std::string error = of_writer(writer); !error.empty()) return error;
    }
    if (ready) {
      if (std::string error = bank(); !error.empty()) return error;
      expected_names_.insert({kBank, kJournal});
    }
    for (const std::string& name : names_) {
      // Before the bank is made, any of those before it may be missing.
      if (!expected_names_.contains(name) && !promise_.others.contains(name)) {
        return "there is a tree " + name;
      }
    }
    if (const auto checked = clean(db_); !checked) {
      return std::string("the checker: ") + checked.message();
    }
    return {};
  }

  const Known& found() const { return found_; }

 private:
  std::string read(const std::string& name, Contents* contents) {
    const Result<Tree> tree = db_.find_tree(name);
    if (!tree.ok()) return name + ": " + tree.status().to_string();
    const Status status = db_.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) contents->emplace(entry.key, entry.value);
      return true;
    });
    if (!status.ok()) return name + ": " + status.to_string();
    const Result<uint64_t> count = db_.count(*tree, "", std::nullopt);
    if (!count.ok()) return name + ": " + count.status().to_string();
    if (*count == contents->size()) return {};
    return name + ": count says " + std::to_string(*count) + ", a scan finds " +
           std::to_string(contents->size());
  }

  std::string of_writer(uint32_t writer) {
    const std::string who = "writer " + std::to_string(writer) + ": ";
    const std::string kept[] = {tree_a(writer), tree_b(writer), tree_sum(writer),
                                tree_load(writer)};
    expected_names_.insert(std::begin(kept), std::end(kept));
    for (const std::string& name : kept) {
      if (promise_.set_up && !names_.contains(name)) return name + " is lost";
    }
    std::map<std::string, Contents> read_trees;
    uint64_t numbers[2] = {0, 0};
    for (uint32_t i = 0; i < 2; ++i) {
      if (!names_.contains(kept[i])) {
        if (known_.numbers[writer] > 0) return kept[i] + " is lost";
        continue;
      }
      Contents& contents = read_trees[kept[i]];
      if (std::string error = read(kept[i], &contents); !error.empty()) return error;
      const auto at = contents.find(kNumberKey);
      if (at != contents.end() && !read_number(at->second, &numbers[i])) {
        return who + "no number of the last commit";
      }
    }
    if (numbers[0] != numbers[1]) {
      return who + "half a commit: " + std::to_string(numbers[0]) + " and " +
             std::to_string(numbers[1]);
    }
    const uint64_t number = numbers[0];
    if (number < promise_.at_least[writer] || number > promise_.at_most[writer]) {
      return who + "found commits up to " + std::to_string(number) + ", must have those up to " +
             std::to_string(promise_.at_least[writer]) + ", begun were those up to " +
             std::to_string(promise_.at_most[writer]);
    }
    if (number < known_.numbers[writer]) return who + "has lost what was found before";
    advance_writer(found_, seed_, writer, number);
    std::map<std::string, Contents> expected = found_.trees[writer];
    for (const std::string& name : {tree_extra(writer), tree_copy(writer), tree_load(writer)}) {
      if (!names_.contains(name)) continue;
      if (std::string error = read(name, &read_trees[name]); !error.empty()) return error;
    }
    // The ingest of the next commit may be there, whole.
    if (const Contents& found = read_trees[tree_load(writer)];
        found != expected[tree_load(writer)]) {
      std::map<std::string, Contents> next = expected;
      load(work_commit(seed_, writer, number + 1), writer, next);
      if (found == next[tree_load(writer)]) expected = std::move(next);
    }
    if (std::string error = compare(expected, read_trees); !error.empty()) {
      return who + error + ", commits are there up to " + std::to_string(number);
    }
    return sum(writer, number);
  }

  std::string compare(const std::map<std::string, Contents>& expected,
                      const std::map<std::string, Contents>& found) {
    for (const auto& [name, contents] : found) {
      expected_names_.insert(name);
      if (contents.empty() || expected.contains(name)) continue;
      return name + " is there, and should not be";
    }
    for (const auto& [name, contents] : expected) {
      const auto at = found.find(name);
      if (at == found.end()) return name + " is missing";
      for (const auto& [key, value] : contents) {
        const auto entry = at->second.find(key);
        if (entry == at->second.end()) return name + ": no key " + shown(key);
        if (entry->second != value) return name + ": another value at " + shown(key);
      }
      for (const auto& [key, value] : at->second) {
        if (!contents.contains(key)) return name + ": should not have key " + shown(key);
      }
    }
    return {};
  }

  std::string sum(uint32_t writer, uint64_t number) {
    if (number == 0) return {};
    Contents sums;
    if (std::string error = read(tree_sum(writer), &sums); !error.empty()) return error;
    const Contents expected = {{kSumKey, number_text(number * (number + 1) / 2)}};
    return sums == expected ? std::string() : tree_sum(writer) + " is wrong";
  }

  std::string bank() {
    Contents journal;
    Contents accounts;
    if (std::string error = read(kJournal, &journal); !error.empty()) return error;
    if (std::string error = read(kBank, &accounts); !error.empty()) return error;
    Contents expected;
    uint64_t ticket = 0;
    std::map<std::string, uint64_t> balances;
    for (uint64_t account = 0; account < kAccounts; ++account) {
      balances[account_key(account)] = kFirstBalance;
    }
    Numbers last = {};
    for (const auto& [key, entry] : journal) {
      if (key != big_endian(++ticket)) return "the journal has no ticket " + std::to_string(ticket);
      uint64_t writer = 0;
      uint64_t number = 0;
      if (!read_number(entry.substr(0, 8), &writer) || writer >= kWriters ||
          !read_number(entry.substr(8, 8), &number)) {
        return "ticket " + std::to_string(ticket) + " is no entry";
      }
      if (number <= last[writer] || number > found_.numbers[writer]) {
        return "ticket " + std::to_string(ticket) + " is of commit " + std::to_string(number);
      }
      last[writer] = number;
      const auto meant = found_.transfers[writer].find(number);
      if (meant == found_.transfers[writer].end() ||
          entry != journal_entry(static_cast<uint32_t>(writer), number, meant->second)) {
        return "ticket " + std::to_string(ticket) + " says something else than its commit";
      }
      balances[account_key(meant->second.from)] -= meant->second.amount;
      balances[account_key(meant->second.to)] += meant->second.amount;
    }
    for (const auto& [key, balance] : balances) expected[key] = number_text(balance);
    expected[kTicketKey] = number_text(ticket);
    if (accounts != expected) return "the accounts are not what the journal says";
    // Numbers rise, so a journal of that many entries has them all.
    uint64_t transfers = 0;
    for (const auto& of_one : found_.transfers) transfers += of_one.size();
    if (ticket == transfers) return {};
    return "the journal has " + std::to_string(ticket) + " transfers, the commits " +
           std::to_string(transfers);
  }

  Db& db_;
  const uint64_t seed_;
  const Promise& promise_;
  const Known& known_;
  Known found_;
  std::set<std::string> names_;
  std::set<std::string> expected_names_;
};

}  // namespace

void advance(Known& known, uint64_t seed, const Numbers& numbers) {
  for (uint32_t w = 0; w < kWriters; ++w) advance_writer(known, seed, w, numbers[w]);
}

std::string verify(Db& db, uint64_t seed, const Promise& promise, Known& known) {
  Verifier verifier(db, seed, promise, known);
  std::string error = verifier.run();
  if (error.empty()) known = verifier.found();
  return error;
}

}  // namespace hawthorn::tests
