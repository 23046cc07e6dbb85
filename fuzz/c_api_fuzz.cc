// The C API against a map: calls with right and wrong arguments (NULLs, sizes that cannot be,
// trees of another database, transactions that have ended, structures of other versions, callbacks
// that fail). Every call says which code it must come to; what was wrong changes nothing.
//
// One thread, one ordinary tree and one with a merge operator, on a simulated disk.

#include <map>
#include <set>

#include "c/c_test_handles.h"
#include "c/columns.h"
#include "c/handles.h"
#include "c/options.h"
#include "fuzz/database.h"
#include "hawthorn/c.h"

namespace hawthorn::fuzz {
namespace {

using Map = std::map<std::string, std::string>;
using c::BatchHandle;
using c::cell;
using c::CursorHandle;
using c::DbHandle;
using c::ErrorHandle;
using c::OptionsHandle;
using c::ReadBatchHandle;
using c::SnapshotHandle;
using c::TreeHandle;
using c::TxnHandle;
using c::ValueHandle;

constexpr int kCallsMax = 200;
constexpr size_t kKeyBytesMax = 100'000;  // of a buffer, for keys that are too large

// A structure of a later version: its new fields are zeros, or not.
template <typename T>
struct Later {
  T now;
  uint8_t more[24];
};

// Bytes as a caller may give them.
struct Arg {
  const void* data = nullptr;
  size_t size = 0;
  bool fine = true;      // to be written
  bool readable = true;  // to be read by: one that is too large is not found
  std::string bytes;     // what is meant
};

int fold(void* /*context*/, const void* key, size_t key_size, const void* existing,
         size_t existing_size, const hawthorn_bytes* operands, size_t count,
         hawthorn_buffer* result) {
  if (key_size != 0 && *static_cast<const uint8_t*>(key) == 0xff) return 0;  // it refuses
  int fine = hawthorn_buffer_append(result, existing, existing == nullptr ? 0 : existing_size);
  for (size_t i = 0; i < count; ++i) {
    fine &= hawthorn_buffer_append(result, operands[i].data, operands[i].size);
  }
  return fine;
}

class CalledRun {
 public:
  explicit CalledRun(Bytes in) : in_(in), large_(kKeyBytesMax, 'k') {
    shrink_sizes();
    hawthorn_merge_operator append = HAWTHORN_MERGE_OPERATOR_INIT;
    append.name = "append";
    append.merge = fold;
    const OptionsHandle options(hawthorn_options_create());
    expect(HAWTHORN_OK, hawthorn_options_add_merge_operator(options.get(), &append, &e_));
    expect(HAWTHORN_OK, hawthorn_options_add_commit_hook(options.get(), &CalledRun::ask, nullptr,
                                                         this, nullptr, &e_));
    options->options.memory_budget_bytes = size_t{16} << 20;
    options->options.durability = Durability::kNone;
    options->options.lock_timeout_ms = 0;
    db_ = open(machine_, options->options);
    other_ = open(other_machine_, Database::options(false));
    tree_ = tree(db_.get(), "t");
    sums_ = tree(db_.get(), "sums");
    other_tree_ = tree(other_.get(), "t");
    expect(HAWTHORN_OK,
           hawthorn_db_set_merge_operator(db_.get(), sums_.get(), "append", HAWTHORN_STRING, &e_));
    value_.reset(hawthorn_value_create());
    batch_.reset(hawthorn_batch_create());
    answers_.reset(hawthorn_read_batch_create());
  }

  void run() {
    for (int i = 0; i < kCallsMax && !in_.empty(); ++i) step();
    refuses_ = false;
    compare(false);
    if (txn_ != nullptr) {
      compare(true);
      end_txn(true);
      compare(false);
    }
    // Who is left is told, and nothing else keeps it from closing.
    cursor_.reset();
    ended_.reset();
    value_.reset();
    answers_.reset();
    expect(HAWTHORN_OK, hawthorn_db_close(db_.get(), &e_));
    expect(HAWTHORN_CLOSED, hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, nullptr, &e_));
    expect(HAWTHORN_OK, hawthorn_db_close(other_.get(), &e_));
  }

