// One transaction that writes twice the memory budget: seen as a whole by nobody before its
// commit and by all behind it, while a report reads the state before.

#include <string>

#include "must.h"

using hawthorn::Snapshot;
using hawthorn::Transaction;
using hawthorn::Tree;

namespace {
constexpr int kAccounts = 40'000;  // with their texts about twice the memory
std::string account(int number) {
  std::string digits = std::to_string(number);
  return "account/" + std::string(8 - digits.size(), '0') + digits;
}
}  // namespace

int main(int argc, char** argv) {
  hawthorn::Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  auto db = fresh_database(argc, argv, options);
  const Tree accounts = must(db->tree("accounts"));
  must(db->put(accounts, account(7), "from before"));
  {
    const Snapshot before = db->snapshot();
    Transaction import = must(db->begin(hawthorn::TxnMode::kOptimistic));
    for (int i = 0; i < kAccounts; ++i) {
      must(import.put(accounts, account(i), std::string(800, 'a' + i % 26)));
    }
    // It sees what it wrote; nobody else does.
    must(must(import.count(accounts, "", std::nullopt)) == kAccounts);
    must(must(db->count(accounts, "", std::nullopt)) == 1);
    must(import.commit());

    must(must(db->count(accounts, "", std::nullopt)) == kAccounts);
    hawthorn::Value value;
    must(db->get(accounts, account(7), value));
    must(value.view() == std::string(800, 'h'));
    must(db->get(accounts, account(7), value, {.snapshot = &before}));
    must(value.view() == "from before");
  }
  // What it wrote is brought into the tree in the background; drain waits for that.
  must(db->drain());
  must(db->stats().layers == 0);
  must(db->close());
}
