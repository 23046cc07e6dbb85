// Values in place: they stay until they are released, and a use after that is an exception.

package dev.hawthorn;

import static dev.hawthorn.Scratch.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ValueTest {
    private static final byte[] LARGE = b("0123456789".repeat(30_000));

    private static Tree filled(Database db) {
        final Tree tree = db.tree("t");
        db.put(tree, b("small"), b("old"));
        db.put(tree, b("large"), LARGE);
        db.put(tree, b("empty"), new byte[0]);
        db.flush();
        return tree;
    }

    @Test
    void readInPlaceByAll() {
        try (Database db = Scratch.open()) {
            final Tree tree = filled(db);
            final List<Value> kept = new ArrayList<>();
            try (Snapshot snapshot = db.takeSnapshot(); Transaction txn = db.beginTransaction()) {
                txn.put(tree, b("own"), b("mine"));
                for (Reader reader : new Reader[] {db, snapshot, txn}) {
                    kept.add(reader.getValue(tree, b("small")));
                    kept.add(reader.getValue(tree, b("large")));
                    assertNull(reader.getValue(tree, b("none")));
                    try (Value empty = reader.getValue(tree, b("empty"))) {
                        assertEquals(0, empty.size());
                        assertEquals(0, empty.bytes().length);
                        assertEquals(0, empty.buffer().remaining());
                    }
                }
                assertNull(snapshot.getValue(tree, b("own")));
                try (Value own = txn.getValue(tree, b("own"))) {
                    assertArrayEquals(b("mine"), own.bytes());
                }
            }
            // They stay as they are, whatever is written, and whatever they were read by ends.
            db.put(tree, b("small"), b("new"));
            db.del(tree, b("large"));
            for (int i = 0; i < 2000; ++i) db.put(tree, b("more" + i), new byte[1000]);
            db.flush();
            db.compact();
            for (int i = 0; i < kept.size(); ++i) {
                final byte[] is = i % 2 == 0 ? b("old") : LARGE;
                assertArrayEquals(is, kept.get(i).bytes());
            }
            final Value large = kept.get(1);
            assertEquals(LARGE.length, large.size());
            assertEquals('7', large.get(17));
            final byte[] part = new byte[6];
            large.get(10, part, 1, 4);
            assertArrayEquals(new byte[] {0, '0', '1', '2', '3', 0}, part);
            assertThrows(IndexOutOfBoundsException.class, () -> large.get(LARGE.length));
            assertThrows(IndexOutOfBoundsException.class, () -> large.get(-1));
            assertThrows(IndexOutOfBoundsException.class, () -> large.get(0, part, 3, 4));
            assertThrows(IndexOutOfBoundsException.class,
                    () -> large.get(LARGE.length - 2, part, 0, 3));
            final ByteBuffer buffer = large.buffer();
            assertTrue(buffer.isDirect() && buffer.isReadOnly());
            assertEquals("3456", StandardCharsets.UTF_8.decode(buffer.slice(3, 4)).toString());
            assertThrows(ReadOnlyBufferException.class, () -> buffer.put(0, (byte) 1));
            for (Value value : kept) value.close();
            for (Value value : kept) value.close();
        }
    }

    @Test
    void useAfterRelease() {
        try (Database db = Scratch.open()) {
            final Tree tree = filled(db);
            final Value value = db.getValue(tree, b("small"));
            value.close();
            assertTrue(value.isClosed());
            for (Runnable use : List.<Runnable>of(value::size, value::bytes, value::buffer,
                         () -> value.get(0), () -> value.get(0, new byte[1], 0, 1))) {
                assertEquals("the value is closed",
                        assertThrows(IllegalStateException.class, use::run).getMessage());
            }
        }
    }

    @Test
    void databaseClosesThem() {
        final Database db = Scratch.open();
        final Tree tree = filled(db);
        final Value value = db.getValue(tree, b("large"));
        db.close();
        assertThrows(IllegalStateException.class, value::bytes);
        assertThrows(IllegalStateException.class,
                () -> db.getValue(tree, b("large")).close());
    }

    @Test
    void buffersOutliveTheirValue() throws Exception {
        final Path path = Scratch.directory().resolve("db");
        final Database db = Database.open(path, Scratch.small());
        final Tree tree = filled(db);
        db.put(tree, b("middle"), Arrays.copyOf(LARGE, 3000));
        db.flush();
        ByteBuffer slice;
        try (Value value = db.getValue(tree, b("middle"))) {
            slice = value.buffer().slice(5, 20).duplicate();
        }
        for (int i = 0; i < 5; ++i) {
            System.gc();
            Thread.sleep(10);
            for (int k = 0; k < 500; ++k) db.put(tree, b("more" + k), new byte[2000]);
            db.flush();
        }
        assertEquals("5678901234", StandardCharsets.UTF_8.decode(slice.slice(0, 10)).toString());
        try {
            db.close();
        } catch (HawthornException.Busy held) {
            // where the engine itself has kept the value in place
        }
        assertEquals("5678901234", StandardCharsets.UTF_8.decode(slice.slice(0, 10)).toString());
        slice = null;
        assertTrue(Scratch.waitUntil(() -> {
            System.gc();
            try (Database again = Database.open(path, Scratch.small())) {
                assertArrayEquals(LARGE, again.get(again.tree("t"), b("large")));
                return true;
            } catch (HawthornException.Busy busy) {
                return false;
            }
        }), "the directory is free when the buffer is gone");
    }

    @Test
    void collectedBuffersDoNotHoldTheDatabase() {
        final Database db = Scratch.open();
        final Tree tree = filled(db);
        int sum = 0;
        for (int i = 0; i < 100; ++i) {
            try (Value value = db.getValue(tree, b("large"))) {
                sum += value.buffer().get(i);
            }
        }
        assertEquals(100 * '0' + 450, sum);
        db.close(); // lets the collector look for them
    }

    @Test
    void forgottenOnesAreClosed() throws Exception {
        try (Database db = Scratch.open()) {
            final Tree tree = filled(db);
            final int before = db.live.size();
            for (int i = 0; i < 100; ++i) db.getValue(tree, b("large"));
            assertTrue(Scratch.waitUntil(() -> {
                System.gc();
                return db.live.size() <= before;
            }));
            assertEquals(before, db.live.size());
        }
    }
}
