#include "tools/rocksdb/migrate.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hawthorn::tools {
namespace {

class ListWalk final : public Walk {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;
  explicit ListWalk(Entries entries, Status at_end = {})
      : entries_(std::move(entries)), at_end_(std::move(at_end)) {}
  bool valid() const override { return at_ < entries_.size(); }
  std::string_view key() const override { return entries_[at_].first; }
  // What begins with a '#' is an entity.
  Content content() const override {
    const std::string_view bytes = entries_[at_].second;
    if (!bytes.starts_with('#')) return {bytes};
    return {bytes.substr(1), true};
  }
  void next() override { ++at_; }
  Status status() const override { return valid() ? Status() : at_end_; }

 private:
  const Entries entries_;
  const Status at_end_;
  size_t at_ = 0;
};

const Status kBroken(StatusCode::kIoError, "it broke");
const ListWalk::Entries kEntries = {{"a", "1"}, {"b", ""}, {"c", "3"}};

Status compare(ListWalk::Entries copy, const Status& source_end = {}, const Status& copy_end = {}) {
  ListWalk source(kEntries, source_end);
  ListWalk other(std::move(copy), copy_end);
  return compare_entries(source, other, "f");
}

TEST(Compare, FindsTheFirstDifference) {
  EXPECT_TRUE(compare(kEntries).ok());
  const std::string f = "column family f: key ";
  EXPECT_EQ(compare({{"a", "1"}, {"b", "x"}, {"c", "3"}}).message(), f + "\"b\" has another value");
  EXPECT_EQ(compare({{"a", "1"}, {"c", "3"}}).message(),
            f + "\"b\" is followed by \"c\" in the copy");
  EXPECT_EQ(compare({{"a", "1"}, {"b", ""}}).message(), f + "\"c\" is missing in the copy");
  EXPECT_EQ(compare({{"a", "1"}, {"b", ""}, {"c", "3"}, {"d", ""}}).message(),
            f + "\"d\" is in the copy alone");
  EXPECT_EQ(compare({{"a", "#1"}, {"b", ""}, {"c", "3"}}).message(), f + "\"a\" has another value");
  EXPECT_TRUE(compare({}).is(StatusCode::kCorruption));
}

TEST(Compare, AnErrorOfReadingIsNoDifference) {
  EXPECT_TRUE(compare(kEntries, kBroken).is(StatusCode::kIoError));
  EXPECT_TRUE(compare({{"a", "1"}}, {}, kBroken).is(StatusCode::kIoError));
}

TEST(Compare, Counts) {
  EXPECT_TRUE(compare_counts({"f", 3, 9}, 3).ok());
  EXPECT_EQ(compare_counts({"f", 3, 9}, 2).message(),
            "column family f: 3 entries were copied, 2 are there");
}

TEST(Copy, CountsAndNamesWhatFails) {
  const MigrateOptions options;
  Copier copier(options, "copied", 0);
  ListWalk walk(kEntries);
  std::string keys;
  ASSERT_TRUE(copier.copy("f", walk, [&keys](std::string_view key, const Content&) {
    keys += key;
    return Status();
  }));
  EXPECT_EQ(keys, "abc");
  EXPECT_EQ(copier.families().back().entries, 3u);
  EXPECT_EQ(copier.families().back().bytes, 5u);

  ListWalk broken(kEntries, kBroken);
  const Status of_source = copier.copy("g", broken, [](auto, auto) { return Status(); });
  EXPECT_EQ(of_source.message(), "column family g: it broke");
  ListWalk refused(kEntries);
  const Status of_target = copier.copy("h", refused, [](auto key, auto) {
    return key == "b" ? Status(StatusCode::kNoSpace, "full") : Status();
  });
  EXPECT_EQ(of_target.message(), "column family h: key \"b\": full");
  EXPECT_TRUE(of_target.is(StatusCode::kNoSpace));
}

TEST(Shown, LongAndBinaryKeys) {
  EXPECT_EQ(shown(std::string("a\0", 2)), "\"a\\x00\"");
  EXPECT_LT(shown(std::string(5000, 'k')).size(), 150u);
}

}  // namespace
}  // namespace hawthorn::tools
