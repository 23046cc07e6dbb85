// Checkpoints, backups, bulk loading, checks and repairs.

#include <fstream>

#include "c/c_test_fixture.h"

namespace hawthorn::c {

namespace {

class CopiesCTest : public CTest {
 protected:
  // What the database in that directory has in "tree".
  std::string contents(const std::string& directory) {
    hawthorn_db* made = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_open(directory.c_str(), options_.get(), &made, &e)), "OK");
    const DbHandle db(made);
    hawthorn_tree* found = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_find_tree(made, "tree", 4, nullptr, &found, &e)), "OK");
    const TreeHandle tree(found);
    hawthorn_cursor* opened = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_cursor(made, found, nullptr, &opened, &e)), "OK");
    return walk(CursorHandle(opened).get());
  }
};

hawthorn_error* add_bytes(void* context, const void* data, size_t size) {
  static_cast<std::string*>(context)->append(static_cast<const char*>(data), size);
  return nullptr;
}

struct Reader {
  std::string_view left;
  static int64_t give(void* context, void* buffer, size_t capacity, hawthorn_error**) {
    auto* const reader = static_cast<Reader*>(context);
    const size_t size = std::min(capacity, reader->left.size());
    std::copy_n(reader->left.data(), size, static_cast<char*>(buffer));
    reader->left.remove_prefix(size);
    return static_cast<int64_t>(size);
  }
};