 private:
  static DbHandle open(testing::SimMachine& machine, const Options& options) {
    Result<std::unique_ptr<Db>> db = Db::open_on(machine.machine(), "/db", options);
    FUZZ_OK(db.status());
    return DbHandle(new hawthorn_db{std::shared_ptr<Db>(*std::move(db)), false});
  }
  TreeHandle tree(hawthorn_db* db, const char* name) {
    hawthorn_tree* made = nullptr;
    expect(HAWTHORN_OK, hawthorn_db_tree(db, name, HAWTHORN_STRING, nullptr, &made, &e_));
    return TreeHandle(made);
  }
  static hawthorn_error* ask(void* context, uint64_t /*operations*/,
                             hawthorn_durability /*level*/) {
    if (!static_cast<CalledRun*>(context)->refuses_) return nullptr;
    return hawthorn_error_create(HAWTHORN_CONFLICT, "no", 2);
  }

  // A code, and the error object that belongs to it.
  void expect(hawthorn_code wanted, hawthorn_code code) {
    const ErrorHandle freed(std::exchange(e_, nullptr));
    if (code != wanted) {
      fail(__FILE__, __LINE__, hawthorn_code_name(wanted), hawthorn_error_message(freed.get(), {}));
    }
    FUZZ_CHECK(hawthorn_error_code(freed.get()) == code);
    size_t size = 0;
    const char* const words = hawthorn_error_message(freed.get(), &size);
    FUZZ_CHECK(words != nullptr && std::strlen(words) <= size);
    FUZZ_CHECK(code == HAWTHORN_OK ? freed == nullptr : freed != nullptr);
  }
  static hawthorn_code code_of(bool fine, hawthorn_code otherwise = HAWTHORN_OK) {
    return fine ? otherwise : HAWTHORN_INVALID_ARGUMENT;
  }

  Arg bytes(bool is_key) {
    const uint8_t how = in_.byte();
    Arg arg;
    switch (how % 16) {
      case 0:  // empty
        arg.data = how % 32 == 0 ? nullptr : "";
        return arg;
      case 1:
        arg.size = 1 + how;
        arg.fine = arg.readable = false;
        return arg;
      case 2:
        arg.data = "k";
        arg.size = size_t{PTRDIFF_MAX} + 1 + how;
        arg.fine = arg.readable = false;
        return arg;
      case 3:
        arg.data = how % 32 == 3 ? nullptr : "a string";
        arg.size = HAWTHORN_STRING;
        arg.bytes = arg.data == nullptr ? "" : "a string";
        return arg;
      case 4:
        arg.data = large_.data();
        arg.size = large_.size() - how;
        arg.bytes = large_.substr(how);
        arg.fine = !is_key;
        return arg;
      default:
        break;
    }
    const std::string& from = pool()[in_.byte() % 32 * 8];
    arg.data = from.data();
    arg.size = from.size();
    arg.bytes = from;
    return arg;
  }

  // A key in a tree, mostly the right one.
  struct Place {
    const hawthorn_tree* tree = nullptr;
    bool tree_fine = false;  // it is one of the database
    bool sums = false;       // the one with an operator
    Arg key;
  };
  Place any_place() {
    const uint8_t byte = in_.byte();
    Place place;
    place.sums = byte % 4 == 0;
    place.tree_fine = byte < 240;
    place.tree = byte >= 248 ? nullptr : byte >= 240 ? other_tree_.get() : tree_of(place.sums);
    place.key = bytes(true);
    return place;
  }
  const hawthorn_tree* tree_of(bool sums) const { return sums ? sums_.get() : tree_.get(); }
  hawthorn_db* any_db(bool* fine) {
    *fine = in_.byte() < 250;
    return *fine ? db_.get() : nullptr;
  }

