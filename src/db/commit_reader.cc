#include "db/commit_reader.h"

#include <algorithm>

#include "base/bytes.h"

namespace hawthorn::db {

using format::RecordType;

namespace {

Status damaged_record(Lsn lsn, std::string_view what) {
  return Status(StatusCode::kCorruption,
                "log record at lsn " + std::to_string(lsn) + " " + std::string(what));
}
Status too_old(Lsn lsn) {
  return Status(StatusCode::kTooOld,
                "the log does not reach back to lsn " + std::to_string(lsn) + " any more");
}

size_t header_of(RecordType type) {
  switch (type) {
    case RecordType::kChunk:
    case RecordType::kRollbackTo:
      return format::kChunkHeaderBytes;
    case RecordType::kAbort:
      return sizeof(uint64_t);
    case RecordType::kPreparedCommit:
    case RecordType::kPreparedAbort:
      return format::kOutcomeHeaderBytes;
    case RecordType::kChunkedCommit:
    case RecordType::kLayeredCommit:
    case RecordType::kRelayedCommit:
    case RecordType::kAttachingCommit:
      return format::kChunkedCommitHeaderBytes;
    case RecordType::kPad:
    case RecordType::kCommit:
    case RecordType::kPrepare:
    case RecordType::kLayersMerged:
      break;
  }
  return 0;
}
}  // namespace

Result<std::unique_ptr<CommitReader>> CommitReader::open(Source source, Lsn from, Lsn position) {
  std::unique_ptr<CommitReader> reader(new CommitReader(std::move(source)));
  const Source& log = reader->source_;
  Result<std::unique_ptr<wal::Tail>> tail =
      wal::Tail::open(log.machine, log.directory, log.options, log.epochs, from);
  if (!tail.ok()) return tail.status();
  reader->tail_ = std::move(*tail);
  reader->from_ = reader->tail_->position();
  reader->position_ = reader->passed_ = position;
  return reader;
}

// A transaction's id is its own within an epoch of the log: that with the record at this lsn.
CommitReader::Key CommitReader::key_of(Lsn of_epoch, std::string_view payload) const {
  Lsn start = 0;
  for (const format::LogEpoch& epoch : source_.epochs) {
    if (epoch.start <= of_epoch) start = std::max(start, epoch.start);
  }
  return {start, load<uint64_t>(payload.data())};
}

Result<bool> CommitReader::next(Lsn below) {
  at_ = nullptr;
  while (true) {
    Result<wal::Tail::Next> next = tail_->next(below);
    if (!next.ok()) return next.status();
    if (next->outcome == wal::Tail::Outcome::kGone) return too_old(tail_->position());
    if (next->outcome == wal::Tail::Outcome::kEnd) return false;
    Result<bool> is_commit = take(next->record);
    if (!is_commit.ok() || *is_commit) return is_commit;
  }
}

// True: it is a commit to deliver.
Result<bool> CommitReader::take(const wal::RecordView& record) {
  const std::string_view payload = record.payload;
  if (payload.size() < header_of(record.type)) return damaged_record(record.lsn, "is too short");
  switch (record.type) {
    case RecordType::kPad:
    case RecordType::kPrepare:
    case RecordType::kLayersMerged:
      return false;
    case RecordType::kChunk: {
      const auto seq = load<uint32_t>(payload.data() + 8);
      open_[key_of(record.lsn, payload)].chunks.push_back(
          {record.lsn, seq, seq + record.operations});
      return false;
    }
    case RecordType::kRollbackTo: {
      // Those of before that take less away say nothing more: so numbers go up, too.
      auto& masks = open_[key_of(record.lsn, payload)].masks;
      const auto seq = load<uint32_t>(payload.data() + 8);
      while (!masks.empty() && masks.back().second >= seq) masks.pop_back();
      masks.emplace_back(record.lsn, seq);
      return false;
    }
    case RecordType::kAbort:
      open_.erase(key_of(record.lsn, payload));
      return false;
    case RecordType::kPreparedAbort:
      open_.erase(key_of(load<uint64_t>(payload.data() + 8), payload));
      return false;
    case RecordType::kCommit:
      passed_ = std::max(passed_, record.lsn);
      if (record.lsn <= position_) return false;
      cts_ = record.lsn;
      own_ = payload;
      pieces_ = {{record.lsn, 0, 0, ~uint32_t{0}}};
      rewind();
      return true;
    case RecordType::kPreparedCommit:
    case RecordType::kChunkedCommit:
    case RecordType::kLayeredCommit:
    case RecordType::kRelayedCommit:
    case RecordType::kAttachingCommit:
      return take_chunked(record);
  }
  return false;
}

Result<bool> CommitReader::take_chunked(const wal::RecordView& record) {
  const std::string_view payload = record.payload;
  const Lsn from = load<uint64_t>(payload.data() + 8);
  const bool prepared = record.type == RecordType::kPreparedCommit;
  const Key key = key_of(prepared ? from : record.lsn, payload);
  Open open;
  if (const auto at = open_.find(key); at != open_.end()) {
    open = std::move(at->second);
    open_.erase(at);
  }
  passed_ = std::max(passed_, record.lsn);
  if (record.lsn <= position_ || record.type == RecordType::kRelayedCommit) return false;
  if (from < from_) return too_old(from);
  if (record.type == RecordType::kAttachingCommit) {
    return Status(StatusCode::kNotSupported,
                  "the commit at " + std::to_string(record.lsn) +
                      " is a bulk ingest, of which the log does not have the entries");
  }
  Chunk own{record.lsn, 0, 0};
  own_ = {};
  if (!prepared) {
    own.first_seq = load<uint32_t>(payload.data() + 16);
    own_ = payload.substr(format::kChunkedCommitHeaderBytes);
    if (record.type == RecordType::kLayeredCommit) {
      const size_t trees = own_.size() < 4 ? own_.size() : load<uint32_t>(own_.data());
      if (own_.size() < 4 || trees > own_.size() / 4 - 1) {
        return damaged_record(record.lsn, "names more trees than it has");
      }
      own_.remove_prefix(4 + 4 * trees);
    }
    for (const char* at = own_.data(); at != own_.data() + own_.size();) {
      format::Operation operation;
      at = format::decode_operation(at, own_.data() + own_.size(), &operation);
      if (at == nullptr) return damaged_record(record.lsn, "holds no valid operations");
      ++own.end_seq;
    }
    own.end_seq += own.first_seq;
  }
  put_together(std::move(open), from, own);
  cts_ = record.lsn;
  rewind();
  return true;
}

// What counts, each number once, in order. What was logged again may stand behind later operations,
// and in part twice; a rollback takes what was logged before it (R5).
void CommitReader::put_together(Open open, Lsn from, const Chunk& own) {
  open.chunks.push_back(own);
  pieces_.clear();
  std::vector<Piece> counting;
  for (const Chunk& chunk : open.chunks) {
    if (chunk.lsn < from) continue;
    uint32_t end = chunk.end_seq;
    const auto next = std::upper_bound(open.masks.begin(), open.masks.end(), chunk.lsn,
                                       [](Lsn at, const auto& mask) { return at < mask.first; });
    if (next != open.masks.end()) end = std::min(end, next->second);
    if (chunk.first_seq < end) {
      counting.push_back({chunk.lsn, chunk.first_seq, chunk.first_seq, end});
    }
  }
  std::sort(counting.begin(), counting.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.first_seq, a.lsn) < std::pair(b.first_seq, b.lsn);
  });
  uint32_t next = 0;
  for (Piece& piece : counting) {
    piece.begin = std::max(piece.begin, next);
    if (piece.begin >= piece.end) continue;
    next = piece.end;
    pieces_.push_back(piece);
  }
}

