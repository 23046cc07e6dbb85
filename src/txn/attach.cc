// Commits that put whole containers in place, beside what their transactions wrote.

#include "base/bytes.h"
#include "os/test_point.h"
#include "txn/claim_sizing.h"
#include "txn/transaction.h"

namespace hawthorn::txn {

namespace {
constexpr uint64_t kClaimPauseUs = 1000;
}  // namespace

// A flush holds a container for a moment; whoever flushes may itself wait for a commit.
Status Txn::claim_exclusively(Attaching& attaching) {
  for (uint32_t attempt = 0;; ++attempt) {
    Lsn read_ts = 0;
    if (Status s = services_.sequencer->begin_exclusive(id_, os::Signal::kForever, &read_ts);
        !s.ok()) {
      return s;
    }
    Status status = attaching.claim();
    if (status.ok()) return status;
    attaching.release();
    services_.sequencer->end_exclusive(id_);
    if (!status.is(StatusCode::kBusy) || attempt >= claim_attempts) return status;
    services_.store->machine->clock->sleep_us(kClaimPauseUs);
  }
}

// All of it is logged in chunks before others must wait; between the commit record and the moment
// that everybody sees it nothing can fail (R4). The chunks hold the log from their first one until
// the slot is released, what is attached from then on.
Status Txn::attach_now(std::string_view operations, uint32_t count, Attaching& attaching,
                       Durability durability, Lsn* committed) {
  Status status = broken_;
  if (status.ok() && !operations_.empty()) status = log_in_chunks(operations_);
  operations_.clear();
  if (logged_ != nullptr) stop_moves();
  attaching_ = true;
  operation_count_ += count;
  if (status.ok()) status = log_in_chunks(operations);
  attaching_ = false;
  // What it attaches may be rows that somebody has locked.
  if (status.ok()) status = services_.row_locks->close(lock_timeout_us_);
  if (status.ok()) {
    status = claim_exclusively(attaching);
    if (status.ok() && !trees_stand()) {
      attaching.release();
      services_.sequencer->end_exclusive(id_);
      status = Status(StatusCode::kConflict);
    }
    if (!status.ok()) services_.row_locks->reopen();
  }
  if (!status.ok()) {
    roll_back();
    finish();
    return status;
  }
  const Lsn first_lsn = stop_moves();
  char header[20];
  store(header, static_cast<uint64_t>(id_));
  store(header + 8, static_cast<uint64_t>(first_lsn));
  store(header + 16, chunk_seq_);
  const std::string_view payload[] = {{header, sizeof(header)}};
  CommitRequest request;
  request.id = id_;
  request.type = format::RecordType::kAttachingCommit;
  request.payload = payload;
  Lsn cts = 0;
  status = services_.sequencer->append_commit(request, &cts);
  if (status.ok()) {
    HAWTHORN_TEST_POINT("txn.attach.after_append");
    attaching.attach(cts, first_lsn);
    services_.sequencer->show(id_, cts);
  }
  attaching.release();
  services_.sequencer->end_exclusive(id_);
  services_.row_locks->reopen();
  if (!status.ok()) {
    roll_back();
    finish();
    return status;
  }
  *committed = cts;
  stamp_all(cts);
  finish();
  return services_.sequencer->make_durable(cts, durability);
}

}  // namespace hawthorn::txn
