// Snapshots with and without names, copies of the database, and the ends of processes.
#include "fuzz/operations_run.h"
#include "testing/string_stream.h"

namespace hawthorn::fuzz {
namespace {

constexpr int kLivesMax = 4;
constexpr int kCopiesMax = 3;
constexpr int kDataKeysMax = 64;  // as Db::rotate_data_key documents it

std::vector<std::string> ids_of(Db& db) {
  const auto prepared = db.prepared();
  FUZZ_OK(prepared.status());
  std::vector<std::string> ids;
  for (const PreparedTransaction& one : *prepared) ids.push_back(one.id);
  return ids;
}

}  // namespace

void Run::snapshot() {
  const uint8_t how = in_.byte();
  if (kept_.size() < 4 && how % 3 != 0) {
    kept_.push_back({db_->snapshot(), present()});
  } else if (!kept_.empty()) {
    kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(how / 3 % kept_.size()));
  }
}

void Run::named_snapshot() {
  const uint8_t how = in_.byte();
  const std::string name = how % 2 == 0 ? "even" : "odd";
  const auto known = named_.find(name);
  if (known == named_.end()) {
    FUZZ_OK(db_->create_snapshot(name));
    named_[name] = present();
    return durable();
  }
  if (how / 2 % 3 == 0) {
    FUZZ_OK(db_->drop_snapshot(name));
    named_.erase(known);
    return;
  }
  const auto opened = db_->open_snapshot(name);
  FUZZ_OK(opened.status());
  compare(*db_, known->second, &*opened);
}

// What a copy holds when it is opened.
void Run::expect_copy(const std::string& path, const Copy& copy) {
  auto opened = Db::open_on(db_.machine(), path, Database::options(encrypted_));
  FUZZ_OK(opened.status());
  Db& db = **opened;
  compare(db, {copy.moment.state, step_});
  std::vector<std::string> ids;
  for (const auto& one : copy.moment.prepared) ids.push_back(one->id);
  std::sort(ids.begin(), ids.end());
  FUZZ_CHECK(ids_of(db) == ids);
  FUZZ_CHECK(db.list_snapshots()->size() == copy.named.size());
  for (const auto& [name, view] : copy.named) {
    const auto snapshot = db.open_snapshot(name);
    FUZZ_OK(snapshot.status());
    compare(db, view, &*snapshot);
  }
  Database::expect_whole(db);
}

void Run::copy() {
  const uint8_t how = in_.byte();
  if (++copied_ > kCopiesMax) return;
  const Encryption encryption = Database::options(encrypted_).encryption;
  const std::string path = "/copy" + std::to_string(copied_);
  const Copy made{.moment = {now_, prepared_}, .named = named_};
  if (how % 3 == 0) {
    db_.disk().set_clones_supported(how / 4 % 2 == 0);
    FUZZ_OK(db_->checkpoint(path, {.share_blocks = how / 8 % 2 == 0}));
    return expect_copy(path, made);
  }
  if (how % 3 == 1) {
    testing::StringStream text;
    FUZZ_OK(db_->backup_to(text).status());
    FUZZ_OK(verify_backup(text, {.encryption = encryption}).status());
    text.rewind();
    FUZZ_OK(restore_backup_on(db_.machine(), text, path, {.encryption = encryption}).status());
    return expect_copy(path, made);
  }
  auto repository = BackupRepository::open_on(db_.machine(), "/backups");
  FUZZ_OK(repository.status());
  const auto info = db_->backup(**repository, {.full = how / 4 % 4 == 0});
  FUZZ_OK(info.status());
  copies_.push_back({.id = info->id, .moment = made.moment, .named = named_});
  const auto list = (*repository)->list();
  FUZZ_OK(list.status());
  FUZZ_CHECK(list->size() == copies_.size());
  // Any of them, or one less.
  const size_t which = how / 16 % copies_.size();
  FUZZ_OK((*repository)->verify(copies_[which].id, {.encryption = encryption}));
  // It takes no key.
  FUZZ_OK((*repository)->restore(copies_[which].id, path));
  expect_copy(path, copies_[which]);
  if (how / 64 != 3) return;
  FUZZ_OK((*repository)->remove(copies_[which].id));
  copies_.erase(copies_.begin() + static_cast<ptrdiff_t>(which));
  for (const Copy& copy : copies_) FUZZ_OK((*repository)->verify(copy.id));
}

// Of an encrypted database the keys.
void Run::rotate() {
  const uint8_t how = in_.byte();
  if (!encrypted_) {
    FUZZ_CHECK(db_->rotate_key("two").is(StatusCode::kInvalidArgument));
    return;
  }
  if (how % 2 == 0) {
    FUZZ_OK(db_->rotate_key(how % 4 == 0 ? "two" : "three"));
    return;
  }
  const Status status = db_->rotate_data_key();
  if (data_keys_ == kDataKeysMax) {
    FUZZ_CHECK(status.is(StatusCode::kNotSupported));
    return;
  }
  FUZZ_OK(status);
  ++data_keys_;
}

void Run::close_all() {
  walks_.clear();
  txns_.clear();
  kept_.clear();
}

void Run::reopened() {
  for (int tree = 0; tree < kFixedTrees; ++tree) {
    const auto found = db_->tree(name_of(tree), options_of(tree));
    FUZZ_OK(found.status());
    trees_[static_cast<size_t>(tree)] = *found;
  }
}

