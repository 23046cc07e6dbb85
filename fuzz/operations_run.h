#pragma once
// One input of the target `operations`: operations of the public API, chosen by its bytes, against
// the model of operations_model.h; one thread, no background threads, so that it always does the
// same.
//
// The model has one state for the present, for each snapshot, cursor, transaction and copy, and one
// for each commit that a power loss may take back. Checked: reads of all kinds, at all of these;
// which transactions must conflict (R18), and which may; who must wait for a row, and who may;
// which transactions are prepared; after a killed process everything is there, after a power loss a
// prefix of the commits that is not shorter than what was durable.
//
// Not here: the functions, by what they do in operations_*.cc. Threads: one.

#include <list>
#include <map>
#include <memory>
#include <set>

#include "fuzz/operations_model.h"

namespace hawthorn::fuzz {

// What a transaction did: of each cell the number, or nothing.
using Own = std::array<std::optional<uint32_t>, kCells + kNames>;

class Run {
 public:
  explicit Run(Bytes in);
  void run();

 private:
  struct Txn {
    Transaction txn;
    View base;
    uint64_t began = 0;
    Isolation isolation = Isolation::kSnapshot;
    bool pessimistic = false;
    bool erased = false;   // a range, even if it was rolled back
    bool updates = false;  // has read to write, or looked where a tree hangs
    bool trees = false;    // has made, moved or dropped a tree
    std::array<uint32_t, kTrees> lives = {};
    Own own = {};
    std::map<int, RowLock> locks;  // that it surely holds, beside those of what it wrote
    std::set<int> maybe_locked;
    std::vector<Span> ranges;  // noted, or deleted key by key
    struct Mark {
      Savepoint savepoint;
      Own own;
      std::map<int, RowLock> locks;
    };
    std::vector<Mark> marks;

    bool committed_reads() const { return isolation == Isolation::kReadCommitted; }
    void locked(const Span& span) {
      for (int cell = span.from; pessimistic && cell < span.to; ++cell) maybe_locked.insert(cell);
    }
  };
  struct Prepared {
    std::string id;
    Own own;
    std::set<int> locked;
    bool fence = false;  // others may not write what it has read
  };
  // As a restart may find it.
  struct Moment {
    State state;
    std::vector<std::shared_ptr<Prepared>> prepared;
  };
  struct Walk {
    Cursor cursor;
    View view;
    int tree = kPlain;
    Span bounds;
    int at = -1;
  };
  struct Kept {
    Snapshot snapshot;
    View view;
  };
  struct Copy {
    uint64_t id = 0;
    Moment moment;
    std::map<std::string, View> named;
  };
  // What a read looks at: a snapshot, a transaction, or the present.
  struct Look {
    View view;
    const Snapshot* snapshot = nullptr;
    Txn* txn = nullptr;
    int tree = kPlain;
    Tree handle;
    ReadOptions options() const { return {.snapshot = snapshot}; }
  };

  // ---- operations_fuzz.cc: what the input chooses, and what was committed
  void step();
  int any_tree(uint8_t byte, const State& state) const;
  int cell_of(int tree) {
    return first_of(tree) + in_.byte() % kCellsOf[static_cast<size_t>(tree)];
  }
  Span range_of(int tree);
  // Of a range that ends where its tree does there is no upper end.
  static std::optional<std::string_view> end_of(const Span& span);
  static Span row_of(int cell);
  uint32_t new_value(int tree);
  uint32_t changed_value(uint32_t number, std::string bytes);
  std::string small_operand();
  std::string bytes_of(int cell, uint32_t number) const;
  Durability level() { return static_cast<Durability>(1 + in_.byte() % 3); }
  bool large_enough() { return ++large_ > 8; }
  void pass_time();
  uint64_t moment_ms(uint32_t step) const;

  View present() const { return {now_, step_}; }
  View seen_by(const Txn& txn) const;
  uint32_t number_in(const View& view, int cell) const {
    return number_of(view.state, view.step, cell);
  }
  uint32_t number_of(const State& state, uint32_t step, int cell) const;
  Tree handle(Db& db, const State& state, int tree, const Snapshot* snapshot, Txn* txn);
  Tree handle(int tree) { return handle(*db_, now_, tree, nullptr, nullptr); }

  void committed(const State& state, Durability level);
  void durable() { history_ = {{now_, prepared_}}; }
  void touched(const Span& span) {
    for (int cell = span.from; cell < span.to; ++cell) at(touched_, cell) = commits_;
  }
  static uint64_t& at(std::array<uint64_t, kCells + kNames>& all, int cell) {
    return all[static_cast<size_t>(cell)];
  }
  static uint32_t at(const State& state, int cell) { return fuzz::at(state, cell); }
  static uint32_t& at(State& state, int cell) { return fuzz::at(state, cell); }
  static std::optional<uint32_t>& own(Own& own, int cell) { return own[static_cast<size_t>(cell)]; }

