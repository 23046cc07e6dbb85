#include "tests/model/model_run.h"

#include "tests/support/encryption_test.h"

namespace hawthorn::tests {

namespace {
constexpr const char* kNames[] = {"accounts", "b", "catalogue of everything"};
}  // namespace

ModelRun::ModelRun(const ModelOptions& options, Opener opener)
    : options_(options),
      opener_(std::move(opener)),
      pool_(options.keys, options.counters),
      prng_(options.seed),
      budget_(options.budget_bytes) {}

void ModelRun::run() {
  open();
  while (done_ < options_.operations && !::testing::Test::HasFailure()) step();
  if (::testing::Test::HasFailure()) {
    ADD_FAILURE() << "after " << done_ << " operations and " << commit_
                  << " commits; HAWTHORN_SEED=" << options_.seed
                  << " HAWTHORN_OPERATIONS=" << options_.operations;
    return;
  }
  compare_all();
  if (::testing::Test::HasFatalFailure()) return;
  close_readers();
  // Once more where all that is kept stands in runs, without timestamps.
  ASSERT_OK(db_->flush());
  compare_all();
  if (::testing::Test::HasFatalFailure()) return;
  ASSERT_OK(db_->close());
}

void ModelRun::open() {
  Options options;
  options.memory_budget_bytes = budget_;
  options.durability = Durability::kNone;
  options.compression = any_compression();
  options.merge_operators = {std::make_shared<ModelOperator>()};
  if (options_.encrypted) options.encryption = encryption_of();
  options.lock_timeout_ms = 0;  // there is one thread
  Result<std::unique_ptr<Db>> db = opener_(options);
  ASSERT_OK(db.status());
  db_ = std::move(*db);
  for (OpenTree& tree : trees_) {
    Result<Tree> handle = db_->find_tree(tree.name);
    ASSERT_OK(handle.status());
    tree.handle = *handle;
  }
  if (!trees_.empty()) return;
  for (const char* name : kNames) {
    Result<Tree> handle = db_->tree(name);
    ASSERT_OK(handle.status());
    trees_.push_back({name, *handle, std::make_shared<ModelTree>(pool_.size()), ++last_id_});
    if (trees_.size() == 1) continue;
    ASSERT_NO_FATAL_FAILURE(give_operator(trees_.back()));
    if (options_.counters && trees_.size() == 2) break;  // large ones
  }
}

void ModelRun::give_operator(OpenTree& tree) {
  ASSERT_OK(db_->set_merge_operator(tree.handle, "model"));
  tree.merges = true;
}

void ModelRun::step() {
  const uint64_t pick = prng_.below(10000);
  if (pick < 100) return compare_and_set();
  if (pick < 2200) return write_one();
  if (pick < 2900) return write_batch();
  if (pick < 5190) return read();
  if (pick < 5200) return count();
  if (pick < 5800) return multi_get();
  if (pick < 6100) return scan();
  if (pick < 6300) return begin();
  if (pick < 7300) return use_txn();
  if (pick < 7330) return exclusive();
  if (pick < 7350) return locking();
  if (pick < 7365) return prepare_and_end();
  if (pick < 7550) return open_cursor();
  if (pick < 9800) return move_cursor();
  if (pick < 9952) return manage_snapshots();
  if (pick < 9954) return wave();
  if (pick < 9960) return ingest();
  if (pick < 9996 || !prng_.one_in(8)) return upkeep();
  if (prng_.one_in(3)) return trees();
  reopen();
}

// ---- What is expected

const ModelRun::OpenTree* ModelRun::tree_by_id(uint64_t id) const {
  for (const OpenTree& tree : trees_) {
    if (tree.id == id) return &tree;
  }
  return nullptr;
}

ModelRun::OpenTree* ModelRun::tree_by_id(uint64_t id) {
  for (OpenTree& tree : trees_) {
    if (tree.id == id) return &tree;
  }
  return nullptr;
}

ModelRun::OpenTxn* ModelRun::txn_by_number(uint64_t number) {
  for (OpenTxn& txn : txns_) {
    if (txn.number == number) return &txn;
  }
  return nullptr;
}

// Some keys are far more popular than others.
Rank ModelRun::any_key() {
  if (prng_.one_in(3)) return static_cast<Rank>(mix64(prng_.below(32)) % pool_.size());
  return static_cast<Rank>(prng_.below(pool_.size()));
}

std::string ModelRun::any_seek(Rank* rank) {
  std::string key = pool_[any_key()];
  switch (prng_.below(6)) {
    case 0:
      key += '\0';
      break;
    case 1:
      if (!key.empty()) key.pop_back();
      break;
    case 2:
      if (!key.empty()) key.back() = static_cast<char>(key.back() + 1);
      break;
    default:
      break;
  }
  *rank = pool_.lower_bound(key);
  return key;
}

ModelValue ModelRun::any_value() {
  if (prng_.one_in(5)) return {};
  const size_t size = options_.counters ? counter_size(prng_) : random_size(prng_, options_.large);
  return {true, static_cast<uint32_t>(size), prng_.next()};
}

Compression ModelRun::any_compression() {
  return options_.counters ? Compression::kNone : static_cast<Compression>(prng_.below(3));
}

Durability ModelRun::any_level() {
  if (prng_.one_in(200)) return Durability::kFull;
  return prng_.one_in(10) ? Durability::kAsync : Durability::kDefault;
}

uint64_t ModelRun::oldest() const {
  uint64_t result = commit_;
  for (const OpenSnapshot& snapshot : snapshots_) result = std::min(result, snapshot.commit);
  for (const OpenTxn& txn : txns_) result = std::min(result, txn.began);
  for (const OpenCursor& cursor : cursors_) result = std::min(result, cursor.commit);
  return result;
}

ModelView ModelRun::view(const OpenTree& tree, uint64_t commit, const OpenTxn* txn) const {
  ModelView result{tree.model.get(), commit, nullptr, pool_.size()};
  if (txn != nullptr) {
    const auto own = txn->own.find(tree.id);
    if (own != txn->own.end()) result.own = &own->second;
  }
  return result;
}

void ModelRun::expect_value(const Status& status, std::string_view bytes,
                            const ModelValue& expected, const std::string& what) {
  if (!expected.present) {
    ASSERT_TRUE(status.is_not_found()) << what << ": " << status.to_string() << ", is absent";
    return;
  }
  ASSERT_TRUE(status.ok()) << what << ": " << status.to_string() << ", has " << expected.size
                           << " bytes";
  ASSERT_TRUE(expected.is(bytes)) << what << ": has " << bytes.size() << " bytes of another value, "
                                  << expected.size << " expected";
}

// ---- Writes

void ModelRun::write_one() {
  OpenTree& tree = any_tree();
  const Rank rank = any_key();
  const ModelValue value = any_value();
  ++done_;
  const std::string& key = pool_[rank];
  Status status;
  if (!value.present) {
    status = db_->del(tree.handle, key, any_level());
  } else if (tree.merges && prng_.one_in(2)) {
    const ModelValue& present = tree.model->at(rank, commit_);
    status = db_->merge(tree.handle, key, ModelOperator::operand(present, value), any_level());
  } else {
    status = db_->put(tree.handle, key, value_of(value.number, value.size), any_level());
  }
  ASSERT_OK(status);
  tree.model->write(rank, ++commit_, value, oldest());
}

void ModelRun::write_batch() {
  uint64_t count = prng_.between(1, 20);
  if (prng_.one_in(100)) count = prng_.between(100, 3000);
  std::vector<Write> writes;
  for (uint64_t i = 0; i < count; ++i) writes.push_back({&any_tree(), any_key(), any_value()});
  done_ += count;
  write_all(writes);
}

// Neighbouring keys are all written, or nearly all deleted: containers are divided and joined.
void ModelRun::wave() {
  OpenTree& tree = any_tree();
  const Rank from = any_key();
  const uint64_t count =
      std::min<uint64_t>(pool_.size() - from, options_.counters ? prng_.between(3000, 20'000)
                                                                : prng_.between(500, 6000));
  const bool clears = options_.counters ? prng_.one_in(4) : !prng_.one_in(3);
  std::vector<Write> writes;
  if (clears && !tree.merges && prng_.one_in(2)) return delete_range(tree, from, count);
  for (Rank rank = from; rank < from + count; ++rank) {
    if (clears && prng_.one_in(50)) continue;
    writes.push_back({&tree, rank, {}});
    if (clears) continue;
    const size_t size = options_.counters ? counter_size(prng_) : prng_.between(0, 1200);
    writes.back().value = {true, static_cast<uint32_t>(size), prng_.next()};
  }
  done_ += count / 8;  // they are cheap
  write_all(writes);
}

// Some of the writes before it in a batch are in the range, and some behind it.
void ModelRun::delete_range(OpenTree& tree, Rank from, uint64_t count) {
  const Rank end = from + static_cast<Rank>(count);
  std::optional<std::string_view> high;
  if (end < pool_.size()) high = pool_[end];
  const Rank before = any_key();
  const Rank behind = any_key();
  const ModelValue value{true, 40, prng_.next()};
  done_ += count / 8;
  const bool alone = prng_.one_in(2);
  Status status;
  if (alone) {
    status = db_->delete_range(tree.handle, pool_[from], high, any_level());
  } else {
    WriteBatch batch;
    batch.put(tree.handle, pool_[before], value_of(value.number, value.size));
    batch.delete_range(tree.handle, pool_[from], high);
    batch.put(tree.handle, pool_[behind], value_of(value.number, value.size));
    status = db_->write(batch, any_level());
  }
  // What is prepared has locked rows, and must find unchanged what it has read.
  const bool refused = status.is(StatusCode::kTimedOut) || status.is_conflict();
  if (refused && !prepared_.empty()) return;
  ASSERT_OK(status);
  ++commit_;
  const uint64_t keep = oldest();
  if (!alone) tree.model->write(before, commit_, value, keep);
  for (Rank rank = from; rank < end; ++rank) tree.model->write(rank, commit_, {}, keep);
  if (!alone) tree.model->write(behind, commit_, value, keep);
}

void ModelRun::write_all(const std::vector<Write>& writes) {
  WriteBatch batch;
  std::map<std::pair<uint64_t, Rank>, ModelValue> written;
  for (const auto& [tree, rank, value] : writes) {
    const auto before = written.find({tree->id, rank});
    const ModelValue present =
        before != written.end() ? before->second : tree->model->at(rank, commit_);
    written[{tree->id, rank}] = value;
    if (value.present && tree->merges && prng_.one_in(3)) {
      batch.merge(tree->handle, pool_[rank], ModelOperator::operand(present, value));
    } else if (value.present) {
      batch.put(tree->handle, pool_[rank], value_of(value.number, value.size));
    } else {
      batch.del(tree->handle, pool_[rank]);
    }
  }
  ASSERT_EQ(batch.count(), writes.size());
  ASSERT_OK(db_->write(batch, any_level()));
  ++commit_;
  const uint64_t keep = oldest();
  std::set<uint64_t> trees;
  for (const auto& [tree, rank, value] : writes) {
    tree->model->write(rank, commit_, value, keep);
    trees.insert(tree->id);
  }
  if (writes.size() >= kMayHaveSpilled) note_spilled(trees);
}

// ---- Reads

void ModelRun::read() {
  const OpenTree& tree = any_tree();
  const Rank rank = any_key();
  ++done_;
  ReadOptions options;
  uint64_t commit = commit_;
  if (!snapshots_.empty() && prng_.one_in(3)) {
    const OpenSnapshot& snapshot = snapshots_[prng_.below(snapshots_.size())];
    options.snapshot = &snapshot.snapshot;
    commit = snapshot.commit;
  }
  const ModelValue& expected = tree.model->at(rank, commit);
  const std::string what = "get in " + tree.name + " of " + shown(pool_[rank]);
  if (!prng_.one_in(20)) {
    const Status in_memory = db_->get_in_memory(tree.handle, pool_[rank], value_, options);
    if (!in_memory.is(StatusCode::kNotInMemory)) {
      expect_value(in_memory, value_.view(), expected, what + " from memory");
    }
    const Status status = db_->get(tree.handle, pool_[rank], value_, options);
    return expect_value(status, value_.view(), expected, what);
  }
  std::string buffer(prng_.below(3000), '\0');
  const uint64_t offset = prng_.below(expected.size + 10);
  const Result<size_t> part = db_->read_part(tree.handle, pool_[rank], offset, buffer, options);
  if (!expected.present) {
    ASSERT_TRUE(part.status().is_not_found()) << what;
    return;
  }
  ASSERT_OK(part.status());
  const std::string whole = value_of(expected.number, expected.size);
  const std::string wanted =
      offset < whole.size() ? whole.substr(offset, buffer.size()) : std::string();
  ASSERT_EQ(*part, wanted.size()) << what;
  ASSERT_EQ(buffer.substr(0, *part), wanted) << what;
}

void ModelRun::multi_get() {
  const OpenTree& tree = any_tree();
  std::vector<Rank> ranks(prng_.below(65));
  std::vector<std::string_view> keys;
  for (Rank& rank : ranks) {
    rank = any_key();
    keys.push_back(pool_[rank]);
  }
  done_ += keys.size();
  uint64_t commit = commit_;
  const OpenTxn* txn = nullptr;
  Status status;
  if (!txns_.empty() && prng_.one_in(4)) {
    OpenTxn& used = txns_[prng_.below(txns_.size())];
    txn = &used;
    commit = seen_by(used);
    for (const Rank rank : ranks) used.note_read(tree.id, rank);
    status = used.txn.multi_get(tree.handle, keys, batch_);
  } else {
    ReadOptions options;
    if (!snapshots_.empty() && prng_.one_in(3)) {
      const OpenSnapshot& snapshot = snapshots_[prng_.below(snapshots_.size())];
      options.snapshot = &snapshot.snapshot;
      commit = snapshot.commit;
    }
    // No draw of its own: the histories of seeds stay what they are.
    if (done_ % 3 == 0) return get_async(tree, ranks, commit, options);
    status = db_->multi_get(tree.handle, keys, batch_, options);
  }
  ASSERT_OK(status);
  ASSERT_EQ(batch_.size(), keys.size());
  const ModelView expected = view(tree, commit, txn);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_value(batch_[i].found() ? Status() : Status::not_found(),
                                         batch_[i].value, expected.at(ranks[i]),
                                         "multi_get of " + shown(keys[i])));
  }
}

