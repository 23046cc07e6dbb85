// A database.

package dev.hawthorn;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;

/**
 * An open database: named trees of keys and values in a directory, for one process and all of its
 * threads.
 *
 * <pre>{@code
 * try (Database db = Database.open(Path.of("/var/lib/app/db"), new Options())) {
 *   Tree users = db.tree("users");
 *   db.put(users, Bytes.of("ada"), Bytes.of("1815"));
 * }
 * }</pre>
 *
 * <p>Threads: any number at a time. A call holds up nobody but its own thread.
 */
public final class Database extends DatabaseUpkeep {
    private static final int ATTEMPTS_MAX = 1000;

    /** What was made from it, and is still open. */
    final Set<Resource> live;

    /** Values that are closed, and of which the program still had a buffer. */
    final AtomicInteger lent;

    private final Path path;
    private final boolean view;

    private Database(Path path, Root root) {
        super(root);
        this.path = path;
        live = root.children;
        lent = root.lent;
        view = root.view;
    }

    /** Closes what was made from the database, then the database. */
    private static final class Root extends Resource {
        private final Set<Resource> children = ConcurrentHashMap.newKeySet();
        private final AtomicInteger lent = new AtomicInteger();
        private final boolean view;
        private volatile boolean orderly; // by close, not by the collector

        Root(long address, boolean view) {
            super(DB, address, new Shared(), null);
            this.view = view;
        }

        @Override
        void beforeFree() {
            if (!orderly) return; // each of them goes by itself
            while (!children.isEmpty()) {
                for (Resource child : children) child.close();
            }
            for (int i = 0; i < 20 && lent.get() > 0; ++i) {
                System.gc(); // what they lend may be garbage
                LockSupport.parkNanos(5_000_000);
            }
            if (!view) Native.closeDatabase(address);
        }
    }

    static Database of(Path path, long address, boolean view) {
        return new Database(path, new Root(address, view));
    }

    /**
     * Opens the database in a directory, and creates or recovers it as needed.
     *
     * @param path the directory
     * @param options its options; null: the defaults
     * @return the database
     * @throws HawthornException.NotFound where it is not to be created
     * @throws HawthornException.Busy when another process has it open
     * @throws HawthornException.PermissionDenied where permissions or a sandbox forbid it
     * @throws HawthornException.InvalidArgument for options out of range
     */
    public static Database open(Path path, Options options) {
        final byte[] p = Native.zeroEnded(path.toString());
        return Options.use(options, handle -> of(path, Native.open(p, handle), false));
    }

    /**
     * Removes the files of a database.
     *
     * @param path its directory
     * @param options looked at for encryption alone; may be null
     * @throws HawthornException.NotFound where there is none
     * @throws HawthornException.Busy when it is open
     */
    public static void destroy(Path path, Options options) {
        Options.use(options, handle -> {
            Native.destroyDatabase(Native.zeroEnded(path.toString()), handle);
            return null;
        });
    }

    /**
     * The version of the library.
     *
     * @return such as 0.1.0
     */
    public static String version() {
        return Native.string(Native.version());
    }

    /** Limits of sizes, in bytes. */
    public static final class Limits {
        /** Of a key. */
        public static final long KEY_BYTES = Native.limit(0);

        /** Of a value in one call. */
        public static final long VALUE_BYTES = Native.limit(1);

        /** Of a value by stream or parts. */
        public static final long STREAM_VALUE_BYTES = Native.limit(2);

        /** Of a tree's name. */
        public static final long TREE_NAME_BYTES = Native.limit(3);

        /** The smallest memory budget. */
        public static final long MEMORY_BUDGET_BYTES_MIN = Native.limit(4);

        private Limits() {}
    }

    @Override
    void begin() {
        enter();
    }

    @Override
    void finish() {
        exit();
    }

    @Override
    long db() {
        return resource.address;
    }

    @Override
    public Database database() {
        return this;
    }

    /**
     * Closes the database: what was made from it is closed first (transactions are aborted), calls
     * of
     * other threads are waited for, and everything is flushed. One that is forgotten is closed by
     * the
     * collector without a flush, when all that was made from it has gone, too; nothing that was
     * committed is lost in either case.
     *
     * @throws HawthornException where the flush failed; it is closed all the same
     * @throws HawthornException.Busy where the program keeps a buffer of a {@link Value} that is in
     *     the database's own memory: it is closed all the same, and its directory is free when the
     *     collector has found the buffer
     */
    @Override
    public void close() {
        ((Root) resource).orderly = true;
        super.close();
    }

    /**
     * The directory, as it was given.
     *
     * @return the path
     */
    public Path path() {
        return path;
    }

    /**
     * The id that the database has had since it was made.
     *
     * @return 32 hexadecimal digits
     */
    public String id() {
        begin();
        try {
            return Native.string(Native.databaseId(db()));
        } finally {
            finish();
        }
    }

    // ---- More reads

