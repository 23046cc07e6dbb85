// Prepared transactions in the log: which of them have no outcome, and how these are put back.

#include <utility>

#include "base/bytes.h"
#include "db/replay.h"

namespace hawthorn::db {

using format::Lsn;
using format::RecordType;

// The records of one that was being moved may end anywhere, and begin again: those before count
// until all of the new ones are there.
Status Replay::scan_prepare(const wal::RecordView& record) {
  Result<format::PreparePart> part = format::decode_prepare(record.payload);
  if (!part.ok()) return damaged(record, "is damaged: " + std::string(part.status().message()));
  const format::PrepareHeader& header = part->header;
  if (header.first_lsn > record.lsn) return damaged(record, "names a first chunk behind it");
  const ChunkedKey key = chunked_key(record.lsn, header.transaction);
  ChunkedOutcome* outcome = &chunked_[key];
  if (header.part != outcome->parts) {
    // Begun anew; or the first ones were trimmed, and what comes behind is whole.
    outcome->parts = 0;
    outcome->held.clear();
    if (header.part != 0) return {};
  }
  ++outcome->parts;
  outcome->held.append(part->held);
  if (outcome->parts < header.parts) return {};
  outcome->parts = 0;
  txn::FoundPrepared& found = outcome->found;
  found.records.held = std::exchange(outcome->held, {});
  found.records.id = std::string(part->id);
  found.records.timestamp = header.timestamp;
  found.records.wall_us = header.wall_us;
  found.logged_id = header.transaction;
  found.first_lsn = header.first_lsn;
  found.operations = header.operations;
  outcome->prepared = true;
  outcome->from = header.first_lsn;
  if (const auto before = prepared_.find(found.records.id);
      before != prepared_.end() && before->second != key) {
    chunked_[before->second].prepared = false;  // moved here by another process
  }
  prepared_[found.records.id] = key;
  return {};
}

Status Replay::scan_prepared_outcome(const wal::RecordView& record) {
  if (record.payload.size() < format::kOutcomeHeaderBytes) return damaged(record, "is too short");
  const auto id = load<uint64_t>(record.payload.data());
  const Lsn from = load<uint64_t>(record.payload.data() + 8);
  if (from > record.lsn) return damaged(record, "names a first chunk behind it");
  ChunkedOutcome* outcome = &chunked_[chunked_key(from, id)];
  outcome->prepared = false;
  if (record.type == RecordType::kPreparedAbort) return {};
  resume_ = std::min(resume_, record.lsn);
  outcome->cts = record.lsn;
  outcome->from = from;
  if (outcome->first_lsn != 0) outcome->first_lsn = std::max(outcome->first_lsn, from);
  newest_ = std::max(newest_, record.lsn);
  return {};
}

void Replay::decide_prepared() {
  std::erase_if(prepared_, [this](const auto& entry) { return !chunked_[entry.second].prepared; });
}

std::vector<txn::FoundPrepared> Replay::prepared() const {
  std::vector<txn::FoundPrepared> found;
  for (const auto& [id, key] : prepared_) found.push_back(chunked_.at(key).found);
  return found;
}

// ---- Putting them back

Status Replay::restore(wal::Recovery& recovery, const MakeTxn& make,
                       std::vector<std::unique_ptr<txn::Txn>>* restored) {
  if (prepared_.empty()) return {};
  std::map<const ChunkedOutcome*, Restoring> restoring;
  Status status;
  for (const auto& [id, key] : prepared_) {
    const ChunkedOutcome& outcome = chunked_.at(key);
    Restoring& one = restoring[&outcome];
    one.txn = make();
    status = one.txn->begin_found(outcome.found);
    if (!status.ok()) break;
  }
  if (status.ok() && first_chunk_ != format::kLsnMax) {
    status = recovery.replay(first_chunk_, [&](const wal::RecordView& record) -> Status {
      if (record.type != RecordType::kChunk) return {};
      const ChunkedOutcome* outcome = chunked(record);
      const auto one = restoring.find(outcome);
      if (one == restoring.end() || record.lsn < outcome->from) return {};
      return restore_chunk(record, *outcome, &one->second);
    });
  }
  for (auto& [outcome, one] : restoring) {
    if (status.ok()) status = restore_early(&one, true);
    if (status.ok() && one.met != outcome->found.operations) {
      status =
          Status(StatusCode::kCorruption, "the log has " + std::to_string(one.met) + " of the " +
                                              std::to_string(outcome->found.operations) +
                                              " operations of prepared transaction \"" +
                                              outcome->found.records.id + "\"");
    }
    if (status.ok()) status = one.txn->end_found(outcome->found);
    // Also after an error: the caller takes them apart.
    restored->push_back(std::move(one.txn));
  }
  return status;
}

Status Replay::restore_chunk(const wal::RecordView& record, const ChunkedOutcome& outcome,
                             Restoring* restoring) {
  const std::string_view operations = record.payload.substr(format::kChunkHeaderBytes);
  const char* at = operations.data();
  const char* const end = at + operations.size();
  for (auto seq = load<uint32_t>(record.payload.data() + 8); at < end; ++seq) {
    const char* const begin = at;
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) return damaged(record, "holds no valid operations");
    if (!counts(outcome, record.lsn, seq) || seq < restoring->next_seq) continue;
    if (seq > restoring->next_seq) {
      restoring->early.try_emplace(seq, begin, static_cast<size_t>(at - begin));
      continue;
    }
    if (Status s = restore_operation(restoring, operation, seq); !s.ok()) return s;
    restoring->next_seq = seq + 1;
    if (Status s = restore_early(restoring, false); !s.ok()) return s;
  }
  return {};
}

// Those whose turn has come; at the end all: of trees that were dropped some numbers are missing.
Status Replay::restore_early(Restoring* restoring, bool all) {
  auto& early = restoring->early;
  while (!early.empty() && (all || early.begin()->first <= restoring->next_seq)) {
    const auto first = early.begin();
    if (first->first >= restoring->next_seq) {
      const std::string& bytes = first->second;
      format::Operation operation;
      format::decode_operation(bytes.data(), bytes.data() + bytes.size(), &operation);
      if (Status s = restore_operation(restoring, operation, first->first); !s.ok()) return s;
      restoring->next_seq = first->first + 1;
    }
    early.erase(first);
  }
  return {};
}

Status Replay::restore_operation(Restoring* restoring, const format::Operation& operation,
                                 uint32_t seq) {
  ++restoring->met;
  if (operation.type == format::OperationType::kAttach) {
    return Status(StatusCode::kCorruption, "the log attaches a container outside of an ingest");
  }
  if (operation.type == format::OperationType::kDeleteRange) {
    return Status(StatusCode::kCorruption, "the log prepares what has deleted a range");
  }
  tree::TreeState* tree = find_tree(operation.tree);
  return tree == nullptr ? Status() : restoring->txn->install_found(tree, operation, seq);
}

}  // namespace hawthorn::db