void ModelRun::get_async(const OpenTree& tree, const std::vector<Rank>& ranks, uint64_t commit,
                         const ReadOptions& options) {
  Result<std::unique_ptr<ReadQueue>> queue = db_->read_queue({.depth = 7});
  ASSERT_OK(queue.status());
  const ModelView expected = view(tree, commit);
  size_t answered = 0;
  for (const Rank rank : ranks) {
    (*queue)->get_async(
        tree.handle, pool_[rank],
        [&, rank](const Status& status, Value& value) {
          ++answered;
          expect_value(status, value.view(), expected.at(rank),
                       "get_async of " + shown(pool_[rank]));
        },
        options);
  }
  while ((*queue)->pending() > 0) (*queue)->wait();
  ASSERT_EQ(answered, ranks.size());
}

void ModelRun::scan() {
  const OpenTree& tree = any_tree();
  ScanOptions options;
  uint64_t commit = commit_;
  if (!snapshots_.empty() && prng_.one_in(2)) {
    const OpenSnapshot& snapshot = snapshots_[prng_.below(snapshots_.size())];
    options.snapshot = &snapshot.snapshot;
    commit = snapshot.commit;
  }
  options.key_only = prng_.one_in(4);
  Rank from = 0;
  Rank to = pool_.size();
  const std::string low = prng_.one_in(4) ? std::string() : any_seek(&from);
  std::optional<std::string> high;
  if (prng_.one_in(2)) high = any_seek(&to);
  uint64_t limit = prng_.one_in(50) ? ~uint64_t{0} : prng_.between(1, 600);
  const ModelView expected = view(tree, commit);
  Rank at = from;
  bool stopped = false;
  const Status status = db_->scan(
      tree.handle, low, high,
      [&](std::span<const Entry> entries) {
        done_ += 1 + entries.size() / 64;
        for (const Entry& entry : entries) {
          const Rank rank = to > at ? expected.next(at, to) : kNoRank;
          if (rank == kNoRank || pool_[rank] != entry.key ||
              (!options.key_only && !expected.at(rank).is(entry.value))) {
            ADD_FAILURE() << "scan shows " << shown(entry.key) << ", expected "
                          << (rank == kNoRank ? "the end" : shown(pool_[rank]));
            return false;
          }
          at = rank + 1;
        }
        if (entries.size() >= limit) return !(stopped = true);
        limit -= entries.size();
        return true;
      },
      options);
  ASSERT_OK(status);
  if (::testing::Test::HasFailure() || stopped) return;
  const Rank rest = to > at ? expected.next(at, to) : kNoRank;
  ASSERT_EQ(rest, kNoRank) << "scan misses " << shown(pool_[rest]);
}

