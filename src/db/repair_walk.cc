#include "db/repair_walk.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/prepare_record.h"

namespace hawthorn::db {

namespace {
using format::Lsn;
using format::RecordType;

void touch(const format::Operation& operation, std::map<uint32_t, RepairTouched>* touched) {
  const bool first = !touched->contains(operation.tree);
  RepairTouched& of = (*touched)[operation.tree];
  ++of.operations;
  if (first || operation.key < of.low) of.low = operation.key;
  if (operation.type == format::OperationType::kDeleteRange) {
    const auto end = format::range_end(operation.value);
    if (!end.has_value()) {
      of.high.reset();
    } else if (first || (of.high.has_value() && *of.high < *end)) {
      of.high = std::string(*end);
    }
    return;
  }
  if (!first && !of.high.has_value()) return;
  if (first || *of.high <= operation.key) of.high = std::string(operation.key) + '\0';
}
}  // namespace

bool RepairWalk::parse(const RepairLog::Record& record, std::string_view operations, uint32_t seq,
                       const Filter& filter, Open* to, uint32_t* end_seq) {
  const char* at = operations.data();
  const char* const end = at + operations.size();
  while (at != end) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) return false;
    touch(operation, &to->touched);
    const Keep keep = filter(operation);
    if (keep != Keep::kNothing) {
      RepairOperation& kept = to->operations.emplace_back();
      kept.type = operation.type;
      kept.tree = operation.tree;
      kept.key.assign(operation.key);
      if (keep == Keep::kAll) kept.value.assign(operation.value);
      kept.seq = seq;
      kept.lsn = record.lsn;
    }
    ++seq;
  }
  *end_seq = seq;
  return true;
}

void RepairWalk::drop(RepairLog::Record& record, const RepairTransaction& transaction,
                      const std::string& why) {
  record.dropped = true;
  RepairLoss loss;
  loss.kind = RepairLoss::Kind::kTransaction;
  loss.offset = record.lsn;
  loss.bytes = record.header.length;
  loss.what = why;
  report_->losses.push_back(loss);
  ++report_->transactions_dropped;
  loss.kind = RepairLoss::Kind::kKeyRange;
  loss.what = "the transaction at lsn " + std::to_string(record.lsn) + " is dropped: " + why;
  for (const auto& [tree, of] : transaction.touched) {
    loss.tree_id = tree;
    loss.low = of.low;
    loss.high = of.high;
    loss.entries = of.operations;
    report_->losses.push_back(loss);
  }
}

void RepairWalk::drop_records(const Open& open) {
  for (const size_t index : open.records) log_.records()[index].dropped = true;
}

uint32_t RepairWalk::counted(const Open& open, Lsn from, uint32_t end) {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  for (const Chunk& chunk : open.chunks) {
    uint32_t behind = std::min(chunk.end, end);
    for (const auto& [before, seq] : open.masks) {
      if (chunk.lsn < before) behind = std::min(behind, seq);
    }
    if (chunk.lsn >= from && chunk.first < behind) ranges.emplace_back(chunk.first, behind);
  }
  std::sort(ranges.begin(), ranges.end());
  uint32_t count = 0;
  uint32_t reached = 0;
  for (const auto& [first, behind] : ranges) {
    count += std::max(behind, reached) - std::max(first, reached);
    reached = std::max(reached, behind);
  }
  return count;
}

void RepairWalk::commit(RepairLog::Record& record, std::string_view payload, const Filter& filter,
                        const Judge& judge) {
  RepairTransaction whole;
  whole.cts = record.lsn;
  whole.type = static_cast<RecordType>(record.header.type);
  Open own;
  uint32_t end = 0;
  const bool prepared = whole.type == RecordType::kPreparedCommit;
  std::string why;
  if (whole.type == RecordType::kCommit) {
    if (!parse(record, payload, 0, filter, &own, &end)) why = "it holds no valid operations";
  } else if (payload.size() <
             (prepared ? format::kOutcomeHeaderBytes : format::kChunkedCommitHeaderBytes)) {
    why = "its commit record is too short";
  } else {
    const auto id = load<uint64_t>(payload.data());
    const auto from = load<uint64_t>(payload.data() + 8);
    const Key key = {log_.epoch_of(prepared ? from : record.lsn), id};
    if (const auto open = open_.find(key); open != open_.end()) {
      own = std::move(open->second);
      open_.erase(open);
    }
    std::erase_if(own.operations, [&](const RepairOperation& of) { return of.lsn < from; });
    if (from > record.lsn) why = "it names a first chunk behind it";
    if (log_.missing(from, record.lsn)) why = "a part of it may lie in a gap";
    uint32_t first = own.count;
    if (!prepared) {
      std::string_view rest = payload.substr(format::kChunkedCommitHeaderBytes);
      bool valid = true;
      if (whole.type == RecordType::kLayeredCommit) {
        const size_t trees = rest.size() < 4 ? rest.size() : load<uint32_t>(rest.data());
        valid = rest.size() >= 4 && trees <= (rest.size() - 4) / 4;
        for (size_t i = 1; valid && i <= trees; ++i) {
          whole.layered.push_back(load<uint32_t>(rest.data() + 4 * i));
        }
        if (valid) rest.remove_prefix(4 + 4 * trees);
      }
      first = load<uint32_t>(payload.data() + 16);
      valid = valid && parse(record, rest, first, filter, &own, &end);
      if (!valid) why = "it holds no valid operations";
    }
    whole.complete = counted(own, from, first) == first;
  }
  whole.operations = std::move(own.operations);
  whole.touched = std::move(own.touched);
  if (!whole.complete) {
    // What it has written there is not in the log any more.
    for (const uint32_t tree : whole.layered) whole.touched[tree] = {"", std::nullopt, 0};
  }
  if (why.empty() && judge(whole, &why)) return;
  drop(record, whole, why);
  // It would be found as one that is still open.
  if (prepared) drop_records(own);
}

