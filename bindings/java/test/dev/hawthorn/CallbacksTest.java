// What the engine calls in Java: operators, orders, filters, listeners, hooks, keys.

package dev.hawthorn;

import static dev.hawthorn.Scratch.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CallbacksTest {
    private Path path;

    @BeforeEach
    void directory() {
        path = Scratch.directory().resolve("db");
    }

    /** Joins by commas; refuses an operand "bad", and throws at "worse". */
    private static final MergeOperator JOIN = new MergeOperator() {
        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            final StringBuilder text = new StringBuilder(existing == null ? "" : Bytes.text(existing));
            for (byte[] operand : operands) {
                if (Bytes.text(operand).equals("bad")) return null;
                if (Bytes.text(operand).equals("worse")) throw new IllegalStateException("worse");
                text.append(text.length() > 0 ? "," : "").append(Bytes.text(operand));
            }
            return b(text.toString());
        }

        @Override
        public byte[] combine(byte[] key, byte[] left, byte[] right) {
            return b(Bytes.text(left) + "," + Bytes.text(right));
        }
    };

    @Test
    void mergeOperatorsOfTheLibrary() {
        try (Database db = Database.open(path, Scratch.small().mergeOperator("uint64_add"))) {
            final Tree tree = db.tree("t");
            db.setMergeOperator(tree, "uint64_add");
            db.merge(tree, b("k"), Bytes.littleEndian(40));
            db.merge(tree, b("k"), Bytes.littleEndian(2), WriteOptions.of(Durability.FULL));
            assertEquals(42, Bytes.littleEndianNumber(db.get(tree, b("k"))));
            assertThrows(HawthornException.InvalidArgument.class,
                    () -> db.setMergeOperator(tree, "other"));
        }
    }

    @Test
    void mergeOperatorsOfTheProgram() {
        try (Database db = Database.open(path, Scratch.small().mergeOperator("join", JOIN))) {
            final Tree tree = db.tree("t");
            db.setMergeOperator(tree, "join");
            db.put(tree, b("k"), b("0"));
            for (int i = 1; i < 6; ++i) db.merge(tree, b("k"), b("" + i));
            assertArrayEquals(b("0,1,2,3,4,5"), db.get(tree, b("k")));
            db.transact(txn -> txn.merge(tree, b("new"), b("x")));
            db.flush(); // folds on threads of the engine
            db.merge(tree, b("k"), b("6"));
            db.compact();
            assertArrayEquals(b("0,1,2,3,4,5,6"), db.get(tree, b("k")));
            assertArrayEquals(b("x"), db.get(tree, b("new")));
            db.merge(tree, b("refused"), b("bad"));
            assertThrows(HawthornException.class, () -> db.get(tree, b("refused")));
            final ConcurrentLinkedQueue<Throwable> told = new ConcurrentLinkedQueue<>();
            Thread.currentThread().setUncaughtExceptionHandler((thread, thrown) -> told.add(thrown));
            db.merge(tree, b("thrown"), b("worse"));
            assertThrows(HawthornException.class, () -> db.get(tree, b("thrown")));
            assertEquals("worse", told.peek().getMessage());
            Thread.currentThread().setUncaughtExceptionHandler(null);
            db.del(tree, b("refused"));
            db.del(tree, b("thrown"));
        }
        try (Database db = Database.open(path, Scratch.small().mergeOperator("join", JOIN))) {
            assertArrayEquals(b("0,1,2,3,4,5,6"), db.get(db.tree("t"), b("k")));
        }
    }

    @Test
    void orders() {
        final KeyOrder backwards = new KeyOrder() {
            @Override
            public byte[] encode(byte[] key) {
                return key.length == 4 ? flip(key) : null;
            }

            @Override
            public byte[] decode(byte[] sortKey) {
                return flip(sortKey);
            }

            private byte[] flip(byte[] key) {
                final byte[] flipped = key.clone();
                for (int i = 0; i < flipped.length; ++i) flipped[i] ^= -1;
                return flipped;
            }
        };
        final Options options = Scratch.small()
                .keyOrder("backwards", 4, backwards)
                .keyComparator("by size", (x, y) -> x.length != y.length
                        ? Integer.compare(x.length, y.length) : Arrays.compareUnsigned(x, y));
        try (Database db = Database.open(path, options)) {
            final Tree tree = db.tree("t", new TreeOptions().order("backwards"));
            for (String key : List.of("bbbb", "aaaa", "cccc")) db.put(tree, b(key), b("v"));
            assertThrows(HawthornException.class, () -> db.put(tree, b("wrong"), b("v")));
            assertEquals(List.of("cccc", "bbbb", "aaaa"), keys(db, tree));
            final Tree sizes = db.tree("s", new TreeOptions().order("by size"));
            for (String key : List.of("ccc", "b", "aa", "a")) db.put(sizes, b(key), b("v"));
            assertEquals(List.of("a", "b", "aa", "ccc"), keys(db, sizes));
            db.flush();
            assertEquals(List.of("cccc", "bbbb", "aaaa"), keys(db, tree));
            assertEquals(List.of("a", "b", "aa", "ccc"), keys(db, sizes));
        }
    }

    private static List<String> keys(Database db, Tree tree) {
        return db.stream(tree, Range.ALL).map(e -> Bytes.text(e.key())).collect(Collectors.toList());
    }

    @Test
    void flushFilters() {
        final Options options = Scratch.small().flushFilter("t", "f", false, (key, value) -> {
            if (Bytes.text(key).startsWith("go")) return FlushFilter.Decision.REMOVE;
            if (Bytes.text(key).startsWith("ch")) return FlushFilter.Decision.change(b("changed"));
            if (Bytes.text(key).startsWith("th")) throw new IllegalStateException("kept");
            return FlushFilter.Decision.KEEP;
        });
        try (Database db = Database.open(path, options)) {
            final Tree tree = db.tree("t");
            for (String key : List.of("go", "change", "keep")) db.put(tree, b(key), b("v"));
            db.compact();
            assertNull(db.get(tree, b("go")));
            assertArrayEquals(b("changed"), db.get(tree, b("change")));
            assertArrayEquals(b("v"), db.get(tree, b("keep")));
        }
    }

    @Test
    void listenersAndHooks() throws Exception {
        final Map<String, Row> events = Collections.synchronizedMap(new HashMap<>());
        final ConcurrentLinkedQueue<String> expired = new ConcurrentLinkedQueue<>();
        final AtomicInteger logged = new AtomicInteger();
        final AtomicInteger failures = new AtomicInteger();
        final AtomicInteger commits = new AtomicInteger();
        final boolean[] refuse = new boolean[1];
        final Options options = Scratch.small()
                .listener(events::put)
                .log((level, message) -> logged.addAndGet(message.length()))
                .onExpiry((tree, key, value) -> expired.add(tree + "/" + Bytes.text(key)))
                .commitHook(new CommitHook() {
                    @Override
                    public void beforeCommit(long operations, Durability durability) {
                        if (refuse[0]) throw new HawthornException(Code.BUSY, "not now");
                    }

                    @Override
                    public void afterCommit(long operations, Durability durability, long timestamp,
                            HawthornException failure) {
                        (failure == null ? commits : failures).incrementAndGet();
                    }
                });
        try (Database db = Database.open(path, options)) {
            final Tree tree = db.tree("t", new TreeOptions().expires());
            db.put(tree, b("k"), b("v"));
            assertTrue(commits.get() > 0);
            refuse[0] = true;
            final HawthornException refused = assertThrows(HawthornException.Busy.class,
                    () -> db.put(tree, b("refused"), b("v")));
            assertTrue(refused.getMessage().contains("not now"), refused.getMessage());
            refuse[0] = false;
            assertNull(db.get(tree, b("refused")));
            db.put(tree, b("soon"), b("v"), WriteOptions.DEFAULT.expiresAfter(Duration.ofMillis(1)));
            db.compact();
            Scratch.waitUntil(() -> !expired.isEmpty());
        }
        assertEquals(List.of("t/soon"), List.copyOf(expired));
        assertTrue(events.containsKey("opened") && events.containsKey("closed"), events.toString());
        assertTrue(events.get("flush_completed").names().size() > 1);
    }

    @Test
    void encryption() {
        final Map<String, byte[]> keys = new HashMap<>();
        keys.put("one", Options.generateKey());
        keys.put("two", Options.generateKey());
        final KeyProvider provider = id -> {
            if (!keys.containsKey(id)) throw new IllegalStateException("no key " + id);
            return keys.get(id);
        };
        try (Database db = Database.open(path, Scratch.small().encryption("one", provider))) {
            db.put(db.tree("t"), b("k"), b("v"));
            assertTrue(db.encryption().flag("encrypted"));
            db.rotateKey("two");
            db.rotateDataKey();
            assertEquals("two", db.encryption().text("key_id"));
        }
        assertThrows(HawthornException.class, () -> Database.open(path, Scratch.small()));
        keys.remove("one");
        try (Database db = Database.open(path, Scratch.small().encryption(null, provider))) {
            assertArrayEquals(b("v"), db.get(db.tree("t"), b("k")));
        }
        keys.put("two", new byte[5]);
        assertThrows(HawthornException.class,
                () -> Database.open(path, Scratch.small().encryption(null, provider)));
        keys.remove("two");
        assertThrows(HawthornException.class,
                () -> Database.open(path, Scratch.small().encryption(null, provider)));
    }
}