// ---- Cursors

void ModelRun::open_cursor() {
  if (cursors_.size() >= 8)
    cursors_.erase(cursors_.begin() + static_cast<ptrdiff_t>(prng_.below(8)));
  const OpenTree& tree = any_tree();
  OpenCursor made;
  made.tree = tree.id;
  made.commit = commit_;
  made.upper = pool_.size();
  CursorOptions options;
  options.key_only = made.key_only = prng_.one_in(4);
  if (prng_.one_in(3)) options.lower = any_seek(&made.lower);
  if (prng_.one_in(3)) options.upper = any_seek(&made.upper);
  if (!txns_.empty() && prng_.one_in(2)) {
    OpenTxn& txn = txns_[prng_.below(txns_.size())];
    made.txn = txn.number;
    made.commit = seen_by(txn);
    made.cursor = txn.txn.cursor(tree.handle, options);
  } else if (!snapshots_.empty() && prng_.one_in(2)) {
    // A cursor over a snapshot does not keep it: the model destroys such cursors before it.
    const OpenSnapshot& snapshot = snapshots_[prng_.below(snapshots_.size())];
    options.snapshot = &snapshot.snapshot;
    made.commit = snapshot.commit;
    made.cursor = db_->cursor(tree.handle, options);
  } else {
    made.own_snapshot = true;
    made.cursor = db_->cursor(tree.handle, options);
  }
  ASSERT_OK(made.cursor.status());
  ASSERT_FALSE(made.cursor.valid());
  cursors_.push_back(std::move(made));
}

