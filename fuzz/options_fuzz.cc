// Options of every kind, with any values: of a database, its trees, transactions, cursors, ingests,
// feeds, queues. Each is refused with a message, and nothing was made then; or it works: what is
// put is there, also after a reopening with other options.
#include <bit>

#include "fuzz/database.h"

using hawthorn::fuzz::Bytes;
using hawthorn::testing::SimDisk;
using hawthorn::testing::SimMachine;
using namespace hawthorn;  // NOLINT: a program

namespace {

constexpr char kDirectory[] = "/db";
constexpr size_t kBudgetMax = size_t{64} << 20;

class Order : public KeyOrder {
 public:
  explicit Order(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    sort_key->append(key.rbegin(), key.rend());
    return true;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    key->append(sort_key.rbegin(), sort_key.rend());
    return true;
  }

 private:
  const std::string name_;
};
class Comparator : public KeyComparator {
 public:
  explicit Comparator(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  int compare(std::string_view a, std::string_view b) const override { return b.compare(a); }

 private:
  const std::string name_;
};
class Operator : public MergeOperator {
 public:
  explicit Operator(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  bool merge(std::string_view, std::optional<std::string_view>,
             std::span<const std::string_view> operands, std::string* result) const override {
    result->assign(operands.back());
    return true;
  }

 private:
  const std::string name_;
};
class Listener : public EventListener {};
class Hook : public CommitHook {};
class Filter : public FlushFilter {
 public:
  std::string_view name() const override { return "filter"; }
  Decision filter(std::string_view, std::string_view, std::string*) override {
    return Decision::kKeep;
  }
};

class Choices {
 public:
  explicit Choices(Bytes& in) : in_(in) {}

  bool one_in(int count) { return in_.byte() % count == 0; }
  // Mostly of the ranges that are meant.
  template <typename Enum>
  Enum any(int count) {
    const uint8_t byte = in_.byte();
    return static_cast<Enum>(byte < 250 ? byte % count : byte);
  }
  std::string name() {
    switch (in_.byte() % 8) {
      case 0:
        return "";
      case 1:
        return "bytewise";
      case 2:
        return std::string(255, 'n');
      case 3:
        return std::string(256, 'n');
      case 4:
        return "reverse";
      case 5:
        return std::string(in_.take(in_.byte() % 8));
      default:
        return "name" + std::to_string(in_.byte() % 3);
    }
  }
  uint64_t number() {
    static constexpr uint64_t kNumbers[] = {
        0, 1, 1000, uint64_t{1} << 20, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}};
    return kNumbers[in_.byte() % std::size(kNumbers)];
  }
  template <typename Base, typename Made>
  void add(std::vector<std::shared_ptr<const Base>>& to) {
    while (one_in(3) && to.size() < 4) {
      to.push_back(one_in(16) ? nullptr : std::make_shared<const Made>(name()));
    }
  }

  Options options() {
    Options options;
    options.memory_budget_bytes = in_.byte() % 8 == 0 ? number() : size_t{16} << 20;
    // Not so much that it is all memory of the machine.
    options.preallocate_memory = options.memory_budget_bytes <= kBudgetMax && one_in(16);
    if (options.memory_budget_bytes > kBudgetMax && options.memory_budget_bytes < SIZE_MAX / 4) {
      options.memory_budget_bytes = kBudgetMax;
    }
    options.durability = any<Durability>(4);
    options.io_mode = any<IoMode>(3);
    if (one_in(6)) options.space_target = std::bit_cast<double>(in_.number<uint64_t>());
    options.compression = any<Compression>(3);
    add<MergeOperator, Operator>(options.merge_operators);
    add<KeyOrder, Order>(options.key_orders);
    add<KeyComparator, Comparator>(options.key_comparators);
    while (one_in(16) && options.devices.size() < 3) options.devices.push_back("/" + name());
    options.read_only = one_in(12);
    options.create_if_missing = !one_in(12);
    options.error_if_exists = one_in(12);
    options.lock_timeout_ms = one_in(2) ? 0 : number();
    options.background_io_bytes_per_second = one_in(3) ? number() : 0;
    if (one_in(12)) options.listeners.push_back(one_in(4) ? nullptr : std::make_shared<Listener>());
    if (one_in(12)) options.commit_hooks.push_back(one_in(4) ? nullptr : std::make_shared<Hook>());
    if (one_in(12)) {
      options.flush_filters[name()] = one_in(4) ? nullptr : std::make_shared<Filter>();
    }
    if (one_in(6)) options.file_mode = in_.number<uint16_t>();
    return options;
  }