  // Of this version, of a later one with or without news, or with a wrong size; or none at all.
  template <typename T>
  const T* given(Later<T>* room, T now, hawthorn_code* code) {
    *room = {};
    room->now = now;
    *code = HAWTHORN_OK;
    switch (in_.byte() % 16) {
      case 0:
        room->now.struct_size = sizeof(*room);
        return &room->now;
      case 1:
        room->now.struct_size = sizeof(*room);
        room->more[8] = 1;
        *code = HAWTHORN_NOT_SUPPORTED;
        return &room->now;
      case 2:
        room->now.struct_size = in_.byte() % sizeof(T);
        *code = HAWTHORN_INVALID_ARGUMENT;
        return &room->now;
      default:
        return &room->now;
    }
  }

  Map& state(bool sums) { return txn_ != nullptr ? own_[sums] : now_[sums]; }

  void step() {
    using Step = void (CalledRun::*)();
    static constexpr Step kSteps[16] = {&CalledRun::put,         &CalledRun::put,
                                        &CalledRun::put,         &CalledRun::del,
                                        &CalledRun::merge,       &CalledRun::get,
                                        &CalledRun::get,         &CalledRun::scan,
                                        &CalledRun::write_batch, &CalledRun::begin_txn,
                                        &CalledRun::end_some,    &CalledRun::walk,
                                        &CalledRun::multi_get,   &CalledRun::compare_and_set,
                                        &CalledRun::stream,      &CalledRun::others};
    (this->*kSteps[in_.byte() % 16])();
  }

  // ---- Writes: in the transaction that is open, or by themselves

  void put() {
    bool db_fine = true;
    hawthorn_db* const db = any_db(&db_fine);
    const auto [tree, tree_fine, sums, key] = any_place();
    const Arg value = bytes(false);
    Later<hawthorn_write_options> room;
    hawthorn_code options_code = HAWTHORN_OK;
    const hawthorn_write_options* const options =
        given<hawthorn_write_options>(&room, HAWTHORN_WRITE_OPTIONS_INIT, &options_code);
    const bool in_txn = txn_ != nullptr;
    const bool refused = !in_txn && refuses_;
    const bool fine = (in_txn || db_fine) && tree_fine && key.fine && value.fine;
    const hawthorn_code code = in_txn ? hawthorn_txn_put(txn_.get(), tree, key.data, key.size,
                                                         value.data, value.size, options, &e_)
                                      : hawthorn_db_put(db, tree, key.data, key.size, value.data,
                                                        value.size, options, &e_);
    if (options_code != HAWTHORN_OK) {
      FUZZ_CHECK(code == options_code || (!fine && code == HAWTHORN_INVALID_ARGUMENT));
      return expect(code, code);
    }
    expect(code_of(fine, refused ? HAWTHORN_CONFLICT : HAWTHORN_OK), code);
    if (code != HAWTHORN_OK) return;
    state(sums)[key.bytes] = value.bytes;
    refused_merges(sums, key.bytes, false);
  }

  void del() {
    const auto [tree, tree_fine, sums, key] = any_place();
    const bool refused = txn_ == nullptr && refuses_;
    const hawthorn_code code =
        txn_ != nullptr ? hawthorn_txn_del(txn_.get(), tree, key.data, key.size, &e_)
                        : hawthorn_db_del(db_.get(), tree, key.data, key.size, nullptr, &e_);
    expect(code_of(tree_fine && key.fine, refused ? HAWTHORN_CONFLICT : HAWTHORN_OK), code);
    if (code != HAWTHORN_OK) return;
    state(sums).erase(key.bytes);
    refused_merges(sums, key.bytes, false);
  }

  // What the operator refuses to fold is there, and cannot be read.
  void refused_merges(bool sums, const std::string& key, bool merged) {
    if (!sums || !key.starts_with('\xff')) return;
    auto& keys = txn_ != nullptr ? own_unreadable_ : unreadable_;
    if (merged) {
      keys.insert(key);
    } else {
      keys.erase(key);
    }
  }
  bool unreadable(bool sums, const std::string& key) {
    return sums && (txn_ != nullptr ? own_unreadable_ : unreadable_).contains(key);
  }

