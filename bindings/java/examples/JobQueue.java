// A queue of jobs for several workers: a job that is claimed comes back when its worker dies or
// takes
// too long, and is set aside when it has failed too often. Two trees: `jobs` holds what is to do,
// `due` the moments from which on a job may be claimed, the earliest first.

import dev.hawthorn.Batch;
import dev.hawthorn.Bytes;
import dev.hawthorn.Cursor;
import dev.hawthorn.Database;
import dev.hawthorn.Durability;
import dev.hawthorn.Options;
import dev.hawthorn.Range;
import dev.hawthorn.TransactionOptions;
import dev.hawthorn.Tree;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** The queue, and a program that uses it. */
public final class JobQueue {
    private static final byte[] NOTHING = {};

    /**
     * A job that a worker has; while its lease is a key in `due`, it is that worker's.
     *
     * @param lease the key
     * @param id of the job
     * @param work what is to do
     * @param attempt the how manyth
     */
    public record Claim(byte[] lease, String id, String work, int attempt) {}

    private final Database db;
    private final Tree jobs;
    private final Tree due;

    /**
     * A queue in a database.
     *
     * @param db the database
     */
    public JobQueue(Database db) {
        this.db = db;
        jobs = db.tree("jobs");
        due = db.tree("due");
    }

    private static byte[] dueKey(long moment, String id) {
        final byte[] bytes = Bytes.of(id);
        return ByteBuffer.allocate(8 + bytes.length).putLong(moment).put(bytes).array();
    }

    private static byte[] job(int attempts, String work) {
        final byte[] bytes = Bytes.of(work);
        return ByteBuffer.allocate(1 + bytes.length).put((byte) attempts).put(bytes).array();
    }

    private static TransactionOptions oneAtATime() {
        return new TransactionOptions().mode(TransactionOptions.Mode.EXCLUSIVE);
    }

    /**
     * Adds a job, durably.
     *
     * @param id its name
     * @param work what is to do
     */
    public void enqueue(String id, String work) {
        try (Batch batch = db.batch()) {
            batch.put(jobs, Bytes.of(id), job(0, work));
            batch.put(due, dueKey(System.currentTimeMillis(), id), NOTHING);
            db.write(batch);
        }
    }

    /**
     * The job that has been due for longest. One claims at a time, so two never get the same job.
     *
     * @param leaseMs for so long that a worker is sure to be done, or dead
     * @return the job; empty where none is due
     */
    public Optional<Claim> claim(long leaseMs) {
        // Lost with the power: then it is claimed again.
        return db.compute(oneAtATime(), Durability.NONE, txn -> {
            final byte[] key;
            try (Cursor cursor =
                    txn.cursor(due, Range.until(Bytes.of(System.currentTimeMillis() + 1)))) {
                if (!cursor.first()) return Optional.empty();
                key = cursor.key();
            }
            final byte[] id = Arrays.copyOfRange(key, 8, key.length);
            final byte[] stored = txn.get(jobs, id);
            final String work = Bytes.text(Arrays.copyOfRange(stored, 1, stored.length));
            final int attempt = stored[0] + 1;
            txn.put(jobs, id, job(attempt, work));
            txn.del(due, key);
            final byte[] lease = dueKey(System.currentTimeMillis() + leaseMs, Bytes.text(id));
            txn.put(due, lease, NOTHING);
            return Optional.of(new Claim(lease, Bytes.text(id), work, attempt));
        });
    }

    /**
     * The job is done.
     *
     * @param claim the job
     * @return false: it took longer than the lease, and somebody else has it, or has done it
     */
    public boolean ack(Claim claim) {
        return finish(claim, true, null);
    }

