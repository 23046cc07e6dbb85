// Merge operators: what include/hawthorn/merge_operator.h promises, through every way to read.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "hawthorn/merge_operator.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

std::string number(uint64_t value) {
  std::string bytes;
  append(bytes, value);
  return bytes;
}

// Joins with commas; refuses "no" and throws at "throw". Cannot combine.
class Joins : public MergeOperator {
 public:
  std::string_view name() const override { return "joins"; }
  bool merge(std::string_view, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    result->assign(existing.has_value() ? *existing : "nothing");
    for (const std::string_view operand : operands) {
      if (operand == "no") return false;
      if (operand == "throw") throw std::runtime_error("an operator that throws");
      result->append(",").append(operand);
    }
    return true;
  }
};

class MergeTest : public ::testing::Test {
 protected:
  Options options() const {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.merge_operators = {uint64_add(), append_with(","), bytewise_max(),
                               std::make_shared<Joins>()};
    return options;
  }
  void open() {
    db_.reset();
    Result<std::unique_ptr<Db>> opened = Db::open(path_, options());
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = *db_->tree("joined");
    sums_ = *db_->tree("sums");
    appended_ = *db_->tree("appended");
    ASSERT_OK(db_->set_merge_operator(tree_, "joins"));
    ASSERT_OK(db_->set_merge_operator(sums_, "uint64_add"));
    ASSERT_OK(db_->set_merge_operator(appended_, "append:,"));
  }
  void SetUp() override { open(); }