TEST_F(CopiesCTest, CheckpointsAreDatabases) {
  open_with_tree();
  put("k", "v");
  const TreeHandle other = tree("other");  // progress is told of each MB
  const std::string value(60'000, 'v');
  for (int i = 0; i < 100; ++i) {
    C_OK(hawthorn_db_put(db_.get(), other.get(), &i, sizeof(i), value.data(), value.size(), nullptr,
                         &e));
  }
  C_OK(hawthorn_db_flush(db_.get(), &e));
  struct Told {
    int calls = 0;
    bool stop = false;
  } told;
  hawthorn_copy_options options = HAWTHORN_COPY_OPTIONS_INIT;
  options.context = &told;
  options.copy_blocks = 1;
  options.progress = [](void* context, uint64_t) {
    auto* const seen = static_cast<Told*>(context);
    ++seen->calls;
    return seen->stop ? hawthorn_error_create(HAWTHORN_TIMED_OUT, "enough", HAWTHORN_STRING)
                      : nullptr;
  };
  C_OK(hawthorn_db_checkpoint(db_.get(), path("copy").c_str(), &options, &e));
  EXPECT_GT(told.calls, 0);
  EXPECT_EQ(contents(path("copy")), "k=v");
  C_FAILS("InvalidArgument", hawthorn_db_checkpoint(db_.get(), path("copy").c_str(), nullptr, &e));
  told.stop = true;
  C_FAILS("TimedOut: enough",
          hawthorn_db_checkpoint(db_.get(), path("stopped").c_str(), &options, &e));
  C_FAILS("InvalidArgument: directory is NULL",
          hawthorn_db_checkpoint(db_.get(), nullptr, nullptr, &e));
}

TEST_F(CopiesCTest, RepositoriesKeepBackups) {
  open_with_tree();
  put("k", "1");
  hawthorn_repository* opened = nullptr;
  C_OK(hawthorn_repository_open(path("backups").c_str(), &opened, &e));
  const RepositoryHandle repository(opened);
  hawthorn_records* made = nullptr;
  C_OK(hawthorn_db_backup(db_.get(), opened, nullptr, &made, &e));
  const uint64_t first = hawthorn_records_number(RecordsHandle(made).get(), 0, "id", 0);
  EXPECT_EQ(first, 1U);
  put("k", "2");
  hawthorn_copy_options full = HAWTHORN_COPY_OPTIONS_INIT;
  full.full = 1;
  C_OK(hawthorn_db_backup(db_.get(), opened, &full, nullptr, &e));
  C_OK(hawthorn_repository_list(opened, &made, &e));
  {
    const RecordsHandle listed(made);
    ASSERT_EQ(hawthorn_records_count(made), 2U);
    EXPECT_EQ(hawthorn_records_number(made, 1, "id", 0), 2U);
    EXPECT_EQ(hawthorn_records_number(made, 1, "incremental", 9), 0U);
    EXPECT_GT(hawthorn_records_number(made, 1, "bytes", 0), 0U);
  }
  C_OK(hawthorn_repository_verify(opened, 1, nullptr, &e));
  C_OK(hawthorn_repository_restore(opened, 1, path("first").c_str(), nullptr, &e));
  C_OK(hawthorn_repository_restore(opened, 2, path("second").c_str(), nullptr, &e));
  EXPECT_EQ(contents(path("first")), "k=1");
  EXPECT_EQ(contents(path("second")), "k=2");
  C_OK(hawthorn_repository_remove(opened, 1, &e));
  C_FAILS("NotFound", hawthorn_repository_verify(opened, 1, nullptr, &e));
  hawthorn_repository* again = nullptr;
  C_FAILS("Busy", hawthorn_repository_open(path("backups").c_str(), &again, &e));
  C_FAILS("InvalidArgument: the repository is NULL",
          hawthorn_db_backup(db_.get(), nullptr, nullptr, nullptr, &e));
}

TEST_F(CopiesCTest, BackupsGoThroughStreams) {
  open_with_tree();
  put("k", "v");
  std::string stream;
  hawthorn_records* made = nullptr;
  C_OK(hawthorn_db_backup_to(db_.get(), add_bytes, &stream, nullptr, &made, &e));
  EXPECT_EQ(hawthorn_records_number(RecordsHandle(made).get(), 0, "bytes_stored", 0),
            stream.size());
  Reader reader{stream};
  C_OK(hawthorn_verify_backup(Reader::give, &reader, nullptr, nullptr, &e));
  reader.left = stream;
  C_OK(hawthorn_restore_backup(Reader::give, &reader, path("copy").c_str(), nullptr, nullptr, &e));
  EXPECT_EQ(contents(path("copy")), "k=v");
  reader.left = std::string_view(stream).substr(0, stream.size() / 2);
  C_FAILS("Corruption", hawthorn_verify_backup(Reader::give, &reader, nullptr, nullptr, &e));
  const auto refuse = [](void*, const void*, size_t) {
    return hawthorn_error_create(HAWTHORN_NO_SPACE, "no room here", HAWTHORN_STRING);
  };
  C_FAILS("NoSpace: no room here",
          hawthorn_db_backup_to(db_.get(), refuse, nullptr, nullptr, nullptr, &e));
  C_FAILS("InvalidArgument: sink is NULL",
          hawthorn_db_backup_to(db_.get(), nullptr, nullptr, nullptr, nullptr, &e));
}

TEST_F(CopiesCTest, IngestsAreOneCommit) {
  open_with_tree();
  hawthorn_ingest* begun = nullptr;
  C_OK(hawthorn_db_ingest(db_.get(), tree_.get(), nullptr, &begun, &e));
  IngestHandle ingest(begun);
  C_OK(hawthorn_ingest_add(begun, "a", 1, "1", 1, &e));
  Columns columns(2, 8, 8);
  int64_t offsets[] = {0, 1, 2};
  std::copy_n("bc", 2, static_cast<char*>(columns->key_bytes));
  std::copy_n("23", 2, static_cast<char*>(columns->value_bytes));
  columns->key_offsets = offsets;
  columns->value_offsets = offsets;
  columns->rows = 2;
  C_OK(hawthorn_ingest_add_columns(begun, columns.get(), &e));
  Reader reader{"streamed"};
  C_OK(hawthorn_ingest_add_stream(begun, "d", 1, 8, Reader::give, &reader, &e));
  EXPECT_EQ(hawthorn_ingest_is_open(begun), 1);
  EXPECT_EQ(walk(cursor().get()), "");
  C_OK(hawthorn_ingest_finish(begun, &e));
  EXPECT_EQ(hawthorn_ingest_is_open(begun), 0);
  EXPECT_EQ(walk(cursor().get()), "a=1,b=2,c=3,d=streamed");
  hawthorn_records* stats = nullptr;
  C_OK(hawthorn_ingest_stats(begun, &stats, &e));
  EXPECT_EQ(hawthorn_records_number(RecordsHandle(stats).get(), 0, "entries", 0), 4U);
  C_FAILS("InvalidArgument", hawthorn_ingest_add(begun, "e", 1, "", 0, &e));

  // Out of order: only where it was not said.
  C_OK(hawthorn_db_ingest(db_.get(), tree_.get(), nullptr, &begun, &e));
  ingest.reset(begun);
  C_OK(hawthorn_ingest_add(begun, "y", 1, "", 0, &e));
  C_FAILS("InvalidArgument", hawthorn_ingest_add(begun, "x", 1, "", 0, &e));
  C_FAILS("InvalidArgument", hawthorn_ingest_finish(begun, &e));
  hawthorn_ingest_options options = HAWTHORN_INGEST_OPTIONS_INIT;
  options.unsorted = 1;
  C_OK(hawthorn_db_ingest(db_.get(), tree_.get(), &options, &begun, &e));
  ingest.reset(begun);
  C_OK(hawthorn_ingest_add(begun, "y", 1, "5", 1, &e));
  C_OK(hawthorn_ingest_add(begun, "x", 1, "4", 1, &e));
  C_OK(hawthorn_ingest_finish(begun, &e));
  EXPECT_EQ(walk(cursor().get()), "a=1,b=2,c=3,d=streamed,x=4,y=5");
  uint64_t told = 0;
  const auto tell = [](void* context, uint64_t done, uint64_t entries) -> hawthorn_error* {
    EXPECT_EQ(done, 0U);
    EXPECT_EQ(entries, 1U);
    return ++*static_cast<uint64_t*>(context) == 1
               ? nullptr
               : hawthorn_error_create(HAWTHORN_TIMED_OUT, "enough", HAWTHORN_STRING);
  };
  C_OK(hawthorn_db_ingest(db_.get(), tree_.get(), &options, &begun, &e));
  ingest.reset(begun);
  C_OK(hawthorn_ingest_add(begun, "z", 1, "6", 1, &e));
  C_OK(hawthorn_ingest_finish_with(begun, tell, &told, &e));
  EXPECT_EQ(told, 1U);
  C_OK(hawthorn_db_ingest(db_.get(), tree_.get(), &options, &begun, &e));
  ingest.reset(begun);
  C_OK(hawthorn_ingest_add(begun, "zz", 2, "7", 1, &e));
  C_FAILS("TimedOut: enough", hawthorn_ingest_finish_with(begun, tell, &told, &e));
  EXPECT_EQ(walk(cursor().get()), "a=1,b=2,c=3,d=streamed,x=4,y=5,z=6");
  options.durability = 9;
  C_FAILS("InvalidArgument: durability is 9",
          hawthorn_db_ingest(db_.get(), tree_.get(), &options, &begun, &e));
  EXPECT_EQ(hawthorn_ingest_is_open(nullptr), 0);
}

TEST_F(CopiesCTest, ChecksAndRepairsTellOfDamage) {
  open_with_tree();
  for (int i = 0; i < 2000; ++i) put("key" + std::to_string(i), std::string(500, 'v'));
  C_OK(hawthorn_db_flush(db_.get(), &e));
  C_OK(hawthorn_db_drain(db_.get(), &e));
  uint64_t told = 0;
  hawthorn_check_options options = HAWTHORN_CHECK_OPTIONS_INIT;
  options.context = &told;
  options.threads = 2;
  options.progress = [](void* context, uint64_t, uint64_t) { ++*static_cast<uint64_t*>(context); };
  hawthorn_records* report = nullptr;
  C_OK(hawthorn_db_check(db_.get(), &options, &report, &e));
  {
    const RecordsHandle records(report);
    EXPECT_EQ(hawthorn_records_number(report, 0, "ok", 9), 1U);
    EXPECT_EQ(hawthorn_records_number(report, 0, "trees", 0), 1U);
    EXPECT_EQ(hawthorn_records_number(report, 0, "entries", 0), 2000U);
    EXPECT_GT(told, 0U);
  }
  options.threads = 65;
  C_FAILS("InvalidArgument", hawthorn_db_check(db_.get(), &options, &report, &e));
  C_OK(hawthorn_db_close(db_.get(), &e));

  // A byte of some value is another one.
  std::fstream file(path() + "/data.0", std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t place = bytes.find(std::string(400, 'v'));
  ASSERT_NE(place, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(place));
  file.put('w');
  file.close();
  open_with_tree();
  C_OK(hawthorn_db_check(db_.get(), nullptr, &report, &e));
  {
    const RecordsHandle records(report);
    EXPECT_EQ(hawthorn_records_number(report, 0, "ok", 9), 0U);
    hawthorn_field items;
    C_OK(hawthorn_records_find(report, 0, "items", &items, &e));
    ASSERT_GE(hawthorn_records_count(items.records), 1U);
    EXPECT_STREQ(hawthorn_records_bytes(items.records, 0, "kind", nullptr), "checksum");
    EXPECT_STREQ(hawthorn_records_bytes(items.records, 0, "file", nullptr), "data.0");
    hawthorn_field texts;
    C_OK(hawthorn_records_find(report, 0, "errors", &texts, &e));
    EXPECT_EQ(hawthorn_records_count(texts.records), hawthorn_records_count(items.records));
  }
  tree_.reset();
  C_FAILS("Busy", hawthorn_repair(path().c_str(), path("mended").c_str(), nullptr, &report, &e));
  db_.reset();

  hawthorn_repair_options repair = HAWTHORN_REPAIR_OPTIONS_INIT;
  C_OK(hawthorn_options_set(options_.get(), "memory_budget_bytes", "64M", &e));
  repair.database = options_.get();
  C_OK(hawthorn_repair(path().c_str(), path("mended").c_str(), &repair, &report, &e));
  {
    const RecordsHandle records(report);
    EXPECT_EQ(hawthorn_records_number(report, 0, "ok", 9), 0U);
    EXPECT_EQ(hawthorn_records_number(report, 0, "opened", 9), 1U);
    hawthorn_field losses;
    C_OK(hawthorn_records_find(report, 0, "losses", &losses, &e));
    ASSERT_GE(hawthorn_records_count(losses.records), 1U);
    EXPECT_STREQ(hawthorn_records_bytes(losses.records, 0, "tree", nullptr), "tree");
    EXPECT_STREQ(hawthorn_records_bytes(losses.records, 0, "kind", nullptr), "key_range");
  }
  C_FAILS("InvalidArgument",
          hawthorn_repair(path().c_str(), path("mended").c_str(), &repair, &report, &e));
  C_FAILS("NotFound",
          hawthorn_repair(path("nowhere").c_str(), path("again").c_str(), &repair, &report, &e));
}

}  // namespace

}  // namespace hawthorn::c