  void merge() {
    const auto [tree, tree_fine, sums, key] = any_place();
    Arg operand = bytes(false);
    if (operand.bytes.size() > 1000) operand = {};  // an operand has a limit of its own
    const bool refused = txn_ == nullptr && refuses_;
    const hawthorn_code code = txn_ != nullptr
                                   ? hawthorn_txn_merge(txn_.get(), tree, key.data, key.size,
                                                        operand.data, operand.size, &e_)
                                   : hawthorn_db_merge(db_.get(), tree, key.data, key.size,
                                                       operand.data, operand.size, nullptr, &e_);
    // A tree without an operator.
    const bool fine = tree_fine && sums && key.fine && operand.fine;
    expect(code_of(fine, refused ? HAWTHORN_CONFLICT : HAWTHORN_OK), code);
    if (code != HAWTHORN_OK) return;
    state(sums)[key.bytes] += operand.bytes;
    refused_merges(sums, key.bytes, true);
  }

  void write_batch() {
    const auto [tree, tree_fine, sums, key] = any_place();
    const Arg value = bytes(false);
    if (txn_ != nullptr) return;
    expect(HAWTHORN_OK, hawthorn_batch_clear(batch_.get(), &e_));
    expect(HAWTHORN_OK, hawthorn_batch_put(batch_.get(), tree_.get(), "batch", HAWTHORN_STRING, "1",
                                           1, nullptr, &e_));
    const hawthorn_code added = hawthorn_batch_put(batch_.get(), tree, key.data, key.size,
                                                   value.data, value.size, nullptr, &e_);
    if (added != HAWTHORN_OK) {
      FUZZ_CHECK(!tree_fine || !key.fine || !value.fine);
      expect(HAWTHORN_INVALID_ARGUMENT, added);
    } else {
      FUZZ_CHECK(tree_fine && value.fine);
    }
    const bool whole = added != HAWTHORN_OK || key.fine;  // else the write tells
    const hawthorn_code code = hawthorn_db_write(db_.get(), batch_.get(), nullptr, &e_);
    expect(code_of(whole, refuses_ ? HAWTHORN_CONFLICT : HAWTHORN_OK), code);
    if (code != HAWTHORN_OK) return;
    now_[0]["batch"] = "1";
    if (added != HAWTHORN_OK) return;
    now_[sums][key.bytes] = value.bytes;
    refused_merges(sums, key.bytes, false);
  }

  void compare_and_set() {
    const Arg key = bytes(true);
    const Arg value = bytes(false);
    if (txn_ != nullptr || refuses_) return;
    int done = -1;
    const bool there = now_[0].contains(key.bytes);
    const bool inserts = in_.byte() % 2 == 0;
    const hawthorn_code code =
        inserts ? hawthorn_db_insert(db_.get(), tree_.get(), key.data, key.size, value.data,
                                     value.size, nullptr, &done, &e_)
                : hawthorn_db_update(db_.get(), tree_.get(), key.data, key.size, value.data,
                                     value.size, nullptr, &done, &e_);
    expect(code_of(key.fine && value.fine), code);
    if (code != HAWTHORN_OK) return;
    FUZZ_CHECK(done == (there != inserts ? 1 : 0));
    if (done == 1) now_[0][key.bytes] = value.bytes;
  }

