#include "tests/repair/repair_forest.h"

#include <algorithm>

namespace hawthorn::tests {

std::string Forest::noise(size_t bytes) {
  std::string value(bytes, '\0');
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t word = prng_.next();
    std::memcpy(value.data() + i, &word, std::min<size_t>(8, bytes - i));
  }
  return value;
}

Tree Forest::add(const std::string& name, const TreeOptions& options, ForestKind kind) {
  const Result<Tree> tree = db_->tree(name, options);
  EXPECT_OK(tree.status());
  handles_[name] = *tree;
  trees[name].id = tree->id();
  trees[name].kind = kind;
  return *tree;
}

void Forest::note(const std::string& name, const std::string& key, std::optional<std::string> value,
                  uint64_t first) {
  ForestRow& row = trees[name].rows[key];
  if (value.has_value()) row.ever.insert(*value);
  row.now = std::move(value);
  row.unflushed.emplace_back(first, now());
}

void Forest::put(const std::string& name, const std::string& key, const std::string& value) {
  const uint64_t first = now() + 1;
  ASSERT_OK(db_->put(handles_[name], key, value));
  const bool multi = trees[name].kind == ForestKind::kMulti;
  note(name, multi ? key + '\0' + value : key, multi ? "" : value, first);
}

void Forest::del(const std::string& name, const std::string& key) {
  const uint64_t first = now() + 1;
  ASSERT_OK(db_->del(handles_[name], key));
  note(name, key, std::nullopt, first);
}