  std::string get(const Tree& tree, std::string_view key, const Snapshot* snapshot = nullptr) {
    Value value;
    const Status status = db_->get(tree, key, value, {.snapshot = snapshot});
    return status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
  }
  std::string get(std::string_view key, const Snapshot* snapshot = nullptr) {
    return get(tree_, key, snapshot);
  }
  uint64_t sum(std::string_view key, const Snapshot* snapshot = nullptr) {
    const std::string bytes = get(sums_, key, snapshot);
    EXPECT_EQ(bytes.size(), 8u) << bytes;
    return bytes.size() == 8 ? load<uint64_t>(bytes.data()) : ~uint64_t{0};
  }
  // "key=value;..." forwards, checked against all other ways to read the same.
  std::string all(const Tree& tree, const Snapshot* snapshot = nullptr) {
    std::string scanned;
    std::vector<std::string> keys;
    EXPECT_OK(db_->scan(tree, "", std::nullopt,
                        [&](std::span<const Entry> entries) {
                          for (const Entry& entry : entries) {
                            keys.emplace_back(entry.key);
                            scanned +=
                                std::string(entry.key) + "=" + std::string(entry.value) + ";";
                          }
                          return true;
                        },
                        {.snapshot = snapshot}));
    std::string forwards;
    std::string backwards;
    std::string got;
    std::string batched;
    std::string asynchronous;
    CursorOptions how;
    how.snapshot = snapshot;
    Cursor cursor = db_->cursor(tree, how);
    for (cursor.first(); cursor.valid(); cursor.next()) {
      forwards += std::string(cursor.key()) + "=" + std::string(cursor.value()) + ";";
    }
    EXPECT_OK(cursor.status());
    for (cursor.last(); cursor.valid(); cursor.prev()) {
      backwards.insert(0, std::string(cursor.key()) + "=" + std::string(cursor.value()) + ";");
    }
    EXPECT_OK(cursor.status());
    for (const std::string& key : keys) got += key + "=" + get(tree, key, snapshot) + ";";
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    ReadBatch batch;
    EXPECT_OK(db_->multi_get(tree, views, batch, {.snapshot = snapshot}));
    for (size_t i = 0; i < keys.size(); ++i) {
      batched += keys[i] + "=" + std::string(batch[i].value) + ";";
    }
    std::vector<std::string> values(keys.size());
    Result<std::unique_ptr<ReadQueue>> queue = db_->read_queue();
    for (size_t i = 0; i < keys.size(); ++i) {
      (*queue)->get_async(tree, keys[i],
                          [&values, i](const Status& status, Value& value) {
                            values[i] = status.ok() ? value.to_string() : status.to_string();
                          },
                          {.snapshot = snapshot});
    }
    while ((*queue)->pending() > 0) (*queue)->wait();
    for (size_t i = 0; i < keys.size(); ++i) asynchronous += keys[i] + "=" + values[i] + ";";
    EXPECT_EQ(scanned, forwards);
    EXPECT_EQ(scanned, backwards);
    EXPECT_EQ(scanned, got);
    EXPECT_EQ(scanned, batched);
    EXPECT_EQ(scanned, asynchronous);
    EXPECT_EQ(*db_->count(tree, "", std::nullopt, {.snapshot = snapshot}), keys.size());
    return scanned;
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "db";
  std::unique_ptr<Db> db_;
  Tree tree_;
  Tree sums_;
  Tree appended_;
};

TEST_F(MergeTest, EveryReadFoldsAndEveryMomentKeepsItsValue) {
  ASSERT_OK(db_->put(tree_, "b", "1"));
  ASSERT_OK(db_->merge(tree_, "a", "x"));
  ASSERT_OK(db_->merge(tree_, "b", "2"));
  const std::string first = "a=nothing,x;b=1,2;";
  EXPECT_EQ(all(tree_), first);
  Snapshot one = db_->snapshot();
  ASSERT_OK(db_->merge(tree_, "b", "3"));
  ASSERT_OK(db_->merge(tree_, "c", "y"));
  ASSERT_OK(db_->del(tree_, "a"));
  const std::string second = "b=1,2,3;c=nothing,y;";
  Snapshot two = db_->snapshot();
  ASSERT_OK(db_->merge(tree_, "a", "again"));
  ASSERT_OK(db_->merge(tree_, "b", "4"));
  ASSERT_OK(db_->merge(tree_, "b", "5"));
  const std::string third = "a=nothing,again;b=1,2,3,4,5;c=nothing,y;";
  const auto expect = [&](const std::string& newest) {
    EXPECT_EQ(all(tree_, &one), first);
    EXPECT_EQ(all(tree_, &two), second);
    EXPECT_EQ(all(tree_), newest);
  };
  expect(third);
  ASSERT_OK(db_->flush());
  expect(third);
  ASSERT_OK(db_->merge(tree_, "b", "6"));
  const std::string fourth = "a=nothing,again;b=1,2,3,4,5,6;c=nothing,y;";
  expect(fourth);
  ASSERT_OK(db_->compact());
  expect(fourth);
  one.reset();
  two.reset();
  ASSERT_OK(db_->merge(tree_, "c", "z"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(all(tree_), "a=nothing,again;b=1,2,3,4,5,6;c=nothing,y,z;");
  EXPECT_TRUE(clean(*db_));
}

TEST_F(MergeTest, ReopeningReplaysEachOperandOnce) {
  uint64_t expected = 0;
  for (int round = 0; round < 6; ++round) {
    for (uint64_t i = 0; i < 1000; ++i) {
      ASSERT_OK(db_->merge(sums_, "n", number(i)));
      expected += i;
      if (i == 500 && round % 2 == 0) ASSERT_OK(db_->flush());
    }
    EXPECT_EQ(sum("n"), expected);
    if (round == 3) ASSERT_OK(db_->close());
    open();
    EXPECT_EQ(sum("n"), expected);
  }
}

TEST_F(MergeTest, ATransactionSeesItsOwnMergesInTheirOrder) {
  ASSERT_OK(db_->put(tree_, "k", "0"));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->merge(tree_, "k", "1"));
  std::optional<Transaction> begun = std::move(db_->begin({}).value());
  Transaction& t = *begun;
  Value value;
  const auto own = [&](std::string_view key) {
    const Status status = t.get(tree_, key, value);
    return status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
  };
  ASSERT_OK(t.merge(tree_, "k", "2"));
  EXPECT_EQ(own("k"), "0,1,2");
  const Savepoint savepoint = *t.savepoint();
  ASSERT_OK(t.del(tree_, "k"));
  ASSERT_OK(t.merge(tree_, "k", "3"));
  EXPECT_EQ(own("k"), "nothing,3");
  ASSERT_OK(t.put(tree_, "k", "4"));
  ASSERT_OK(t.merge(tree_, "k", "5"));
  ASSERT_OK(t.merge(tree_, "k", "6"));
  EXPECT_EQ(own("k"), "4,5,6");
  Cursor cursor = t.cursor(tree_);
  ASSERT_TRUE(cursor.first());
  EXPECT_EQ(cursor.value(), "4,5,6");
  ASSERT_OK(t.rollback_to(savepoint));
  EXPECT_EQ(own("k"), "0,1,2");
  ASSERT_OK(t.merge(tree_, "k", "7"));
  EXPECT_EQ(*t.count(tree_, "", std::nullopt), 1u);
  EXPECT_EQ(get("k"), "0,1");
  EXPECT_TRUE(*t.replace(tree_, "k", "0,1,2,7", "8"));
  ASSERT_OK(t.merge(tree_, "k", "9"));
  cursor = Cursor();
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("k"), "8,9");
  begun.reset();
  open();
  EXPECT_EQ(get("k"), "8,9");
  ASSERT_OK(db_->flush());
  EXPECT_EQ(get("k"), "8,9");
}

TEST_F(MergeTest, MergesOfTransactionsConflictAsWritesDoAndBlindOnesDoNot) {
  ASSERT_OK(db_->put(tree_, "k", "0"));
  Transaction t = *db_->begin({});
  ASSERT_OK(db_->merge(tree_, "k", "1"));
  EXPECT_TRUE(t.merge(tree_, "k", "2").is_conflict());
  t.abort();
  Transaction u = *db_->begin({.isolation = Isolation::kReadCommitted});
  ASSERT_OK(u.merge(tree_, "k", "3"));
  ASSERT_OK(db_->merge(tree_, "k", "4"));
  ASSERT_OK(u.commit());
  EXPECT_EQ(get("k"), "0,1,4,3");  // in the order of commits
}

TEST_F(MergeTest, ABatchMergesInItsOrder) {
  WriteBatch batch;
  batch.merge(tree_, "k", "lost");
  batch.put(tree_, "k", "1");
  batch.merge(tree_, "k", "2");
  batch.merge(tree_, "k", "3");
  batch.merge(sums_, "n", number(5));
  ASSERT_OK(db_->write(batch));
  EXPECT_EQ(get("k"), "1,2,3");
  ASSERT_OK(db_->flush());
  EXPECT_EQ(get("k"), "1,2,3");
  EXPECT_EQ(sum("n"), 5u);
}

TEST_F(MergeTest, WhatTheOperatorRefusesIsKeptAndHurtsNobodyElse) {
  ASSERT_OK(db_->put(tree_, "bad", "1"));
  ASSERT_OK(db_->merge(tree_, "bad", "2"));
  const Snapshot good = db_->snapshot();
  WriteBatch batch;  // base and operand of one commit
  batch.put(tree_, "bad too", "3");
  batch.merge(tree_, "bad too", "throw");
  batch.merge(tree_, "bad", "no");
  batch.merge(tree_, "next", "4");
  ASSERT_OK(db_->write(batch));
  const auto expect = [&] {
    Value value;
    const Status status = db_->get(tree_, "bad", value);
    EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
    for (const char* part : {"tree 1", "\"bad\"", "\"joins\""}) {
      EXPECT_NE(status.to_string().find(part), std::string::npos) << status.to_string();
    }
    EXPECT_TRUE(db_->get(tree_, "bad too", value).is(StatusCode::kCorruption));
    EXPECT_EQ(get("next"), "nothing,4");
    EXPECT_EQ(get("bad", &good), "1,2");
    EXPECT_EQ(*db_->count(tree_, "", std::nullopt), 3u);
    Cursor cursor = db_->cursor(tree_);
    EXPECT_FALSE(cursor.first());
    EXPECT_TRUE(cursor.status().is(StatusCode::kCorruption));
    EXPECT_TRUE(cursor.seek("next"));
    EXPECT_EQ(cursor.value(), "nothing,4");
    CursorOptions keys;
    keys.key_only = true;
    cursor = db_->cursor(tree_, keys);
    EXPECT_TRUE(cursor.first() && cursor.next() && cursor.next());
    EXPECT_EQ(cursor.key(), "next");
  };
  expect();
  ASSERT_OK(db_->flush());
  expect();
  ASSERT_OK(db_->merge(tree_, "bad", "5"));
  ASSERT_OK(db_->compact());
  expect();
  EXPECT_TRUE(clean(*db_));
  // A put makes it whole again.
  ASSERT_OK(db_->put(tree_, "bad", "6"));
  ASSERT_OK(db_->merge(tree_, "bad", "7"));
  EXPECT_EQ(get("bad"), "6,7");
  ASSERT_OK(db_->flush());
  EXPECT_EQ(get("bad"), "6,7");
  EXPECT_EQ(get("bad", &good), "1,2");
}

TEST_F(MergeTest, OperandsThatWereRefusedOutliveARestart) {
  ASSERT_OK(db_->put(tree_, "bad", "1"));
  ASSERT_OK(db_->merge(tree_, "bad", "no"));
  ASSERT_OK(db_->close());
  open();
  EXPECT_EQ(get("bad"), status_code_name(StatusCode::kCorruption));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(db_->merge(tree_, "bad", std::to_string(i)));
    ASSERT_OK(db_->flush());
    EXPECT_TRUE(clean(*db_));
  }
  EXPECT_EQ(get("bad"), status_code_name(StatusCode::kCorruption));
}

