// A queue of jobs for several workers: a job that is claimed comes back when its worker dies or
// takes too long, and is set aside when it has failed too often. Two trees: `jobs` holds what is to
// do, `due` the moments from which on a job may be claimed, the earliest first.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "must.h"

using hawthorn::Db;
using hawthorn::Transaction;
using hawthorn::Tree;

namespace {

// Eight bytes whose order is that of the numbers.
std::string big_endian(uint64_t number) {
  std::string bytes(8, '\0');
  for (size_t i = 8; i-- > 0; number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  return bytes;
}

uint64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

struct Claim {
  std::string lease, id, work;  // the lease is its key in `due`; while that is there, it is ours
  int attempt = 0;
};

class JobQueue {
 public:
  explicit JobQueue(Db& db) : db_(db), jobs_(must(db.tree("jobs"))), due_(must(db.tree("due"))) {}

  void enqueue(const std::string& id, const std::string& work) {
    hawthorn::WriteBatch batch;
    batch.put(jobs_, id, '\0' + work);  // a byte that counts attempts, and the work
    batch.put(due_, big_endian(now_ms()) + id, "");
    must(db_.write(batch));
  }

  // The job that has been due for longest, for so long that a worker is sure to be done, or dead.
  // One claims at a time, so two never get the same job, and none waits for a row.
  std::optional<Claim> claim(uint64_t lease_ms) {
    Transaction transaction = must(db_.begin(hawthorn::TxnMode::kExclusive));
    Claim claim;
    {
      const std::string end = big_endian(now_ms() + 1);
      hawthorn::Cursor cursor = transaction.cursor(due_, {.upper = end});
      if (!cursor.first()) return must(cursor.status()), std::nullopt;
      claim.lease = cursor.key();
      claim.id = cursor.key().substr(8);
    }
    hawthorn::Value job;
    must(transaction.get(jobs_, claim.id, job));
    claim.attempt = job.view()[0] + 1;
    claim.work = job.view().substr(1);
    must(transaction.put(jobs_, claim.id, static_cast<char>(claim.attempt) + claim.work));
    must(transaction.del(due_, claim.lease));
    claim.lease = big_endian(now_ms() + lease_ms) + claim.id;
    must(transaction.put(due_, claim.lease, ""));
    must(transaction.commit(hawthorn::Durability::kNone));  // lost with the power: claimed again
    return claim;
  }

  // Done. False: it took longer than the lease, and somebody else has the job, or has done it.
  bool ack(const Claim& claim) { return finish(claim, {}); }

  // Failed: again after a pause, which doubles; after `attempts_max` it is set aside.
  bool retry(const Claim& claim, uint64_t pause_ms, int attempts_max) {
    if (claim.attempt >= attempts_max) return finish(claim, "failed");
    return finish(claim, big_endian(now_ms() + (pause_ms << (claim.attempt - 1))));
  }

  uint64_t waiting() { return must(db_.count(due_, "", std::nullopt)); }
  uint64_t failed() { return must(db_.count(jobs_, "", std::nullopt)) - waiting(); }

 private:
  bool finish(const Claim& claim, const std::string& next) {
    Transaction transaction = must(db_.begin(hawthorn::TxnMode::kExclusive));
    hawthorn::Value lease;
    if (transaction.get(due_, claim.lease, lease).is_not_found()) return false;
    must(transaction.del(due_, claim.lease));
    if (next.empty()) must(transaction.del(jobs_, claim.id));
    if (next.size() == 8) must(transaction.put(due_, next + claim.id, ""));
    must(transaction.commit());
    return true;
  }

  Db& db_;
  Tree jobs_, due_;
};

}  // namespace

int main(int argc, char** argv) {
  constexpr uint64_t kLeaseMs = 60'000;
  if (const pid_t child = fork(); child == 0) {
    // A worker that is killed with a job in its hands.
    auto db = fresh_database(argc, argv);
    JobQueue queue(*db);
    queue.enqueue("orphan", "ok");
    if (queue.claim(1).has_value()) kill(getpid(), SIGKILL);
    _exit(1);
  } else {
    int ended = 0;
    must(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended));
  }
  auto db = must(Db::open(argc > 1 ? argv[1] : "example.db", {}));
  JobQueue queue(*db);
  for (int i = 0; i < 200; ++i) {
    queue.enqueue("job" + std::to_string(i), i == 7 ? "never works" : i % 10 == 0 ? "later" : "ok");
  }
  std::atomic<int> done{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      while (queue.waiting() > 0) {
        const std::optional<Claim> claim = queue.claim(kLeaseMs);
        if (!claim) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!claim) continue;  // all are claimed, or pause
        const bool works = claim->work == "ok" || (claim->work == "later" && claim->attempt == 2);
        must(works ? queue.ack(*claim) : queue.retry(*claim, 5, 3));
        if (works) ++done;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  must(done == 200 && queue.failed() == 1);  // 199 of these and the orphan; one is set aside

  // Who is too slow is told so.
  queue.enqueue("slow", "ok");
  const Claim slow = *queue.claim(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const Claim second = *queue.claim(kLeaseMs);
  must(second.id == "slow" && second.attempt == 2);
  must(queue.ack(second) && !queue.ack(slow));
  must(db->close());
}