  // A value from a source that gives it in pieces, fails, or gives more than there is room for.
  struct Source {
    std::string bytes;
    size_t at = 0;
    int fails = 0;
  };
  static int64_t next(void* context, void* buffer, size_t capacity, hawthorn_error** error) {
    auto* const source = static_cast<Source*>(context);
    if (source->fails == 1) return -1;
    if (source->fails == 2) return static_cast<int64_t>(capacity) + 1;
    if (source->fails == 3) {
      *error = hawthorn_error_create(HAWTHORN_BUSY, "later", 5);
      return 0;
    }
    const size_t size = std::min({capacity, source->bytes.size() - source->at, size_t{100}});
    std::memcpy(buffer, source->bytes.data() + source->at, size);
    source->at += size;
    return static_cast<int64_t>(size);
  }
  void stream() {
    const Arg key = bytes(true);
    Source source;
    const uint8_t how = in_.byte();
    source.fails = how % 8 < 4 ? how % 4 : 0;
    source.bytes = value_of(how, 1 + how * 4u);
    if (txn_ == nullptr) return;
    const hawthorn_code code =
        hawthorn_txn_put_stream(txn_.get(), tree_.get(), key.data, key.size, source.bytes.size(),
                                &CalledRun::next, &source, &e_);
    constexpr hawthorn_code kCodes[] = {HAWTHORN_OK, HAWTHORN_INTERNAL, HAWTHORN_INVALID_ARGUMENT,
                                        HAWTHORN_BUSY};
    expect(code_of(key.fine, kCodes[source.fails]), code);
    if (code == HAWTHORN_OK) own_[0][key.bytes] = source.bytes;
  }

  // ---- Reads

  void get() {
    bool db_fine = true;
    hawthorn_db* const db = any_db(&db_fine);
    const auto [tree, tree_fine, sums, key] = any_place();
    const uint8_t how = in_.byte();
    const bool in_txn = txn_ != nullptr;
    const bool fine = (in_txn || db_fine) && tree_fine && key.readable;
    const Map& all = state(sums);
    const auto found = all.find(key.bytes);
    hawthorn_code wanted = found != all.end() ? HAWTHORN_OK : HAWTHORN_NOT_FOUND;
    if (unreadable(sums, key.bytes)) wanted = HAWTHORN_CORRUPTION;
    if (how % 2 == 0) {
      hawthorn_value* const value = how % 16 == 0 ? nullptr : value_.get();
      const hawthorn_code code =
          in_txn ? hawthorn_txn_get(txn_.get(), tree, key.data, key.size, value, &e_)
                 : hawthorn_db_get(db, tree, key.data, key.size, nullptr, value, &e_);
      expect(code_of(fine && value != nullptr, wanted), code);
      size_t size = 0;
      const void* const data = hawthorn_value_data(value, &size);
      if (code == HAWTHORN_OK) {
        FUZZ_CHECK(std::string_view(static_cast<const char*>(data), size) == found->second);
      }
      return;
    }
    std::string buffer(how * 2u, '\0');
    size_t size = 0;
    const hawthorn_code code = in_txn
                                   ? hawthorn_txn_get_into(txn_.get(), tree, key.data, key.size,
                                                           buffer.data(), buffer.size(), &size, &e_)
                                   : hawthorn_db_get_into(db, tree, key.data, key.size, nullptr,
                                                          buffer.data(), buffer.size(), &size, &e_);
    if (fine && wanted == HAWTHORN_OK && found->second.size() > buffer.size()) {
      wanted = HAWTHORN_BUFFER_TOO_SMALL;
    }
    expect(code_of(fine, wanted), code);
    if (code == HAWTHORN_OK || code == HAWTHORN_BUFFER_TOO_SMALL) {
      FUZZ_CHECK(size == found->second.size());
    }
    if (code == HAWTHORN_OK) FUZZ_CHECK(buffer.substr(0, size) == found->second);
  }

