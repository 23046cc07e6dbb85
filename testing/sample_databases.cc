#include "testing/sample_databases.h"

#include <map>
#include <utility>

#include "base/checksum.h"
#include "hawthorn/follower.h"

namespace hawthorn::testing {

namespace {

class Downwards : public KeyComparator {
 public:
  std::string_view name() const override { return "downwards"; }
  int compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
};

std::string numbered(uint64_t number) {
  std::string key(8, '\0');
  for (size_t i = 8; i-- > 0; number >>= 8) key[i] = static_cast<char>(number);
  return key;
}
std::string text(uint64_t number, size_t size) {
  std::string value;
  while (value.size() < size) value += "value " + std::to_string(number % 7) + " of some, ";
  value.resize(size);
  return value;
}

#define RETURN_IF_ERROR(expression)                                \
  do {                                                             \
    if (Status failed = (expression); !failed.ok()) return failed; \
  } while (false)

Status fill(Db& db, const Tree& tree, uint64_t from, uint64_t to, size_t size) {
  for (uint64_t i = from; i < to; ++i) {
    RETURN_IF_ERROR(db.put(tree, numbered(i * 3), text(i, size == 0 ? i * 37 % 300 : size)));
  }
  return {};
}

// Feeds and trees that hold trees do not go together.
Status write_values(Db& db, bool again, bool feed) {
  const Tree tree = db.tree("t").value();
  RETURN_IF_ERROR(fill(db, tree, again ? 10 : 0, 40, 0));
  const Tree packed = db.tree("packed").value();
  RETURN_IF_ERROR(db.set_compression(packed, Compression::kZstd));
  RETURN_IF_ERROR(fill(db, packed, again ? 5 : 0, 20, 3000));
  const Tree small = db.tree("small").value();
  RETURN_IF_ERROR(db.set_compression(small, Compression::kLz4));
  RETURN_IF_ERROR(fill(db, small, 0, 120, 8));
  if (!again) {
    RETURN_IF_ERROR(db.put(tree, "large", text(1, 150'000)));
    RETURN_IF_ERROR(db.append(tree, "large", text(2, 70'000)).status());
    RETURN_IF_ERROR(db.create_snapshot("named"));
    return feed ? db.create_feed("feed") : Status();
  }
  // Containers that the log attaches.
  const Tree ingested = db.tree("ingested").value();
  Result<Ingest> ingest = db.ingest(ingested);
  if (!ingest.ok()) return ingest.status();
  for (uint64_t i = 0; i < 5; ++i) {
    RETURN_IF_ERROR(ingest->add(numbered(i), text(i, i == 3 ? 90'000 : 12'000)));
  }
  RETURN_IF_ERROR(ingest->finish());
  RETURN_IF_ERROR(db.write_part(tree, "large", 100'000, "changed"));
  RETURN_IF_ERROR(db.delete_range(tree, numbered(30), numbered(60)));
  return db.put(tree, "large too", text(3, 80'000));
}

Status write_trees(Db& db, bool again) {
  const uint64_t from = again ? 8 : 0;
  const Tree source = db.tree("source").value();
  RETURN_IF_ERROR(fill(db, source, from, 20, 50));
  if (!again) RETURN_IF_ERROR(db.clone_tree("source", "clone").status());
  RETURN_IF_ERROR(db.put(db.find_tree("clone").value(), numbered(5), "of the clone"));
  const Tree reverse = db.tree("reverse", {.order = "reverse"}).value();
  RETURN_IF_ERROR(fill(db, reverse, from, 20, 20));
  const Tree compared = db.tree("compared", {.order = "downwards"}).value();
  RETURN_IF_ERROR(fill(db, compared, from, 20, 20));
  const Tree several = db.tree("several", {.multi_value = true}).value();
  for (uint64_t i = from; i < 20; ++i) {
    RETURN_IF_ERROR(db.put(several, numbered(i / 4), text(i, 10 + i)));
  }
  const Tree ends = db.tree("ends", {.expires = true}).value();
  RETURN_IF_ERROR(db.put(ends, "never", "value"));
  RETURN_IF_ERROR(db.put(ends, "late", "value", Expiry::at_ms(uint64_t{1} << 42)));
  const Tree counters = db.tree("counters").value();
  if (!again) RETURN_IF_ERROR(db.set_merge_operator(counters, "uint64_add"));
  for (uint64_t i = 0; i < 10; ++i) {
    RETURN_IF_ERROR(db.merge(counters, numbered(i), std::string("\1\0\0\0\0\0\0\0", 8)));
  }
  const Tree roots = db.tree("roots", {.subtrees = true}).value();
  const std::string key = again ? "second" : "first";
  const Tree child = db.create_subtree(roots, key, {.subtrees = true}).value();
  RETURN_IF_ERROR(db.put(child, "k", "in a subtree"));
  return db.put(db.create_subtree(child, "deep").value(), "k", "deeper");
}

// Transactions in the log: one in chunks, and one that stays prepared.
Status write_transactions(Db& db) {
  const Tree tree = db.tree("t").value();
  Transaction chunked = db.begin({}).value();
  for (uint64_t i = 0; i < 40; ++i) {
    RETURN_IF_ERROR(chunked.put(tree, "chunked" + numbered(i), text(i, 2000)));
  }
  const Savepoint savepoint = chunked.savepoint().value();
  RETURN_IF_ERROR(chunked.put(tree, "rolled back", text(1, 9'000)));
  RETURN_IF_ERROR(chunked.rollback_to(savepoint));
  RETURN_IF_ERROR(chunked.commit(Durability::kNone));
  Transaction prepared = db.begin({}).value();
  RETURN_IF_ERROR(prepared.put(tree, "prepared", "value"));
  RETURN_IF_ERROR(prepared.del(tree, numbered(3)));
  return prepared.prepare("prepared");
}

}  // namespace

Encryption sample_encryption() {
  const auto key = [](std::string_view id) {
    std::string bytes(id.substr(0, SecretKey::kBytes));
    bytes.resize(SecretKey::kBytes, '#');
    return SecretKey::from_bytes(bytes);
  };
  return {.key = key, .key_id = "one"};
}

Options sample_options(const Encryption& encryption) {
  Options options;
  options.encryption = encryption;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.lock_timeout_ms = 0;
  options.merge_operators = {uint64_add()};
  options.key_comparators = {std::make_shared<Downwards>()};
  return options;
}

Status make_sample(const os::Machine& machine, const std::string& directory, Sample sample,
                   std::unique_ptr<Db>* open, const Encryption& encryption) {
  Result<std::unique_ptr<Db>> opened = Db::open_on(machine, directory, sample_options(encryption));
  if (!opened.ok()) return opened.status();
  *open = *std::move(opened);
  Db& db = **open;
  if (sample == Sample::kPlain) {
    const Tree tree = db.tree("t").value();
    RETURN_IF_ERROR(fill(db, tree, 0, 8, 30));
    RETURN_IF_ERROR(db.flush());
    return fill(db, tree, 4, 12, 40);
  }
  const bool values = sample != Sample::kTrees;
  const bool trees = sample != Sample::kValues;
  for (const bool again : {false, true}) {
    if (values) RETURN_IF_ERROR(write_values(db, again, !trees));
    if (trees) RETURN_IF_ERROR(write_trees(db, again));
    if (!again) RETURN_IF_ERROR(db.flush());
  }
  if (sample == Sample::kValues) return write_transactions(db);
  if (sample == Sample::kTrees) return {};
  RETURN_IF_ERROR(db.close());
  open->reset();
  return {};
}

// ---- What is done with one

namespace {

constexpr size_t kTreesMax = 64;
constexpr size_t kEntriesMax = 20'000;
constexpr int kCommitsMax = 200;

using Sums = std::map<std::string, std::string>;  // of a tree's entries: how many, and a checksum

class Exercise {
 public:
  Exercise(const os::Machine& machine, const std::string& directory, const Encryption& encryption)
      : machine_(machine), directory_(directory), encryption_(encryption) {}

  Exercised run(bool follow);

 private:
  // Counts errors, and looks at what they say.
  bool ok(const Status& status) {
    if (status.ok()) return true;
    ++done_.refusals;
    if (status.message().empty()) violated("an error that says nothing: " + status.to_string());
    return false;
  }
  void violated(std::string what) {
    if (done_.violated.empty()) done_.violated = std::move(what);
  }
  Result<std::unique_ptr<Db>> open(bool read_only) {
    Options options = sample_options(encryption_);
    options.read_only = read_only;
    return Db::open_on(machine_, directory_, options);
  }

  std::vector<std::pair<std::string, Tree>> trees(Db& db, const Snapshot* snapshot);
  void add_subtrees(Db& db, const std::string& path, const Tree& tree, const Snapshot* snapshot,
                    std::vector<std::pair<std::string, Tree>>* found);
  std::string sum(Db& db, const Tree& tree, const Snapshot* snapshot);
  void read_points(Db& db, const Tree& tree, const Snapshot* snapshot);
  Sums read(Db& db);
  void check(Db& db);
  void read_feed(Db& db);
  void write(Db& db);
  void write_to(Db& db, const Tree& tree);
  void reopen_unchanged(std::unique_ptr<Db> db);

  const os::Machine& machine_;
  const std::string directory_;
  const Encryption& encryption_;
  Exercised done_;
};

void Exercise::add_subtrees(Db& db, const std::string& path, const Tree& tree,
                            const Snapshot* snapshot,
                            std::vector<std::pair<std::string, Tree>>* found) {
  if (found->size() >= kTreesMax) return;
  found->emplace_back(path, tree);
  const auto options = db.tree_options(tree);
  if (!options.ok() || !options->subtrees) return;
  const auto keys = db.list_subtrees(tree, {.snapshot = snapshot});
  if (!ok(keys.status())) return;
  for (const std::string& key : *keys) {
    const Result<Tree> child = db.subtree(tree, key, {.snapshot = snapshot});
    if (ok(child.status())) add_subtrees(db, path + "/" + key, *child, snapshot, found);
  }
}

std::vector<std::pair<std::string, Tree>> Exercise::trees(Db& db, const Snapshot* snapshot) {
  std::vector<std::pair<std::string, Tree>> found;
  const auto names = db.list_trees({.snapshot = snapshot});
  if (!ok(names.status())) return found;
  for (const std::string& name : *names) {
    const Result<Tree> tree = db.find_tree(name, {.snapshot = snapshot});
    if (ok(tree.status())) add_subtrees(db, name, *tree, snapshot, &found);
  }
  return found;
}

std::string Exercise::sum(Db& db, const Tree& tree, const Snapshot* snapshot) {
  size_t count = 0;
  uint64_t sum = 0;
  const Status scanned = db.scan(
      tree, "", std::nullopt,
      [&](std::span<const Entry> entries) {
        for (const Entry& entry : entries) {
          sum = checksum64(entry.key.data(), entry.key.size(), sum + entry.key.size());
          sum = checksum64(entry.value.data(), entry.value.size(), sum + entry.value.size());
          ++count;
        }
        return count < kEntriesMax;
      },
      {.snapshot = snapshot});
  ok(scanned);
  return std::to_string(count) + " " + std::to_string(sum);
}

void Exercise::read_points(Db& db, const Tree& tree, const Snapshot* snapshot) {
  std::vector<std::string> keys;
  {
    Cursor cursor = db.cursor(tree, {.snapshot = snapshot});
    for (bool more = cursor.last(); more && keys.size() < 12; more = cursor.prev()) {
      keys.emplace_back(cursor.key());
    }
    ok(cursor.status());
    if (!keys.empty()) cursor.seek(keys[keys.size() / 2]);
    ok(cursor.status());
  }
  keys.emplace_back("missing");
  std::vector<std::string_view> views(keys.begin(), keys.end());
  for (const std::string& key : keys) {
    Value value;
    const Status status = db.get(tree, key, value, {.snapshot = snapshot});
    if (!status.is_not_found()) ok(status);
  }
  ReadBatch batch;
  ok(db.multi_get(tree, views, batch, {.snapshot = snapshot}));
  ok(db.count(tree, "", std::nullopt, {.snapshot = snapshot}).status());
  ok(db.estimate(tree, "", std::nullopt).status());
  std::string buffer(100'000, '\0');
  const auto part = db.read_part(tree, "large", 90'000, buffer, {.snapshot = snapshot});
  if (!part.status().is_not_found()) ok(part.status());
}

Sums Exercise::read(Db& db) {
  Sums sums;
  for (const auto& [name, tree] : trees(db, nullptr)) {
    sums[name] = sum(db, tree, nullptr);
    read_points(db, tree, nullptr);
  }
  const auto snapshots = db.list_snapshots();
  if (ok(snapshots.status())) {
    for (const NamedSnapshot& named : *snapshots) {
      const Result<Snapshot> snapshot = db.open_snapshot(named.name);
      if (!ok(snapshot.status())) continue;
      for (const auto& [name, tree] : trees(db, &*snapshot)) {
        sums["named " + named.name + " " + name] = sum(db, tree, &*snapshot);
      }
    }
  }
  ok(db.prepared().status());
  ok(db.list_feeds().status());
  (void)db.stats();
  return sums;
}

void Exercise::check(Db& db) {
  const Result<CheckReport> report = db.check();
  if (!ok(report.status())) return;
  done_.reports += report->errors.size();
  for (const std::string& error : report->errors) {
    if (error.empty()) violated("the checker finds something that it does not name");
  }
}

void Exercise::read_feed(Db& db) {
  Result<Feed> feed = db.open_feed("feed");
  if (!feed.ok()) return;
  for (int commits = 0; commits < kCommitsMax; ++commits) {
    const Result<FeedCommit*> commit = feed->next();
    if (!ok(commit.status()) || *commit == nullptr) return;
    for (size_t changes = 0; changes < kEntriesMax; ++changes) {
      FeedChange change;
      const Result<bool> more = (*commit)->next(&change);
      if (!ok(more.status()) || !*more) break;
    }
    if (commits == 2) ok(feed->acknowledge((*commit)->cts()));
  }
}

void Exercise::write_to(Db& db, const Tree& tree) {
  ok(db.put(tree, "new", "value"));
  ok(db.del(tree, numbered(9)));
  ok(db.put(tree, numbered(12), std::string(70'000, 'l')));
  Transaction transaction = db.begin({.isolation = Isolation::kSerializable}).value();
  Value value;
  const Status got = transaction.get(tree, numbered(15), value);
  if (!got.is_not_found()) ok(got);
  ok(transaction.put(tree, numbered(15), "changed"));
  ok(transaction.commit());
  ok(db.delete_range(tree, numbered(20), numbered(40)));
}

void Exercise::write(Db& db) {
  for (const auto& [name, tree] : trees(db, nullptr)) {
    write_to(db, tree);
    if (name == "t") {
      const Result<uint64_t> size = db.append(tree, "large", "more");
      if (!size.status().is_not_found()) ok(size.status());
    }
  }
  const auto prepared = db.prepared();
  if (prepared.ok()) {
    bool commit = true;
    for (const PreparedTransaction& one : *prepared) {
      ok(commit ? db.commit_prepared(one.id) : db.rollback_prepared(one.id));
      commit = !commit;
    }
  }
  ok(db.tree("another").status());
  ok(db.clone_tree("t", "another clone").status());
  ok(db.drop_tree("source"));
  ok(db.rename_tree("reverse", "renamed"));
  read_feed(db);
  ok(db.flush());
  ok(db.compact());
  ok(db.drop_snapshot("named"));
  ok(db.drain());
}

// Where nothing was wrong with it.
void Exercise::reopen_unchanged(std::unique_ptr<Db> db) {
  const size_t refused = done_.refusals;
  const Sums before = read(*db);
  if (done_.refusals != refused || done_.reports != 0) return;
  if (!ok(db->flush()) || !ok(db->close())) return;
  db.reset();
  Result<std::unique_ptr<Db>> again = open(false);
  if (!ok(again.status())) {
    violated("a database without errors does not open again: " + again.status().to_string());
    return;
  }
  const Sums after = read(**again);
  if (done_.refusals != refused) violated("errors after a reopening that were not there before");
  if (after != before) violated("other contents after a reopening");
}

Exercised Exercise::run(bool follow) {
  {
    Result<std::unique_ptr<Db>> db = open(true);
    done_.read = db.status();
    if (ok(db.status())) {
      check(**db);
      read(**db);
      if ((*db)->put(Tree(), "", "").ok()) violated("a write to a database that is read");
    }
  }
  if (follow) {
    const Options options = sample_options();
    FollowerOptions following;
    following.memory_budget_bytes = options.memory_budget_bytes;
    following.merge_operators = options.merge_operators;
    following.key_comparators = options.key_comparators;
    following.encryption = encryption_;
    auto follower = Follower::open_on(machine_, directory_, following);
    done_.followed = follower.status();
    if (ok(follower.status())) {
      read(*(*follower)->view());
      ok((*follower)->refresh());
      read(*(*follower)->view());
    }
  }
  Result<std::unique_ptr<Db>> db = open(false);
  done_.written = db.status();
  if (!ok(db.status())) return done_;
  done_.reports = 0;
  check(**db);
  reopen_unchanged(*std::move(db));
  db = open(false);
  if (!ok(db.status())) return done_;
  write(**db);
  check(**db);
  read(**db);
  db->reset();  // as killed
  db = open(false);
  if (!ok(db.status())) return done_;
  read(**db);
  ok((*db)->close());
  return done_;
}

}  // namespace

Exercised exercise(const os::Machine& machine, const std::string& directory, bool follow,
                   const Encryption& encryption) {
  return Exercise(machine, directory, encryption).run(follow);
}

}  // namespace hawthorn::testing