    /**
     * A new object for reads of many keys.
     *
     * @return the batch, to be closed
     */
    public ReadBatch readBatch() {
        begin();
        try {
            return new ReadBatch(this);
        } finally {
            finish();
        }
    }

    /**
     * Reads a key from memory alone.
     *
     * @param tree its tree
     * @param key the key
     * @return its value; null where the key is not there
     * @throws HawthornException with {@link Code#NOT_IN_MEMORY} where the disk would be read
     */
    public byte[] getInMemory(Tree tree, byte[] key) {
        return get(tree, key, 2);
    }

    /**
     * When an entry ends.
     *
     * @param tree its tree
     * @param key the key
     * @return milliseconds since 1970; 0: never; -1: the key is not there
     */
    public long expiresAtMs(Tree tree, byte[] key) {
        return ask(tree, key, 1);
    }

    /**
     * About how much a range has.
     *
     * @param entries how many entries
     * @param bytes their bytes on disk
     */
    public record Estimate(long entries, long bytes) {}

    /**
     * About how many entries a range has, and their bytes on disk, without a look at the disk.
     *
     * @param tree what is looked at
     * @param range its bounds
     * @return about
     */
    public Estimate estimate(Tree tree, Range range) {
        begin(tree);
        try {
            final long[] out = new long[2];
            Native.estimate(db(), tree.resource.address, range.lower, range.upper, out);
            return new Estimate(out[0], out[1]);
        } finally {
            finish(tree);
        }
    }

    /**
     * Where a key is, and what a get of it reads from disk.
     *
     * @param tree its tree
     * @param key the key
     * @return found, and the fields of the library's KeyExplanation
     */
    public Row explain(Tree tree, byte[] key) {
        need(key);
        begin(tree);
        try {
            return Row.one(Native.explain(db(), tree.resource.address, 0, key));
        } finally {
            finish(tree);
        }
    }

    /**
     * Reads that do not wait.
     *
     * @param depth reads of the disk under way at once, 1 to 4096
     * @return the reader, to be closed
     */
    public AsyncReader asyncReader(int depth) {
        if (depth < 1 || depth > 4096) throw new IllegalArgumentException("depth");
        begin();
        try {
            return AsyncReader.start(this, Native.queueOpen(db(), depth));
        } finally {
            finish();
        }
    }

    // ---- Transactions and snapshots

    /**
     * Begins a transaction: optimistic, by a snapshot of now.
     *
     * @return the transaction, to be closed
     */
    public Transaction beginTransaction() {
        return beginTransaction(new TransactionOptions());
    }

    /**
     * Begins a transaction.
     *
     * @param options how
     * @return the transaction, to be closed
     * @throws HawthornException.TimedOut of exclusive ones
     */
    public Transaction beginTransaction(TransactionOptions options) {
        begin();
        try {
            final Snapshot snapshot = options.snapshot;
            if (snapshot != null) snapshot.enter();
            try {
                return new Transaction(this, Native.begin(db(), options.mode.ordinal(),
                        options.isolation.ordinal(), options.readOnly, options.lockTimeoutMs,
                        snapshot == null ? 0 : snapshot.resource.address));
            } finally {
                if (snapshot != null) snapshot.exit();
            }
        } finally {
            finish();
        }
    }