  void multi_get() {
    hawthorn_bytes keys[4];
    Arg args[4];
    bool fine = true;
    for (int i = 0; i < 4; ++i) {
      args[i] = bytes(true);
      keys[i] = {args[i].data, args[i].size};
      fine = fine && args[i].readable;
    }
    const uint8_t how = in_.byte();
    const hawthorn_code code = hawthorn_db_multi_get(
        db_.get(), tree_.get(), how % 16 == 0 ? nullptr : keys, 4, nullptr, answers_.get(), &e_);
    expect(code_of(fine && how % 16 != 0), code);
    if (code != HAWTHORN_OK) return;
    FUZZ_CHECK(hawthorn_read_batch_count(answers_.get()) == 4);
    for (size_t i = 0; i < 5; ++i) {
      size_t size = 0;
      const auto* const data =
          static_cast<const char*>(hawthorn_read_batch_value(answers_.get(), i, &size));
      const auto found = i < 4 ? now_[0].find(args[i].bytes) : now_[0].end();
      FUZZ_CHECK((data != nullptr) == (found != now_[0].end()));
      if (data != nullptr) FUZZ_CHECK(std::string_view(data, size) == found->second);
    }
  }

  struct Seen {
    Map entries;
    size_t ends_after = ~size_t{0};
  };
  static int show(void* context, const hawthorn_entry* entries, size_t count) {
    auto* const seen = static_cast<Seen*>(context);
    for (size_t i = 0; i < count; ++i) {
      seen->entries.emplace(
          std::string(static_cast<const char*>(entries[i].key), entries[i].key_size),
          std::string(static_cast<const char*>(entries[i].value), entries[i].value_size));
    }
    return seen->entries.size() < seen->ends_after ? 1 : 0;
  }
  void scan() {
    const Arg low = bytes(true);
    const Arg high = bytes(true);
    Seen seen;
    if (in_.byte() % 4 == 0) seen.ends_after = 1;
    const bool called = in_.byte() % 16 != 0;
    const hawthorn_code code =
        hawthorn_db_scan(db_.get(), tree_.get(), low.data, low.size, high.data, high.size, nullptr,
                         0, called ? &CalledRun::show : nullptr, &seen, &e_);
    expect(code_of(low.readable && high.readable && called), code);
    if (code != HAWTHORN_OK) return;
    auto at = now_[0].lower_bound(low.bytes);
    for (const auto& [key, value] : seen.entries) {
      FUZZ_CHECK(at != now_[0].end() && at->first == key && at->second == value);
      ++at;
    }
    const bool all = at == now_[0].end() || (high.data != nullptr && at->first >= high.bytes);
    FUZZ_CHECK(all || seen.entries.size() >= seen.ends_after);
  }

  // Through a cursor of the transaction or of none, by steps, batches and columns.
  void walk() {
    Later<hawthorn_cursor_options> room;
    hawthorn_code options_code = HAWTHORN_OK;
    const hawthorn_cursor_options* const options =
        given<hawthorn_cursor_options>(&room, HAWTHORN_CURSOR_OPTIONS_INIT, &options_code);
    hawthorn_cursor* made = nullptr;
    const hawthorn_code code =
        txn_ != nullptr ? hawthorn_txn_cursor(txn_.get(), tree_.get(), options, &made, &e_)
                        : hawthorn_db_cursor(db_.get(), tree_.get(), options, &made, &e_);
    expect(options_code, code);
    if (code != HAWTHORN_OK) return;
    cursor_.reset(made);
    const Map& all = state(false);
    int found = -1;
    uint64_t values = 0;
    expect(HAWTHORN_INVALID_ARGUMENT, hawthorn_cursor_count_values(made, &values, &e_));
    expect(HAWTHORN_OK, hawthorn_cursor_first(made, &found, &e_));
    FUZZ_CHECK(found == (all.empty() ? 0 : 1));
    const bool small = in_.byte() % 2 == 0;
    const size_t rows = 1 + in_.byte() % 16;
    std::string keys(small ? 40 : 1'000'000, '\0');
    std::string bytes(small ? 40 : 4'000'000, '\0');
    std::vector<int64_t> key_ends(rows + 1);
    std::vector<int64_t> value_ends(rows + 1);
    hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
    columns.rows_capacity = rows;
    columns.key_bytes = keys.data();
    columns.key_bytes_capacity = keys.size();
    columns.key_offsets = key_ends.data();
    columns.value_bytes = bytes.data();
    columns.value_bytes_capacity = bytes.size();
    columns.value_offsets = value_ends.data();
    auto at = all.begin();
    for (;;) {
      const hawthorn_code filled = hawthorn_cursor_next_columns(made, &columns, &e_);
      if (filled == HAWTHORN_BUFFER_TOO_SMALL) {
        expect(filled, filled);
        FUZZ_CHECK(columns.rows == 0 && at != all.end());
        FUZZ_CHECK(columns.key_bytes_needed == at->first.size());
        FUZZ_CHECK(columns.value_bytes_needed == at->second.size());
        FUZZ_CHECK(at->first.size() > keys.size() || at->second.size() > bytes.size());
        return;
      }
      expect(HAWTHORN_OK, filled);
      if (columns.rows == 0) break;
      for (size_t i = 0; i < columns.rows; ++i, ++at) {
        FUZZ_CHECK(at != all.end());
        FUZZ_CHECK(cell(keys.data(), key_ends.data(), i) == at->first);
        FUZZ_CHECK(cell(bytes.data(), value_ends.data(), i) == at->second);
      }
    }
    FUZZ_CHECK(at == all.end());
  }