// The disk stops somewhere in something that changes nothing of what is there; or in a commit,
// whose state is returned where nobody knows whether it is there.
std::optional<State> Run::in_the_middle(uint8_t how) {
  db_.disk().stop_at(testing::SimOp::kAny, 1 + in_.byte() % 64u);
  switch (how / 8 % 5) {
    case 0:
      (void)db_->flush();
      return std::nullopt;
    case 1:
      (void)db_->compact();
      return std::nullopt;
    case 2:
      (void)db_->checkpoint(copy_in_the_middle());
      return std::nullopt;
    case 3: {
      auto repository = BackupRepository::open_on(db_.machine(), "/backups in the middle");
      if (repository.ok()) (void)db_->backup(**repository);
      return std::nullopt;
    }
    default:
      break;
  }
  WriteBatch batch;
  State next = now_;
  Span all = {kCells, 0};
  for (int left = 3; left > 0; --left) add_to_batch(batch, next, &all);
  if (batch.count() == 0) return std::nullopt;
  const Status status = db_->write(batch, Durability::kFull);
  if (status.is(StatusCode::kTimedOut) || status.is_conflict()) return std::nullopt;
  if (!status.ok()) return next;
  committed(next, Durability::kFull);
  return std::nullopt;
}

void Run::end_life() {
  const uint8_t how = in_.byte();
  if (++lives_ > kLivesMax) return;
  if (how % 4 == 0) {
    close_all();
    db_.reopen();
    reopened();
    durable();
    return compare(*db_, present());
  }
  const auto kind = static_cast<testing::CrashKind>(how % 4 - 1);
  const Copy before{.moment = {now_, prepared_}, .named = named_};
  std::optional<State> pending;
  if (how / 4 % 2 == 0) pending = in_the_middle(how);
  db_.crash(how, kind);
  close_all();
  db_.open_crashed();
  reopened();
  if (kind == testing::CrashKind::kProcessKill) durable();
  if (pending.has_value()) history_.push_back({*pending, prepared_});
  const Moment found = recovered();
  now_ = found.state;
  prepared_ = found.prepared;
  for (uint32_t& lives : lives_of_) ++lives;
  durable();
  compare(*db_, present());
  const auto list = db_->list_snapshots();
  FUZZ_OK(list.status());
  FUZZ_CHECK(list->size() == named_.size());
  // A copy that was interrupted is none.
  Options options = Database::options(encrypted_);
  options.create_if_missing = false;
  if (how / 4 % 2 != 0 || how / 8 % 5 != 2) return;
  if (Db::open_on(db_.machine(), copy_in_the_middle(), options).ok()) {
    expect_copy(copy_in_the_middle(), before);
  }
}

void Run::read_all(const std::string& path, const Tree& tree, Contents* found) {
  Entries& entries = (*found)[path];
  FUZZ_OK(db_->scan(tree, "", std::nullopt, [&](std::span<const Entry> some) {
    for (const Entry& entry : some) entries.emplace_back(entry.key, entry.value);
    return true;
  }));
  if (!path.starts_with(name_of(kNest)) && !path.starts_with("sub ")) return;
  const auto hanging = db_->list_subtrees(tree);
  FUZZ_OK(hanging.status());
  for (const std::string& key : *hanging) {
    const auto sub = db_->subtree(tree, key);
    FUZZ_OK(sub.status());
    read_all(path + "/" + key, *sub, found);
  }
}

// Whether these are all trees and entries of a state.
bool Run::holds(const State& state, const Contents& found) const {
  size_t trees = 0;
  for (int tree = 0; tree < kTrees; ++tree) {
    if (!exists(state, tree)) continue;
    ++trees;
    std::string path;
    int above = tree;
    while (is_sub(above) && at(state, name_cell(above)) == 0) {
      const int place = place_of(state, above);
      path = "/" + cell_key(place) + path;
      above = tree_of(place);
    }
    const auto there = found.find(name_of(above) + path);
    if (there == found.end()) return false;
    auto entry = there->second.begin();
    const Span cells = cells_of(tree);
    for (int cell = cells.from; cell < cells.to; ++cell) {
      const uint32_t number = number_of(state, step_, cell);
      if (number == 0) continue;
      if (entry == there->second.end() || entry->first != cell_key(cell)) return false;
      if (entry->second != bytes_of(cell, number)) return false;
      ++entry;
    }
    if (entry != there->second.end()) return false;
  }
  return trees == found.size();
}

// Which of the states that may be there is.
Run::Moment Run::recovered() {
  Contents found;
  const auto names = db_->list_trees();
  FUZZ_OK(names.status());
  for (const std::string& name : *names) {
    const auto tree = db_->find_tree(name);
    FUZZ_OK(tree.status());
    read_all(name, *tree, &found);
  }
  const std::vector<std::string> ids = ids_of(*db_);
  for (const Moment& moment : history_) {
    std::vector<std::string> expected;
    for (const auto& one : moment.prepared) expected.push_back(one->id);
    std::sort(expected.begin(), expected.end());
    if (ids == expected && holds(moment.state, found)) return moment;
  }
  fail(__FILE__, __LINE__, "what is there is a prefix of the commits that keeps what was durable",
       {});
}

}  // namespace hawthorn::fuzz