void ModelRun::move_cursor() {
  if (cursors_.empty()) return;
  OpenCursor& c = cursors_[prng_.below(cursors_.size())];
  const OpenTree& tree = *tree_by_id(c.tree);
  OpenTxn* txn = c.txn != 0 ? txn_by_number(c.txn) : nullptr;
  const ModelView expected = view(tree, c.commit, txn);
  const uint64_t moves = prng_.one_in(20) ? prng_.between(1, 300) : prng_.between(1, 8);
  const bool forwards = prng_.one_in(2);
  const char* what = "";
  for (uint64_t i = 0; i < moves; ++i) {
    ++done_;
    Rank rank = kNoRank;
    bool found = false;
    const Rank low = std::min(c.lower, c.upper);
    const Rank high = c.upper;
    uint64_t pick = prng_.below(options_.batches ? 24 : 23);
    if (i > 0 && moves > 8) pick = 10;
    if (pick == 23) {
      ASSERT_NO_FATAL_FAILURE(take_batches(c, expected, txn));
      continue;
    }
    if (pick < 6 || pick == 22) c.behind = kNoRank;
    // Where the move begins, as far as others' writes are concerned; kNoRank: it moves nowhere.
    Rank walked_from = c.at;
    bool walked_forward = true;
    if (pick == 0) {
      what = "first";
      walked_from = low;
      rank = expected.next(low, high);
      found = c.cursor.first();
    } else if (pick == 1) {
      what = "last";
      walked_from = high;
      walked_forward = false;
      rank = expected.prev(low, high);
      found = c.cursor.last();
    } else if (pick < 4) {
      what = "seek";
      Rank target = 0;
      const std::string key = any_seek(&target);
      walked_from = std::max(low, target);
      rank = expected.next(walked_from, high);
      found = c.cursor.seek(key);
    } else if (pick < 6) {
      what = "seek_for_prev";
      Rank target = 0;
      const std::string key = any_seek(&target);
      if (target < pool_.size() && pool_[target] == key) ++target;
      const Rank before = std::max(low, std::min(target, high));
      walked_from = before > low ? before - 1 : kNoRank;
      walked_forward = false;
      rank = expected.prev(low, before);
      found = c.cursor.seek_for_prev(key);
    } else if (pick == 20 || pick == 21) {
      what = "skip";
      rank = skip(c, expected, &found, &walked_forward);
    } else if (pick == 22) {
      what = "seek_random";
      walked_from = kNoRank;
      if (txn != nullptr) txn->note_range(c.tree, low, high);
      rank = seek_random(c, expected, &found);
    } else if ((pick < 8) != forwards) {
      what = "next";
      if (c.at != kNoRank) rank = expected.next(c.at + 1, high);
      found = c.cursor.next();
    } else {
      what = "prev";
      walked_forward = false;
      if (c.at != kNoRank) rank = expected.prev(low, c.at);
      found = c.cursor.prev();
    }
    if (txn != nullptr) txn->note_walk(c.tree, low, high, walked_from, rank, walked_forward);
    c.at = rank;
    ASSERT_OK(c.cursor.status());
    ASSERT_EQ(found, c.cursor.valid());
    ASSERT_EQ(found, rank != kNoRank)
        << what << (found ? " shows " + shown(c.cursor.key()) : " misses " + shown(pool_[rank]))
        << (c.txn != 0 ? ", in a transaction" : "");
    if (!found) continue;
    ASSERT_TRUE(c.cursor.key() == pool_[rank])
        << what << " shows " << shown(c.cursor.key()) << ", expected " << shown(pool_[rank])
        << (c.txn != 0 ? ", in a transaction" : "");
    if (c.key_only) {
      ASSERT_TRUE(c.cursor.value().empty());
    } else {
      ASSERT_NO_FATAL_FAILURE(
          expect_value({}, c.cursor.value(), expected.at(rank), what + shown(pool_[rank])));
    }
  }
}

// ---- Everything else

void ModelRun::manage_snapshots() {
  if (snapshots_.size() < 6 && prng_.one_in(2)) {
    if (!prng_.one_in(8)) {
      snapshots_.push_back({db_->snapshot(), commit_});
      return;
    }
    // By a name, which mostly goes before the snapshot does: ingests attach nothing while it stays.
    for (const NamedSnapshot& old : std::vector(db_->list_snapshots().value())) {
      ASSERT_OK(db_->drop_snapshot(old.name));
    }
    ASSERT_OK(db_->create_snapshot("named"));
    snapshots_.push_back({std::move(db_->open_snapshot("named")).value(), commit_});
    if (!prng_.one_in(16)) ASSERT_OK(db_->drop_snapshot("named"));
    return;
  }
  if (snapshots_.empty() || !prng_.one_in(4)) return;
  const size_t index = prng_.below(snapshots_.size());
  const uint64_t commit = snapshots_[index].commit;
  std::erase_if(cursors_, [&](const OpenCursor& cursor) {
    return cursor.txn == 0 && !cursor.own_snapshot && cursor.commit == commit;
  });
  snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(index));
}

}  // namespace hawthorn::tests