  // ---- Transactions

  void begin_txn() {
    Later<hawthorn_txn_options> room;
    hawthorn_code options_code = HAWTHORN_OK;
    hawthorn_txn_options how = HAWTHORN_TXN_OPTIONS_INIT;
    how.mode = in_.byte() % 4;  // one of which there is not
    how.has_lock_timeout = 1;
    const hawthorn_txn_options* const options = given(&room, how, &options_code);
    if (txn_ != nullptr) return;
    hawthorn_txn* made = nullptr;
    const hawthorn_code code = hawthorn_txn_begin(db_.get(), options, &made, &e_);
    expect(options_code != HAWTHORN_OK ? options_code : code_of(how.mode < 3), code);
    if (code != HAWTHORN_OK) return;
    txn_.reset(made);
    own_[0] = now_[0];
    own_[1] = now_[1];
    own_unreadable_ = unreadable_;
  }

  void end_some() { end_txn(in_.byte() % 3 != 0); }
  void end_txn(bool commits) {
    if (txn_ == nullptr) {
      if (ended_ == nullptr) return;
      // What has ended is told so, and its cursors with it.
      expect(HAWTHORN_INVALID_ARGUMENT, hawthorn_txn_commit(ended_.get(), 0, &e_));
      expect(HAWTHORN_INVALID_ARGUMENT,
             hawthorn_txn_put(ended_.get(), tree_.get(), "k", 1, "v", 1, nullptr, &e_));
      expect(HAWTHORN_OK, hawthorn_txn_abort(ended_.get(), &e_));
      return;
    }
    const hawthorn_code code =
        commits ? hawthorn_txn_commit(txn_.get(), 0, &e_) : hawthorn_txn_abort(txn_.get(), &e_);
    const bool wrote = own_[0] != now_[0] || own_[1] != now_[1];
    if (commits && refuses_) {
      // One that wrote nothing is not asked for.
      FUZZ_CHECK(code == HAWTHORN_CONFLICT || (code == HAWTHORN_OK && !wrote));
      expect(code, code);
    } else {
      expect(HAWTHORN_OK, code);
    }
    FUZZ_CHECK(hawthorn_txn_is_open(txn_.get()) == 0);
    if (commits && code == HAWTHORN_OK) {
      now_[0] = std::move(own_[0]);
      now_[1] = std::move(own_[1]);
      unreadable_ = std::move(own_unreadable_);
    }
    if (cursor_ != nullptr && cursor_->txn != nullptr) {
      int found = 0;
      expect(HAWTHORN_INVALID_ARGUMENT, hawthorn_cursor_first(cursor_.get(), &found, &e_));
    }
    cursor_.reset();
    ended_ = std::move(txn_);
  }

