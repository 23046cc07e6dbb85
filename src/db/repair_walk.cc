#include "db/repair_walk.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/prepare_record.h"

namespace hawthorn::db {

namespace {
using format::RecordType;
constexpr size_t kChunkHeader = 12;
constexpr size_t kCommitHeader = 20;
constexpr size_t kPreparedHeader = 16;
}  // namespace

bool RepairWalk::parse(const RepairLog::Record& record, std::string_view operations, uint32_t seq,
                       const Filter& filter, std::vector<RepairOperation>* to) {
  const char* at = operations.data();
  const char* const end = at + operations.size();
  while (at != end) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) return false;
    const Keep keep = filter(operation);
    if (keep != Keep::kNothing) {
      RepairOperation& kept = to->emplace_back();
      kept.type = operation.type;
      kept.tree = operation.tree;
      kept.key.assign(operation.key);
      if (keep == Keep::kAll) kept.value.assign(operation.value);
      kept.seq = seq;
      kept.lsn = record.lsn;
    }
    ++seq;
  }
  return true;
}

void RepairWalk::drop(RepairLog::Record& record, const std::string& why) {
  record.dropped = true;
  RepairLoss loss;
  loss.kind = RepairLoss::Kind::kTransaction;
  loss.offset = record.lsn;
  loss.bytes = record.header.length;
  loss.what = why;
  report_->losses.push_back(std::move(loss));
  ++report_->transactions_dropped;
}

void RepairWalk::commit(RepairLog::Record& record, std::string_view payload, const Filter& filter,
                        const Judge& judge) {
  RepairTransaction whole;
  whole.cts = record.lsn;
  whole.type = static_cast<RecordType>(record.header.type);
  bool valid = true;
  if (whole.type == RecordType::kCommit) {
    valid = parse(record, payload, 0, filter, &whole.operations);
  } else {
    const bool prepared = whole.type == RecordType::kPreparedCommit;
    if (payload.size() < (prepared ? kPreparedHeader : kCommitHeader)) {
      return drop(record, "its commit record is too short");
    }
    const auto id = load<uint64_t>(payload.data());
    const auto from = load<uint64_t>(payload.data() + 8);
    if (const auto open = open_.find(id); open != open_.end()) {
      whole.operations = std::move(open->second.operations);
      open_.erase(open);
    }
    std::erase_if(whole.operations, [&](const RepairOperation& of) { return of.lsn < from; });
    if (log_.missing(from, record.lsn)) return drop(record, "a part of it may lie in a gap");
    if (!prepared) {
      std::string_view rest = payload.substr(kCommitHeader);
      if (whole.type == RecordType::kLayeredCommit) {
        const size_t trees = rest.size() < 4 ? rest.size() : load<uint32_t>(rest.data());
        valid = rest.size() >= 4 && trees <= (rest.size() - 4) / 4;
        if (valid) rest.remove_prefix(4 + 4 * trees);
      }
      valid = valid &&
              parse(record, rest, load<uint32_t>(payload.data() + 16), filter, &whole.operations);
    }
  }
  std::string why = "it holds no valid operations";
  if (!valid || !judge(whole, &why)) drop(record, why);
}

void RepairWalk::run(const Filter& filter, const Judge& judge) {
  open_.clear();
  std::string payload;
  for (RepairLog::Record& record : log_.records()) {
    const auto type = static_cast<RecordType>(record.header.type);
    if (record.dropped || type == RecordType::kPad || !log_.payload(record, &payload)) continue;
    const auto id = payload.size() < 8 ? 0 : load<uint64_t>(payload.data());
    switch (type) {
      case RecordType::kChunk:
        if (payload.size() < kChunkHeader ||
            !parse(record, std::string_view(payload).substr(kChunkHeader),
                   load<uint32_t>(payload.data() + 8), filter, &open_[id].operations)) {
          record.dropped = true;
        }
        break;
      case RecordType::kAbort:
      case RecordType::kPreparedAbort:
        open_.erase(id);
        break;
      case RecordType::kRollbackTo: {
        if (payload.size() < kChunkHeader) break;
        const auto seq = load<uint32_t>(payload.data() + 8);
        std::erase_if(open_[id].operations,
                      [&](const RepairOperation& of) { return of.seq >= seq; });
        break;
      }
      case RecordType::kPrepare:
        if (payload.size() < sizeof(format::PrepareHeader) ||
            log_.missing(load<uint64_t>(payload.data() + 8), record.lsn)) {
          drop(record, "it was prepared, and a part of it may lie in a gap");
        }
        break;
      case RecordType::kLayersMerged:
      case RecordType::kPad:
        break;
      default:
        commit(record, payload, filter, judge);
    }
  }
}

}  // namespace hawthorn::db
