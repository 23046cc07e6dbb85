// put, get, del: single entries.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tools/command.h"
#include "tools/db_progress.h"
#include "tools/json.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

constexpr size_t kPartBytes = size_t{1} << 20;

Status print_number(const CommonOptions& common, std::string_view name, uint64_t number) {
  if (!common.json) return {};
  Json json;
  json.begin_object().field(name, number).end_object();
  return print_line(json.text());
}

// Everything that a pipe gives, up to what one put takes.
Result<std::string> read_pipe(Input& input) {
  std::string value;
  std::vector<char> part(kPartBytes);
  while (true) {
    Result<size_t> got = input.read(part);
    if (!got.ok()) return got.status();
    if (*got == 0) return value;
    value.append(part.data(), *got);
    if (value.size() > whole_value_bytes_max()) {
      return Status(StatusCode::kInvalidArgument,
                    input.name() + ": a value above " + std::to_string(whole_value_bytes_max()) +
                        " bytes has to come from a file, so that its size is known");
    }
  }
}

Status put_file(Db& db, const Tree& tree, const std::string& key, const CommonOptions& common,
                const PutOptions& options) {
  Result<Input> input = Input::open(options.file);
  if (!input.ok()) return input.status();
  if (!input->is_regular()) {
    Result<std::string> value = read_pipe(*input);
    return value.ok() ? db.put(tree, key, *value, options.durability) : value.status();
  }
  Progress progress("written", Progress::Unit::kBytes, common.show());
  return put_from_source(
      db, tree, key, input->size(),
      [&](std::span<char> buffer) {
        progress.update_step(input->bytes_read(), input->size());
        return input->read(buffer);
      },
      options.durability);
}

// Copies a value to the output in parts, from one snapshot.
Status copy_value(Db& db, const Tree& tree, const std::string& key, const CommonOptions& common,
                  Output& output) {
  const Snapshot snapshot = db.snapshot();
  std::vector<char> part(kPartBytes);
  Progress progress("read", Progress::Unit::kBytes, common.show_beside(output.is_terminal()));
  // Only for the time that is left.
  const Result<uint64_t> size = progress.shown() ? db.size_of(tree, key, {.snapshot = &snapshot})
                                                 : Result<uint64_t>(uint64_t{0});
  for (uint64_t offset = 0;; offset += part.size()) {
    Result<size_t> got = db.read_part(tree, key, offset, part, {.snapshot = &snapshot});
    if (!got.ok()) return got.status();
    output.write(std::string_view(part.data(), *got));
    progress.update_step(offset + *got, size.ok() ? *size : 0);
    if (*got < part.size() || !output.status().ok()) return output.status();
  }
}

Status print_value(Db& db, const Tree& tree, const std::string& key, const CommonOptions& common) {
  Value value;
  Status status = db.get(tree, key, value);
  if (!status.ok()) return status;
  if (!common.json) return print_line(encode(Encoding::kHex, value.view()));
  Json json;
  json.begin_object();
  if (common.hex) {
    json.field("key_hex", std::string_view(encode(Encoding::kHex, key)));
    json.field("value_hex", std::string_view(encode(Encoding::kHex, value.view())));
  } else {
    json.bytes("key", key).bytes("value", value.view());
  }
  return print_line(json.end_object().text());
}

Status not_found(std::string_view tree, const std::string& key) {
  return Status(StatusCode::kNotFound, "no key " + encode(Encoding::kEscaped, key) + " in tree " +
                                           encode(Encoding::kEscaped, tree));
}

struct Deleted {
  uint64_t count = 0;
  std::optional<std::string> missing;  // the last key that was not there
};

Result<Deleted> delete_keys(Db& db, const Tree& tree, const std::vector<std::string>& keys,
                            Durability durability) {
  Deleted deleted;
  Result<Transaction> transaction = db.begin(TxnMode::kExclusive);
  if (!transaction.ok()) return transaction.status();
  for (const std::string& key : keys) {
    bool found = false;
    {
      Cursor cursor = transaction->cursor(tree, {.key_only = true});
      found = cursor.seek(key) && cursor.key() == key;
      if (Status status = cursor.status(); !status.ok()) return status;
    }
    if (!found) {
      deleted.missing = key;
      continue;
    }
    Status status = transaction->del(tree, key);
    if (!status.ok()) return status;
    ++deleted.count;
  }
  Status status = transaction->commit(durability);
  if (!status.ok()) return status;
  return deleted;
}

}  // namespace

Status run_put(const CommonOptions& common, const PutOptions& options) {
  Result<std::string> key = decode_argument(common, "key", options.key);
  if (!key.ok()) return key.status();
  if (!options.value && options.file.empty()) {
    return Status(StatusCode::kInvalidArgument, "put needs a VALUE or --file");
  }
  Result<std::string> value = decode_argument(common, "value", options.value.value_or(""));
  if (!value.ok()) return value.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kCreate);
  if (!db.ok()) return db.status();
  Result<Tree> tree = (*db)->tree(common.tree);
  if (!tree.ok()) return tree.status();
  Status status = options.value ? (*db)->put(*tree, *key, *value, options.durability)
                                : put_file(**db, *tree, *key, common, options);
  if (status.ok()) status = close_shown(**db, common.show());
  return status.ok() ? print_number(common, "written", 1) : status;
}

Status run_get(const CommonOptions& common, const GetOptions& options) {
  Result<std::string> key = decode_argument(common, "key", options.key);
  if (!key.ok()) return key.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  Result<Tree> tree = (*db)->find_tree(common.tree);
  if (!tree.ok()) return tree.status();

  Status status;
  if (!options.output.empty()) {
    Result<Output> output = Output::to_file(options.output);
    if (!output.ok()) return output.status();
    status = copy_value(**db, *tree, *key, common, *output);
    if (status.ok()) status = output->finish();
  } else if (common.json || common.hex) {
    status = print_value(**db, *tree, *key, common);
  } else {
    Output output = Output::to_stdout();
    status = copy_value(**db, *tree, *key, common, output);
    // A shell's prompt begins in a fresh line; a program gets the value's bytes and no others.
    if (status.ok() && output.is_terminal()) output.write("\n");
    if (status.ok()) status = output.finish();
  }
  return status.is_not_found() ? not_found(common.tree, *key) : status;
}

Status run_del(const CommonOptions& common, const DelOptions& options) {
  std::vector<std::string> keys;
  for (const std::string& text : options.keys) {
    Result<std::string> key = decode_argument(common, "key", text);
    if (!key.ok()) return key.status();
    keys.push_back(std::move(*key));
  }
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite);
  if (!db.ok()) return db.status();
  Result<Tree> tree = (*db)->find_tree(common.tree);
  if (!tree.ok()) return tree.status();
  Result<Deleted> deleted = delete_keys(**db, *tree, keys, options.durability);
  if (!deleted.ok()) return deleted.status();
  Status status = (*db)->close();
  if (status.ok()) status = print_number(common, "deleted", deleted->count);
  return status.ok() && deleted->missing ? not_found(common.tree, *deleted->missing) : status;
}

}  // namespace hawthorn::tools
