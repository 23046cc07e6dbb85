#pragma once
// What a tree holds, asked for by every kind of read.
//
// Used by the folders of tests/ only.

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ingest_test.h"

namespace hawthorn::tests {

// `wanted`: keys to ask for one by one, in order, whether or not they are there.
inline void expect_by_every_read(Db& db, const Tree& tree, const Contents& contents,
                                 const std::vector<std::string>& wanted,
                                 const Snapshot* snapshot = nullptr) {
  ASSERT_TRUE(same(read_all(db, tree, snapshot), contents));
  Cursor cursor = db.cursor(tree, {.snapshot = snapshot});
  auto at = contents.end();
  for (bool there = cursor.last(); there; there = cursor.prev()) {
    ASSERT_NE(at, contents.begin());
    --at;
    ASSERT_EQ(cursor.key(), at->first);
    ASSERT_EQ(cursor.value(), at->second);
  }
  ASSERT_OK(cursor.status());
  ASSERT_EQ(at, contents.begin());
  Contents scanned;
  ASSERT_OK(db.scan(tree, "", std::nullopt,
                    [&](std::span<const Entry> entries) {
                      for (const Entry& entry : entries) scanned.emplace(entry.key, entry.value);
                      return true;
                    },
                    {.snapshot = snapshot}));
  ASSERT_TRUE(same(scanned, contents));
  ASSERT_EQ(db.count(tree, "", std::nullopt, {.snapshot = snapshot}).value(), contents.size());
  const std::vector<std::string_view> keys(wanted.begin(), wanted.end());
  ReadBatch batch;
  ASSERT_OK(db.multi_get(tree, keys, batch, {.snapshot = snapshot}));
  auto queue = db.read_queue({.depth = 8}).value();
  size_t answered = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto found = contents.find(wanted[i]);
    const bool there = found != contents.end();
    ASSERT_EQ(batch[i].found(), there);
    Value value;
    const Status status = db.get(tree, keys[i], value, {.snapshot = snapshot});
    ASSERT_EQ(status.ok(), there) << status.to_string();
    ASSERT_EQ(status.is_not_found(), !there);
    if (there) {
      ASSERT_EQ(batch[i].value, found->second);
      ASSERT_EQ(value.view(), found->second);
    }
    queue->get_async(tree, keys[i],
                     [&, there](const Status& answer, Value&) {
                       ++answered;
                       EXPECT_EQ(answer.ok(), there);
                       EXPECT_EQ(answer.is_not_found(), !there);
                     },
                     {.snapshot = snapshot});
    const auto low = contents.lower_bound(wanted[i]);
    ASSERT_EQ(cursor.seek(wanted[i]), low != contents.end());
    if (low == contents.end()) continue;
    ASSERT_EQ(cursor.key(), low->first);
    if (i % 16 != 0) continue;
    const std::string& end = wanted[std::min(i + 70, wanted.size() - 1)];
    const auto high = contents.lower_bound(end);
    ASSERT_EQ(db.count(tree, wanted[i], end, {.snapshot = snapshot}).value(),
              static_cast<uint64_t>(std::distance(low, high)));
    const auto steps = std::min<ptrdiff_t>(30, std::distance(low, contents.end()) - 1);
    ASSERT_TRUE(cursor.skip(steps));
    ASSERT_EQ(cursor.key(), std::next(low, steps)->first);
    ASSERT_EQ(cursor.seek_random(i), true);
    ASSERT_TRUE(contents.contains(std::string(cursor.key())));
  }
  ASSERT_OK(cursor.status());
  while (queue->pending() > 0) queue->wait();
  ASSERT_EQ(answered, keys.size());
}

}  // namespace hawthorn::tests
