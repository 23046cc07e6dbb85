// Walks: cursors, iterators and columns, against a sorted model with random operations.

package dev.hawthorn;

import static dev.hawthorn.Scratch.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WalkTest {
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

    private static List<Entry> list(Map<byte[], byte[]> model) {
        final List<Entry> entries = new ArrayList<>();
        model.forEach((key, value) -> entries.add(new Entry(key, value)));
        return entries;
    }

    private static List<Entry> list(Reader reader, Tree tree, Range range) {
        final List<Entry> entries = new ArrayList<>();
        for (Entry entry : reader.entries(tree, range)) entries.add(entry);
        return entries;
    }

    private static byte[] randomKey(Random random) {
        final byte[] key = new byte[1 + random.nextInt(3)];
        for (int i = 0; i < key.length; ++i) key[i] = (byte) (random.nextInt(6) * 50);
        return key;
    }

    private static void compare(Reader reader, Tree tree, TreeMap<byte[], byte[]> model,
            Random random, String where) {
        final byte[] low = random.nextInt(4) == 0 ? null : randomKey(random);
        final byte[] high = random.nextInt(4) == 0 ? null : randomKey(random);
        NavigableMap<byte[], byte[]> part = model;
        if (low != null && high != null && Arrays.compareUnsigned(low, high) >= 0) {
            part = new TreeMap<>();
        } else {
            if (low != null) part = part.tailMap(low, true);
            if (high != null) part = part.headMap(high, false);
        }
        final Range range = Range.of(low, high);
        final List<Entry> expected = list(part);
        assertEquals(expected, list(reader, tree, range), where);
        assertEquals(expected.size(), reader.count(tree, range), where);
        try (Stream<Entry> stream = reader.stream(tree, range)) {
            assertEquals(expected, stream.collect(Collectors.toList()), where);
        }
        Collections.reverse(expected);
        assertEquals(expected, list(reader, tree, range.descending()), where);
        final byte[] key = randomKey(random);
        assertArrayEquals(model.get(key), reader.get(tree, key), where);
        try (Cursor cursor = reader.cursor(tree)) {
            assertEquals(model.ceilingKey(key) != null, cursor.seek(key), where);
            assertArrayEquals(model.ceilingKey(key), cursor.key(), where);
            assertEquals(model.floorKey(key) != null, cursor.seekForPrev(key), where);
            assertArrayEquals(model.floorKey(key), cursor.key(), where);
            if (cursor.valid()) {
                final byte[] before = model.lowerKey(cursor.key());
                assertEquals(before != null, cursor.prev(), where);
                assertArrayEquals(before, cursor.key(), where);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void model(long seed) {
        final Random random = new Random(seed);
        TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        for (int round = 0; round < 60; ++round) {
            final TreeMap<byte[], byte[]> after = new TreeMap<>(Arrays::compareUnsigned);
            after.putAll(model);
            final boolean inTransaction = random.nextBoolean();
            final Transaction txn = inTransaction ? db.beginTransaction() : null;
            final Writer writer = inTransaction ? txn : db;
            final String where = "seed " + seed + ", round " + round;
            for (int i = random.nextInt(20); i > 0; --i) {
                final byte[] key = randomKey(random);
                final byte[] value = b("v" + random.nextInt());
                switch (random.nextInt(6)) {
                    case 0:
                        writer.del(tree, key);
                        after.remove(key);
                        break;
                    case 1:
                        final byte[] end = randomKey(random);
                        if (random.nextInt(3) > 0) break;
                        if (Arrays.compareUnsigned(key, end) < 0) {
                            after.subMap(key, end).clear();
                            writer.deleteRange(tree, Range.of(key, end));
                        }
                        break;
                    case 2:
                        assertEquals(!after.containsKey(key), writer.insert(tree, key, value), where);
                        after.putIfAbsent(key, value);
                        break;
                    default:
                        writer.put(tree, key, value);
                        after.put(key, value);
                }
            }
            compare(writer, tree, after, random, where);
            if (inTransaction && random.nextBoolean()) {
                txn.close();
            } else {
                if (inTransaction) txn.commit();
                model = after;
            }
            if (round % 20 == 7) db.flush();
            compare(db, tree, model, random, where);
        }
        assertTrue(db.check(new CheckOptions()).flag("ok"));
    }

    @Test
    void longWalks() {
        final int entries = 20_000;
        final byte[] value = new byte[100];
        for (int i = 0; i < entries; ++i) db.put(tree, Bytes.of((long) i), value);
        final byte[] large = new byte[3 << 20]; // larger than the iterator's columns
        db.put(tree, Bytes.of(entries / 2L), large);
        long next = 0;
        for (Entry entry : db.entries(tree)) {
            assertEquals(next, Bytes.number(entry.key()));
            assertEquals(next == entries / 2 ? large.length : 100, entry.value().length);
            ++next;
        }
        assertEquals(entries, next);
        for (Entry entry : db.entries(tree, Range.ALL.descending().keysOnly())) {
            assertEquals(--next, Bytes.number(entry.key()));
            assertEquals(0, entry.value().length);
        }
        assertEquals(0, next);
        try (Cursor cursor = db.cursor(tree)) {
            assertTrue(cursor.first() && cursor.skip(12_345));
            assertEquals(12_345, Bytes.number(cursor.key()));
            assertTrue(cursor.skip(-345));
            assertEquals(12_000, Bytes.number(cursor.key()));
            assertTrue(cursor.seekRandom(1L << 62));
            assertTrue(cursor.last());
            assertFalse(cursor.next());
            assertNull(cursor.key());
            assertNull(cursor.entry());
        }
    }

    @Test
    void iteratorsEnd() {
        for (int i = 0; i < 1000; ++i) db.put(tree, Bytes.of((long) i), b("v"));
        final EntryIterator iterator = db.iterator(tree, Range.ALL);
        assertTrue(iterator.hasNext());
        iterator.next();
        iterator.close();
        assertFalse(iterator.hasNext());
        assertThrows(NoSuchElementException.class, iterator::next);
        iterator.close();
        final EntryIterator open = db.iterator(tree, Range.ALL);
        open.next();
        db.close();
        for (int i = 1; i < 256; ++i) open.next(); // what was read ahead is the program's
        assertThrows(IllegalStateException.class, open::next);
    }

    @Test
    void severalValues() {
        final Tree several = db.tree("several", new TreeOptions().multiValue());
        for (String entry : List.of("a1", "a2", "a3", "b1", "c1", "c2")) {
            db.put(several, b(entry.substring(0, 1)), b(entry));
        }
        try (Cursor cursor = db.cursor(several)) {
            assertTrue(cursor.first());
            assertEquals(3, cursor.countValues());
            assertTrue(cursor.nextValue() && cursor.lastValue());
            assertArrayEquals(b("a3"), cursor.value());
            assertFalse(cursor.nextValue());
            assertTrue(cursor.prevValue() && cursor.firstValue());
            assertFalse(cursor.prevValue());
            assertTrue(cursor.nextKey() && cursor.nextKey());
            assertArrayEquals(b("c1"), cursor.value());
            assertTrue(cursor.prevKey());
            assertTrue(cursor.seekValue(b("a"), b("a2")));
            assertEquals(new Entry(b("a"), b("a2")), cursor.entry());
            assertEquals(0, cursor.expiresAtMs());
            assertFalse(cursor.isSubtree());
            assertFalse(cursor.seek(b("d")));
            assertThrows(HawthornException.InvalidArgument.class, cursor::countValues);
        }
        db.put(tree, b("a"), b("b"));
        try (Cursor cursor = db.cursor(tree)) {
            assertThrows(HawthornException.NotSupported.class,
                    () -> cursor.seekValue(b("a"), b("b")));
            assertThrows(HawthornException.InvalidArgument.class, cursor::countValues);
            assertTrue(cursor.first());
            assertEquals(1, cursor.countValues());
        }
    }

    @Test
    void columns() {
        for (int i = 0; i < 1000; ++i) db.put(tree, Bytes.of((long) i), b("value" + i));
        final Columns columns = new Columns(300, 100_000, 100_000);
        int rows = 0;
        try (Cursor cursor = db.cursor(tree)) {
            cursor.first();
            while (cursor.next(columns) > 0) {
                for (int i = 0; i < columns.rows(); ++i, ++rows) {
                    assertArrayEquals(Bytes.of((long) rows), columns.key(i));
                    assertArrayEquals(b("value" + rows), columns.value(i));
                }
                assertEquals(columns.keyOffsets().get(columns.rows()), columns.rows() * 8L);
            }
            assertEquals(1000, rows);
            assertThrows(IndexOutOfBoundsException.class, () -> columns.key(0));
            cursor.last();
            assertTrue(cursor.prev(columns) > 0);
            assertArrayEquals(Bytes.of(999L), columns.key(0));

            final Columns small = new Columns(10, 4, 4);
            cursor.first();
            final HawthornException tooSmall =
                    assertThrows(HawthornException.class, () -> cursor.next(small));
            assertEquals(Code.BUFFER_TOO_SMALL, tooSmall.code());
            assertEquals(0, small.rows());
            small.grow();
            assertEquals(1, cursor.next(small));
            assertArrayEquals(Bytes.of(0L), small.key(0));
        }
    }

    @Test
    void readsIntoColumns() {
        for (int i = 0; i < 100; i += 2) db.put(tree, Bytes.of((long) i), b("value" + i));
        final Columns keys = new Columns(100, 800, 1);
        for (int i = 0; i < 100; ++i) assertTrue(keys.add(Bytes.of((long) i)));
        assertFalse(keys.add(b("x")));
        final Columns answers = new Columns(60, 1, 10_000);
        try (ReadBatch batch = db.readBatch(); Transaction txn = db.beginTransaction()) {
            for (Reader reader : new Reader[] {db, txn}) {
                assertEquals(60, batch.read(reader, tree, keys, answers));
                for (int first = 0; first < 100; first += answers.rows()) {
                    if (first > 0) batch.columns(first, answers);
                    for (int i = 0; i < answers.rows(); ++i) {
                        final boolean there = (first + i) % 2 == 0;
                        assertEquals(there, answers.found(i));
                        assertArrayEquals(b(there ? "value" + (first + i) : ""), answers.value(i));
                    }
                }
                assertEquals(100, batch.count());
                assertEquals(5 * 6 + 45 * 7, batch.valueBytes());
                assertArrayEquals(b("value42"), batch.value(42));
                assertNull(batch.value(43));
                assertThrows(IndexOutOfBoundsException.class, () -> batch.value(100));
            }
            assertThrows(HawthornException.NotFound.class, () -> batch.columns(200, answers));
            batch.release();
            assertEquals(0, batch.count());
        }
    }

    @Test
    void columnsThatLie() {
        final Columns columns = new Columns(10, 100, 100);
        columns.add(b("key"), b("value"));
        try (Batch batch = db.batch(); ReadBatch reads = db.readBatch()) {
            columns.keyOffsets().put(1, 1_000_000);
            assertThrows(IllegalArgumentException.class, () -> batch.put(tree, columns));
            assertThrows(IllegalArgumentException.class,
                    () -> reads.read(db, tree, columns, new Columns(1, 1, 1)));
            columns.keyOffsets().put(0, 5).put(1, 3);
            assertThrows(IllegalArgumentException.class, () -> batch.put(tree, columns));
            columns.keyOffsets().put(0, -5).put(1, 3);
            assertThrows(IllegalArgumentException.class, () -> batch.put(tree, columns));
            assertThrows(IllegalArgumentException.class, () -> columns.setRows(11));
            assertThrows(IllegalArgumentException.class,
                    () -> reads.read(db, tree, columns, columns));
            assertEquals(0, batch.count());
        }
    }

    @Test
    void prefixes() {
        for (String key : List.of("a", "ab", "abc", "ac", "b")) db.put(tree, b(key), b("v"));
        assertEquals(2, db.count(tree, Range.prefix(b("ab"))));
        assertEquals(5, db.count(tree, Range.prefix(b(""))));
        db.put(tree, new byte[] {-1, -1}, b("v"));
        db.put(tree, new byte[] {-1, -1, 5}, b("v"));
        assertEquals(2, db.count(tree, Range.prefix(new byte[] {-1, -1})));
    }
}