  TreeOptions tree() {
    TreeOptions options;
    options.order = one_in(2) ? "" : name();
    options.value_order = one_in(4) ? name() : "";
    options.multi_value = one_in(4);
    options.expires = one_in(4);
    options.ttl_ms = one_in(4) ? number() : 0;
    options.subtrees = one_in(4);
    return options;
  }

 private:
  Bytes& in_;
};

bool refused(const Status& status) {
  if (status.ok()) return false;
  FUZZ_CHECK(!status.message().empty());
  FUZZ_CHECK(!status.is(StatusCode::kCorruption) && !status.is(StatusCode::kIoError));
  return true;
}

void use_tree(Db& db, const Tree& tree, Choices& choose) {
  const Status put = db.put(tree, "key", "value", choose.any<Durability>(4));
  refused(put);
  Value value;
  const Status got = db.get(tree, "key", value);
  if (put.ok()) {
    FUZZ_OK(got);
    FUZZ_CHECK(value.view() == "value");
  }
  TxnOptions options;
  options.mode = choose.any<TxnMode>(3);
  options.isolation = choose.any<Isolation>(3);
  options.read_only = choose.one_in(6);
  if (choose.one_in(4)) options.lock_timeout_ms = choose.number();
  Result<Transaction> txn = db.begin(options);
  if (!refused(txn.status())) {
    const Status changed = txn->put(tree, "other", "value");
    refused(changed);
    refused(txn->commit(choose.any<Durability>(4)));
  }
  CursorOptions bounds;
  if (choose.one_in(2)) bounds.lower = choose.name();
  if (choose.one_in(2)) bounds.upper = choose.name();
  Cursor cursor = db.cursor(tree, bounds);
  int entries = 0;
  for (bool more = cursor.first(); more && entries < 100; more = cursor.next()) ++entries;
  refused(cursor.status());
  // An earlier life of the tree may have ingested.
  FUZZ_CHECK(entries <= 3);
  IngestOptions ingests;
  ingests.sorted = choose.one_in(2);
  ingests.sort_memory_bytes = choose.one_in(2) ? choose.number() : 0;
  ingests.durability = choose.any<Durability>(4);
  Result<Ingest> ingest = db.ingest(tree, ingests);
  if (!refused(ingest.status())) {
    refused(ingest->add("ingested", "value"));
    if (ingest->open() && choose.one_in(2)) refused(ingest->finish());
  }
}

// Whether it was opened.
bool use(const os::Machine& machine, Choices& choose, bool there) {
  const Options options = choose.options();
  Result<std::unique_ptr<Db>> opened = Db::open_on(machine, kDirectory, options);
  if (refused(opened.status())) {
    const auto made = machine.files->exists(std::string(kDirectory) + "/superblock");
    FUZZ_OK(made.status());
    FUZZ_CHECK(*made == there);
    return false;
  }
  Db& db = **opened;
  const Result<Tree> tree = db.tree("tree " + choose.name(), choose.tree());
  if (!refused(tree.status())) use_tree(db, *tree, choose);
  if (choose.one_in(4)) refused(db.set_memory_budget(choose.number()));
  if (choose.one_in(4)) refused(db.set_background_io_limit(choose.number()));
  if (choose.one_in(4)) refused(db.create_feed(choose.name(), {.log_bytes_max = choose.number()}));
  if (choose.one_in(4)) refused(db.create_snapshot(choose.name()));
  if (choose.one_in(4) && tree.ok()) {
    refused(db.set_compression(*tree, choose.any<Compression>(3)));
    refused(db.set_merge_operator(*tree, choose.name()));
  }
  // A check at a byte a second takes hours, as was asked.
  FUZZ_OK(db.set_background_io_limit(0));
  const auto report = db.check();
  FUZZ_OK(report.status());
  FUZZ_CHECK(report->ok());
  refused(db.flush());
  FUZZ_OK(db.close());
  return !options.read_only;
}

}  // namespace

extern "C" const char* __asan_default_options() { return fuzz::kAsanOptions; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::shrink_sizes();
  Bytes in(data, size);
  Choices choose(in);
  SimDisk disk(1);
  const SimMachine machine(disk, 1);
  bool there = false;
  for (int i = 0; i < 3 && !in.empty(); ++i) there |= use(machine.machine(), choose, there);
  return 0;
}
