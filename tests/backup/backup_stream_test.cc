// Backups into a stream and back: damage, truncation, and streams that fail or give little at once.

#include "base/bytes.h"
#include "format/backup_stream_layout.h"
#include "tests/backup/sim_backup_fixture.h"

namespace hawthorn::tests {
namespace {

class StringSink : public BackupSink {
 public:
  Status write(std::string_view part) override {
    if (bytes.size() + part.size() > fail_at) return Status(StatusCode::kIoError, "the sink");
    bytes += part;
    return {};
  }
  std::string bytes;
  size_t fail_at = ~size_t{0};
};

class StringSource : public BackupSource {
 public:
  explicit StringSource(std::string_view bytes, size_t step = ~size_t{0})
      : bytes_(bytes), step_(step) {}
  Result<size_t> read(std::span<char> to) override {
    const size_t size = std::min({to.size(), step_, bytes_.size() - at});
    if (at + size > fail_at) return Status(StatusCode::kIoError, "the source");
    std::copy_n(bytes_.data() + at, size, to.data());
    at += size;
    return size;
  }
  size_t at = 0;
  size_t fail_at = ~size_t{0};

 private:
  const std::string_view bytes_;
  const size_t step_;
};

class BackupStream : public SimBackup {
 protected:
  void SetUp() override {
    SimBackup::SetUp();
    expected_ = numbered(0, 3000, 300);
    expected_["large"] = value_of(1, 200'000);
    put_all(expected_);
    ASSERT_OK(db_->flush());
    expected_["late"] = "in the log";
    put_all({{"late", "in the log"}});
    StringSink sink;
    const Result<BackupInfo> made = db_->backup_to(sink);
    ASSERT_OK(made.status());
    info_ = *made;
    stream_ = std::move(sink.bytes);
  }
  Status verify(std::string_view bytes) {
    StringSource source(bytes);
    return verify_backup(source).status();
  }
  Status restore(std::string_view bytes, const std::string& target, size_t step = ~size_t{0}) {
    StringSource source(bytes, step);
    return restore_backup_on(machine_.machine(), source, target).status();
  }

  Contents expected_;
  std::string stream_;
  BackupInfo info_;
};

TEST_F(BackupStream, goes_there_and_back) {
  EXPECT_EQ(info_.id, 0U);
  EXPECT_EQ(info_.bytes_stored, stream_.size());
  EXPECT_LT(info_.bytes, stream_.size());
  const std::string longer = stream_ + "something else";
  StringSource source(longer);
  const Result<BackupInfo> verified = verify_backup(source);
  ASSERT_OK(verified.status());
  EXPECT_EQ(verified->bytes, info_.bytes);
  EXPECT_EQ(verified->created_us, info_.created_us);
  EXPECT_EQ(source.at, stream_.size()) << "it read behind the end";
  size_t number = 0;
  for (const size_t step : {~size_t{0}, size_t{1}, size_t{4097}}) {
    const std::string target = "/copy" + std::to_string(++number);
    ASSERT_OK(restore(stream_, target, step));
    EXPECT_TRUE(same(contents_of(target), expected_));
  }
  EXPECT_TRUE(restore(stream_, "/copy1").is(StatusCode::kInvalidArgument));
}

TEST_F(BackupStream, what_is_cut_off_is_told_wherever_that_is) {
  Prng prng(3);
  for (int i = 0; i < 60; ++i) {
    const size_t size = i < 20 ? stream_.size() - 1 - static_cast<size_t>(i) * 5
                               : prng.below(i < 30 ? 200 : stream_.size());
    const Status status = verify(std::string_view(stream_).substr(0, size));
    ASSERT_TRUE(status.is(StatusCode::kCorruption)) << size;
    EXPECT_NE(status.message().find("cut off"), std::string_view::npos) << status.message();
  }
  const std::string_view cut(stream_.data(), stream_.size() - 1);
  EXPECT_TRUE(restore(cut, "/copy").is(StatusCode::kCorruption));
  EXPECT_TRUE(open("/copy", true).is(StatusCode::kCorruption));
  ASSERT_OK(restore(stream_, "/copy"));
  EXPECT_TRUE(same(contents_of("/copy"), expected_));
}

TEST_F(BackupStream, every_flipped_bit_is_found) {
  Prng prng(4);
  for (int i = 0; i < 200; ++i) {
    const size_t at = i < 60 ? static_cast<size_t>(i) * 3 : prng.below(stream_.size());
    stream_[at] = static_cast<char>(stream_[at] ^ 4);
    const Status status = verify(stream_);
    EXPECT_TRUE(status.is(StatusCode::kCorruption)) << at << ": " << status.to_string();
    if (i % 40 == 0) {
      EXPECT_TRUE(restore(stream_, "/copy").is(StatusCode::kCorruption));
    }
    stream_[at] = static_cast<char>(stream_[at] ^ 4);
  }
  ASSERT_OK(verify(stream_));
}

// Records that are whole, but of another stream, or left out, or twice.
TEST_F(BackupStream, records_stand_where_they_were_written) {
  std::vector<std::pair<size_t, size_t>> records;  // offset, size
  size_t at = sizeof(format::StreamHeader);
  while (at < stream_.size()) {
    const auto record = load<format::StreamRecord>(stream_.data() + at);
    records.emplace_back(at, sizeof(record) + record.payload_bytes);
    at += records.back().second;
  }
  ASSERT_EQ(at, stream_.size());
  ASSERT_GT(records.size(), 6U);
  StringSink other;
  ASSERT_OK(db_->backup_to(other).status());
  for (size_t i = 0; i < records.size(); ++i) {
    const auto [offset, size] = records[i];
    const std::string before = stream_.substr(0, offset);
    const std::string record = stream_.substr(offset, size);
    const std::string after = stream_.substr(offset + size);
    if (i + 1 < records.size()) {
      EXPECT_TRUE(verify(before + after).is(StatusCode::kCorruption)) << i;
      EXPECT_TRUE(verify(before + record + record + after).is(StatusCode::kCorruption)) << i;
    }
    EXPECT_TRUE(verify(before + other.bytes.substr(offset)).is(StatusCode::kCorruption)) << i;
  }
}

TEST_F(BackupStream, an_error_of_the_stream_is_the_calls) {
  for (const size_t at : {size_t{0}, size_t{50}, stream_.size() / 2, stream_.size() - 1}) {
    SCOPED_TRACE(at);
    StringSink sink;
    sink.fail_at = at;
    const Status sent = db_->backup_to(sink).status();
    EXPECT_TRUE(sent.is(StatusCode::kIoError));
    EXPECT_EQ(sent.message(), "the sink");
    EXPECT_TRUE(verify(sink.bytes).is(StatusCode::kCorruption));
    StringSource source(stream_);
    source.fail_at = at;
    const Status status = restore_backup_on(machine_.machine(), source, "/copy").status();
    EXPECT_EQ(status.message(), "the source");
    EXPECT_TRUE(open("/copy", true).is(StatusCode::kCorruption));
  }
  ASSERT_OK(restore(stream_, "/copy"));
}

// A name in a stream leads nowhere else, and is none that a database does not have.
TEST_F(BackupStream, names_are_those_of_a_database) {
  for (const std::string& name : {std::string("copy.incomplete"), std::string("lock"),
                                  std::string("../out"), std::string("mine"), std::string()}) {
    SCOPED_TRACE(name);
    std::string stream = format::encode_stream_header(1, 5, false);
    stream += format::encode_stream_record(format::StreamRecordType::kFile, 0, 100, name, 5);
    stream += name;
    stream += format::encode_stream_record(format::StreamRecordType::kEnd, 1, 0, {}, 5);
    EXPECT_TRUE(restore(stream, "/copy").is(StatusCode::kCorruption));
    EXPECT_TRUE(open("/copy", true).is(StatusCode::kCorruption));
    EXPECT_FALSE(disk_.exists("/out").value());
  }
}

}  // namespace
}  // namespace hawthorn::tests
