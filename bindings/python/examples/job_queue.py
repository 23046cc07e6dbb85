"""A queue of jobs for several workers: a job that is claimed comes back when its worker dies or
takes too long, and is set aside when it has failed too often.

    python job_queue.py DIRECTORY

Two trees: `jobs` holds what is to do, `due` the moments from which on a job may be claimed, the
earliest first; `claim` is one transaction, so no two workers get the same job.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import hawthorn
from hawthorn import Durability, Mode, Transaction


def now_ms() -> int:
    return int(time.time() * 1000)


def big_endian(number: int) -> bytes:
    """Eight bytes whose order is that of the numbers."""
    return number.to_bytes(8, "big")


class Claim(NamedTuple):
    """A job in hand. The lease is its key in `due`; while that is there, the job is ours."""

    lease: bytes
    id: bytes
    work: bytes
    attempt: int


class JobQueue:
    def __init__(self, db: hawthorn.Database) -> None:
        self.db = db
        self.jobs = db.tree("jobs")
        self.due = db.tree("due")

    def enqueue(self, id: bytes, work: bytes) -> None:
        """Adds a job; durable when it returns."""
        with self.db.batch() as batch:
            batch.put(self.jobs, id, b"\0" + work)  # a byte that counts attempts, and the work
            batch.put(self.due, big_endian(now_ms()) + id, b"")

    def claim(self, lease_ms: int) -> Claim | None:
        """The job that has been due for longest, for so long that a worker is sure to be done, or
        dead. One claims at a time, so none waits for a row."""
        with self.db.transaction(Mode.EXCLUSIVE, durability=Durability.NONE) as txn:
            jobs, due = txn[self.jobs], txn[self.due]
            first = due.range(high=big_endian(now_ms() + 1)).first()
            if first is None:
                return None
            lease, id = first[0], first[0][8:]
            job = jobs[id]
            attempt, work = job[0] + 1, job[1:]
            jobs[id] = bytes((attempt,)) + work
            due.delete(lease)
            lease = big_endian(now_ms() + lease_ms) + id
            due[lease] = b""
            return Claim(
                lease, id, work, attempt
            )  # a commit that a power loss takes: claimed again

    def ack(self, claim: Claim) -> bool:
        """Done. False: it took longer than the lease, and somebody else has it, or has done it."""
        with self.db.transaction(Mode.EXCLUSIVE) as txn:
            if not self._give_back(txn, claim):
                return False
            txn[self.jobs].delete(claim.id)
            return True

    def retry(self, claim: Claim, pause_ms: int, attempts_max: int) -> bool:
        """Failed: again after a pause, which doubles; after `attempts_max` it is set aside."""
        with self.db.transaction(Mode.EXCLUSIVE) as txn:
            if not self._give_back(txn, claim):
                return False
            if claim.attempt < attempts_max:
                moment = now_ms() + (pause_ms << (claim.attempt - 1))
                txn[self.due][big_endian(moment) + claim.id] = b""
            return True

    def _give_back(self, txn: Transaction, claim: Claim) -> bool:
        due = txn[self.due]
        if claim.lease not in due:
            return False
        due.delete(claim.lease)
        return True

    def waiting(self) -> int:
        return len(self.due)

    def failed(self) -> int:
        return len(self.jobs) - self.waiting()


def die_with_a_job(directory: str) -> None:
    """A worker that is killed with a job in its hands."""
    queue = JobQueue(hawthorn.open(directory))
    queue.enqueue(b"orphan", b"ok")
    assert queue.claim(lease_ms=1) is not None
    signal.raise_signal(signal.SIGKILL)


def main(directory: str) -> None:
    try:
        hawthorn.destroy(directory)
    except hawthorn.NotFoundError:
        pass
    died = subprocess.run([sys.executable, __file__, directory, "die"], check=False)
    assert died.returncode == -signal.SIGKILL

    with hawthorn.open(directory) as db:
        queue = JobQueue(db)
        for i in range(100):
            work = b"never works" if i == 7 else b"later" if i % 10 == 0 else b"ok"
            queue.enqueue(b"job%d" % i, work)
        done = []

        def worker() -> None:
            while queue.waiting() > 0:
                claim = queue.claim(lease_ms=60_000)
                if claim is None:  # all are claimed, or pause
                    time.sleep(0.001)
                    continue
                if claim.work == b"ok" or (claim.work == b"later" and claim.attempt == 2):
                    assert queue.ack(claim)
                    done.append(claim.id)
                else:
                    assert queue.retry(claim, pause_ms=5, attempts_max=3)

        workers = [threading.Thread(target=worker) for _ in range(4)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()
        assert len(set(done)) == len(done) == 100, done  # 99 of these, and the orphan
        assert b"orphan" in done
        assert queue.failed() == 1

        queue.enqueue(b"slow", b"ok")
        slow = queue.claim(lease_ms=0)
        time.sleep(0.002)
        second = queue.claim(lease_ms=60_000)
        assert slow is not None
        assert second is not None
        assert (second.id, second.attempt) == (b"slow", 2)
        assert queue.ack(second)
        assert not queue.ack(slow)  # who is too slow is told so
        print(f"{len(done)} jobs done, {queue.failed()} set aside")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2] == "die":
        die_with_a_job(sys.argv[1])
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