TEST_F(MergeTest, LargeValuesBelowAndLargeResults) {
  const std::string large = value_of(3, 200'000);
  ASSERT_OK(db_->put(appended_, "large", large));
  std::string grown;
  const std::string piece(9000, 'p');
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(db_->merge(appended_, "large", "tail"));
    ASSERT_OK(db_->merge(appended_, "grown", piece));
    grown += (i == 0 ? "" : ",") + piece;
    if (i % 3 == 1) ASSERT_OK(db_->flush());
  }
  std::string tails;
  for (int i = 0; i < 10; ++i) tails += ",tail";
  const auto expect = [&] {
    EXPECT_EQ(all(appended_), "grown=" + grown + ";large=" + large + tails + ";");
    std::string part(10, '\0');
    const Result<size_t> read = db_->read_part(appended_, "large", large.size() + 45, part);
    ASSERT_OK(read.status());
    EXPECT_EQ(part.substr(0, *read), ",tail");
  };
  expect();
  ASSERT_OK(db_->flush());
  expect();
  open();
  expect();
  ASSERT_OK(db_->compact());
  expect();
  EXPECT_TRUE(clean(*db_));
  ASSERT_OK(db_->put(appended_, "large", "small"));
  ASSERT_OK(db_->merge(appended_, "large", "end"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get(appended_, "large"), "small,end");
}

TEST_F(MergeTest, BasesThatAreNotInMemory) {
  // Three times the budget, so that values are read from disk: by gets and by flushes.
  constexpr uint64_t kKeys = 6000;
  const auto base = [](uint64_t i) { return value_of(i, 16'000); };
  for (uint64_t i = 0; i < kKeys; ++i) ASSERT_OK(db_->put(appended_, big_endian(i), base(i)));
  ASSERT_OK(db_->flush());
  for (uint64_t i = 0; i < kKeys; i += 7) ASSERT_OK(db_->merge(appended_, big_endian(i), "m"));
  const auto expect = [&] {
    for (uint64_t i = 0; i < kKeys; i += 35) {
      ASSERT_EQ(get(appended_, big_endian(i)), base(i) + ",m") << i;
    }
  };
  expect();
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kKeys; i += 350) keys.push_back(big_endian(i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  ReadBatch batch;
  ASSERT_OK(db_->multi_get(appended_, views, batch));
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(batch[i].value, base(i * 350) + ",m");
  ASSERT_OK(db_->flush());
  expect();
  EXPECT_TRUE(clean(*db_));
}

TEST_F(MergeTest, AHotKeyTakesLittleMemory) {
  constexpr uint64_t kMerges = 200'000;
  for (uint64_t i = 1; i <= kMerges; ++i) ASSERT_OK(db_->merge(sums_, "hot", number(i)));
  EXPECT_EQ(sum("hot"), kMerges * (kMerges + 1) / 2);
  uint64_t records = 0;
  for (const TreeStats& tree : db_->stats().trees) {
    if (tree.name == "sums") records = tree.delta_records;
  }
  EXPECT_LT(records, 500u);
  // With a value in the delta, and snapshots in between.
  ASSERT_OK(db_->put(sums_, "hot", number(0)));
  std::vector<Snapshot> snapshots;
  for (uint64_t i = 1; i <= 1000; ++i) {
    ASSERT_OK(db_->merge(sums_, "hot", number(1)));
    if (i % 100 == 0) snapshots.push_back(db_->snapshot());
  }
  for (size_t s = 0; s < snapshots.size(); ++s) EXPECT_EQ(sum("hot", &snapshots[s]), 100 * (s + 1));
  ASSERT_OK(db_->flush());
  for (size_t s = 0; s < snapshots.size(); ++s) EXPECT_EQ(sum("hot", &snapshots[s]), 100 * (s + 1));
}

TEST_F(MergeTest, RandomMergesAgainstAModelWithSnapshots) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 5);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  std::map<std::string, std::string> model;
  struct Moment {
    Snapshot snapshot;
    std::map<std::string, std::string> model;
  };
  std::vector<Moment> moments;
  const auto shown = [](const std::map<std::string, std::string>& of) {
    std::string text;
    for (const auto& [key, value] : of) text += key + "=" + value + ";";
    return text;
  };
  for (uint64_t i = 0; i < scaled(12'000); ++i) {
    const std::string key = "k" + std::to_string(prng.below(20));
    const auto at = model.find(key);
    const uint64_t pick = prng.below(100);
    if (pick < 60) {
      const std::string operand = std::to_string(i);
      ASSERT_OK(db_->merge(tree_, key, operand));
      model[key] = (at == model.end() ? "nothing" : at->second) + "," + operand;
    } else if (pick < 75 || (at != model.end() && at->second.size() > 300)) {
      ASSERT_OK(db_->put(tree_, key, "p" + std::to_string(i)));
      model[key] = "p" + std::to_string(i);
    } else if (pick < 85) {
      ASSERT_OK(db_->del(tree_, key));
      model.erase(key);
    } else if (pick < 90) {
      moments.push_back({db_->snapshot(), model});
      if (moments.size() > 4) {
        moments.erase(moments.begin() + static_cast<ptrdiff_t>(prng.below(moments.size())));
      }
    } else if (pick < 92) {
      ASSERT_OK(db_->flush());
    } else if (pick < 93) {
      ASSERT_OK(db_->compact());
    } else if (pick < 98) {
      ASSERT_EQ(get(key), at == model.end() ? status_code_name(StatusCode::kNotFound) : at->second);
    } else if (prng.one_in(8)) {
      for (const Moment& moment : moments) {
        ASSERT_EQ(all(tree_, &moment.snapshot), shown(moment.model)) << i;
      }
      ASSERT_EQ(all(tree_), shown(model)) << i;
    } else if (prng.one_in(20)) {
      moments.clear();
      open();
    }
  }
  ASSERT_EQ(all(tree_), shown(model));
  EXPECT_TRUE(clean(*db_));
}

TEST_F(MergeTest, WhatIsRefused) {
  const Tree plain = *db_->tree("plain");
  EXPECT_TRUE(db_->merge(plain, "k", "1").is(StatusCode::kInvalidArgument));
  WriteBatch batch;
  batch.put(plain, "j", "1");
  batch.merge(plain, "k", "1");
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kInvalidArgument));
  EXPECT_EQ(get(plain, "j"), status_code_name(StatusCode::kNotFound));
  {
    Transaction t = *db_->begin({});
    EXPECT_TRUE(t.merge(plain, "k", "1").is(StatusCode::kInvalidArgument));
  }
  EXPECT_TRUE(db_->merge(tree_, "k", std::string(65537, 'x')).is(StatusCode::kInvalidArgument));
  batch.clear();
  batch.merge(tree_, "k", std::string(65537, 'x'));
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->set_merge_operator(plain, "unknown").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->set_merge_operator(tree_, "max").is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->set_merge_operator(tree_, "joins"));
  ASSERT_OK(db_->set_compression(tree_, Compression::kLz4));  // keeps the operator
  db_.reset();
  Options without = options();
  without.merge_operators = {uint64_add(), append_with(",")};
  const Status status = Db::open(path_, without).status();
  EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
  EXPECT_NE(status.to_string().find("\"joined\""), std::string::npos) << status.to_string();
  EXPECT_NE(status.to_string().find("\"joins\""), std::string::npos) << status.to_string();
  without.merge_operators = {uint64_add(), uint64_add()};
  EXPECT_TRUE(Db::open(path_, without).status().is(StatusCode::kInvalidArgument));
  without.merge_operators = {nullptr};
  EXPECT_TRUE(Db::open(path_, without).status().is(StatusCode::kInvalidArgument));
  open();
  ASSERT_OK(db_->merge(tree_, "k", "1"));
  EXPECT_EQ(get("k"), "nothing,1");
}

