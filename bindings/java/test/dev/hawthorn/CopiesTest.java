// Asynchronous reads, copies, bulk loading, feeds, replicas, followers, repair.

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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CopiesTest {
    private Path directory;
    private Database db;
    private Tree tree;

    @BeforeEach
    void open() {
        directory = Scratch.directory();
        db = Database.open(directory.resolve("db"), Scratch.small());
        tree = db.tree("t");
        for (int i = 0; i < 500; ++i) db.put(tree, Bytes.of((long) i), b("value" + i));
    }

    @AfterEach
    void close() {
        db.close();
    }

    private static void compare(Path path) {
        try (Database copy = Database.open(path, Scratch.small())) {
            final Tree t = copy.findTree("t");
            assertEquals(500, copy.count(t));
            assertArrayEquals(b("value77"), copy.get(t, Bytes.of(77L)));
            assertTrue(copy.check(new CheckOptions()).flag("ok"));
        }
    }

    @Test
    void asynchronousReads() throws Exception {
        db.flush();
        try (AsyncReader reader = db.asyncReader(32); Snapshot snapshot = db.takeSnapshot()) {
            final List<CompletableFuture<byte[]>> futures = new ArrayList<>();
            for (int i = 0; i < 600; ++i) {
                futures.add(i % 2 == 0 ? reader.get(tree, Bytes.of((long) i))
                        : reader.get(tree, Bytes.of((long) i), snapshot));
            }
            for (int i = 0; i < 600; ++i) {
                assertArrayEquals(i < 500 ? b("value" + i) : null,
                        futures.get(i).get(10, TimeUnit.SECONDS));
            }
            final CompletableFuture<Integer> sum = reader.get(tree, Bytes.of(7L))
                    .thenCombine(reader.get(tree, Bytes.of(8L)), (x, y) -> x.length + y.length);
            assertEquals(12, sum.get(10, TimeUnit.SECONDS));
            try (Database other = Scratch.open()) {
                final CompletableFuture<byte[]> wrong = reader.get(other.tree("t"), b("k"));
                final ExecutionException told = assertThrows(ExecutionException.class,
                        () -> wrong.get(10, TimeUnit.SECONDS));
                assertTrue(told.getCause() instanceof HawthornException.InvalidArgument);
            }
            assertTrue(closesFromWithin(reader), "no future was completed by the reader");
        }
    }

    /** Closes from the reader's thread, which has to be refused. False: it never came to that. */
    private boolean closesFromWithin(AsyncReader reader) throws Exception {
        for (int i = 0; i < 1000; ++i) {
            final CompletableFuture<Boolean> refused = new CompletableFuture<>();
            reader.get(tree, Bytes.of(1L)).thenAccept(value -> {
                if (!Thread.currentThread().getName().equals("hawthorn-reads")) {
                    refused.complete(false); // it was complete before
                    return;
                }
                assertThrows(IllegalStateException.class, db::close);
                assertThrows(IllegalStateException.class, reader::close);
                refused.complete(true);
            });
            if (refused.get(10, TimeUnit.SECONDS)) return true;
        }
        return false;
    }

    @Test
    void asynchronousReadsAtTheEnd() throws Exception {
        final AsyncReader reader = db.asyncReader(4);
        final List<CompletableFuture<byte[]>> futures = new ArrayList<>();
        for (int i = 0; i < 100; ++i) futures.add(reader.get(tree, Bytes.of((long) i)));
        reader.close();
        for (int i = 0; i < 100; ++i) {
            assertArrayEquals(b("value" + i), futures.get(i).get(1, TimeUnit.SECONDS));
        }
        assertThrows(IllegalStateException.class, () -> reader.get(tree, b("k")));
        final AsyncReader second = db.asyncReader(4);
        second.get(tree, Bytes.of(1L));
        db.close();
        assertTrue(second.isClosed());
    }

    @Test
    void checkpoints() {
        final Path target = directory.resolve("checkpoint");
        db.checkpoint(target, new CopyOptions().copyBlocks());
        compare(target);
        assertThrows(HawthornException.InvalidArgument.class,
                () -> db.checkpoint(target, new CopyOptions()));
        db.put(tree, b("big"), new byte[8 << 20]);
        final IllegalStateException mine = new IllegalStateException("enough");
        assertSame(mine, assertThrows(IllegalStateException.class, () -> db.checkpoint(
                directory.resolve("other"), new CopyOptions().copyBlocks().progress(bytes -> {
                    throw mine;
                }))));
    }

    @Test
    void repositories() {
        try (Repository repository = Repository.open(directory.resolve("backups"))) {
            final Row first = repository.backup(db, new CopyOptions());
            assertFalse(first.flag("incremental"));
            final long id = first.number("id");
            db.put(tree, b("later"), b("v"));
            repository.backup(db, new CopyOptions().bytesPerSecond(1L << 40));
            assertEquals(2, repository.list().size());
            repository.verify(id, new CopyOptions());
            repository.restore(id, directory.resolve("restored"), new CopyOptions());
            compare(directory.resolve("restored"));
            repository.remove(id);
            assertEquals(1, repository.list().size());
            assertThrows(HawthornException.NotFound.class,
                    () -> repository.verify(id, new CopyOptions()));
        }
    }

    @Test
    void backupsByStream() {
        final byte[] big = new byte[8 << 20];
        new java.util.Random(5).nextBytes(big);
        db.put(db.tree("other"), b("big"), big);
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final long[] told = new long[1];
        final Row row = db.backupTo(out, new CopyOptions().progress(bytes -> told[0] = bytes));
        assertTrue(row.number("bytes") > 0 && told[0] > 0);
        final byte[] bytes = out.toByteArray();
        Database.verifyBackup(new ByteArrayInputStream(bytes), new CopyOptions());
        final Path target = directory.resolve("restored");
        Database.restoreBackup(new ByteArrayInputStream(bytes), target, new CopyOptions());
        compare(target);
        bytes[bytes.length / 2] ^= 1;
        assertThrows(HawthornException.Corruption.class,
                () -> Database.verifyBackup(new ByteArrayInputStream(bytes), new CopyOptions()));
        final IOException full = new IOException("full");
        final OutputStream fails = new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                throw full;
            }
        };
        assertSame(full, assertThrows(UncheckedIOException.class,
                () -> db.backupTo(fails, new CopyOptions())).getCause());
    }

    @Test
    void bulkLoads() {
        final Tree loaded = db.tree("loaded");
        try (Ingest ingest = db.ingest(loaded, true, Durability.FULL)) {
            ingest.add(b("a"), b("1"));
            final Columns columns = new Columns(10, 100, 100);
            columns.add(b("b"), b("2"));
            columns.add(b("c"), b("3"));
            ingest.add(columns);
            ingest.add(b("d"), 100_000, new ByteArrayInputStream(new byte[100_000]));
            ingest.finish();
            assertEquals(4, ingest.stats().number("entries"));
            assertThrows(HawthornException.InvalidArgument.class, () -> ingest.add(b("e"), b("")));
        }
        assertEquals(4, db.count(loaded));
        assertEquals(100_000, db.size(loaded, b("d")));
        try (Ingest ingest = db.ingest(loaded, true, Durability.DEFAULT)) {
            ingest.add(b("y"), b("1"));
            assertThrows(HawthornException.InvalidArgument.class, () -> ingest.add(b("x"), b("")));
        }
        try (Ingest ingest = db.ingest(db.tree("sorted"), false, Durability.DEFAULT)) {
            ingest.add(b("y"), b("1"));
            ingest.add(b("x"), b("1"));
            ingest.finish();
        }
        assertArrayEquals(b("x"), db.iterator(db.tree("sorted"), Range.ALL).next().key());
        try (Ingest ingest = db.ingest(db.tree("many"), false, Durability.FULL, 4 << 20)) {
            for (int i = 9999; i >= 0; --i) ingest.add(b("k" + i), new byte[1000]);
            ingest.finish();
        }
        assertEquals(10_000, db.count(db.tree("many")));
        assertThrows(IllegalArgumentException.class,
                () -> db.ingest(loaded, false, Durability.FULL, -1));
        assertEquals(4, db.count(loaded));
    }

    @Test
    void feedsAndReplicas() {
        db.createFeed("feed", -1);
        assertThrows(HawthornException.InvalidArgument.class, () -> db.createFeed("feed", 0));
        try (Database target = Scratch.open(); Replica replica = target.replica();
                Feed feed = db.openFeed("feed")) {
            assertEquals(0, replica.position());
            replica.copy(db);
            assertEquals(db.id(), replica.sourceId());
            assertEquals(db.id(), feed.sourceId());
            assertThrows(HawthornException.Busy.class, () -> db.dropFeed("feed"));
            assertThrows(HawthornException.InvalidArgument.class, feed::nextChange);
            assertFalse(feed.next(Duration.ZERO));
            try (Batch batch = db.batch()) {
                batch.put(tree, b("k"), b("v")).del(tree, Bytes.of(1L));
                batch.deleteRange(tree, Range.of(Bytes.of(2L), Bytes.of(4L)));
                db.write(batch);
            }
            assertTrue(feed.next(Scratch.HANG_LIMIT));
            final Change put = feed.nextChange();
            assertEquals(Change.Type.PUT, put.type());
            assertEquals("t", put.tree());
            assertArrayEquals(b("k"), put.key());
            assertArrayEquals(b("v"), put.value());
            assertEquals(1, put.valueBytes());
            assertEquals("t", feed.changeTree().text("name"));
            assertEquals(Change.Type.DELETE, feed.nextChange().type());
            final Change range = feed.nextChange();
            assertEquals(Change.Type.DELETE_RANGE, range.type());
            assertArrayEquals(Bytes.of(4L), range.high());
            assertNull(feed.nextChange());
            assertThrows(IllegalStateException.class,
                    () -> replica.apply(feed, Durability.DEFAULT));
            assertThrows(IllegalStateException.class, feed::encode);
        }
        try (Database target = Scratch.open(); Replica replica = target.replica()) {
            db.dropFeed("feed");
            db.createFeed("feed", 0);
            replica.copy(db);
            final Feed feed = db.openFeed("feed");
            db.deleteRange(tree, Range.of(Bytes.of(10L), Bytes.of(20L)));
            assertTrue(feed.next(Scratch.HANG_LIMIT));
            replica.apply(feed, Durability.DEFAULT);
            assertEquals(db.count(tree), target.count(target.findTree("t")));
            feed.acknowledge(feed.commitTimestamp());
            assertEquals(feed.commitTimestamp(), feed.position());
            assertEquals(feed.commitTimestamp(), replica.position());

            db.put(tree, b("l"), b("w"));
            assertTrue(feed.next(Scratch.HANG_LIMIT));
            final List<byte[]> pieces = feed.encode();
            assertThrows(HawthornException.class,
                    () -> replica.apply(List.of(), Durability.DEFAULT));
            replica.apply(pieces, Durability.DEFAULT);
            assertEquals(db.count(tree), target.count(target.findTree("t")));
            assertArrayEquals(b("w"), target.get(target.findTree("t"), b("l")));
            feed.close();
        }
        assertEquals(1, db.feeds().size());
        db.dropFeed("feed");
        assertEquals(0, db.feeds().size());
    }

    @Test
    void followers() {
        try (Follower follower = Follower.open(db.path(), new Options())) {
            try (Database view = follower.view()) {
                assertEquals(500, view.count(view.findTree("t")));
                db.put(tree, b("k"), b("v"));
                assertEquals(500, view.count(view.findTree("t")));
                assertThrows(HawthornException.class,
                        () -> view.put(view.findTree("t"), b("k"), b("v")));
            }
            follower.refresh();
            follower.rebuild();
            try (Database view = follower.latest()) {
                assertEquals(501, view.count(view.findTree("t")));
            }
        }
        assertTrue(Database.readCounters(db.path()).rows("entries").size() > 0);
    }

    @Test
    void repairs() {
        db.close();
        final Path target = directory.resolve("repaired");
        final Row report = Database.repair(db.path(), target, Scratch.small(), false, null);
        assertTrue(report.flag("ok"), report.toString());
        compare(target);
        assertThrows(HawthornException.InvalidArgument.class,
                () -> Database.repair(db.path(), target, null, false, null));
    }
}