void Forest::make_trees(bool with_feed) {
  for (const char* name : {"plain", "small", "large", "source", "layered", "ingested"}) add(name);
  ASSERT_OK(db_->set_compression(add("lz4"), Compression::kLz4));
  ASSERT_OK(db_->set_compression(add("zstd"), Compression::kZstd));
  ASSERT_OK(db_->set_merge_operator(add("merge", {}, ForestKind::kMerge), "append"));
  add("reverse", {.order = "reverse"}, ForestKind::kReverse);
  add("multi", {.multi_value = true}, ForestKind::kMulti);
  add("ttl", {.expires = true, .ttl_ms = 1'000'000'000}, ForestKind::kExpiring);
  add("compared", {.order = "shorter_first"}, ForestKind::kCompared);
  if (with_feed) return;
  const Tree parent = add("parent", {.subtrees = true});
  for (int i = 0; i < 3; ++i) {
    const std::string name = "below" + std::to_string(i);
    const uint64_t first = now() + 1;
    const Result<Tree> made = db_->create_subtree(parent, "sub" + std::to_string(i));
    ASSERT_OK(made.status());
    handles_[name] = *made;
    trees[name].id = made->id();
    trees[name].parent = "parent";
    trees[name].place = "sub" + std::to_string(i);
    note("parent", trees[name].place, "", first);
  }
}

void Forest::change_large(uint64_t seed) {
  for (int i = 0; i < 3; ++i) {
    const std::string key = row_key(prng_.next() % 8);
    put("large", key, noise(70'000 + prng_.next() % 60'000));
  }
  // New versions that have pieces of the ones before.
  for (int i = 0; i < 2; ++i) {
    auto& rows = trees["large"].rows;
    auto row = rows.lower_bound(row_key((seed + static_cast<uint64_t>(i)) % 8));
    if (row == rows.end() || !row->second.now.has_value()) continue;
    const std::string part = noise(9000);
    const uint64_t first = now() + 1;
    ASSERT_OK(db_->write_part(handles_["large"], row->first, 20'000, part));
    std::string value = *row->second.now;
    value.replace(20'000, part.size(), part);
    note("large", row->first, value, first);
  }
}

void Forest::change_merges(uint64_t seed) {
  for (int i = 0; i < 60; ++i) {
    const std::string key = row_key(prng_.next() % 40);
    if (prng_.next() % 8 == 0) {
      const std::string value = "<" + std::to_string(1'000'000 + seed * 1000 + i) + ">";
      put("merge", key, value);
      trees["merge"].rows[key].operands.push_back(value);
      continue;
    }
    const std::string operand = "[" + std::to_string(1'000'000 + seed * 1000 + i) + "]";
    const uint64_t first = now() + 1;
    ASSERT_OK(db_->merge(handles_["merge"], key, operand));
    ForestRow& row = trees["merge"].rows[key];
    row.operands.push_back(operand);
    note("merge", key, row.now.value_or("") + operand, first);
  }
}

void Forest::change_others(uint64_t seed) {
  for (const char* name : {"lz4", "zstd"}) {
    for (int i = 0; i < 60; ++i) {
      const uint64_t number = prng_.next() % 200;
      std::string text;
      for (int j = 0; j < 6; ++j)
        text += "the same words again and again " + std::to_string(number);
      put(name, row_key(number), text + std::to_string(seed * 100 + i));
    }
  }
  for (const char* name : {"reverse", "ttl", "compared", "below0", "below1", "below2"}) {
    if (!handles_.contains(name)) continue;
    for (int i = 0; i < 30; ++i) {
      const uint64_t number = prng_.next() % 100;
      const std::string key = row_key(number).substr(0, number % 3 == 0 ? 7 : 6);
      if (prng_.next() % 6 == 0) {
        del(name, key);
      } else {
        put(name, key, noise(40 + prng_.next() % 200));
      }
    }
  }
  for (int i = 0; i < 40; ++i) {
    put("multi", row_key(prng_.next() % 20), "v" + std::to_string(prng_.next() % 400));
  }
  if (handles_.contains("parent")) put("parent", row_key(seed), noise(50));
}

void Forest::change(uint64_t seed, size_t percent) {
  prng_ = Prng(seed);
  for (size_t i = 0; i < 8 * percent; ++i) {
    const std::string key = row_key(prng_.next() % 700);
    if (prng_.next() % 5 == 0) {
      del("plain", key);
    } else {
      put("plain", key, noise(300));
    }
    put("small", row_key(prng_.next() % 1500), noise(24));
    if (i % 3 == 0) put("source", row_key(prng_.next() % 200), noise(150));
    if (i % 5 == 0) put("layered", row_key(prng_.next() % 300), noise(100));
  }
  change_large(seed);
  change_merges(seed);
  change_others(seed);
}

// What was written is in containers, which the manifest names; the log has nothing of it alone.
void Forest::flushed() {
  ASSERT_OK(db_->flush());
  for (auto& [name, tree] : trees) {
    for (auto& [key, row] : tree.rows) row.unflushed.clear();
  }
}

void Forest::remember_snapshot() {
  ASSERT_OK(db_->create_snapshot(kSnapshot));
  for (const auto& [name, tree] : trees) {
    for (const auto& [key, row] : tree.rows) {
      if (row.now.has_value()) at_snapshot[name][key] = *row.now;
    }
  }
}

void Forest::clone() {
  const Result<Tree> made = db_->clone_tree("source", "clone");
  ASSERT_OK(made.status());
  handles_["clone"] = *made;
  trees["clone"] = trees["source"];
  trees["clone"].id = made->id();
  trees["clone"].kind = ForestKind::kClone;
  for (int i = 0; i < 40; ++i) {
    put("clone", row_key(prng_.next() % 250), noise(150));
    if (i % 4 == 0) del("clone", row_key(prng_.next() % 200));
  }
}

void Forest::ingest(const std::string& name, uint64_t from) {
  Contents entries;
  for (uint64_t i = 0; i < 300; ++i) entries[row_key(from + i)] = noise(200);
  const uint64_t first = now() + 1;
  ASSERT_OK(ingest_all(*db_, handles_[name], entries));
  for (const auto& [key, value] : entries) note(name, key, value, first);
}

void Forest::erase_range(const std::string& name, const std::string& low, const std::string& high) {
  const uint64_t first = now() + 1;
  ASSERT_OK(db_->delete_range(handles_[name], low, high));
  auto& rows = trees[name].rows;
  std::vector<std::string> keys;
  for (auto at = rows.lower_bound(low); at != rows.end() && at->first < high; ++at) {
    keys.push_back(at->first);
  }
  for (const std::string& key : keys) note(name, key, std::nullopt, first);
}

void Forest::write_layered() {
  const uint64_t first = now() + 1;
  Result<Transaction> txn = db_->begin(TxnOptions());
  ASSERT_OK(txn.status());
  std::map<std::string, std::string> written;
  for (int i = 0; i < 1500; ++i) {
    const std::string key = row_key(prng_.next() % 400);
    const std::string value = noise(100);
    ASSERT_OK(txn->put(handles_["layered"], key, value));
    written[key] = value;
  }
  ASSERT_OK(txn->commit());
  for (const auto& [key, value] : written) note("layered", key, value, first);
}

void Forest::write_prepared() {
  Result<Transaction> txn = db_->begin(TxnOptions());
  ASSERT_OK(txn.status());
  const auto put_in = [&](const std::string& name, const std::string& key, size_t bytes) {
    const std::string value = noise(bytes);
    ASSERT_OK(txn->put(handles_[name], key, value));
    prepared[name][key] = value;
  };
  for (uint64_t i = 0; i < 20; ++i) put_in("plain", row_key(800'000 + i), 200);
  put_in("large", row_key(800'000), 100'000);
  ASSERT_OK(txn->prepare(kPrepared));
  // And one that is committed.
  const uint64_t first = now() + 1;
  Result<Transaction> other = db_->begin(TxnOptions());
  ASSERT_OK(other.status());
  std::map<std::string, std::string> written;
  for (uint64_t i = 0; i < 10; ++i) {
    written[row_key(810'000 + i)] = noise(i == 3 ? 90'000 : 200);
    ASSERT_OK(other->put(handles_["plain"], row_key(810'000 + i), written[row_key(810'000 + i)]));
  }
  ASSERT_OK(other->prepare("p2"));
  other = Transaction();
  ASSERT_OK(db_->commit_prepared("p2"));
  for (const auto& [key, value] : written) note("plain", key, value, first);
}

void Forest::make(bool with_feed, bool encrypted) {
  auto db = Db::open_on(machine_.machine(), "/db", forest_options(encrypted));
  ASSERT_OK(db.status());
  db_ = std::move(*db);
  make_trees(with_feed);
  change(1, 100);
  flushed();
  change(2, 40);
  ingest("ingested", 0);
  flushed();
  remember_snapshot();
  if (encrypted) ASSERT_OK(db_->rotate_data_key());
  change(3, 40);
  clone();
  erase_range("plain", row_key(300), row_key(340));
  flushed();
  if (with_feed) ASSERT_OK(db_->create_feed("feed"));
  change(4, 30);
  flushed();
  change(5, 20);
  write_layered();
  ingest("ingested", 1000);
  erase_range("plain", row_key(500), row_key(520));
  write_prepared();
  change(6, 10);
  ASSERT_OK(db_->sync());
}

}  // namespace hawthorn::tests
