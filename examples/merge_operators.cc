// Changes of values that are written without reading them: counters that never conflict, a list of
// events, and an operator of one's own.

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "must.h"

namespace {
std::string number(uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i, value >>= 8) bytes += static_cast<char>(value & 0xff);
  return bytes;
}

uint64_t number_in(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

// Keeps the longest text that was merged.
class Longest : public hawthorn::MergeOperator {
 public:
  std::string_view name() const override { return "longest"; }
  bool merge(std::string_view, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    std::string_view longest = existing.value_or("");
    for (const std::string_view operand : operands) {
      if (operand.size() > longest.size()) longest = operand;
    }
    result->assign(longest);
    return true;
  }
  bool combine(std::string_view, std::string_view left, std::string_view right,
               std::string* result) const override {
    result->assign(right.size() > left.size() ? right : left);
    return true;
  }
};
}  // namespace

int main(int argc, char** argv) {
  hawthorn::Options options;
  options.durability = hawthorn::Durability::kNone;
  // All that trees of this database have: open refuses without them.
  options.merge_operators = {hawthorn::uint64_add(), hawthorn::append_with(","),
                             std::make_shared<Longest>()};
  const auto db = fresh_database(argc, argv, options);
  const hawthorn::Tree visits = must(db->tree("visits"));
  const hawthorn::Tree events = must(db->tree("events"));
  const hawthorn::Tree titles = must(db->tree("titles"));
  must(db->set_merge_operator(visits, "uint64_add"));
  must(db->set_merge_operator(events, "append:,"));
  must(db->set_merge_operator(titles, "longest"));

  // Nobody waits for anybody, and nothing is tried again.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) must(db->merge(visits, "front page", number(1)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  hawthorn::Value value;
  must(db->get(visits, "front page", value));
  must(number_in(value.view()) == 4000);

  // In a batch, with other writes, in its order.
  hawthorn::WriteBatch batch;
  batch.put(events, "ada", "born");
  batch.merge(events, "ada", "writes a program");
  batch.merge(titles, "ada", "Countess");
  batch.merge(titles, "ada", "Ms");
  must(db->write(batch));
  must(db->get(events, "ada", value));
  must(value.view() == "born,writes a program");
  must(db->get(titles, "ada", value));
  must(value.view() == "Countess");
  must(db->close());
  return 0;
}