void CommitReader::rewind() {
  piece_ = 0;
  at_ = nullptr;
}

// Makes pieces_[piece_] the one that is read.
Status CommitReader::load_piece() {
  const Piece& piece = pieces_[piece_];
  std::string_view operations = own_;
  if (piece.lsn != cts_) {
    if (chunks_ == nullptr) {
      Result<std::unique_ptr<wal::Tail>> opened = wal::Tail::open(
          source_.machine, source_.directory, source_.options, source_.epochs, piece.lsn);
      if (!opened.ok()) return opened.status();
      chunks_ = std::move(*opened);
    }
    chunks_->go_to(piece.lsn);
    Result<wal::Tail::Next> next = chunks_->next(cts_);
    if (!next.ok()) return next.status();
    if (next->outcome != wal::Tail::Outcome::kRecord) return too_old(piece.lsn);
    if (next->record.lsn != piece.lsn || next->record.type != RecordType::kChunk ||
        next->record.payload.size() < format::kChunkHeaderBytes) {
      return damaged_record(piece.lsn, "is no chunk");
    }
    operations = next->record.payload.substr(format::kChunkHeaderBytes);
  }
  at_ = operations.data();
  end_ = at_ + operations.size();
  seq_ = piece.first_seq;
  return {};
}

Result<bool> CommitReader::next_operation(format::Operation* operation) {
  while (piece_ < pieces_.size()) {
    if (at_ == nullptr) {
      if (Status s = load_piece(); !s.ok()) return s;
    }
    const Piece& piece = pieces_[piece_];
    while (seq_ < piece.end && at_ != end_) {
      at_ = format::decode_operation(at_, end_, operation);
      if (at_ == nullptr) return damaged_record(piece.lsn, "holds no valid operations");
      if (seq_++ >= piece.begin) return true;
    }
    ++piece_;
    at_ = nullptr;
  }
  return false;
}

}  // namespace hawthorn::db
