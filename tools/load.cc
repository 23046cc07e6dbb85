// load: a dump file into a database. What was loaded before an error stays loaded: running the
// same load again after mending the file gives the same result. In bulk, that is whole trees: of
// one in which there is an error nothing is loaded.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tools/command.h"
#include "tools/db_progress.h"
#include "tools/dump_format.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kBatchOperations = 4096;

struct Loaded {
  uint64_t trees = 0;
  uint64_t entries = 0;
};

class Loader {
 public:
  Loader(Db& db, Input& input, const CommonOptions& common, const LoadOptions& options)
      : db_(db),
        input_(input),
        options_(options),
        show_(common.show()),
        reader_(input),
        progress_("loaded", Progress::Unit::kBytes, common.show()) {}

  Status run() {
    while (true) {
      Result<DumpReader::Event> event = reader_.next();
      if (!event.ok()) return event.status();
      Status status;
      switch (*event) {
        case DumpReader::Event::kTree:
          status = open_tree();
          break;
        case DumpReader::Event::kSubtree:
          status = open_subtree();
          break;
        case DumpReader::Event::kEntry:
          status = add_entry();
          break;
        case DumpReader::Event::kLargeValue:
          status = add_large_value();
          break;
        case DumpReader::Event::kTreeEnd:
          status = end_tree();
          break;
        case DumpReader::Event::kEnd:
          return db_.sync();
      }
      if (!status.ok()) return status;
      progress_.update(input_.bytes_read(), input_.size());
    }
  }

  const Loaded& loaded() const { return loaded_; }
  double seconds() const { return progress_.seconds(); }

 private:
  Status open_tree() {
    if (options_.tree && named_++ > 0) {
      return reader_.error("a second tree, while --tree takes one", StatusCode::kInvalidArgument);
    }
    const std::string& name = options_.tree ? *options_.tree : reader_.tree();
    const Result<Tree> tree =
        reader_.tree_options() ? db_.tree(name, *reader_.tree_options()) : db_.tree(name);
    return tree.ok() ? begin_tree(*tree) : at_line(tree.status());
  }

  // One that is there already, with the same options, is loaded into.
  Status open_subtree() {
    const auto parent = holders_.find(reader_.hangs_in());
    if (parent == holders_.end()) return reader_.error("it hangs in a tree that holds none");
    const TreeOptions options = reader_.tree_options().value_or(TreeOptions());
    Result<Tree> tree =
        db_.create_subtree(parent->second, reader_.tree(), options, options_.durability);
    if (tree.status().is(StatusCode::kInvalidArgument)) {
      const Result<Tree> there = db_.subtree(parent->second, reader_.tree());
      if (there.ok()) {
        const Result<TreeOptions> has = db_.tree_options(*there);
        if (!has.ok()) return has.status();
        if (!same(*has, options)) {
          return reader_.error("a subtree with other options hangs there",
                               StatusCode::kInvalidArgument);
        }
        tree = *there;
      }
    }
    return tree.ok() ? begin_tree(*tree) : at_line(tree.status());
  }

  // Of the first what Db::tree_options has given: there orders have names.
  static bool same(const TreeOptions& has, TreeOptions wanted) {
    if (wanted.order.empty()) wanted.order = "bytewise";
    if (wanted.multi_value && wanted.value_order.empty()) wanted.value_order = "bytewise";
    return has == wanted;
  }

  Status begin_tree(const Tree& tree) {
    tree_ = tree;
    if (reader_.tree_options() && reader_.tree_options()->subtrees) {
      holders_[reader_.section()] = tree;
    }
    ++loaded_.trees;
    if (options_.compression) {
      if (Status s = db_.set_compression(tree_, *options_.compression); !s.ok()) return at_line(s);
    }
    if (!in_bulk()) return {};
    if (reader_.tree_options() && reader_.tree_options()->expires) {
      return at_line(Status(StatusCode::kNotSupported,
                            "a tree whose entries end is loaded without --sorted and --bulk"));
    }
    IngestOptions ingest_options;
    ingest_options.sorted = options_.sorted;
    ingest_options.durability = options_.durability;
    Result<Ingest> ingest = db_.ingest(tree_, ingest_options);
    if (!ingest.ok()) return at_line(ingest.status());
    ingest_ = std::move(*ingest);
    return {};
  }

  bool in_bulk() const { return options_.bulk || options_.sorted; }

