#include "tools/rocksdb/ldb.h"

#include <rocksdb/comparator.h>

#include "hawthorn/db.h"
#include "shims/rocksdb/src/slots.h"

namespace hawthorn::tools {
namespace {

constexpr std::string_view kDelimiter = " ==> ";

// In place of a comparator that only a program has, for families that are open because all have to
// be, and whose keys nobody compares.
class Placeholder final : public rocksdb::Comparator {
 public:
  explicit Placeholder(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const std::string name_;
};

LdbError from_hex(const std::string& text, std::string* bytes) {
  if (text.compare(0, 2, "0x") != 0) {
    return "Invalid hex input " + text + ".  Must start with 0x";
  }
  bytes->clear();
  if (rocksdb::Slice(text.data() + 2, text.size() - 2).DecodeHex(bytes)) return std::nullopt;
  return "Invalid hex input " + text;
}

std::string to_hex(std::string_view bytes) { return "0x" + rocksdb::Slice(bytes).ToString(true); }

LdbError plain_or_hex(bool hex, const std::string& text, std::string* bytes) {
  if (hex) return from_hex(text, bytes);
  *bytes = text;
  return std::nullopt;
}

// Options with which opening changes nothing of the family.
rocksdb::ColumnFamilyOptions options_of(const rocks::FamilyRow& row) {
  rocksdb::ColumnFamilyOptions options;
  options.compression = rocksdb::kNoCompression;
  if (row.compression == static_cast<uint32_t>(Compression::kLz4)) {
    options.compression = rocksdb::kLZ4Compression;
  } else if (row.compression == static_cast<uint32_t>(Compression::kZstd)) {
    options.compression = rocksdb::kZSTD;
  }
  if (row.order == "reverse") options.comparator = rocksdb::ReverseBytewiseComparator();
  return options;
}

// Which families there are, and what they are opened as, is in the database itself.
Result<rocks::FamilyRows> read_rows(const std::string& path) {
  rocks::Slots slots;
  Options engine;
  engine.read_only = true;
  engine.create_if_missing = false;
  slots.tell(engine);
  const Result<std::unique_ptr<Db>> db = Db::open(path, engine);
  if (!db.ok()) return db.status();
  return rocks::FamilyRows::read(**db);
}

}  // namespace

LdbArguments LdbArguments::parse(int argc, const char* const* argv) {
  LdbArguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t equals = text.find('=');
    if (text.compare(0, 2, "--") != 0) {
      if (arguments.command.empty()) {
        arguments.command = text;
      } else {
        arguments.parameters.push_back(text);
      }
    } else if (equals == std::string::npos) {
      arguments.flags.insert(text.substr(2));
    } else {
      arguments.options[text.substr(2, equals - 2)] = text.substr(equals + 1);
    }
  }
  return arguments;
}

std::optional<std::string> LdbArguments::option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::nullopt : std::optional<std::string>(found->second);
}

LdbError ldb_error(const rocksdb::Status& status, const std::string& before) {
  if (status.ok()) return std::nullopt;
  return before + status.ToString();
}

LdbError LdbText::key(const std::string& text, std::string* bytes) const {
  return plain_or_hex(key_hex_, text, bytes);
}

LdbError LdbText::value(const std::string& text, std::string* bytes) const {
  return plain_or_hex(value_hex_, text, bytes);
}

std::string LdbText::key(std::string_view bytes) const {
  return key_hex_ ? to_hex(bytes) : std::string(bytes);
}

std::string LdbText::value(std::string_view bytes) const {
  return value_hex_ ? to_hex(bytes) : std::string(bytes);
}

std::string LdbText::entry(std::string_view of_key, std::string_view of_value) const {
  return key(of_key).append(kDelimiter).append(value(of_value));
}

bool LdbText::split(const std::string& line, std::string* of_key, std::string* of_value,
                    LdbError* error) const {
  const size_t at = line.find(kDelimiter);
  if (at == std::string::npos) return false;
  *error = key(line.substr(0, at), of_key);
  if (!error->has_value()) *error = value(line.substr(at + kDelimiter.size()), of_value);
  return true;
}

LdbError LdbDatabase::open(const LdbArguments& arguments, LdbAccess access,
                           std::unique_ptr<LdbDatabase>* database) {
  const std::optional<std::string> path = arguments.option("db");
  if (access == LdbAccess::kNone) return std::nullopt;
  const std::string chosen = arguments.option("column_family").value_or("default");
  std::unique_ptr<LdbDatabase> opened(new LdbDatabase);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::DBOptions options;
  const Result<rocks::FamilyRows> rows = read_rows(*path);
  if (rows.ok()) {
    if (LdbError e = opened->open_families(*rows, chosen, access, &families); e) return e;
  } else if (rows.status().is_not_found() && arguments.has("create_if_missing")) {
    options.create_if_missing = true;
    families.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  } else if (rows.status().is_not_found()) {
    // Of a database of RocksDB's, and where there is none, opening says more.
    families.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  } else {
    return *path + ": " + rows.status().to_string();
  }
  const rocksdb::Status s =
      access == LdbAccess::kRead
          ? rocksdb::DB::OpenForReadOnly(options, *path, families, &opened->handles_, &opened->db_)
          : rocksdb::DB::Open(options, *path, families, &opened->handles_, &opened->db_);
  if (!s.ok()) return s.ToString();
  opened->chosen_ = opened->family(chosen);
  if (opened->chosen_ == nullptr) return "Non-existing column family " + chosen;
  *database = std::move(opened);
  return std::nullopt;
}

// To read, the default family, which always has to be opened, and the chosen one; to write, all.
LdbError LdbDatabase::open_families(const rocks::FamilyRows& rows, const std::string& chosen,
                                    LdbAccess access,
                                    std::vector<rocksdb::ColumnFamilyDescriptor>* families) {
  for (const std::string& name : rows.names_by_id()) {
    const rocks::FamilyRow& row = rows.families().at(name);
    const bool needed = name == chosen || name == rocksdb::kDefaultColumnFamilyName;
    if (access == LdbAccess::kRead && !needed) continue;
    rocksdb::ColumnFamilyOptions options = options_of(row);
    if (!row.order.empty() && row.order != "reverse") {
      if (name == chosen) {
        return "column family " + name + ": its comparator is " + row.comparator +
               ", which only the program has that wrote it";
      }
      comparators_.push_back(std::make_unique<Placeholder>(row.comparator));
      options.comparator = comparators_.back().get();
    }
    families->emplace_back(name, options);
  }
  return std::nullopt;
}

LdbDatabase::~LdbDatabase() { static_cast<void>(close()); }

rocksdb::ColumnFamilyHandle* LdbDatabase::family(const std::string& name) {
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    if (handle->GetName() == name) return handle;
  }
  return nullptr;
}

LdbError LdbDatabase::close() {
  if (db_ == nullptr) return std::nullopt;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    static_cast<void>(db_->DestroyColumnFamilyHandle(handle));
  }
  handles_.clear();
  const rocksdb::Status s = db_->Close();
  db_.reset();
  return ldb_error(s);
}

}  // namespace hawthorn::tools