    /**
     * The job has failed: again after a pause, which doubles, or set aside.
     *
     * @param claim the job
     * @param pauseMs the first pause
     * @param attemptsMax after so many it is set aside
     * @return false: somebody else has it, or has done it
     */
    public boolean retry(Claim claim, long pauseMs, int attemptsMax) {
        if (claim.attempt() >= attemptsMax) return finish(claim, false, null);
        final long pause = pauseMs << (claim.attempt() - 1);
        return finish(claim, false, dueKey(System.currentTimeMillis() + pause, claim.id()));
    }

    private boolean finish(Claim claim, boolean done, byte[] next) {
        return db.compute(oneAtATime(), Durability.DEFAULT, txn -> {
            if (!txn.contains(due, claim.lease())) return false;
            txn.del(due, claim.lease());
            if (done) txn.del(jobs, Bytes.of(claim.id()));
            if (next != null) txn.put(due, next, NOTHING);
            return true;
        });
    }

    /**
     * Jobs that are due, claimed, or pause.
     *
     * @return how many
     */
    public long waiting() {
        return db.count(due);
    }

    /**
     * Jobs that were set aside.
     *
     * @return how many
     */
    public long failed() {
        return db.count(jobs) - waiting();
    }

    private static void check(boolean truth) {
        if (!truth) throw new IllegalStateException("the example does not hold");
    }

    private static int work(JobQueue queue, AtomicInteger done) throws InterruptedException {
        int claims = 0;
        while (queue.waiting() > 0) {
            final Optional<Claim> claimed = queue.claim(60_000);
            if (claimed.isEmpty()) { // all are claimed, or pause
                Thread.sleep(1);
                continue;
            }
            ++claims;
            final Claim claim = claimed.get();
            final boolean works = claim.work().equals("ok")
                    || (claim.work().equals("later") && claim.attempt() == 2);
            check(works ? queue.ack(claim) : queue.retry(claim, 5, 3));
            if (works) done.incrementAndGet();
        }
        return claims;
    }

    /**
     * Works through 200 jobs with four workers; with a second argument it claims one and dies.
     *
     * @param args the directory, which is removed at first
     * @throws Exception where something went wrong
     */
    public static void main(String[] args) throws Exception {
        final Path path = Path.of(args.length > 0 ? args[0] : "example.db");
        if (args.length > 1) {
            final JobQueue queue = new JobQueue(Database.open(path, new Options()));
            queue.enqueue("orphan", "ok");
            if (queue.claim(1).isPresent()) Runtime.getRuntime().halt(9);
            System.exit(1);
        }
        if (path.toFile().exists()) Database.destroy(path, null);
        // A worker that dies with a job in its hands.
        final Process worker = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.library.path=" + System.getProperty("java.library.path"),
                "-cp", System.getProperty("java.class.path"), "JobQueue", path.toString(), "die")
                .inheritIO()
                .start();
        check(worker.waitFor() == 9);
        try (Database db = Database.open(path, new Options())) {
            final JobQueue queue = new JobQueue(db);
            for (int i = 0; i < 200; ++i) {
                queue.enqueue("job" + i, i == 7 ? "never works" : i % 10 == 0 ? "later" : "ok");
            }
            final AtomicInteger done = new AtomicInteger();
            final ExecutorService workers = Executors.newFixedThreadPool(4);
            final List<Future<Integer>> claims = new ArrayList<>();
            for (int i = 0; i < 4; ++i) claims.add(workers.submit(() -> work(queue, done)));
            int all = 0;
            for (Future<Integer> one : claims) all += one.get();
            workers.shutdown();
            // 199 of these and the orphan; one is set aside.
            check(done.get() == 200 && queue.failed() == 1 && queue.waiting() == 0);

            // Who is too slow is told so.
            queue.enqueue("slow", "ok");
            final Claim slow = queue.claim(0).orElseThrow();
            Thread.sleep(2);
            final Claim second = queue.claim(60_000).orElseThrow();
            check(second.id().equals("slow") && second.attempt() == 2);
            check(queue.ack(second) && !queue.ack(slow));
            System.out.println(done.get() + " jobs by " + all + " claims");
        }
    }
}