  Status end_tree() {
    if (!in_bulk()) return write_batch();
    Status status = finish_shown(ingest_, show_);
    return status.ok() ? status : at_line(status);
  }

  Status add_entry() {
    const Limits limits = Db::limits();
    if (reader_.key().size() > limits.key_bytes_max) {
      return reader_.error("a key of " + std::to_string(reader_.key().size()) +
                               " bytes; the limit is " + std::to_string(limits.key_bytes_max),
                           StatusCode::kInvalidArgument);
    }
    if (reader_.value().size() > limits.batch_value_bytes_max) {
      return reader_.error("a value that is too large for one line", StatusCode::kInvalidArgument);
    }
    ++loaded_.entries;
    if (in_bulk()) {
      Status status = ingest_.add(reader_.key(), reader_.value());
      return status.ok() ? status : at_line(status);
    }
    if (reader_.tree_options() && reader_.tree_options()->expires) {
      batch_.put(tree_, reader_.key(), reader_.value(), Expiry::at_ms(reader_.expires_at()));
    } else {
      batch_.put(tree_, reader_.key(), reader_.value());
    }
    const bool full = batch_.bytes() >= kBatchBytes || batch_.count() >= kBatchOperations;
    return full ? write_batch() : Status();
  }

  Status add_large_value() {
    if (in_bulk()) {
      ++loaded_.entries;
      return ingest_.add_stream(
          reader_.key(), reader_.value_bytes(),
          [this](std::span<char> buffer) { return reader_.read_value(buffer); });
    }
    Status status = write_batch();
    if (!status.ok()) return status;
    if (reader_.tree_options() && reader_.tree_options()->expires) return add_expiring_value();
    // The reader's own errors name the line; put_from_source hands them through.
    status = put_from_source(
        db_, tree_, reader_.key(), reader_.value_bytes(),
        [this](std::span<char> buffer) { return reader_.read_value(buffer); }, options_.durability);
    if (status.ok()) ++loaded_.entries;
    return status;
  }

  // Trees whose entries end have none of more than 64 MB.
  Status add_expiring_value() {
    const size_t max = Db::limits().batch_value_bytes_max;
    if (reader_.value_bytes() > max) {
      return reader_.error(
          "a value of more than " + std::to_string(max) + " bytes in a tree whose entries end",
          StatusCode::kNotSupported);
    }
    std::string value(reader_.value_bytes(), '\0');
    for (size_t filled = 0; filled < value.size();) {
      const Result<size_t> got = reader_.read_value({value.data() + filled, value.size() - filled});
      if (!got.ok()) return got.status();
      filled += *got;
    }
    Status status = db_.put(tree_, reader_.key(), value, Expiry::at_ms(reader_.expires_at()),
                            options_.durability);
    if (status.ok()) ++loaded_.entries;
    return status.ok() ? status : at_line(status);
  }

  Status write_batch() {
    if (batch_.count() == 0) return {};
    Status status = db_.write(batch_, options_.durability);
    batch_.clear();
    return status.ok() ? status : at_line(status);
  }

  Status at_line(const Status& status) const {
    return reader_.error(status.message(), status.code());
  }

  Db& db_;
  Input& input_;
  const LoadOptions& options_;
  const ProgressShow show_;
  DumpReader reader_;
  Progress progress_;
  Tree tree_;
  std::map<uint64_t, Tree> holders_;  // by section, those in which others may hang
  uint64_t named_ = 0;
  WriteBatch batch_;
  Ingest ingest_;
  Loaded loaded_;
};

}  // namespace

Status run_load(const CommonOptions& common, const LoadOptions& options) {
  Result<Input> input = Input::open(options.file);
  if (!input.ok()) return input.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kCreate);
  if (!db.ok()) return db.status();

  Loaded loaded;
  double seconds = 0;
  {
    Loader loader(**db, *input, common, options);
    Status status = loader.run();
    if (!status.ok()) return status;
    loaded = loader.loaded();
    seconds = loader.seconds();
  }
  Status status = close_shown(**db, common.show());
  if (!status.ok() || !common.json) return status;
  Json json;
  json.begin_object().field("trees", loaded.trees).field("entries", loaded.entries);
  json.field("bytes", input->bytes_read()).field("seconds", seconds).end_object();
  return print_line(json.text());
}

}  // namespace hawthorn::tools
