#include "bench/bank_model.h"

#include <numeric>
#include <utility>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

std::string printable(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : print_text("\\x%02x", byte);
  }
  return text;
}

}  // namespace

std::vector<uint64_t> replay(const ThreadHistory& history, Balances& balances) {
  std::vector<uint64_t> succeeded;
  for (const Stretch& stretch : history.stretches) {
    TransferSource source = stretch.source;
    uint64_t count = 0;
    for (uint64_t i = 0; i < stretch.attempts; ++i) count += balances.apply(source.next()) ? 1 : 0;
    succeeded.push_back(count);
  }
  return succeeded;
}

BankComparer::BankComparer(const AccountNames& names, uint64_t initial_balance,
                           std::vector<ThreadHistory> histories)
    : names_(names), final_(names.count(), initial_balance), running_(final_) {
  for (ThreadHistory& history : histories) {
    const std::vector<uint64_t> succeeded = replay(history, final_);
    LogWalk& walk = walks_.emplace_back();
    walk.history = std::move(history);
    walk.expected = std::accumulate(succeeded.begin(), succeeded.end(), uint64_t{0});
  }
}

void BankComparer::add(std::string_view key, std::string_view value) {
  bytes_ += key.size() + value.size();
  if (is_log_key(key)) {
    check_log(key, value);
  } else {
    check_account(key, value);
  }
}

void BankComparer::check_account(std::string_view key, std::string_view value) {
  if (accounts_seen_ == names_.count()) return differ("unexpected key " + printable(key));
  const uint32_t account = names_.in_order()[accounts_seen_++];
  if (key != names_[account]) {
    return differ("key " + printable(key) + " in place of " + printable(names_[account]));
  }
  const uint64_t expected = final_[account];
  if (value.size() != sizeof(uint64_t)) {
    return differ(print_text("balance of %s has %zu bytes", printable(key).c_str(), value.size()));
  }
  if (load64(value.data()) != expected) {
    differ(print_text("balance of %s is %lu, must be %lu", printable(key).c_str(),
                      load64(value.data()), expected));
  }
}

void BankComparer::check_log(std::string_view key, std::string_view value) {
  ++log_entries_;
  const uint64_t sequence = log_sequence_of(key);
  const uint64_t thread = sequence >> 48;
  const uint64_t number = sequence & ((uint64_t{1} << 48) - 1);
  if (thread >= walks_.size()) return differ(print_text("log entry of thread %lu", thread));
  LogWalk& walk = walks_[thread];
  if (number != walk.seen + 1 || number > walk.expected) {
    return differ(print_text("log entry %lu of thread %lu where %lu of %lu belongs", number, thread,
                             walk.seen + 1, walk.expected));
  }
  ++walk.seen;
  const Transfer transfer = next_logged(walk);
  if (value != LogValue(names_[transfer.source], names_[transfer.target], transfer.amount)) {
    differ(print_text("log entry %lu of thread %lu tells of another transfer", number, thread));
  }
}

Transfer BankComparer::next_logged(LogWalk& walk) {
  for (;;) {
    Stretch& stretch = walk.history.stretches[walk.stretch];
    if (walk.tried == stretch.attempts) {
      ++walk.stretch;
      walk.tried = 0;
      continue;
    }
    ++walk.tried;
    const Transfer transfer = stretch.source.next();
    if (running_.apply(transfer)) return transfer;
  }
}

std::optional<std::string> BankComparer::finish() {
  if (accounts_seen_ != names_.count()) {
    differ(print_text("%s accounts of %s", with_commas(accounts_seen_).c_str(),
                      with_commas(names_.count()).c_str()));
  }
  for (size_t thread = 0; thread < walks_.size(); ++thread) {
    const LogWalk& walk = walks_[thread];
    if (walk.seen == walk.expected) continue;
    differ(print_text("%s log entries of %s of thread %zu", with_commas(walk.seen).c_str(),
                      with_commas(walk.expected).c_str(), thread));
  }
  if (differences_ == 0) return std::nullopt;
  return print_text("%s differences, the first: %s", with_commas(differences_).c_str(),
                    first_difference_.c_str());
}

void BankComparer::differ(std::string text) {
  if (differences_++ == 0) first_difference_ = std::move(text);
}

}  // namespace hawthorn::bench
