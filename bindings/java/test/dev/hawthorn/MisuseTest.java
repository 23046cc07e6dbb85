// Misuse: an exception each time, and never a crash. Also what the collector closes, and kill -9.

package dev.hawthorn;

import static dev.hawthorn.Scratch.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class MisuseTest {
    private static void closed(Executable... uses) {
        for (Executable use : uses) assertThrows(IllegalStateException.class, use);
    }

    @Test
    void useAfterClose() {
        final Database db = Scratch.open();
        final Tree tree = db.tree("t");
        for (int i = 0; i < 10; ++i) db.put(tree, b("k" + i), b("v"));
        db.createFeed("feed", -1);
        final Transaction txn = db.beginTransaction();
        final Cursor ofTxn = txn.cursor(tree);
        final Cursor cursor = db.cursor(tree);
        final Snapshot snapshot = db.takeSnapshot();
        final Batch batch = db.batch();
        final ReadBatch reads = db.readBatch();
        final AsyncReader async = db.asyncReader(2);
        final Feed feed = db.openFeed("feed");
        final Ingest ingest = db.ingest(db.tree("u"), true, Durability.DEFAULT);
        final Iterator<Entry> iterator = db.entries(tree).iterator();
        final Tree closedTree = db.tree("t");
        closedTree.close();
        closed(() -> db.get(closedTree, b("k")), () -> txn.put(closedTree, b("k"), b("v")));
        final Columns columns = new Columns(20, 1000, 1000);
        cursor.first();
        cursor.next(columns);
        db.close();
        assertEquals(10, columns.rows()); // buffers stay
        assertArrayEquals(b("k0"), columns.key(0));
        closed(() -> db.get(tree, b("k")), () -> db.put(tree, b("k"), b("v")), tree::id,
                () -> db.tree("t"), db::beginTransaction, db::takeSnapshot, db::batch, db::stats,
                () -> txn.get(tree, b("k")), txn::commit, txn::savepoint, ofTxn::first,
                cursor::first, cursor::key, () -> cursor.next(columns), snapshot::timestamp,
                () -> snapshot.get(tree, b("k")), () -> batch.put(tree, b("k"), b("v")),
                () -> reads.read(db, tree, b("k")), reads::values, () -> async.get(tree, b("k")),
                () -> feed.next(Duration.ZERO), () -> ingest.add(b("k"), b("v")),
                iterator::hasNext, () -> db.entries(tree).iterator(), () -> db.asyncReader(1));
        txn.abort(); // as a second close: nothing
        for (Handle handle : List.of(db, tree, txn, ofTxn, cursor, snapshot, batch, reads, async,
                feed, ingest)) {
            assertTrue(handle.isClosed());
            handle.close();
        }
    }

    @Test
    void endedTransactions() {
        try (Database db = Scratch.open()) {
            final Tree tree = db.tree("t");
            db.put(tree, b("k"), b("v"));
            final Transaction txn = db.beginTransaction();
            final Cursor cursor = txn.cursor(tree);
            final Iterator<Entry> iterator = txn.entries(tree).iterator();
            final InputStream in = txn.open(tree, b("k"));
            txn.commit();
            closed(txn::commit, () -> txn.put(tree, b("k"), b("v")), cursor::first,
                    iterator::hasNext, in::read, txn::beginNested, () -> txn.count(tree));
            cursor.close();
        }
    }

    @Test
    void otherDatabases() {
        try (Database db = Scratch.open(); Database other = Scratch.open()) {
            final Tree tree = db.tree("t");
            final Tree strange = other.tree("t");
            assertThrows(HawthornException.InvalidArgument.class, () -> db.get(strange, b("k")));
            assertThrows(HawthornException.InvalidArgument.class,
                    () -> db.put(strange, b("k"), b("v")));
            try (Batch batch = db.batch(); Transaction txn = db.beginTransaction();
                    Snapshot snapshot = other.takeSnapshot()) {
                batch.put(tree, b("k"), b("v"));
                assertThrows(HawthornException.InvalidArgument.class,
                        () -> batch.put(strange, b("k"), b("v")));
                assertThrows(HawthornException.InvalidArgument.class,
                        () -> txn.get(strange, b("k")));
                assertThrows(HawthornException.InvalidArgument.class,
                        () -> snapshot.get(tree, b("k")));
            }
        }
    }

    @Test
    void wrongArguments() {
        try (Database db = Scratch.open()) {
            final Tree tree = db.tree("t");
            assertThrows(NullPointerException.class, () -> db.get(tree, (byte[]) null));
            assertThrows(NullPointerException.class, () -> db.put(tree, b("k"), (byte[]) null));
            assertThrows(NullPointerException.class, () -> db.get(null, b("k")));
            assertThrows(HawthornException.InvalidArgument.class,
                    () -> db.put(tree, new byte[(int) Database.Limits.KEY_BYTES + 1], b("v")));
            assertThrows(IllegalArgumentException.class, () -> db.readPart(tree, b("k"), -1, 1));
            assertThrows(IllegalArgumentException.class, () -> db.asyncReader(0));
            assertThrows(HawthornException.InvalidArgument.class, () -> db.tree(""));
            assertThrows(HawthornException.InvalidArgument.class, () -> db.cloneTree("t", "t"));
            assertThrows(IllegalArgumentException.class, () -> new Columns(0, 1, 1));
            assertThrows(HawthornException.Busy.class,
                    () -> Database.open(db.path(), Scratch.small()));
            try (Transaction txn = db.beginTransaction()) {
                assertThrows(HawthornException.InvalidArgument.class, () -> txn.put(
                        tree, b("k"), b("v"), WriteOptions.of(Durability.FULL)));
            }
        }
    }

    @Test
    void closeWhileOthersUseIt() throws Exception {
        for (int round = 0; round < 5; ++round) {
            final Database db = Scratch.open();
            final Tree tree = db.tree("t");
            for (int i = 0; i < 100; ++i) db.put(tree, b("k" + i), b("v"));
            final Transaction shared = db.beginTransaction();
            final Cursor cursor = shared.cursor(tree);
            final AtomicInteger wrong = new AtomicInteger();
            final AtomicInteger calls = new AtomicInteger();
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; ++i) {
                final int what = i;
                final Thread thread = new Thread(() -> {
                    try {
                        for (;;) {
                            calls.incrementAndGet();
                            if (what == 0) db.get(tree, b("k1"));
                            if (what == 1) db.put(tree, b("k2"), b("v"));
                            if (what == 2) cursor.seek(b("k5"));
                            if (what == 3) db.entries(tree).forEach(e -> e.key());
                        }
                    } catch (IllegalStateException expected) {
                        // It was closed.
                    } catch (Throwable thrown) {
                        thrown.printStackTrace();
                        wrong.incrementAndGet();
                    }
                });
                threads.add(thread);
                thread.start();
            }
            assertTrue(Scratch.waitUntil(() -> calls.get() >= 200));
            db.close();
            for (Thread thread : threads) thread.join();
            assertEquals(0, wrong.get());
        }
    }

    @Test
    void theCollectorCloses() throws Exception {
        try (Database db = Scratch.open()) {
            final Tree tree = db.tree("t");
            db.put(tree, b("k"), b("v"));
            final int before = db.live.size();
            forget(db, tree);
            assertTrue(db.live.size() > before);
            assertTrue(Scratch.waitUntil(() -> {
                System.gc();
                return db.live.size() <= before;
            }));
            assertEquals(before, db.live.size());
            db.put(tree, b("locked"), b("v")); // the lock of the forgotten one has gone
        }
    }

    private static void forget(Database db, Tree tree) {
        final Transaction txn = db.beginTransaction(
                new TransactionOptions().mode(TransactionOptions.Mode.PESSIMISTIC));
        txn.put(tree, b("locked"), b("v"));
        txn.cursor(tree).first();
        db.cursor(tree).first();
        db.takeSnapshot();
        db.asyncReader(2).get(tree, b("k")).join();
        db.tree("t");
        db.batch().put(tree, b("k"), b("v"));
    }

    /** The child of {@link #survivesKills}: says of each commit that it was acknowledged. */
    public static final class Writer {
        private Writer() {}

        /**
         * Writes until it is killed.
         *
         * @param args the directory
         */
        public static void main(String[] args) {
            final Options options = new Options().durability(Durability.NONE);
            final Database db = Database.open(Path.of(args[0]), options);
            final Tree tree = db.tree("t");
            for (long i = 0; ; ++i) {
                final byte[] key = Bytes.of(i);
                db.transact(txn -> {
                    txn.put(tree, key, b("value" + Bytes.number(key)));
                    txn.put(tree, b("last"), key);
                });
                System.out.println(i);
            }
        }
    }

    @Test
    void survivesKills() throws Exception {
        final Path path = Scratch.directory().resolve("db");
        for (int round = 1; round <= 2; ++round) {
            final Process child = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Djava.library.path=" + System.getProperty("java.library.path"), "-cp",
                    System.getProperty("java.class.path"), Writer.class.getName(), path.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            long acknowledged = -1;
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(child.getInputStream()))) {
                while (acknowledged < 500L * round) {
                    final String line = out.readLine();
                    assertTrue(line != null, "the child has ended by itself");
                    acknowledged = Long.parseLong(line);
                }
                assertTrue(child.toHandle().destroyForcibly()); // and leaves the stream
                for (String line; (line = out.readLine()) != null; ) {
                    if (!line.isEmpty()) acknowledged = Math.max(acknowledged, number(line));
                }
            }
            assertEquals(128 + 9, child.waitFor());
            try (Database db = Database.open(path, Scratch.small())) {
                final Tree tree = db.findTree("t");
                final long last = Bytes.number(db.get(tree, b("last")));
                assertTrue(last >= acknowledged, last + " < " + acknowledged);
                for (long i = 0; i <= last; ++i) {
                    assertArrayEquals(b("value" + i), db.get(tree, Bytes.of(i)));
                }
                assertTrue(db.check(new CheckOptions()).flag("ok"));
                assertFalse(db.contains(tree, Bytes.of(last + 1)) && round == 1);
            }
        }
    }

    /** A line may be cut off by the kill: then it is a smaller number, or none. */
    private static long number(String line) {
        try {
            return Long.parseLong(line);
        } catch (NumberFormatException cut) {
            return -1;
        }
    }
}
