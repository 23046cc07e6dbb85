// Copies of encrypted databases: nothing of them is readable, they open with the key of their time,
// and what somebody changes of them is told.
#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "format/backup_layout.h"
#include "format/backup_stream_layout.h"
#include "hawthorn/backup.h"
#include "tests/encryption/encrypted_work.h"

namespace hawthorn::tests::copies_test {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

class StringSink : public BackupSink {
 public:
  Status write(std::string_view part) override {
    bytes += part;
    return {};
  }
  std::string bytes;
};

class StringSource : public BackupSource {
 public:
  explicit StringSource(std::string_view bytes) : bytes_(bytes) {}
  Result<size_t> read(std::span<char> to) override {
    const size_t size = std::min(to.size(), bytes_.size());
    std::copy_n(bytes_.data(), size, to.data());
    bytes_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view bytes_;
};

Options with(const Encryption& encryption, bool create = false) {
  Options options = small_options();
  options.encryption = encryption;
  options.create_if_missing = create;
  return options;
}

Encryption wrong_key() {
  return {.key = [](std::string_view) -> Result<SecretKey> { return key_of_id("another"); },
          .key_id = {}};
}

class EncryptedCopies : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = size_t{4} << 20;
    db::data_file_bytes_first = uint64_t{1} << 20;
    db::data_file_bytes_max = uint64_t{64} << 20;
    db_ = open("/db", with(encryption_of(), true)).value();
    fill(1);
  }
  Result<std::unique_ptr<Db>> open(const std::string& path, const Options& options) {
    return Db::open_on(machine_.machine(), path, options);
  }
  // Runs, values in extents and large ones, and a log.
  void fill(uint64_t round) {
    const auto tree = db_->tree("t");
    ASSERT_OK(tree.status());
    const std::string salt = std::to_string(round);
    for (uint64_t i = 0; i < 4000; i += round) {
      ASSERT_OK(db_->put(*tree, marked_key(i), std::string(i % 2 == 0 ? 20 : 900, 'v') + salt));
    }
    ASSERT_OK(db_->put(*tree, "large", std::string(100'000, 'l') + salt));
    ASSERT_OK(db_->flush());
    for (uint64_t i = 0; i < 20; ++i) {
      ASSERT_OK(db_->put(*tree, "logged" + std::to_string(i), "logged" + salt));
    }
  }
  std::string contents() {
    const auto all = read_everything(*db_);
    EXPECT_OK(all.status());
    return all.ok() ? *all : std::string();
  }
  std::unique_ptr<BackupRepository> repository(const std::string& path = "/repo") {
    auto opened = BackupRepository::open_on(machine_.machine(), path);
    EXPECT_OK(opened.status());
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  void expect_holds(const std::string& path, const std::string& expected,
                    const Encryption& encryption = encryption_of()) {
    auto copy = open(path, with(encryption));
    ASSERT_OK(copy.status());
    const auto all = read_everything(**copy);
    ASSERT_OK(all.status());
    EXPECT_TRUE(*all == expected) << path;
    const auto report = (*copy)->check();
    ASSERT_OK(report.status());
    EXPECT_TRUE(report->ok()) << report->errors.front();
    EXPECT_NE((*copy)->id(), db_->id());
    // And it goes its own way.
    ASSERT_OK((*copy)->put((*copy)->tree("of the copy").value(), "key", "value"));
    ASSERT_OK((*copy)->close());
  }
  std::string bytes_of(const std::string& path) {
    auto file = disk_.open_file(path, {.read_only = true});
    EXPECT_OK(file.status());
    std::string bytes(*(*file)->size(), '\0');
    EXPECT_OK((*file)->read_at(0, bytes));
    return bytes;
  }
  void write(const std::string& path, std::string_view bytes) {
    auto file = disk_.open_file(path, {.create = true});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->truncate(bytes.size()));
    ASSERT_OK((*file)->write_at(0, bytes));
  }

  SimDisk disk_{1};
  SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
};

void expect_status(const Status& status, StatusCode code, std::string_view what) {
  EXPECT_TRUE(status.is(code)) << status.to_string();
  EXPECT_NE(status.message().find(what), std::string_view::npos) << status.to_string();
}

// ---- What they hold

TEST(EncryptedCopiesOfAll, nothing_is_readable_and_all_is_there) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  Sightings sightings(marks(), "MARK-of");
  SimDisk disk(1);
  WatchedFiles files(&disk, &sightings);
  SimMachine machine(disk, 1);
  os::Machine watched = machine.machine();
  watched.files = &files;
  auto db = Db::open_on(watched, "/db", with(encryption_of(), true)).value();
  auto repository = BackupRepository::open_on(watched, "/repo").value();
  uint64_t step = 0;
  work(*db, 0, [&] {
    ++step;
    if (step % 3 == 0) ASSERT_OK(db->backup(*repository).status());
    if (step % 3 == 1) ASSERT_OK(db->checkpoint("/while" + std::to_string(step)));
  });
  ASSERT_OK(db->put(db->find_tree("MARK-of-a-tree").value(), "late", "MARK-of-a-value"));
  const std::string expected = read_everything(*db).value();
  ASSERT_OK(db->checkpoint("/copy"));
  const BackupInfo made = db->backup(*repository).value();
  EXPECT_TRUE(made.encrypted);
  EXPECT_TRUE(made.incremental);
  ASSERT_OK(repository->restore(made.id, "/restored", {.encryption = encryption_of()}));
  StringSink sink;
  EXPECT_TRUE(db->backup_to(sink).value().encrypted);
  sightings.look("the stream", sink.bytes);
  StringSource source(sink.bytes);
  ASSERT_OK(restore_backup_on(watched, source, "/streamed").status());
  for (const char* const path : {"/copy", "/restored", "/streamed"}) {
    files.look_at_all(path);
    auto copy = Db::open_on(watched, path, with(encryption_of()));
    ASSERT_OK(copy.status());
    EXPECT_TRUE(read_everything(**copy).value() == expected) << path;
    EXPECT_TRUE((*copy)->check().value().ok()) << path;
    EXPECT_NE((*copy)->id(), db->id());
    ASSERT_OK((*copy)->close());
    files.look_at_all(path);
  }
  files.look_at_all("/repo");
  for (uint64_t i = 1; i <= step; i += 3) files.look_at_all("/while" + std::to_string(i));
  for (const auto& [mark, where] : sightings.seen()) {
    for (const std::string& file : where) ADD_FAILURE() << mark << " stands in " << file;
  }
}

TEST_F(EncryptedCopies, need_the_key) {
  ASSERT_OK(db_->checkpoint("/copy"));
  expect_status(open("/copy", with({})).status(), StatusCode::kInvalidArgument, "has no keys");
  expect_status(open("/copy", with(wrong_key())).status(), StatusCode::kInvalidArgument,
                "wrong key");
  expect_holds("/copy", contents());
  // The copy's own: it may go on, as the source does.
  auto copy = open("/copy", with(encryption_of())).value();
  ASSERT_OK(copy->rotate_key("second"));
  ASSERT_OK(copy->close());
  ASSERT_OK(db_->close());
  ASSERT_OK(open("/db", with(encryption_of())).status());
}

// Before it has a log of its own.
TEST_F(EncryptedCopies, may_be_read_before_they_are_written) {
  const std::string expected = contents();
  ASSERT_OK(db_->checkpoint("/copy"));
  Options options = with(encryption_of());
  options.read_only = true;
  {
    auto copy = open("/copy", options);
    ASSERT_OK(copy.status());
    EXPECT_TRUE(read_everything(**copy).value() == expected);
    EXPECT_TRUE((*copy)->check().value().ok());
    ASSERT_OK((*copy)->close());
  }
  expect_holds("/copy", expected);
  // A copy of a copy, and one whose log has more than one epoch.
  auto copy = open("/copy", with(encryption_of())).value();
  ASSERT_OK(copy->create_feed("feed"));
  ASSERT_OK(copy->put(copy->tree("t").value(), "more", "1"));
  ASSERT_OK(copy->close());
  copy.reset();
  copy = open("/copy", with(encryption_of())).value();
  ASSERT_OK(copy->put(copy->tree("t").value(), "still more", "1"));
  const std::string more = read_everything(*copy).value();
  ASSERT_OK(copy->checkpoint("/second"));
  expect_holds("/second", more);
}

TEST_F(EncryptedCopies, a_key_that_is_not_to_be_had_ends_a_copy) {
  ASSERT_OK(db_->close());
  bool gone = false;
  Encryption fickle = encryption_of();
  fickle.key = [&gone](std::string_view id) -> Result<SecretKey> {
    if (gone) return Status(StatusCode::kNotFound, "the vault is closed");
    return key_of_id(id);
  };
  db_ = open("/db", with(fickle)).value();
  gone = true;
  expect_status(db_->checkpoint("/copy"), StatusCode::kNotFound, "the vault is closed");
  expect_status(open("/copy", with(encryption_of())).status(), StatusCode::kCorruption,
                "copy.incomplete");
  gone = false;
  ASSERT_OK(db_->checkpoint("/copy"));
  expect_holds("/copy", contents());
}

TEST_F(EncryptedCopies, one_repository_for_all) {
  auto repo = repository();
  const std::string expected = contents();
  auto plain = open("/plain", with({}, true)).value();
  auto second = open("/second", with(encryption_of("second"), true)).value();
  for (Db* const db : {plain.get(), second.get()}) {
    const Tree tree = db->tree("t").value();
    for (uint64_t i = 0; i < 2000; ++i) ASSERT_OK(db->put(tree, marked_key(i), "value"));
    ASSERT_OK(db->flush());
  }
  const std::string other = read_everything(*plain).value();
  std::vector<BackupInfo> made;
  for (int round = 0; round < 2; ++round) {
    made.push_back(db_->backup(*repo).value());
    made.push_back(plain->backup(*repo).value());
    made.push_back(second->backup(*repo).value());
  }
  EXPECT_FALSE(made[0].incremental);
  EXPECT_FALSE(made[2].incremental);
  for (size_t i = 3; i < 6; ++i) {
    EXPECT_TRUE(made[i].incremental);
    EXPECT_LT(made[i].bytes_stored, made[i].bytes / 2);
    EXPECT_LT(made[i].bytes_read, made[i - 3].bytes_read);  // the log, at least
    EXPECT_EQ(made[i].encrypted, i != 4);
    ASSERT_OK(repo->restore(made[i].id, "/restored" + std::to_string(i)));
  }
  expect_holds("/restored3", expected);
  expect_holds("/restored4", other, {});
  expect_holds("/restored5", other, encryption_of("second"));
  // One that was restored shares what it has with its source.
  auto restored = open("/restored3", with(encryption_of())).value();
  const BackupInfo again = restored->backup(*repo).value();
  EXPECT_LT(again.bytes_stored, again.bytes / 2);
  EXPECT_EQ(repo->list().value().size(), 7u);
  ASSERT_OK(repo->remove(made[0].id));
  for (size_t i = 1; i < 6; ++i) ASSERT_OK(repo->verify(made[i].id));
}

TEST_F(EncryptedCopies, open_with_the_key_of_their_time) {
  auto repo = repository();
  std::map<uint64_t, std::string> expected;
  const auto back_up = [&] {
    const Result<BackupInfo> made = db_->backup(*repo);
    ASSERT_OK(made.status());
    expected[made->id] = contents();
    if (made->id > 1) {
      EXPECT_LT(made->bytes_stored, made->bytes);
    }
  };
  back_up();
  ASSERT_OK(db_->rotate_key("second"));
  fill(7);
  back_up();
  ASSERT_OK(db_->rotate_data_key());
  fill(900);
  back_up();
  for (const auto& [id, all] : expected) {
    const Encryption now = encryption_of();
    // The key of the database's time, and no other.
    const std::string name = id == 1 ? "first" : "second";
    const Encryption then = {.key = [&name](std::string_view asked) -> Result<SecretKey> {
                               if (asked == name) return key_of_id(asked);
                               return Status(StatusCode::kNotFound, "no such key");
                             },
                             .key_id = {}};
    const std::string target = "/restored" + std::to_string(id);
    ASSERT_OK(repo->verify(id, {.encryption = then}));
    ASSERT_OK(repo->restore(id, target, {.encryption = then}));
    expect_holds(target, all, then);
  }
}

// ---- What is told of changes

TEST_F(EncryptedCopies, a_wrong_key_is_told_before_anything_is_written) {
  auto repo = repository();
  const uint64_t id = db_->backup(*repo).value().id;
  expect_status(repo->verify(id, {.encryption = wrong_key()}), StatusCode::kInvalidArgument,
                "wrong key");
  expect_status(repo->restore(id, "/restored", {.encryption = wrong_key()}),
                StatusCode::kInvalidArgument, "wrong key");
  EXPECT_FALSE(disk_.exists("/restored/copy.incomplete").value());
  StringSink sink;
  ASSERT_OK(db_->backup_to(sink).status());
  StringSource source(sink.bytes);
  expect_status(verify_backup(source, {.encryption = wrong_key()}).status(),
                StatusCode::kInvalidArgument, "wrong key");
  // Somebody may have put it there.
  auto plain = open("/plain", with({}, true)).value();
  const uint64_t of_plain = plain->backup(*repo).value().id;
  expect_status(repo->restore(of_plain, "/restored", {.encryption = encryption_of()}),
                StatusCode::kInvalidArgument, "not encrypted");
  StringSink plain_sink;
  ASSERT_OK(plain->backup_to(plain_sink).status());
  StringSource plain_source(plain_sink.bytes);
  expect_status(verify_backup(plain_source, {.encryption = encryption_of()}).status(),
                StatusCode::kInvalidArgument, "not encrypted");
}

TEST_F(EncryptedCopies, a_flipped_bit_of_a_repository_is_told) {
  {
    auto repo = repository();
    ASSERT_OK(db_->backup(*repo).status());
    fill(50);
    ASSERT_OK(db_->backup(*repo).status());
  }
  uint64_t at = 5;
  for (const char* const name : {"repository", "backup.1", "backup.2", "parts.1", "parts.2"}) {
    const std::string path = std::string("/repo/") + name;
    const uint64_t bits = bytes_of(path).size() * 8;
    for (int i = 0; i < 12; ++i) {
      at = mix64(at);
      SCOPED_TRACE(path + " bit " + std::to_string(at % bits));
      ASSERT_TRUE(disk_.flip_bit(path, at % bits / 8, at % 8));
      for (const Encryption& encryption : {Encryption(), encryption_of()}) {
        auto repo = BackupRepository::open_on(machine_.machine(), "/repo");
        Status status = repo.status();
        for (const uint64_t id : {1, 2}) {
          if (status.ok()) status = (*repo)->verify(id, {.encryption = encryption});
        }
        expect_status(status, StatusCode::kCorruption, " at ");
      }
      ASSERT_TRUE(disk_.flip_bit(path, at % bits / 8, at % 8));
    }
  }
  ASSERT_OK(repository()->verify(2, {.encryption = encryption_of()}));
}

// With checksums that are right: only who has the key can tell.
TEST_F(EncryptedCopies, a_forged_index_is_told_to_who_has_the_key) {
  auto repo = repository();
  ASSERT_OK(db_->backup(*repo).status());
  const std::string good = bytes_of("/repo/backup.1");
  const auto judge = [&](const std::string& what) {
    SCOPED_TRACE(what);
    EXPECT_OK(repo->verify(1));
    expect_status(repo->verify(1, {.encryption = encryption_of()}), StatusCode::kCorruption,
                  "/repo/backup.1 at 0");
    expect_status(repo->restore(1, "/restored", {.encryption = encryption_of()}),
                  StatusCode::kCorruption, "/repo/backup.1 at 0");
    // A later backup does not build on it.
    const BackupInfo later = db_->backup(*repo).value();
    EXPECT_FALSE(later.incremental);
    ASSERT_OK(repo->remove(later.id));
    write("/repo/backup.1", good);
  };
  const auto forge = [&](const std::function<void(format::BackupIndex&)>& change) {
    format::BackupIndex index = format::decode_backup(good).value();
    change(index);
    write("/repo/backup.1", format::encode_backup(index));
  };
  forge([](format::BackupIndex& index) {
    // Two parts of the same size in each other's place.
    for (format::BackupFile& file : index.files) {
      for (size_t i = 0; i + 1 < file.parts.size(); ++i) {
        if (file.parts[i].bytes != file.parts[i + 1].bytes) continue;
        std::swap(file.parts[i], file.parts[i + 1]);
        std::swap(file.parts[i].offset, file.parts[i + 1].offset);
        return;
      }
    }
    FAIL() << "no two parts of one size";
  });
  judge("parts in other places");
  forge([](format::BackupIndex& index) {
    for (format::BackupFile& file : index.files) {
      if (file.name.starts_with("data.")) file.parts.pop_back();
    }
  });
  judge("a part less");
  forge([](format::BackupIndex& index) { index.header.created_us += 1; });
  judge("another time");
  forge([](format::BackupIndex& index) { index.seal->salt[3] ^= 1; });
  judge("another salt");
  // Of another repository, with the same parts.
  auto other = repository("/other");
  ASSERT_OK(db_->backup(*other).status());
  write("/repo/backup.1", bytes_of("/other/backup.1"));
  const std::string parts = bytes_of("/repo/parts.1");
  write("/repo/parts.1", bytes_of("/other/parts.1"));
  expect_status(repo->verify(1, {.encryption = encryption_of()}), StatusCode::kCorruption,
                "its seal is broken");
  write("/repo/parts.1", parts);
  write("/repo/backup.1", good);
  // Without its seal it is nobody's.
  forge([](format::BackupIndex& index) { index.seal.reset(); });
  expect_status(repo->verify(1, {.encryption = encryption_of()}), StatusCode::kInvalidArgument,
                "not encrypted");
  write("/repo/backup.1", good);
  ASSERT_OK(repo->verify(1, {.encryption = encryption_of()}));
}

// An older backup under the name of a newer one, with the parts of both there.
TEST_F(EncryptedCopies, an_older_backup_does_not_pass_for_a_newer_one) {
  auto repo = repository();
  ASSERT_OK(db_->backup(*repo).status());
  fill(50);
  ASSERT_OK(db_->backup(*repo).status());
  format::BackupIndex index = format::decode_backup(bytes_of("/repo/backup.1")).value();
  write("/repo/backup.2", bytes_of("/repo/backup.1"));
  expect_status(repo->verify(2), StatusCode::kCorruption, "it is backup 1");
  index.header.id = 2;
  write("/repo/backup.2", format::encode_backup(index));
  EXPECT_OK(repo->verify(2));
  expect_status(repo->verify(2, {.encryption = encryption_of()}), StatusCode::kCorruption,
                "its seal is broken");
}

TEST_F(EncryptedCopies, a_changed_stream_is_told) {
  StringSink sink;
  ASSERT_OK(db_->backup_to(sink).status());
  const std::string good = sink.bytes;
  const auto verify = [](std::string_view bytes, const Encryption& encryption) {
    StringSource source(bytes);
    return verify_backup(source, {.encryption = encryption}).status();
  };
  ASSERT_OK(verify(good, {}));
  ASSERT_OK(verify(good, encryption_of()));
  uint64_t at = 3;
  for (int i = 0; i < 60; ++i) {
    at = mix64(at);
    std::string changed = good;
    changed[at % good.size()] = static_cast<char>(changed[at % good.size()] ^ (1 << i % 8));
    for (const Encryption& encryption : {Encryption(), encryption_of()}) {
      EXPECT_TRUE(verify(changed, encryption).is(StatusCode::kCorruption)) << at % good.size();
    }
    expect_status(verify(good.substr(0, at % good.size()), encryption_of()),
                  StatusCode::kCorruption, "cut off");
  }
  // Records anew, their checksums right: one with other bytes, one that is missing.
  const auto header = format::decode_stream_header(good.substr(0, sizeof(format::StreamHeader)));
  ASSERT_OK(header.status());
  for (const bool drops : {false, true}) {
    std::string forged = good.substr(0, sizeof(format::StreamHeader));
    uint64_t sequence = 0;
    uint64_t from = 0;
    uint64_t dropped = 0;
    bool done = false;
    bool in_data = false;
    for (size_t place = forged.size(); place < good.size(); ++from) {
      const auto record = format::decode_stream_record(
          good.substr(place, sizeof(format::StreamRecord)), from, header->salt);
      ASSERT_OK(record.status());
      std::string payload =
          good.substr(place + sizeof(format::StreamRecord), record->payload_bytes);
      place += sizeof(format::StreamRecord) + record->payload_bytes;
      const auto type = static_cast<format::StreamRecordType>(record->type);
      if (type == format::StreamRecordType::kFile) in_data = payload.starts_with("data.");
      if (!done && in_data && type == format::StreamRecordType::kPart) {
        done = true;
        payload[payload.size() / 2] = static_cast<char>(payload[payload.size() / 2] ^ 1);
        if (drops) {
          dropped = payload.size();
          continue;
        }
      }
      const bool end = type == format::StreamRecordType::kEnd;
      forged += format::encode_stream_record(
          type, sequence++, end ? record->number - dropped : record->number, payload, header->salt);
      forged += payload;
    }
    ASSERT_TRUE(done);
    EXPECT_OK(verify(forged, {}));
    expect_status(verify(forged, encryption_of()), StatusCode::kCorruption,
                  "the stream is not what was written");
  }
}

// Without a key it is restored as it is; what was changed is told when it is read.
TEST_F(EncryptedCopies, each_file_of_a_checkpoint_that_changes_is_told) {
  const std::string expected = contents();
  ASSERT_OK(db_->checkpoint("/copy"));
  const std::vector<std::string> names = disk_.list("/copy").value();
  uint64_t judged = 0;
  uint64_t refused = 0;
  uint64_t at = 9;
  for (const std::string& name : names) {
    if (name == "lock") continue;
    const std::string bytes = bytes_of("/copy/" + name);
    std::vector<size_t> used;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != 0) used.push_back(i);
    }
    ASSERT_FALSE(used.empty()) << name;
    for (int i = 0; i < 12; ++i) {
      at = mix64(at);
      const size_t place = used[at % used.size()];
      SCOPED_TRACE(name + " at " + std::to_string(place));
      const auto disk = disk_.after_crash(1, CrashKind::kProcessKill);
      ASSERT_TRUE(disk->flip_bit("/copy/" + name, place, at / 7 % 8));
      const SimMachine machine(*disk, 5);
      ++judged;
      auto copy = Db::open_on(machine.machine(), "/copy", with(encryption_of()));
      Status status = copy.status();
      if (status.ok()) {
        const auto all = read_everything(**copy);
        status = all.status();
        if (all.ok()) {
          EXPECT_TRUE(*all == expected);
        }
      }
      if (!status.ok()) {
        ++refused;
        EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
      }
    }
  }
  EXPECT_GT(refused, judged / 3);
}

// The manifest of the copy says where its log ends.
TEST_F(EncryptedCopies, a_log_that_was_cut_off_is_told) {
  ASSERT_OK(db_->checkpoint("/copy"));
  uint64_t cut = 0;
  const std::vector<std::string> names = disk_.list("/copy").value();
  for (const std::string& name : names) {
    if (!name.starts_with("wal.")) continue;
    std::string bytes = bytes_of("/copy/" + name);
    const size_t last = bytes.find_last_not_of('\0');
    if (last == std::string::npos) continue;
    ++cut;
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(last - std::min<size_t>(last, 300)),
              bytes.end(), '\0');
    write("/copy/" + name, bytes);
  }
  ASSERT_GT(cut, 0u);
  expect_status(open("/copy", with(encryption_of())).status(), StatusCode::kCorruption,
                "no valid record");
}

}  // namespace
}  // namespace hawthorn::tests::copies_test
