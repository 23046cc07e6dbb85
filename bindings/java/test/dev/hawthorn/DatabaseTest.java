// Reads and writes of single keys, trees, snapshots, figures.

package dev.hawthorn;

import static dev.hawthorn.Scratch.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DatabaseTest {
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
    void putsGetsAndDeletes() {
        assertNull(db.get(tree, b("a")));
        assertTrue(db.find(tree, b("a")).isEmpty());
        assertFalse(db.contains(tree, b("a")));
        db.put(tree, b("a"), b("1"));
        db.put(tree, b("empty"), b(""));
        assertArrayEquals(b("1"), db.get(tree, b("a")));
        assertArrayEquals(b(""), db.get(tree, b("empty")));
        assertTrue(db.contains(tree, b("a")) && db.contains(tree, b("empty")));
        assertEquals(1, db.size(tree, b("a")));
        assertEquals(-1, db.size(tree, b("b")));
        db.del(tree, b("a"));
        db.del(tree, b("a"), WriteOptions.of(Durability.FULL));
        assertNull(db.get(tree, b("a")));
    }

    @Test
    void valuesOfAllSizes() {
        final Random random = new Random(1);
        for (int size : new int[] {1, 1023, 1024, 1025, 8191, 8192, 8193, 300_000, 5_000_000}) {
            final byte[] key = new byte[Math.min(size, 60_000)];
            final byte[] value = new byte[size];
            random.nextBytes(key);
            random.nextBytes(value);
            db.put(tree, key, value);
            assertArrayEquals(value, db.get(tree, key));
            assertEquals(size, db.size(tree, key));
        }
        assertEquals(9, db.count(tree));
    }

    @Test
    void directBuffers() {
        final ByteBuffer key = ByteBuffer.allocateDirect(8).put(b("xxkey")).position(2).limit(5);
        final ByteBuffer value = ByteBuffer.allocateDirect(8).put(b("value")).flip();
        db.put(tree, key, value, WriteOptions.DEFAULT);
        assertEquals(2, key.position());
        assertArrayEquals(b("value"), db.get(tree, b("key")));
        final ByteBuffer target = ByteBuffer.allocateDirect(16).position(3);
        assertEquals(5, db.get(tree, key, target));
        assertEquals(8, target.limit());
        final byte[] copy = new byte[5];
        target.get(copy);
        assertArrayEquals(b("value"), copy);
        final ByteBuffer small = ByteBuffer.allocateDirect(2);
        assertEquals(5, db.get(tree, key, small));
        assertEquals(2, small.limit());
        assertEquals('v', small.get(0));
        key.limit(4);
        assertEquals(-1, db.get(tree, key, target.clear()));
        assertThrows(IllegalArgumentException.class,
                () -> db.get(tree, ByteBuffer.allocate(3), target));
        assertThrows(IllegalArgumentException.class,
                () -> db.get(tree, key, target.asReadOnlyBuffer()));
    }

    @Test
    void comparesAndSets() {
        assertFalse(db.update(tree, b("k"), b("1")));
        assertTrue(db.insert(tree, b("k"), b("1")));
        assertFalse(db.insert(tree, b("k"), b("2")));
        assertTrue(db.update(tree, b("k"), b("2")));
        assertFalse(db.replace(tree, b("k"), b("1"), b("3")));
        assertTrue(db.replace(tree, b("k"), b("2"), b("3")));
        assertFalse(db.replace(tree, b("k"), null, b("4")));
        assertTrue(db.replace(tree, b("new"), null, b("4")));
        assertFalse(db.removeIf(tree, b("k"), b("2")));
        assertTrue(db.removeIf(tree, b("k"), b("3")));
        assertNull(db.get(tree, b("k")));
        final WriteOptions full = WriteOptions.of(Durability.FULL);
        assertFalse(db.update(tree, b("k"), b("1"), full));
        assertTrue(db.update(tree, b("new"), b("5"), full));
        assertEquals(1, db.append(tree, b("new"), b("67"), Durability.FULL));
        db.writePart(tree, b("new"), 1, b("8"), Durability.FULL);
        assertArrayEquals(b("587"), db.get(tree, b("new")));
        db.resize(tree, b("new"), 2, Durability.FULL);
        assertFalse(db.removeIf(tree, b("new"), b("587"), full));
        assertTrue(db.removeIf(tree, b("new"), b("58"), full));
        assertFalse(db.contains(tree, b("new")));
    }

    @Test
    void countsAndDeletesRanges() {
        for (int i = 0; i < 100; ++i) db.put(tree, Bytes.of((long) i), b("v"));
        final Range middle = Range.of(Bytes.of(20L), Bytes.of(30L));
        assertEquals(100, db.count(tree));
        assertEquals(10, db.count(tree, middle));
        db.deleteRange(tree, middle);
        assertEquals(90, db.count(tree));
        assertEquals(0, db.count(tree, middle));
        db.deleteRange(tree, Range.from(Bytes.of(50L)), WriteOptions.of(Durability.ASYNC));
        assertEquals(40, db.count(tree));
        db.flush();
        final Database.Estimate estimate = db.estimate(tree, Range.ALL);
        assertTrue(estimate.entries() > 0 && estimate.bytes() > 0, estimate.toString());
    }

    @Test
    void readsManyKeys() {
        for (int i = 0; i < 3000; i += 2) db.put(tree, Bytes.of((long) i), b("v" + i));
        final byte[][] keys = new byte[3000][];
        for (int i = 0; i < keys.length; ++i) keys[i] = Bytes.of((long) i);
        final byte[][] values = db.multiGet(tree, keys);
        for (int i = 0; i < keys.length; ++i) {
            assertArrayEquals(i % 2 == 0 ? b("v" + i) : null, values[i]);
        }
        assertEquals(0, db.multiGet(tree).length);
        assertEquals(2, db.multiGet(tree, List.of(keys[0], keys[1])).length);
        assertThrows(NullPointerException.class, () -> db.multiGet(tree, keys[0], null));
    }

    @Test
    void partsAndStreams() throws Exception {
        final byte[] big = new byte[1_500_000];
        new Random(2).nextBytes(big);
        assertEquals(0, db.append(tree, b("big"), Arrays.copyOf(big, 500_000)));
        assertEquals(500_000, db.append(tree, b("big"), Arrays.copyOfRange(big, 500_000, 900_000)));
        db.writePart(tree, b("big"), 900_000, Arrays.copyOfRange(big, 900_000, big.length));
        assertArrayEquals(Arrays.copyOfRange(big, 7, 107), db.readPart(tree, b("big"), 7, 100));
        assertEquals(10, db.readPart(tree, b("big"), big.length - 10, 100).length);
        assertNull(db.readPart(tree, b("none"), 0, 1));
        try (InputStream in = db.open(tree, b("big"))) {
            assertEquals(big[0] & 0xff, in.read());
            assertArrayEquals(Arrays.copyOfRange(big, 1, big.length), in.readAllBytes());
        }
        assertNull(db.open(tree, b("none")));
        db.resize(tree, b("big"), 3);
        assertArrayEquals(Arrays.copyOf(big, 3), db.get(tree, b("big")));
    }

    @Test
    void entriesEnd() {
        final Tree ends = db.tree("ends", new TreeOptions().timeToLive(Duration.ofHours(1)));
        final long now = System.currentTimeMillis();
        db.put(ends, b("default"), b("v"));
        final long written = System.currentTimeMillis();
        db.put(ends, b("soon"), b("v"), WriteOptions.DEFAULT.expiresAfter(Duration.ofMillis(1)));
        db.put(ends, b("never"), b("v"), WriteOptions.DEFAULT.neverExpires());
        final Instant moment = Instant.ofEpochMilli(now + 5_000_000);
        db.put(ends, b("at"), b("v"), WriteOptions.of(Durability.FULL).expiresAt(moment));
        final long end = db.expiresAtMs(ends, b("default"));
        assertTrue(end >= now + 3_600_000 && end <= written + 3_600_000);
        assertEquals(0, db.expiresAtMs(ends, b("never")));
        assertEquals(now + 5_000_000, db.expiresAtMs(ends, b("at")));
        assertEquals(-1, db.expiresAtMs(ends, b("none")));
        assertTrue(Scratch.waitUntil(() -> db.get(ends, b("soon")) == null));
        assertEquals(3, db.count(ends));
        try (Snapshot snapshot = db.takeSnapshot()) {
            assertTrue(snapshot.nowMs() >= now && snapshot.nowMs() <= System.currentTimeMillis());
        }
        assertThrows(HawthornException.class, () -> db.put(tree, b("k"), b("v"),
                WriteOptions.DEFAULT.expiresAfter(Duration.ofSeconds(1))));
    }

    @Test
    void treesOfAllShapes() {
        final Tree several = db.tree("several", new TreeOptions().multiValue());
        db.put(several, b("k"), b("2"));
        db.put(several, b("k"), b("1"));
        assertEquals(2, db.count(several));
        db.delValue(several, b("k"), b("2"));
        assertEquals(1, db.count(several));
        final Row shape = db.treeOptions(several);
        assertTrue(shape.flag("multi_value") && !shape.flag("expires"));
        assertEquals("bytewise", shape.text("order"));
        assertThrows(HawthornException.InvalidArgument.class,
                () -> db.tree("several", new TreeOptions().expires()));
        assertThrows(HawthornException.InvalidArgument.class,
                () -> db.tree("x", new TreeOptions().order("no such order")));

        final Tree parent = db.tree("parent", new TreeOptions().subtrees());
        final Tree child = db.createSubtree(parent, b("child"), null);
        db.put(child, b("k"), b("v"));
        assertArrayEquals(b("v"), db.get(db.subtree(parent, b("child")), b("k")));
        assertNull(db.subtree(parent, b("none")));
        assertArrayEquals(b("child"), db.subtrees(parent).get(0));
        final Tree copy = db.cloneSubtree(parent, b("child"), "copy");
        assertArrayEquals(b("v"), db.get(copy, b("k")));
        db.moveSubtree(parent, b("child"), parent, b("moved"));
        db.detach(parent, b("moved"), "named");
        assertEquals(0, db.subtrees(parent).size());
        db.attach(parent, b("again"), "named");
        assertArrayEquals(b("v"), db.get(db.subtree(parent, b("again")), b("k")));
    }

    @Test
    void treesByName() {
        db.put(tree, b("k"), b("v"));
        final Tree copy = db.cloneTree("t", "copy");
        assertArrayEquals(b("v"), db.get(copy, b("k")));
        db.renameTree("copy", "renamed");
        assertEquals(List.of("renamed", "t"), db.trees().stream().sorted().toList());
        assertNull(db.findTree("copy"));
        assertNotEquals(tree.id(), db.findTree("renamed").id());
        db.dropTree("renamed");
        assertEquals(List.of("t"), db.trees());
        assertThrows(HawthornException.NotFound.class, () -> db.dropTree("renamed"));
        db.setCompression(tree, Compression.ZSTD);
    }

    @Test
    void batches() {
        try (Batch batch = db.batch()) {
            batch.put(tree, b("a"), b("1")).put(tree, b("b"), b("2")).del(tree, b("a"));
            final Columns columns = new Columns(10, 100, 100);
            for (int i = 0; i < 5; ++i) assertTrue(columns.add(b("c" + i), b("v" + i)));
            batch.put(tree, columns);
            assertEquals(8, batch.count());
            assertTrue(batch.bytes() > 0);
            assertNull(db.get(tree, b("b")));
            db.write(batch, Durability.ASYNC);
            assertEquals(6, db.count(tree));
            batch.clear();
            batch.deleteRange(tree, Range.prefix(b("c")));
            db.write(batch);
            assertEquals(1, db.count(tree));
        }
    }

    @Test
    void snapshotsStay() {
        db.put(tree, b("k"), b("old"));
        db.createSnapshot("named");
        try (Snapshot snapshot = db.takeSnapshot()) {
            assertFalse(snapshot.changedSince(tree, b("k")));
            db.put(tree, b("k"), b("new"));
            db.put(tree, b("l"), b("new"));
            assertTrue(snapshot.changedSince(tree, b("k")));
            assertArrayEquals(b("old"), snapshot.get(tree, b("k")));
            assertEquals(1, snapshot.count(tree));
            assertEquals(1, snapshot.stream(tree, Range.ALL).count());
            assertNull(snapshot.multiGet(tree, b("k"), b("l"))[1]);
            assertTrue(snapshot.timestamp() > 0);
        }
        assertEquals("named", db.snapshots().get(0).text("name"));
        try (Snapshot snapshot = db.openSnapshot("named")) {
            assertArrayEquals(b("old"), snapshot.get(tree, b("k")));
        }
        db.dropSnapshot("named");
        assertThrows(HawthornException.NotFound.class, () -> db.openSnapshot("named"));
    }

    @Test
    void figuresAndMaintenance() {
        db.put(tree, b("k"), b("v"));
        db.sync();
        db.flush();
        db.drain();
        db.compact();
        db.warmUp();
        db.setMemoryBudget(100L << 20);
        db.setBackgroundIoLimit(0);
        assertTrue(db.stat("commits") > 0);
        assertTrue(db.stats().number("commits") > 0);
        assertEquals("t", db.stats().rows("trees").get(0).text("name"));
        assertThrows(HawthornException.NotFound.class, () -> db.stat("no such figure"));
        assertTrue(db.explain(tree, b("k")).flag("found"));
        assertEquals(32, db.id().length());
        assertFalse(db.encryption().flag("encrypted"));
        assertTrue(Database.Limits.KEY_BYTES >= 60_000);
        assertTrue(Database.version().startsWith("0."));
        final int[] told = new int[1];
        final CheckOptions options =
                new CheckOptions().threads(2).progress((done, all) -> ++told[0]);
        assertTrue(db.check(options).flag("ok"));
        assertTrue(told[0] > 0);
        assertArrayEquals(b("v"), db.getInMemory(tree, b("k")));
    }

    @Test
    void optionsByName() {
        assertTrue(Options.names().contains("memory_budget_bytes"));
        final Options options = new Options().set("memory_budget_bytes", "64M");
        assertEquals(64L << 20, Long.parseLong(options.get("memory_budget_bytes")));
        assertThrows(HawthornException.NotFound.class, () -> options.set("no such option", 1));
        assertThrows(HawthornException.InvalidArgument.class,
                () -> options.set("memory_budget_bytes", "much"));
        assertEquals(64L << 20, Long.parseLong(options.get("memory_budget_bytes")));
        final Path none = Scratch.directory().resolve("none");
        assertThrows(HawthornException.NotFound.class,
                () -> Database.open(none, new Options().set("create_if_missing", false)));
        assertThrows(HawthornException.NotFound.class, () -> Database.destroy(none, null));
    }

    @Test
    void readOnly() {
        db.put(tree, b("k"), b("v"));
        db.close();
        final Options options = Scratch.small().readOnly(true);
        try (Database again = Database.open(db.path(), options)) {
            final Tree t = again.findTree("t");
            assertArrayEquals(b("v"), again.get(t, b("k")));
            final HawthornException refused = assertThrows(HawthornException.ReadOnly.class,
                    () -> again.put(t, b("k"), b("w")));
            assertEquals(Code.READ_ONLY, refused.code());
        }
        assertThrows(IllegalStateException.class, () -> db.get(tree, b("k")));
    }
}