// As Replay::scan_prepare.
void RepairWalk::prepare(const RepairLog::Record& record, std::string_view payload) {
  const Result<format::PreparePart> part = format::decode_prepare(payload);
  if (!part.ok()) return;
  const format::PrepareHeader& header = part->header;
  const Key key = {log_.epoch_of(record.lsn), header.transaction};
  Open& open = open_[key];
  open.records.push_back(static_cast<size_t>(&record - log_.records().data()));
  if (header.part != open.parts) {
    open.parts = 0;
    if (header.part != 0) return;
  }
  ++open.parts;
  if (open.parts < header.parts) return;
  open.parts = 0;
  open.prepared = true;
  open.id = std::string(part->id);
  open.from = header.first_lsn;
  open.count = header.operations;
  std::vector<Key>& same = prepared_[open.id];
  for (const Key& before : same) {
    if (before == key) continue;
    if (const auto moved = open_.find(before); moved != open_.end()) moved->second.prepared = false;
  }
  std::erase(same, key);
  same.push_back(key);
}

void RepairWalk::judge_prepared(const Judge& judge) {
  for (const auto& [id, keys] : prepared_) {
    const auto last = open_.find(keys.back());
    if (last == open_.end() || !last->second.prepared) continue;
    Open& open = last->second;
    RepairLog::Record& record = log_.records()[open.records.back()];
    RepairTransaction transaction;
    transaction.cts = format::kLsnMax;
    transaction.type = RecordType::kPrepare;
    transaction.prepared_as = id;
    transaction.operations = open.operations;
    std::erase_if(transaction.operations,
                  [&](const RepairOperation& of) { return of.lsn < open.from; });
    transaction.touched = open.touched;
    std::string why;
    if (log_.missing(open.from, record.lsn) ||
        counted(open, open.from, ~uint32_t{0}) != open.count) {
      why = "a part of it lies in a gap";
    }
    if (!why.empty() || !judge(transaction, &why)) {
      drop(record, transaction, "it was prepared as \"" + id + "\", and is dropped: " + why);
      for (const Key& key : keys) {
        if (const auto one = open_.find(key); one != open_.end()) drop_records(one->second);
      }
      continue;
    }
    if (log_.missing(record.lsn, format::kLsnMax)) {
      RepairLoss loss;
      loss.kind = RepairLoss::Kind::kTransaction;
      loss.offset = record.lsn;
      loss.bytes = record.header.length;
      loss.what = "it is prepared as \"" + id + "\"; that it was committed or taken back may lie " +
                  "in a gap";
      report_->losses.push_back(std::move(loss));
    }
  }
}

Status RepairWalk::run(const Filter& filter, const Judge& judge) {
  open_.clear();
  prepared_.clear();
  std::string payload;
  for (size_t i = 0; i < log_.records().size(); ++i) {
    RepairLog::Record& record = log_.records()[i];
    if (record.dropped || record.header.type == static_cast<uint8_t>(RecordType::kPad)) continue;
    if (Status s = log_.payload(record, &payload); !s.ok()) return s;
    take(i, payload, filter, judge);
  }
  judge_prepared(judge);
  return {};
}

void RepairWalk::take(size_t index, const std::string& payload, const Filter& filter,
                      const Judge& judge) {
  RepairLog::Record& record = log_.records()[index];
  const auto id = payload.size() < 8 ? 0 : load<uint64_t>(payload.data());
  switch (static_cast<RecordType>(record.header.type)) {
    case RecordType::kChunk: {
      Open& open = open_[{log_.epoch_of(record.lsn), id}];
      open.records.push_back(index);
      if (payload.size() < format::kChunkHeaderBytes) {
        record.dropped = true;
        break;
      }
      Chunk chunk{record.lsn, load<uint32_t>(payload.data() + 8), 0};
      if (parse(record, std::string_view(payload).substr(format::kChunkHeaderBytes), chunk.first,
                filter, &open, &chunk.end)) {
        open.chunks.push_back(chunk);
      } else {
        record.dropped = true;
      }
      break;
    }
    case RecordType::kAbort:
      open_.erase({log_.epoch_of(record.lsn), id});
      break;
    case RecordType::kPreparedAbort:
      if (payload.size() >= format::kOutcomeHeaderBytes) {
        open_.erase({log_.epoch_of(load<uint64_t>(payload.data() + 8)), id});
      }
      break;
    case RecordType::kRollbackTo: {
      if (payload.size() < format::kChunkHeaderBytes) break;
      const auto seq = load<uint32_t>(payload.data() + 8);
      Open& open = open_[{log_.epoch_of(record.lsn), id}];
      open.masks.emplace_back(record.lsn, seq);
      std::erase_if(open.operations, [&](const RepairOperation& of) { return of.seq >= seq; });
      break;
    }
    case RecordType::kPrepare:
      prepare(record, payload);
      break;
    case RecordType::kLayersMerged:
    case RecordType::kPad:
      break;
    default:
      commit(record, payload, filter, judge);
  }
}

}  // namespace hawthorn::db
