// Transactions: isolation, conflicts, savepoints, nested and prepared ones, streams.

package dev.hawthorn;

import static dev.hawthorn.Scratch.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TransactionTest {
    private Database db;
    private Tree tree;

    @BeforeEach
    void open() {
        db = Scratch.open();
        tree = db.tree("t");
    }

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void commitsOrNot() {
        try (Transaction txn = db.beginTransaction()) {
            txn.put(tree, b("a"), b("1"));
            assertArrayEquals(b("1"), txn.get(tree, b("a")));
            assertNull(db.get(tree, b("a")));
            txn.commit();
            assertTrue(txn.hasEnded());
        }
        assertArrayEquals(b("1"), db.get(tree, b("a")));
        try (Transaction txn = db.beginTransaction()) {
            txn.put(tree, b("a"), b("2"));
        }
        try (Transaction txn = db.beginTransaction()) {
            txn.del(tree, b("a"));
            txn.abort();
            txn.abort();
        }
        assertArrayEquals(b("1"), db.get(tree, b("a")));
    }

    @Test
    void firstCommitterWins() {
        try (Transaction one = db.beginTransaction(); Transaction two = db.beginTransaction()) {
            one.getForUpdate(tree, b("k"));
            two.getForUpdate(tree, b("k"));
            one.put(tree, b("k"), b("1"));
            one.commit();
            final HawthornException conflict = assertThrows(HawthornException.Conflict.class, () -> {
                two.put(tree, b("k"), b("2"));
                two.commit();
            });
            assertTrue(conflict.isRetryable());
        }
        assertArrayEquals(b("1"), db.get(tree, b("k")));
    }

    @Test
    void transactRunsAgain() throws Exception {
        final int threads = 4;
        final int each = 50;
        final AtomicInteger runs = new AtomicInteger();
        final Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; ++i) {
            all[i] = new Thread(() -> {
                for (int n = 0; n < each; ++n) {
                    db.transact(txn -> {
                        runs.incrementAndGet();
                        final byte[] old = txn.getForUpdate(tree, b("counter"));
                        Thread.yield();
                        txn.put(tree, b("counter"),
                                Bytes.of(old == null ? 1L : Bytes.number(old) + 1));
                    });
                }
            });
            all[i].start();
        }
        for (Thread thread : all) thread.join();
        assertEquals(threads * each, Bytes.number(db.get(tree, b("counter"))));
        assertTrue(runs.get() >= threads * each);
        assertEquals(7, db.<Integer, RuntimeException>compute(txn -> 7));
    }

    @Test
    void transactAgainBehindAConflict() {
        final AtomicInteger runs = new AtomicInteger();
        db.transact(txn -> {
            txn.getForUpdate(tree, b("k"));
            if (runs.incrementAndGet() == 1) db.put(tree, b("k"), b("in between"));
            txn.put(tree, b("k"), b("mine"));
        });
        assertEquals(2, runs.get());
        assertArrayEquals(b("mine"), db.get(tree, b("k")));
    }

    @Test
    void whatIsThrownAborts() {
        final IOException mine = new IOException("mine");
        assertSame(mine, assertThrows(IOException.class, () -> db.transact(txn -> {
            txn.put(tree, b("k"), b("v"));
            throw mine;
        })));
        assertNull(db.get(tree, b("k")));
    }

    @Test
    void modesAndIsolations() {
        for (TransactionOptions.Mode mode : TransactionOptions.Mode.values()) {
            for (TransactionOptions.Isolation isolation : TransactionOptions.Isolation.values()) {
                final TransactionOptions options =
                        new TransactionOptions().mode(mode).isolation(isolation);
                final byte[] key = b(mode + " " + isolation);
                db.transact(options, Durability.FULL, txn -> {
                    assertNull(txn.get(tree, key));
                    txn.put(tree, key, b("v"));
                });
                assertArrayEquals(b("v"), db.get(tree, key));
            }
        }
        try (Transaction txn = db.beginTransaction(new TransactionOptions().readOnly())) {
            assertThrows(HawthornException.class, () -> txn.put(tree, b("k"), b("v")));
        }
        try (Snapshot snapshot = db.takeSnapshot()) {
            db.put(tree, b("later"), b("v"));
            final TransactionOptions options = new TransactionOptions().snapshot(snapshot);
            try (Transaction txn = db.beginTransaction(options)) {
                assertNull(txn.get(tree, b("later")));
            }
        }
    }

    @Test
    void rowLocks() {
        final TransactionOptions options = new TransactionOptions()
                .mode(TransactionOptions.Mode.PESSIMISTIC)
                .lockTimeout(Duration.ofMillis(20));
        try (Transaction one = db.beginTransaction(options);
                Transaction two = db.beginTransaction(options)) {
            one.lock(tree, b("k"), RowLock.EXCLUSIVE, null);
            two.lock(tree, b("other"), RowLock.SHARED, Duration.ZERO);
            final HawthornException late = assertThrows(HawthornException.TimedOut.class,
                    () -> two.put(tree, b("k"), b("v")));
            assertEquals(Code.TIMED_OUT, late.code());
            one.put(tree, b("k"), b("1"));
            one.commit();
        }
        assertArrayEquals(b("1"), db.get(tree, b("k")));
    }

    @Test
    void savepoints() {
        try (Transaction txn = db.beginTransaction()) {
            txn.put(tree, b("a"), b("1"));
            final Savepoint first = txn.savepoint();
            txn.put(tree, b("b"), b("2"));
            final Savepoint second = txn.savepoint();
            txn.put(tree, b("c"), b("3"));
            txn.rollbackTo(first);
            assertEquals(1, txn.count(tree));
            assertThrows(HawthornException.InvalidArgument.class, () -> txn.rollbackTo(second));
            txn.release(first);
            txn.commit();
        }
        assertEquals(1, db.count(tree));
    }

    @Test
    void nested() {
        try (Transaction outer = db.beginTransaction()) {
            try (Transaction inner = outer.beginNested()) {
                inner.put(tree, b("a"), b("1"));
                assertThrows(HawthornException.InvalidArgument.class,
                        () -> outer.get(tree, b("a")));
                inner.commit();
            }
            try (Transaction inner = outer.beginNested()) {
                inner.put(tree, b("b"), b("1"));
            }
            assertArrayEquals(b("1"), outer.get(tree, b("a")));
            assertNull(outer.get(tree, b("b")));
            outer.commit();
        }
        assertEquals(1, db.count(tree));
    }

    @Test
    void nestedOfAnEndedOne() {
        final Transaction outer = db.beginTransaction();
        final Transaction inner = outer.beginNested();
        outer.close();
        assertTrue(inner.hasEnded());
        assertThrows(IllegalStateException.class, () -> inner.put(tree, b("a"), b("1")));
        inner.close();
    }

    @Test
    void twoPhases() {
        final Transaction one = db.beginTransaction();
        one.put(tree, b("a"), b("1"));
        one.prepare("one");
        one.close(); // stays prepared
        try (Transaction two = db.beginTransaction()) {
            two.put(tree, b("b"), b("2"));
            two.prepare("two");
        }
        assertEquals(2, db.prepared().size());
        db.close();
        db = Database.open(db.path(), Scratch.small());
        tree = db.tree("t");
        assertEquals("one", db.prepared().get(0).text("id"));
        db.commitPrepared("one", Durability.FULL);
        db.rollbackPrepared("two");
        assertArrayEquals(b("1"), db.get(tree, b("a")));
        assertNull(db.get(tree, b("b")));
        assertThrows(HawthornException.NotFound.class, () -> db.rollbackPrepared("two"));
    }

    @Test
    void treesInTransactions() {
        try (Transaction txn = db.beginTransaction()) {
            final Tree made = txn.tree("made");
            txn.put(made, b("k"), b("v"));
            txn.renameTree("t", "renamed");
            assertEquals(2, txn.trees().size());
            assertNull(db.findTree("made"));
            txn.commit();
        }
        assertArrayEquals(b("v"), db.get(db.findTree("made"), b("k")));
        db.renameTree("renamed", "t");
    }

    @Test
    void cursorsSeeOwnWrites() {
        db.put(tree, b("a"), b("1"));
        try (Transaction txn = db.beginTransaction(); Cursor cursor = txn.cursor(tree)) {
            txn.put(tree, b("b"), b("2"));
            assertTrue(cursor.first() && cursor.next());
            assertArrayEquals(b("b"), cursor.key());
            txn.put(tree, b("c"), b("3"));
            assertTrue(cursor.next());
            assertFalse(cursor.next());
            txn.commit();
            assertThrows(IllegalStateException.class, cursor::first);
        }
    }

    @Test
    void comparesAndSets() {
        db.transact(txn -> {
            assertTrue(txn.insert(tree, b("k"), b("1")));
            assertFalse(txn.insert(tree, b("k"), b("2")));
            assertTrue(txn.replace(tree, b("k"), b("1"), b("2")));
            assertTrue(txn.update(tree, b("k"), b("3")));
            assertFalse(txn.removeIf(tree, b("k"), b("2")));
            assertEquals(1, txn.append(tree, b("k"), b("45")));
            txn.writePart(tree, b("k"), 0, b("0"));
            txn.resize(tree, b("k"), 2);
            txn.deleteRange(tree, Range.from(b("l")));
        });
        assertArrayEquals(b("04"), db.get(tree, b("k")));
    }

    @Test
    void streams() {
        final byte[] big = new byte[3_000_000];
        new Random(3).nextBytes(big);
        db.transact(txn -> {
            txn.put(tree, b("big"), big.length, new ByteArrayInputStream(big));
            assertEquals(big.length, txn.append(tree, b("big"), 2, new ByteArrayInputStream(b("xy"))));
            txn.writePart(tree, b("big"), big.length, 1, new ByteArrayInputStream(b("z")));
            assertEquals(big.length + 2, txn.size(tree, b("big")));
        });
        assertArrayEquals(b("zy"), db.readPart(tree, b("big"), big.length, 10));
        assertArrayEquals(new byte[] {big[5]}, db.readPart(tree, b("big"), 5, 1));
    }

    @Test
    void streamsThatFail() {
        final IOException mine = new IOException("mine");
        try (Transaction txn = db.beginTransaction()) {
            final InputStream fails = new InputStream() {
                @Override
                public int read() throws IOException {
                    throw mine;
                }
            };
            assertSame(mine, assertThrows(UncheckedIOException.class,
                    () -> txn.put(tree, b("k"), 10, fails)).getCause());
            final InputStream usesIt = new InputStream() {
                @Override
                public int read() {
                    txn.put(tree, b("inside"), b("v"));
                    return 0;
                }
            };
            assertThrows(IllegalStateException.class, () -> txn.put(tree, b("k"), 10, usesIt));
            final InputStream closesIt = new InputStream() {
                @Override
                public int read() {
                    db.close();
                    return 0;
                }
            };
            assertThrows(IllegalStateException.class, () -> txn.put(tree, b("k"), 10, closesIt));
            final InputStream tooShort = new ByteArrayInputStream(b("12"));
            assertThrows(HawthornException.class, () -> txn.put(tree, b("k"), 10, tooShort));
        }
        assertEquals(0, db.count(tree));
    }
}
