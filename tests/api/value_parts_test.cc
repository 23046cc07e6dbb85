// Values by parts: every function and error, who conflicts with whom, what is written for a part,
// and what is verified.

#include <fstream>
#include <optional>

#include "db/manifest.h"
#include "tests/api/sim_api_test_fixture.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kMB = uint64_t{1} << 20;

class ValueParts : public SimApi {
 protected:
  void append(std::string_view key, std::string_view bytes) {
    ASSERT_OK(db_->append(tree_, key, bytes).status());
  }
  void write(std::string_view key, uint64_t offset, std::string_view bytes) {
    ASSERT_OK(db_->write_part(tree_, key, offset, bytes));
  }
  std::string part(std::string_view key, uint64_t offset, size_t size,
                   const Snapshot* snapshot = nullptr) {
    std::string bytes(size, '\0');
    const Result<size_t> got = db_->read_part(tree_, key, offset, bytes, {.snapshot = snapshot});
    if (!got.ok()) return std::string(status_code_name(got.status().code()));
    bytes.resize(*got);
    return bytes;
  }
  uint64_t size_of(std::string_view key) { return db_->size_of(tree_, key).value(); }
  // All bytes that the machine has written for this.
  template <typename Do>
  uint64_t written(Do what) {
    const uint64_t before = disk_.counters().bytes_written;
    what();
    return disk_.counters().bytes_written - before;
  }
  bool names_feature() {
    std::string warning;
    const Result<db::LoadedManifest> manifest =
        db::Manifest::load(machine_.machine(), "/db", &warning);
    EXPECT_OK(manifest.status());
    return (manifest->features.incompatible & format::kFeatureLargePieces) != 0;
  }
};

TEST_F(ValueParts, small_values_are_ordinary_ones) {
  append("a", "one");
  append("a", " two");
  EXPECT_EQ(get("a"), "one two");
  write("a", 4, "TWO");
  write("a", 0, "O");
  EXPECT_EQ(get("a"), "One TWO");
  write("a", 9, "!");
  EXPECT_EQ(get("a"), std::string("One TWO\0\0!", 10));
  ASSERT_OK(db_->resize(tree_, "a", 3));
  EXPECT_EQ(get("a"), "One");
  ASSERT_OK(db_->resize(tree_, "a", 5));
  EXPECT_EQ(get("a"), std::string("One\0\0", 5));
  EXPECT_EQ(size_of("a"), 5u);
  EXPECT_EQ(part("a", 1, 3), std::string("ne\0", 3));
  EXPECT_EQ(part("a", 5, 3), "");
  EXPECT_EQ(part("a", 500, 3), "");
  EXPECT_FALSE(names_feature());
}

