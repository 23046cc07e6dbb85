// Rates of the binding: Bench DIR [--entries N]. The same work as that of the C API's benchmark.

import dev.hawthorn.Columns;
import dev.hawthorn.Cursor;
import dev.hawthorn.Database;
import dev.hawthorn.Durability;
import dev.hawthorn.Entry;
import dev.hawthorn.Options;
import dev.hawthorn.Range;
import dev.hawthorn.ReadBatch;
import dev.hawthorn.Tree;
import dev.hawthorn.WriteOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** Reads many random keys, and all entries, into columns and into arrays. */
public final class Bench {
    private static final int KEY = 16;
    private static final int VALUE = 100;
    private static final int BATCH = 1000;
    private static final int ROWS = 4096;
    private static final int BYTES = 1 << 20;
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private Bench() {}

    private static long mix(long number) {
        long x = number + 0x9e3779b97f4a7c15L;
        x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
        x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
        return x ^ (x >>> 31);
    }

    /** 16 hexadecimal digits of mix(i). */
    private static void makeKey(long i, byte[] into, int at) {
        final long m = mix(i);
        for (int d = 0; d < KEY; ++d) into[at + d] = DIGITS[(int) (m >>> (60 - 4 * d)) & 15];
    }

    private static void check(boolean truth) {
        if (!truth) throw new IllegalStateException("not what was written");
    }

    private static void print(String name, long entries, long started) {
        System.out.printf("%s %.0f%n", name, entries / ((System.nanoTime() - started) * 1e-9));
    }

    private static void fill(Database db, Tree tree, long entries) {
        final byte[] key = new byte[KEY];
        final byte[] value = new byte[VALUE];
        Arrays.fill(value, (byte) 'v');
        for (long i = 0; i < entries; ++i) {
            makeKey(i, key, 0);
            System.arraycopy(key, 0, value, 0, KEY);
            db.put(tree, key, value, WriteOptions.of(Durability.NONE));
        }
        db.flush();
    }

    private static void multiGetColumns(Database db, Tree tree, long entries) {
        final Columns wanted = new Columns(BATCH, BATCH * KEY, 1);
        final Columns answers = new Columns(ROWS, BYTES, BYTES);
        final byte[] keys = new byte[BATCH * KEY];
        for (int i = 0; i <= BATCH; ++i) wanted.keyOffsets().put(i, (long) i * KEY);
        wanted.setRows(BATCH);
        final ByteBuffer to = wanted.keyBytes();
        try (ReadBatch batch = db.readBatch()) {
            long random = 1;
            for (int round = 0; round < 2; ++round) { // the first one warms up
                long rows = 0;
                long bytes = 0;
                final long started = System.nanoTime();
                for (long b = 0; b < entries / BATCH; ++b) {
                    for (int i = 0; i < BATCH; ++i) {
                        makeKey(Long.remainderUnsigned(mix(random++), entries), keys, i * KEY);
                    }
                    to.put(0, keys);
                    rows += batch.read(db, tree, wanted, answers);
                    bytes += answers.valueOffsets().get(answers.rows());
                }
                check(rows == entries && bytes == entries * VALUE);
                if (round == 1) print("multi_get_columns", entries, started);
            }
        }
    }

    private static void scanColumns(Database db, Tree tree, long entries) {
        final Columns columns = new Columns(ROWS, BYTES, BYTES);
        for (int round = 0; round < 2; ++round) {
            long rows = 0;
            long bytes = 0;
            final long started = System.nanoTime();
            try (Cursor cursor = db.cursor(tree)) {
                cursor.first();
                for (int n; (n = cursor.next(columns)) > 0; rows += n) {
                    bytes += columns.keyOffsets().get(n) + columns.valueOffsets().get(n);
                }
            }
            check(rows == entries && bytes == entries * (KEY + VALUE));
            if (round == 1) print("scan_columns", entries, started);
        }
    }

    private static void multiGetObjects(Database db, Tree tree, long entries) {
        long random = 1;
        for (int round = 0; round < 2; ++round) {
            long rows = 0;
            long bytes = 0;
            final long started = System.nanoTime();
            for (long b = 0; b < entries / BATCH; ++b) {
                final byte[][] keys = new byte[BATCH][KEY];
                for (byte[] key : keys) {
                    makeKey(Long.remainderUnsigned(mix(random++), entries), key, 0);
                }
                for (byte[] value : db.multiGet(tree, keys)) {
                    ++rows;
                    bytes += value.length;
                }
            }
            check(rows == entries && bytes == entries * VALUE);
            if (round == 1) print("multi_get_objects", entries, started);
        }
    }

    private static void scanObjects(Database db, Tree tree, long entries) {
        for (int round = 0; round < 2; ++round) {
            long rows = 0;
            long bytes = 0;
            final long started = System.nanoTime();
            for (Entry entry : db.entries(tree, Range.ALL)) {
                ++rows;
                bytes += entry.key().length + entry.value().length;
            }
            check(rows == entries && bytes == entries * (KEY + VALUE));
            if (round == 1) print("scan_objects", entries, started);
        }
    }

    /**
     * Runs it.
     *
     * @param args the directory, and perhaps how many entries
     */
    public static void main(String[] args) {
        final long entries = args.length == 3 ? Long.parseLong(args[2]) : 1_000_000;
        final Options options = new Options().set("memory_budget_bytes", "512M");
        try (Database db = Database.open(Path.of(args[0]), options)) {
            final Tree tree = db.tree("bench");
            final long there = db.count(tree);
            if (there == 0) fill(db, tree, entries);
            check(there == 0 || there == entries);
            multiGetColumns(db, tree, entries);
            scanColumns(db, tree, entries);
            multiGetObjects(db, tree, entries);
            scanObjects(db, tree, entries);
        }
    }
}