TEST_F(MergeTest, TheReadyMadeOperators) {
  ASSERT_OK(db_->merge(sums_, "n", number(~uint64_t{0})));
  ASSERT_OK(db_->merge(sums_, "n", number(3)));
  EXPECT_EQ(sum("n"), 2u);
  ASSERT_OK(db_->merge(sums_, "n", "short"));
  EXPECT_EQ(get(sums_, "n"), status_code_name(StatusCode::kCorruption));
  const Tree greatest = *db_->tree("greatest");
  ASSERT_OK(db_->set_merge_operator(greatest, "max"));
  for (const char* value : {"b", "c", "a"}) ASSERT_OK(db_->merge(greatest, "k", value));
  EXPECT_EQ(get(greatest, "k"), "c");
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->merge(greatest, "k", "bb"));
  EXPECT_EQ(get(greatest, "k"), "c");
  ASSERT_OK(db_->put(appended_, "k", ""));
  ASSERT_OK(db_->merge(appended_, "k", "x"));
  EXPECT_EQ(get(appended_, "k"), ",x");
}

TEST_F(MergeTest, DroppedTreesAndIngestsOverOperands) {
  ASSERT_OK(db_->merge(sums_, "m", number(1)));
  ASSERT_OK(db_->drop_tree("sums"));
  EXPECT_TRUE(db_->merge(sums_, "m", number(1)).is(StatusCode::kInvalidArgument));
  open();  // a new tree of that name
  ASSERT_OK(db_->merge(sums_, "m", number(2)));
  EXPECT_EQ(sum("m"), 2u);
  Ingest ingest = *db_->ingest(sums_);
  for (const char* key : {"l", "m", "n"}) ASSERT_OK(ingest.add(key, number(40)));
  ASSERT_OK(ingest.finish());
  EXPECT_EQ(sum("m"), 40u);
  ASSERT_OK(db_->merge(sums_, "m", number(2)));
  EXPECT_EQ(sum("m"), 42u);
  EXPECT_EQ(*db_->count(sums_, "", std::nullopt), 3u);
}

}  // namespace
}  // namespace hawthorn::tests