TEST_F(ValueParts, a_missing_key_is_an_empty_value) {
  ASSERT_EQ(db_->append(tree_, "a", "x").value(), 0u);
  write("b", 2, "x");
  ASSERT_OK(db_->resize(tree_, "c", 0));
  ASSERT_OK(db_->resize(tree_, "d", 70'000));
  EXPECT_EQ(get("a"), "x");
  EXPECT_EQ(get("b"), std::string("\0\0x", 3));
  EXPECT_EQ(get("c"), "");
  EXPECT_EQ(get("d"), std::string(70'000, '\0'));
  // Nothing is written where there is nothing to write.
  ASSERT_EQ(db_->append(tree_, "e", "").value(), 0u);
  write("f", 100, "");
  ASSERT_EQ(db_->append(tree_, "a", "").value(), 1u);
  EXPECT_EQ(get("e"), "NotFound");
  EXPECT_EQ(get("f"), "NotFound");
  EXPECT_EQ(part("e", 0, 1), "NotFound");
  EXPECT_TRUE(db_->size_of(tree_, "e").status().is_not_found());
  EXPECT_TRUE(db_->read_stream(tree_, "e", [](std::string_view) { return true; }).is_not_found());
}

TEST_F(ValueParts, grow_and_shrink_over_the_limit) {
  std::string expected;
  for (const uint64_t size : {65'535, 65'536, 65'537, 65'536, 200'000, 70'000, 10, 300'000}) {
    ASSERT_OK(db_->resize(tree_, "a", size));
    expected.resize(size, '\0');
    write("a", size / 2, "middle");
    if (expected.size() < size / 2 + 6) expected.resize(size / 2 + 6);
    expected.replace(size / 2, 6, "middle");
    ASSERT_EQ(size_of("a"), expected.size());
    ASSERT_TRUE(get("a") == expected) << size;
    ASSERT_OK(db_->flush());
    ASSERT_TRUE(get("a") == expected) << size;
    ASSERT_TRUE(clean(*db_));
  }
  EXPECT_TRUE(names_feature());
  open_small();
  EXPECT_TRUE(get("a") == expected);
}

TEST_F(ValueParts, snapshots_and_clones_keep_what_they_show) {
  const std::string first = value_of(3, 300'000);
  put("a", first);
  ASSERT_OK(db_->flush());
  const Snapshot before = db_->snapshot();
  ASSERT_OK(db_->clone_tree("t", "c").status());
  const Tree clone = db_->find_tree("c").value();
  std::string second = first;
  second.replace(100'000, 7, "changed");
  write("a", 100'000, "changed");
  std::string third = first;
  third.replace(5, 4, "here");
  third += "more";
  ASSERT_OK(db_->write_part(clone, "a", 5, "here"));
  ASSERT_OK(db_->append(clone, "a", "more").status());
  const auto look = [&] {
    ASSERT_TRUE(get("a", &before) == first);
    ASSERT_TRUE(get("a") == second);
    EXPECT_EQ(part("a", 99'999, 9, &before), first.substr(99'999, 9));
    EXPECT_EQ(part("a", 99'999, 9), second.substr(99'999, 9));
    Value found;
    ASSERT_OK(db_->get(clone, "a", found));
    ASSERT_TRUE(found.view() == third);
    ASSERT_TRUE(clean(*db_));
  };
  look();
  ASSERT_OK(db_->flush());
  look();
  ASSERT_OK(db_->drop_tree("t"));
  ASSERT_OK(db_->compact());
  Value found;
  ASSERT_OK(db_->get(clone, "a", found));
  EXPECT_TRUE(found.view() == third);
}

TEST_F(ValueParts, every_way_to_read) {
  std::string expected = value_of(3, 200'000);
  put("a", expected);
  for (uint64_t i = 0; i < 50; ++i) {
    const uint64_t at = i * 3991 % 190'000;
    write("a", at, "part " + std::to_string(i));
    expected.replace(at, 5 + std::to_string(i).size(), "part " + std::to_string(i));
  }
  ASSERT_OK(db_->resize(tree_, "a", 500'000));
  expected.resize(500'000, '\0');
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_OK(db_->flush());
    EXPECT_TRUE(get("a") == expected);
    ReadBatch batch;
    const std::string_view keys[] = {"a", "b"};
    ASSERT_OK(db_->multi_get(tree_, keys, batch));
    EXPECT_TRUE(batch[0].value == expected);
    auto queue = db_->read_queue().value();
    bool answered = false;
    queue->get_async(tree_, "a", [&](const Status& status, Value& value) {
      answered = true;
      EXPECT_OK(status);
      EXPECT_TRUE(value.view() == expected);
    });
    while (queue->pending() > 0) queue->wait();
    EXPECT_TRUE(answered);
    Transaction txn = begin();
    EXPECT_TRUE(txn.get_pinned(tree_, "a").value() == expected);
    Cursor cursor = txn.cursor(tree_);
    ASSERT_TRUE(cursor.first());
    EXPECT_TRUE(cursor.value() == expected);
    std::string streamed;
    ASSERT_OK(txn.read_stream(
        tree_, "a",
        [&](std::string_view piece) {
          streamed += piece;
          return true;
        },
        7));
    EXPECT_TRUE(streamed == std::string_view(expected).substr(7));
    size_t pieces = 0;
    ASSERT_OK(txn.read_stream(tree_, "a", [&](std::string_view) { return ++pieces < 1; }));
    EXPECT_EQ(pieces, 1u);
    EXPECT_TRUE(db_->replace(tree_, "a", expected, expected).value());
  }
}

TEST_F(ValueParts, errors) {
  ASSERT_OK(db_->tree("several", {.multi_value = true}).status());
  const Tree several = db_->find_tree("several").value();
  std::string buffer(10, '\0');
  const auto unsupported = [](const Status& status) {
    return status.is(StatusCode::kNotSupported);
  };
  EXPECT_TRUE(unsupported(db_->write_part(several, "a", 0, "x")));
  EXPECT_TRUE(unsupported(db_->append(several, "a", "x").status()));
  EXPECT_TRUE(unsupported(db_->resize(several, "a", 3)));
  EXPECT_TRUE(unsupported(db_->read_part(several, "a", 0, buffer).status()));
  EXPECT_TRUE(unsupported(db_->size_of(several, "a").status()));

  const auto invalid = [](const Status& status) { return status.is(StatusCode::kInvalidArgument); };
  const uint64_t most = Db::limits().stream_value_bytes_max;
  put("a", "value");
  EXPECT_TRUE(invalid(db_->write_part(tree_, "a", most, "x")));
  EXPECT_TRUE(invalid(db_->write_part(tree_, "a", ~uint64_t{0}, "x")));
  EXPECT_TRUE(invalid(db_->resize(tree_, "a", most + 1)));
  EXPECT_TRUE(invalid(db_->append(tree_, std::string(70'000, 'k'), "x").status()));
  EXPECT_TRUE(invalid(db_->append(Tree(), "a", "x").status()));
  EXPECT_EQ(get("a"), "value");

  Transaction reading = begin({.read_only = true});
  EXPECT_TRUE(reading.append(tree_, "a", "x").status().is(StatusCode::kReadOnly));
  EXPECT_EQ(reading.size_of(tree_, "a").value(), 5u);
  Transaction txn = begin();
  const StreamSource failing = [](std::span<char>) -> Result<size_t> {
    return Status(StatusCode::kIoError, "of the source");
  };
  const StreamSource ending = [](std::span<char>) -> Result<size_t> { return size_t{0}; };
  for (const uint64_t size : {100, 100'000}) {
    EXPECT_TRUE(txn.append_stream(tree_, "a", size, failing).status().is(StatusCode::kIoError));
    EXPECT_TRUE(invalid(txn.write_part_stream(tree_, "a", 3, size, ending)));
  }
  // It goes on.
  ASSERT_EQ(txn.append(tree_, "a", "!").value(), 5u);
  ASSERT_OK(txn.commit());
  EXPECT_EQ(get("a"), "value!");
  EXPECT_TRUE(invalid(txn.append(tree_, "a", "x").status()));
  EXPECT_TRUE(invalid(txn.read_part(tree_, "a", 0, buffer).status()));
  EXPECT_TRUE(invalid(Transaction().append(tree_, "a", "x").status()));
}

TEST_F(ValueParts, a_read_only_database_is_read) {
  put("a", value_of(1, 100'000));
  append("a", "value!");
  open_small(true);
  EXPECT_TRUE(db_->append(tree_, "a", "x").status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->resize(tree_, "a", 0).is(StatusCode::kReadOnly));
  EXPECT_EQ(part("a", 100'000, 9), "value!");
  EXPECT_EQ(size_of("a"), 100'006u);
}

// Zeros take no space, so that 4 GB fit here.
TEST_F(ValueParts, as_large_as_they_may_be) {
  const uint64_t most = Db::limits().stream_value_bytes_max;
  write("a", most - 5, "end");
  EXPECT_EQ(size_of("a"), most - 2);
  ASSERT_EQ(db_->append(tree_, "a", "..").value(), most - 2);
  EXPECT_TRUE(db_->append(tree_, "a", ".").status().is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->flush());
  EXPECT_EQ(part("a", most - 7, 100), std::string("\0\0end..", 7));
  EXPECT_EQ(part("a", most / 2, 3), std::string("\0\0\0", 3));
  EXPECT_EQ(get("a"), "NotSupported");
  std::string streamed;
  ASSERT_OK(db_->read_stream(
      tree_, "a",
      [&](std::string_view piece) {
        streamed += piece;
        return true;
      },
      most - 600'000));
  EXPECT_TRUE(streamed == std::string(600'000 - 5, '\0') + "end..");
  EXPECT_LT(db_->stats().trees[0].bytes_values, 100'000u);
  ASSERT_TRUE(clean(*db_));
  ASSERT_OK(db_->resize(tree_, "a", 3));
  EXPECT_EQ(get("a"), std::string(3, '\0'));
}

// ---- Who conflicts

// "key:size ..." of a walk, and the code with which it ends.
std::string walk(Cursor& cursor, bool forward) {
  std::string shown;
  for (bool more = forward ? cursor.first() : cursor.last(); more;
       more = forward ? cursor.next() : cursor.prev()) {
    shown += std::string(cursor.key()) + ":" + std::to_string(cursor.value().size()) + " ";
  }
  return shown + std::string(status_code_name(cursor.status().code()));
}

TEST_F(ValueParts, walks_show_the_bytes_or_end_with_an_error_that_stays) {
  const Tree tree = tree_;
  ASSERT_OK(db_->put(tree, "a", "1"));
  ASSERT_OK(db_->resize(tree, "b", 64 * kMB + 1));
  ASSERT_OK(db_->put(tree, "c", "333"));
  ASSERT_OK(db_->put(tree, "d", ""));
  const auto check = [&](Cursor cursor) {
    EXPECT_EQ(walk(cursor, true), "a:1 NotSupported");
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(cursor.next());
      EXPECT_FALSE(cursor.prev());
      EXPECT_FALSE(cursor.skip(1));
      EXPECT_FALSE(cursor.valid());
      EXPECT_TRUE(cursor.status().is(StatusCode::kNotSupported));
    }
    EXPECT_EQ(walk(cursor, false), "d:0 c:3 NotSupported");
    EXPECT_FALSE(cursor.seek("b"));
    EXPECT_NE(cursor.status().message().find("\"b"), std::string::npos);
    EXPECT_TRUE(cursor.seek("c"));
    ASSERT_TRUE(cursor.first());
    Entry entries[10];
    size_t handed_out = 0;
    while (const size_t count = cursor.next_batch(entries)) handed_out += count;
    EXPECT_EQ(handed_out, 1u);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(cursor.status().is(StatusCode::kNotSupported));
      EXPECT_EQ(cursor.next_batch(entries), 0u);
    }
  };
  check(db_->cursor(tree));
  for (const Isolation isolation : {Isolation::kSnapshot, Isolation::kSerializable}) {
    Transaction transaction = begin({.isolation = isolation});
    check(transaction.cursor(tree));
  }
  ASSERT_OK(db_->flush());
  check(db_->cursor(tree));
  Cursor keys = db_->cursor(tree, {.key_only = true});
  EXPECT_EQ(walk(keys, true), "a:0 b:0 c:0 d:0 OK");
  Cursor by_parts = db_->cursor(tree, {.large_as_empty = true});
  ASSERT_TRUE(by_parts.seek("b"));
  EXPECT_EQ(by_parts.value(), "");
  EXPECT_TRUE(by_parts.status().is(StatusCode::kNotSupported));
  EXPECT_TRUE(by_parts.next());
  EXPECT_OK(by_parts.status());
  EXPECT_TRUE(
      db_->scan(tree, "", std::nullopt, [](auto) { return true; }).is(StatusCode::kNotSupported));
}

TEST_F(ValueParts, the_first_committer_wins) {
  put("a", value_of(1, 100'000));
  for (const Isolation level :
       {Isolation::kReadCommitted, Isolation::kSnapshot, Isolation::kSerializable}) {
    Transaction one = begin({.isolation = level});
    Transaction two = begin({.isolation = level});
    ASSERT_OK(one.write_part(tree_, "a", 0, "one"));
    // Another part of it, all the same: it is one value.
    ASSERT_OK(two.write_part(tree_, "a", 50'000, "two"));
    ASSERT_OK(one.commit());
    EXPECT_EQ(two.read_part(tree_, "a", 50'000, std::span<char>()).value(), 0u);
    std::string seen(3, '\0');
    ASSERT_OK(two.read_part(tree_, "a", 50'000, seen).status());
    EXPECT_EQ(seen, "two");
    EXPECT_TRUE(two.commit().is_conflict());
    EXPECT_EQ(part("a", 0, 3), "one");
    EXPECT_EQ(part("a", 50'000, 3), value_of(1, 100'000).substr(50'000, 3));
    ASSERT_OK(db_->flush());
    ASSERT_TRUE(clean(*db_));
  }
  Transaction late = begin();
  put("a", "new");
  EXPECT_TRUE(late.append(tree_, "a", "x").status().is_conflict());
}

TEST_F(ValueParts, pessimistic_ones_lock_the_row) {
  put("a", value_of(1, 100'000));
  Transaction one = begin({.mode = TxnMode::kPessimistic});
  ASSERT_OK(one.append(tree_, "a", "one").status());
  Transaction two = begin({.mode = TxnMode::kPessimistic, .isolation = Isolation::kReadCommitted});
  EXPECT_TRUE(two.append(tree_, "a", "two").status().is(StatusCode::kTimedOut));
  EXPECT_TRUE(db_->append(tree_, "a", "three").status().is(StatusCode::kTimedOut));
  ASSERT_OK(one.commit());
  ASSERT_EQ(two.append(tree_, "a", "two").value(), 100'003u);
  ASSERT_OK(two.commit());
  EXPECT_EQ(part("a", 100'000, 10), "onetwo");
}

TEST_F(ValueParts, serializable_reads_of_parts_are_validated) {
  put("a", value_of(1, 100'000));
  std::string buffer(10, '\0');
  for (const bool missing : {false, true}) {
    for (int way = 0; way < 3; ++way) {
      Transaction txn = begin({.isolation = Isolation::kSerializable});
      const std::string key = missing ? "b" : "a";
      if (way == 0) static_cast<void>(txn.read_part(tree_, key, 5, buffer).ok());
      if (way == 1) static_cast<void>(txn.size_of(tree_, key).ok());
      if (way == 2) {
        static_cast<void>(txn.read_stream(tree_, key, [](std::string_view) { return false; }).ok());
      }
      ASSERT_OK(txn.put(tree_, "other", "x"));
      append(key, "x");
      EXPECT_TRUE(txn.commit().is_conflict()) << way;
      ASSERT_OK(db_->del(tree_, "b"));
    }
  }
}

TEST_F(ValueParts, one_moment_is_read) {
  append("a", value_of(1, 100'000));
  Transaction moment = begin();
  Transaction present = begin({.isolation = Isolation::kReadCommitted});
  append("a", "more");
  EXPECT_EQ(moment.size_of(tree_, "a").value(), 100'000u);
  EXPECT_EQ(present.size_of(tree_, "a").value(), 100'004u);
  EXPECT_EQ(moment.read_part(tree_, "a", 100'000, std::span<char>()).value(), 0u);
}

// ---- Trees of other kinds

TEST_F(ValueParts, entries_that_end_keep_their_moment) {
  const Tree ending = db_->tree("e", {.expires = true, .ttl_ms = 5000}).value();
  ASSERT_OK(db_->put(ending, "a", "one", Expiry::after_ms(10'000)));
  ASSERT_OK(db_->put(ending, "large", value_of(1, 100'000), Expiry::after_ms(10'000)));
  const uint64_t moment = db_->expires_at(ending, "a").value();
  const uint64_t large = db_->expires_at(ending, "large").value();
  machine_.clock().advance_us(2'000'000);
  ASSERT_EQ(db_->append(ending, "a", " two").value(), 3u);
  ASSERT_EQ(db_->append(ending, "large", "end").value(), 100'000u);
  ASSERT_OK(db_->write_part(ending, "large", 0, "begin"));
  ASSERT_EQ(db_->append(ending, "new", "x").value(), 0u);
  EXPECT_EQ(db_->expires_at(ending, "a").value(), moment);
  EXPECT_EQ(db_->expires_at(ending, "large").value(), large);
  EXPECT_EQ(db_->size_of(ending, "large").value(), 100'003u);
  Value found;
  ASSERT_OK(db_->get(ending, "large", found));
  EXPECT_TRUE(found.view().starts_with("begin") && found.view().ends_with("end"));
  std::string bytes(5, '\0');
  ASSERT_EQ(db_->read_part(ending, "large", 99'998, bytes).value(), 5u);
  EXPECT_TRUE(bytes.ends_with("end"));
  EXPECT_TRUE(db_->resize(ending, "a", 64 * kMB).is(StatusCode::kNotSupported));
  // The new one has the tree's time; one that has ended is not there.
  machine_.clock().advance_us(5'500'000);
  EXPECT_TRUE(db_->size_of(ending, "new").status().is_not_found());
  EXPECT_OK(db_->size_of(ending, "large").status());
  machine_.clock().advance_us(5'000'000);
  EXPECT_TRUE(db_->size_of(ending, "large").status().is_not_found());
  ASSERT_EQ(db_->append(ending, "large", "again").value(), 0u);
  ASSERT_OK(db_->get(ending, "large", found));
  EXPECT_EQ(found.view(), "again");
  EXPECT_GT(db_->expires_at(ending, "large").value(), large);
  ASSERT_OK(db_->compact());
  EXPECT_TRUE(clean(*db_));
}

TEST_F(ValueParts, operands_are_folded_first) {
  const Tree merged = db_->tree("m").value();
  ASSERT_OK(db_->set_merge_operator(merged, "append"));
  ASSERT_OK(db_->put(merged, "a", std::string(100'000, 'a')));
  ASSERT_OK(db_->merge(merged, "a", "bc"));
  ASSERT_OK(db_->merge(merged, "small", "b"));
  EXPECT_EQ(db_->size_of(merged, "a").value(), 100'002u);
  ASSERT_EQ(db_->append(merged, "a", "d").value(), 100'002u);
  ASSERT_OK(db_->write_part(merged, "small", 1, "c"));
  ASSERT_OK(db_->merge(merged, "small", "d"));
  ASSERT_OK(db_->merge(merged, "a", "e"));
  Value found;
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(db_->get(merged, "a", found));
    EXPECT_TRUE(found.view() == std::string(100'000, 'a') + "bcde");
    ASSERT_OK(db_->get(merged, "small", found));
    EXPECT_EQ(found.view(), "bcd");
    ASSERT_OK(db_->flush());
  }
  EXPECT_TRUE(clean(*db_));
}

// ---- What is written

TEST_F(ValueParts, a_part_costs_what_it_is) {
  put("a", value_of(3, 63 * kMB));
  ASSERT_OK(db_->flush());
  const uint64_t appended = written([&] { append("a", value_of(1, 1024)); });
  const uint64_t middle = written([&] { write("a", 30 * kMB, value_of(2, 1024)); });
  const uint64_t cut = written([&] { ASSERT_OK(db_->resize(tree_, "a", 60 * kMB)); });
  // What is left of its last extent is less than half, and is written anew.
  EXPECT_LT(written([&] { ASSERT_OK(db_->resize(tree_, "a", 50 * kMB)); }), 8 * kMB);
  const uint64_t grown = written([&] { ASSERT_OK(db_->resize(tree_, "a", 80 * kMB)); });
  // A block of data, one of a manifest that tells of nothing else, and the log.
  for (const uint64_t bytes : {appended, middle, cut, grown}) EXPECT_LT(bytes, 40'000u);
  const uint64_t read = disk_.counters().bytes_read;
  EXPECT_EQ(part("a", 30 * kMB, 1024), value_of(2, 1024));
  EXPECT_EQ(size_of("a"), 80 * kMB);
  EXPECT_LT(disk_.counters().bytes_read - read, 100'000u);
  ASSERT_OK(db_->flush());
  EXPECT_LT(db_->stats().trees[0].bytes_values, 51 * kMB + kMB / 2);
  EXPECT_TRUE(clean(*db_));
}

// Ten thousand appends of a kilobyte: each byte is written a few times, pieces stay few.
TEST_F(ValueParts, appends_are_amortised) {
  constexpr uint64_t kAppends = 10'000;
  const Stats before = db_->stats();
  std::string expected;
  for (uint64_t i = 0; i < kAppends; ++i) {
    const std::string bytes = value_of(i, 1000 + i % 50);
    append("a", bytes);
    expected += bytes;
  }
  ASSERT_OK(db_->flush());
  const Stats after = db_->stats();
  const uint64_t data = after.bytes_written_data - before.bytes_written_data;
  const uint64_t log = after.bytes_written_log - before.bytes_written_log;
  // With a block for each append.
  EXPECT_LT(data, 12 * expected.size()) << data / expected.size();
  EXPECT_LT(log / kAppends, 1500u) << "the references";
  EXPECT_LT(after.trees[0].bytes_values, expected.size() * 5 / 4);
  EXPECT_TRUE(get("a") == expected);
  EXPECT_TRUE(clean(*db_));
}

// At random places: there are never more than a thousand pieces, and no more than twice the bytes.
TEST_F(ValueParts, writes_at_random_places) {
  Prng prng(5);
  std::string expected = value_of(3, 4 * kMB);
  put("a", expected);
  for (int round = 0; round < 5; ++round) {
    Transaction txn = begin();
    for (int i = 0; i < 300; ++i) {
      const std::string bytes = value_of(prng.next(), 1 + prng.below(600));
      const uint64_t at = prng.below(expected.size() - bytes.size());
      ASSERT_OK(txn.write_part(tree_, "a", at, bytes));
      expected.replace(at, bytes.size(), bytes);
    }
    ASSERT_OK(txn.commit());
    ASSERT_OK(db_->flush());
    ASSERT_TRUE(get("a") == expected);
    ASSERT_LT(db_->stats().trees[0].bytes_values, 2 * expected.size() + 1100 * 4096);
  }
  EXPECT_TRUE(clean(*db_));
}

// All of it, from the front and from the back, and what of it was overwritten goes.
TEST_F(ValueParts, writes_one_behind_the_other) {
  std::string expected = value_of(3, 3 * kMB);
  put("a", expected);
  for (const bool forward : {true, false}) {
    const uint64_t parts = expected.size() / 4000;
    for (uint64_t i = 0; i < parts; ++i) {
      const uint64_t at = (forward ? i : parts - 1 - i) * 4000;
      const std::string bytes = value_of(i + 7, 4000);
      write("a", at, bytes);
      expected.replace(at, bytes.size(), bytes);
    }
    ASSERT_OK(db_->flush());
    ASSERT_TRUE(get("a") == expected);
    EXPECT_LT(db_->stats().trees[0].bytes_values, expected.size() * 5 / 4);
  }
  EXPECT_TRUE(clean(*db_));
}

// ---- What is verified

TEST_F(ValueParts, parts_are_verified_alone) {
  const std::string expected = value_of(3, 2 * kMB);
  put("a", expected);
  ASSERT_OK(db_->flush());
  const uint64_t file_bytes = [&] {
    auto file = disk_.open_file("/db/data.0", {.read_only = true});
    return file.value()->size().value();
  }();
  // Where its 1,000,000th byte stands on the disk.
  std::string content(file_bytes, '\0');
  {
    auto file = disk_.open_file("/db/data.0", {.read_only = true});
    ASSERT_OK(file.value()->read_at(0, content));
  }
  const size_t at = content.find(expected.substr(999'000, 2000));
  ASSERT_NE(at, std::string::npos);
  ASSERT_TRUE(disk_.flip_bit("/db/data.0", at + 1000, 3));
  EXPECT_EQ(part("a", 1'000'000, 1), "Corruption");
  EXPECT_EQ(part("a", 990'000, 20'000), "Corruption");
  EXPECT_EQ(get("a"), "Corruption");
  EXPECT_EQ(part("a", 0, 900'000), expected.substr(0, 900'000));
  EXPECT_EQ(part("a", 1'100'000, kMB), expected.substr(1'100'000));
  // What is changed elsewhere does not touch it, and what overwrites it heals it.
  write("a", 5, "elsewhere");
  EXPECT_EQ(part("a", 1'000'000, 1), "Corruption");
  const Result<CheckReport> report = db_->check();
  ASSERT_OK(report.status());
  ASSERT_FALSE(report->ok());
  EXPECT_NE(report->errors[0].find("large value"), std::string::npos) << report->errors[0];
  write("a", 980'000, expected.substr(980'000, 40'000));
  EXPECT_EQ(part("a", 990'000, 20'000), expected.substr(990'000, 20'000));
}

}  // namespace
}  // namespace hawthorn::tests