    /**
     * Runs a function in a transaction and commits it, and does both again, with growing pauses,
     * while
     * it conflicts. It is aborted where the function throws.
     *
     * @param options of each transaction
     * @param durability of the commit
     * @param function runs once or more: what it does besides the database must bear that
     * @param <R> its result
     * @param <X> what it may throw
     * @return what the last run returned
     * @throws X what the function threw
     * @throws HawthornException.Conflict after 1,000 attempts
     */
    public <R, X extends Exception> R compute(TransactionOptions options, Durability durability,
            TransactionFunction<R, X> function) throws X {
        for (int attempt = 1; ; ++attempt) {
            try (Transaction txn = beginTransaction(options)) {
                final R result = function.run(txn);
                if (!txn.hasEnded()) txn.commit(durability);
                return result;
            } catch (HawthornException again) {
                if (!again.isRetryable() || attempt == ATTEMPTS_MAX) throw again;
            }
            final long pause = 10_000L << Math.min(attempt, 9); // up to 5 ms
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(pause));
        }
    }

    /**
     * The same by an optimistic transaction, durable as the options say.
     *
     * @param function runs once or more
     * @param <R> its result
     * @param <X> what it may throw
     * @return what the last run returned
     * @throws X what the function threw
     */
    public <R, X extends Exception> R compute(TransactionFunction<R, X> function) throws X {
        return compute(new TransactionOptions(), Durability.DEFAULT, function);
    }

    /**
     * The same without a result.
     *
     * @param options of each transaction
     * @param durability of the commit
     * @param body runs once or more
     * @param <X> what it may throw
     * @throws X what the body threw
     */
    public <X extends Exception> void transact(
            TransactionOptions options, Durability durability, TransactionBody<X> body) throws X {
        this.<Void, X>compute(options, durability, txn -> {
            body.run(txn);
            return null;
        });
    }

    /**
     * The same without a result, by an optimistic transaction, durable as the options say.
     *
     * @param body runs once or more
     * @param <X> what it may throw
     * @throws X what the body threw
     */
    public <X extends Exception> void transact(TransactionBody<X> body) throws X {
        transact(new TransactionOptions(), Durability.DEFAULT, body);
    }

    /**
     * Transactions that are prepared.
     *
     * @return rows of id, operations, timestamp, prepared_at_us
     */
    public List<Row> prepared() {
        return list(2);
    }

    /**
     * Commits one that is prepared.
     *
     * @param id its id
     * @param durability what it survives
     * @throws HawthornException.NotFound where there is none
     */
    public void commitPrepared(String id, Durability durability) {
        begin();
        try {
            Native.endPrepared(db(), Native.bytes(id), true, durability.ordinal());
        } finally {
            finish();
        }
    }

    /**
     * Aborts one that is prepared, durably.
     *
     * @param id its id
     * @throws HawthornException.NotFound where there is none
     */
    public void rollbackPrepared(String id) {
        begin();
        try {
            Native.endPrepared(db(), Native.bytes(id), false, 0);
        } finally {
            finish();
        }
    }

    /**
     * A fixed view of all trees at the newest commit.
     *
     * @return the snapshot, to be closed
     */
    public Snapshot takeSnapshot() {
        begin();
        try {
            return new Snapshot(this, Native.snapshot(db()));
        } finally {
            finish();
        }
    }

    private long named(int what, String name) {
        begin();
        try {
            return Native.namedSnapshot(db(), what, Native.bytes(name));
        } finally {
            finish();
        }
    }

    /**
     * A snapshot with a name, which stays over restarts until it is dropped. Durable.
     *
     * @param name 1 to 255 bytes
     * @throws HawthornException.InvalidArgument for a name that is taken
     */
    public void createSnapshot(String name) {
        named(0, name);
    }

    /**
     * Drops a snapshot with a name. Durable.
     *
     * @param name its name
     * @throws HawthornException.NotFound where there is none
     */
    public void dropSnapshot(String name) {
        named(1, name);
    }

    /**
     * Opens a snapshot with a name.
     *
     * @param name its name
     * @return the snapshot, to be closed
     * @throws HawthornException.NotFound where there is none
     */
    public Snapshot openSnapshot(String name) {
        begin();
        try {
            return new Snapshot(this, Native.namedSnapshot(db(), 2, Native.bytes(name)));
        } finally {
            finish();
        }
    }

    /**
     * Snapshots with names.
     *
     * @return rows of name, timestamp, created_us
     */
    public List<Row> snapshots() {
        return list(1);
    }

    // ---- Databases that are not open, and backups

    /**
     * Figures of a database that any process has open, or had, by the file that it writes each
     * second.
     *
     * @param path its directory
     * @return pid, alive and others; entries is a list of name, value, grows
     */
    public static Row readCounters(Path path) {
        return Row.one(Native.readCounters(Native.zeroEnded(path.toString())));
    }

    /**
     * Makes a new database of what is readable of a damaged one.
     *
     * @param source its directory; it must not be open
     * @param target the new one's, which must not exist
     * @param options with which the target is opened; null: the defaults
     * @param ignoreManifest whether data files are searched
     * @param progress is told what is done, and of how much; null: nobody is
     * @return ok, the fields of the library's RepairReport, and the lists trees and losses
     */
    public static Row repair(Path source, Path target, Options options, boolean ignoreManifest,
            BiConsumer<Long, Long> progress) {
        final Callbacks callbacks = Callbacks.ofCheck(progress);
        return Options.use(options, handle -> {
            final byte[] rows = Native.repair(Native.zeroEnded(source.toString()),
                    Native.zeroEnded(target.toString()), handle, ignoreManifest, callbacks);
            Callbacks.rethrow(callbacks);
            return Row.one(rows);
        });
    }

    /**
     * Verifies a backup of a stream.
     *
     * @param in the stream
     * @param options how
     * @return id, created_us, bytes and others
     */
    public static Row verifyBackup(InputStream in, CopyOptions options) {
        return fromBackup(in, null, options);
    }

    /**
     * Makes a database of a backup of a stream. Durable.
     *
     * @param in the stream
     * @param target a directory that is missing or empty
     * @param options how
     * @return id, created_us, bytes and others
     */
    public static Row restoreBackup(InputStream in, Path target, CopyOptions options) {
        return fromBackup(in, Native.zeroEnded(target.toString()), options);
    }

    private static Row fromBackup(InputStream in, byte[] target, CopyOptions options) {
        final Callbacks source =
                Callbacks.ofSource(Objects.requireNonNull(in), options.progress);
        try {
            return options.withEncryption(handle ->
                    Row.one(Native.fromBackup(source, target, options.bytesPerSecond, handle)));
        } catch (HawthornException failed) {
            throw Callbacks.reason(source, failed);
        }
    }
}