  void others() {
    switch (in_.byte() % 5) {
      case 0:
        if (txn_ == nullptr) refuses_ = !refuses_;
        return;
      case 1:
        return expect(HAWTHORN_OK, hawthorn_db_flush(db_.get(), &e_));
      case 2: {
        uint64_t count = 0;
        expect(HAWTHORN_OK, hawthorn_db_count(db_.get(), tree_.get(), nullptr, 0, nullptr, 0,
                                              nullptr, &count, &e_));
        FUZZ_CHECK(count == now_[0].size());
        return expect(HAWTHORN_INVALID_ARGUMENT,
                      hawthorn_db_count(db_.get(), tree_.get(), nullptr, 0, nullptr, 0, nullptr,
                                        nullptr, &e_));
      }
      case 3:
        return expect(HAWTHORN_BUSY, close_beside_a_snapshot());
      default:
        // Handles that are NULL.
        expect(HAWTHORN_INVALID_ARGUMENT, hawthorn_txn_commit(nullptr, 0, &e_));
        expect(HAWTHORN_INVALID_ARGUMENT, hawthorn_cursor_next(nullptr, nullptr, &e_));
        expect(HAWTHORN_INVALID_ARGUMENT, hawthorn_db_write(db_.get(), nullptr, nullptr, &e_));
        FUZZ_CHECK(hawthorn_read_batch_count(nullptr) == 0);
    }
  }
  hawthorn_code close_beside_a_snapshot() {
    hawthorn_snapshot* made = nullptr;
    expect(HAWTHORN_OK, hawthorn_db_snapshot(db_.get(), &made, &e_));
    const SnapshotHandle held(made);
    return hawthorn_db_close(db_.get(), &e_);
  }

  // Everything, as the present transaction or nobody sees it.
  void compare(bool own) {
    TxnHandle hidden = own ? TxnHandle() : std::move(txn_);
    for (const bool sums : {false, true}) {
      const hawthorn_tree* const tree = tree_of(sums);
      for (const auto& [key, value] : state(sums)) {
        if (unreadable(sums, key)) continue;
        expect(HAWTHORN_OK,
               own ? hawthorn_txn_get(txn_.get(), tree, key.data(), key.size(), value_.get(), &e_)
                   : hawthorn_db_get(db_.get(), tree, key.data(), key.size(), nullptr, value_.get(),
                                     &e_));
        size_t size = 0;
        const void* const data = hawthorn_value_data(value_.get(), &size);
        FUZZ_CHECK(std::string_view(static_cast<const char*>(data), size) == value);
      }
      uint64_t count = 0;
      expect(
          HAWTHORN_OK,
          own ? hawthorn_txn_count(txn_.get(), tree, nullptr, 0, nullptr, 0, &count, &e_)
              : hawthorn_db_count(db_.get(), tree, nullptr, 0, nullptr, 0, nullptr, &count, &e_));
      FUZZ_CHECK(count == state(sums).size());
    }
    if (!own) txn_ = std::move(hidden);
  }

  Bytes in_;
  const std::string large_;
  hawthorn_error* e_ = nullptr;
  bool refuses_ = false;  // the commit hook
  testing::SimDisk disk_{1};
  testing::SimDisk other_disk_{2};
  testing::SimMachine machine_{disk_, 1};
  testing::SimMachine other_machine_{other_disk_, 2};
  DbHandle db_;
  DbHandle other_;
  TreeHandle tree_;
  TreeHandle sums_;
  TreeHandle other_tree_;
  ValueHandle value_;
  ReadBatchHandle answers_;
  BatchHandle batch_;
  TxnHandle txn_;
  TxnHandle ended_;
  CursorHandle cursor_;
  Map now_[2];  // of the ordinary tree, and of that with an operator
  Map own_[2];  // as the transaction sees them
  std::set<std::string> unreadable_;
  std::set<std::string> own_unreadable_;
};

}  // namespace
}  // namespace hawthorn::fuzz

extern "C" const char* __asan_default_options() { return hawthorn::fuzz::kAsanOptions; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawthorn::fuzz::CalledRun(hawthorn::fuzz::Bytes(data, size)).run();
  return 0;
}