  // ---- operations_waits.cc: who waits for whom, which is for no time here, and who conflicts
  bool may_wait(const Span& span, const Txn* actor) const;
  bool must_wait(int cell, const Txn* actor, RowLock mode = RowLock::kExclusive) const;
  bool anything_locked(const Txn* actor) const;
  bool fenced() const;
  // A write, or one of a tree's name or place, that did nothing, as it may.
  bool refused(const Status& status, const Span& span, const Txn* actor = nullptr) const;
  bool tree_refused(const Status& status) const;

  // ---- operations_writes.cc: writes that are a commit of their own
  void put();
  void del();
  void delete_range();
  void fill();
  void batch();
  void merge();
  void change_part();
  void compare_and_set();
  void ingest();
  void commit_alone(const Status& status, const Span& span, const State& next, Durability level);
  bool add_to_batch(WriteBatch& batch, State& next, Span* all);
  // The bytes behind a change of a part of a value, which `apply` makes.
  struct Part {
    int how = 0;
    uint64_t offset = 0;
    std::string bytes;
    std::string result;
  };
  std::optional<Part> any_part(std::string_view bytes, bool there);

  // ---- operations_reads.cc
  Look any_look();
  void expect(const Status& status, std::string_view value, int cell, uint32_t number) const;
  int first_in_row(const View& view, int cell) const;
  void get();
  void read_parts();
  void count();
  void names();
  void scan();
  void walk();
  void open_cursor(Walk& walk, const Look& look);
  int next(const Walk& walk, int from) const;
  int previous(const Walk& walk, int below) const;
  void move(Walk& walk);
  bool seek(Walk& walk, uint8_t how);
  bool jump(Walk& walk, uint8_t how);
  void compare(Db& db, const View& view, const Snapshot* snapshot = nullptr);
  void compare_tree(Db& db, const View& view, int tree, const Tree& handle,
                    const Snapshot* snapshot);

  // ---- operations_txns.cc
  Txn* any_txn();
  void begin();
  void use_txn();
  void write_in_txn(Txn& txn, int tree, uint8_t how);
  void erase_in_txn(Txn& txn, int tree);
  void lock_in_txn(Txn& txn, int tree, uint8_t how);
  void part_in_txn(Txn& txn, int tree);
  void subtree_in_txn(Txn& txn);
  // Whether the call has written; what it may fail with otherwise ends here.
  bool wrote(const Status& status, Txn& txn, const Span& span);
  void mark();
  void end_txn();
  void commit(Txn& txn);
  bool may_conflict(Txn& txn, bool* must, bool* writes, State* next);
  bool prepare(Txn& txn);
  void end_prepared();
  void alone();

  // ---- operations_trees.cc
  void subtree();
  void hang(int sub, int cell);
  void move_sub(int sub, int cell);
  bool below(int cell, int sub) const;
  int free_sub() const;
  void clone();
  void set_compression();

  // ---- operations_lives.cc: snapshots with and without names, copies, ends of processes
  void snapshot();
  void named_snapshot();
  void copy();
  void rotate();
  void expect_copy(const std::string& path, const Copy& copy);
  void close_all();
  void end_life();
  void reopened();
  std::optional<State> in_the_middle(uint8_t how);
  // Of each life another one, since that of an earlier life may be whole.
  std::string copy_in_the_middle() const { return "/copy in life " + std::to_string(lives_); }
  Moment recovered();
  // Of each tree, by its name or by that of the one it hangs in and the keys down to it.
  using Entries = std::vector<std::pair<std::string, std::string>>;
  using Contents = std::map<std::string, Entries>;
  void read_all(const std::string& path, const Tree& tree, Contents* found);
  bool holds(const State& state, const Contents& found) const;

  Bytes in_;
  const uint8_t kind_;
  const bool encrypted_;
  Database db_;
  std::array<Tree, kFixedTrees> trees_;
  ValueTable values_;
  State now_ = {};
  uint32_t step_ = 0;            // of the clock
  std::vector<Moment> history_;  // from the last commit that is surely durable on
  std::vector<std::shared_ptr<Prepared>> prepared_;
  uint64_t commits_ = 0;
  std::array<uint64_t, kCells + kNames> changed_ = {};  // the last commit that did
  std::array<uint64_t, kCells + kNames> touched_ = {};  // of those that changed nothing, too
  std::array<uint32_t, kTrees> lives_of_ = {};          // how often a tree has come or gone
  std::vector<Kept> kept_;
  std::map<std::string, View> named_;
  std::list<Txn> txns_;
  std::vector<Walk> walks_;
  std::vector<Copy> copies_;
  int large_ = 0;
  int ranges_ = 0;
  int lives_ = 0;
  int copied_ = 0;
  int data_keys_ = 1;
  uint64_t ids_ = 0;
};

void make_trees(Db& db);

}  // namespace hawthorn::fuzz
