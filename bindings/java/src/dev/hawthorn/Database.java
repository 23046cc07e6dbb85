// A database.

package dev.hawthorn;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
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
public final class Database extends Writer {
    private static final int ATTEMPTS_MAX = 1000;

    /** What was made from it, and is still open. */
    final Set<Resource> live;

    private final Path path;
    private final boolean view;

    private Database(Path path, long address, Set<Resource> live, boolean view) {
        super(new Root(address, live, view));
        this.path = path;
        this.live = live;
        this.view = view;
    }

    /** Closes what was made from the database, then the database. */
    private static final class Root extends Resource {
        private final Set<Resource> children;
        private final boolean view;
        private volatile boolean orderly; // by close, not by the collector

        Root(long address, Set<Resource> children, boolean view) {
            super(DB, address, new Shared(), null);
            this.children = children;
            this.view = view;
        }

        @Override
        void beforeFree() {
            if (!orderly) return; // each of them goes by itself
            while (!children.isEmpty()) {
                for (Resource child : children) child.close();
            }
            if (!view) Native.closeDatabase(address);
        }
    }

    static Database of(Path path, long address, boolean view) {
        return new Database(path, address, ConcurrentHashMap.newKeySet(), view);
    }

    /**
     * Opens the database in a directory, and creates or recovers it as needed.
     *
     * @param path the directory
     * @param options its options; null: the defaults
     * @return the database
     * @throws HawthornException.NotFound where it is not to be created
     * @throws HawthornException.Busy when another process has it open
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

    // ---- Writes with options of their own

    /**
     * Deletes a key, with a durability.
     *
     * @param tree its tree
     * @param key the key
     * @param options the durability
     */
    public void del(Tree tree, byte[] key, WriteOptions options) {
        need(key);
        change(tree, DEL, key, null, options);
    }

    /**
     * Deletes a range, with a durability.
     *
     * @param tree its tree
     * @param range the bounds
     * @param options the durability
     */
    public void deleteRange(Tree tree, Range range, WriteOptions options) {
        change(tree, DELETE_RANGE, range.lower, range.upper, options);
    }

    /**
     * Merges, with a durability.
     *
     * @param tree its tree
     * @param key the key
     * @param operand what is merged in
     * @param options the durability
     */
    public void merge(Tree tree, byte[] key, byte[] operand, WriteOptions options) {
        need(key);
        need(operand);
        change(tree, MERGE, key, operand, options);
    }

    /**
     * Writes a key that is absent, with durability and expiry.
     *
     * @param tree its tree
     * @param key the key
     * @param value its value
     * @param options durability and expiry
     * @return whether it was absent, and was written
     */
    public boolean insert(Tree tree, byte[] key, byte[] value, WriteOptions options) {
        need(value);
        return compareAndSet(tree, 0, key, null, value, options);
    }

    /**
     * Writes a key that has an expected value, with durability and expiry.
     *
     * @param tree its tree
     * @param key the key
     * @param expected the value that it has to have; null: it has to be absent
     * @param value its new value
     * @param options durability and expiry
     * @return whether it was so, and was written
     */
    public boolean replace(
            Tree tree, byte[] key, byte[] expected, byte[] value, WriteOptions options) {
        need(value);
        return compareAndSet(tree, 2, key, expected, value, options);
    }

    /**
     * A new list of writes for {@link #write}.
     *
     * @return the batch, to be closed
     */
    public Batch batch() {
        begin();
        try {
            return new Batch(this);
        } finally {
            finish();
        }
    }

    /**
     * Commits all writes of a batch at one moment.
     *
     * @param batch which stays as it is
     * @param durability what the commit survives
     */
    public void write(Batch batch, Durability durability) {
        final long address = batch.enter();
        try {
            begin();
            try {
                Native.writeBatch(db(), address, durability.ordinal());
            } finally {
                finish();
            }
        } finally {
            batch.exit();
        }
    }

    /**
     * Commits all writes of a batch as the options say.
     *
     * @param batch which stays as it is
     */
    public void write(Batch batch) {
        write(batch, Durability.DEFAULT);
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

    private List<Row> list(int what) {
        begin();
        try {
            return Row.list(Native.list(db(), what));
        } finally {
            finish();
        }
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

    // ---- Trees

    /**
     * What a tree was made with.
     *
     * @param tree the tree
     * @return order, value_order, multi_value, expires, ttl_ms, subtrees
     */
    public Row treeOptions(Tree tree) {
        begin(tree);
        try {
            return Row.one(Native.treeOptions(db(), tree.resource.address));
        } finally {
            finish(tree);
        }
    }

    /**
     * Compresses what is written to a tree from now on. Durable.
     *
     * @param tree the tree
     * @param compression how
     */
    public void setCompression(Tree tree, Compression compression) {
        begin(tree);
        try {
            Native.setCompression(db(), tree.resource.address, compression.ordinal());
        } finally {
            finish(tree);
        }
    }

    /**
     * Gives a tree a merge operator of the options, for good. Durable.
     *
     * @param tree the tree
     * @param name of the operator
     * @throws HawthornException.InvalidArgument for the name, or where it has another one
     */
    public void setMergeOperator(Tree tree, String name) {
        begin(tree);
        try {
            Native.setMergeOperator(db(), tree.resource.address, Native.bytes(name));
        } finally {
            finish(tree);
        }
    }

    // ---- The database as a whole

    private void maintain(int what, long number) {
        begin();
        try {
            Native.maintain(db(), what, number);
        } finally {
            finish();
        }
    }

    /** Makes every commit so far durable as {@link Durability#FULL} would. */
    public void sync() {
        maintain(0, 0);
    }

    /** Writes all unflushed data to its data files. Durable. */
    public void flush() {
        maintain(1, 0);
    }

    /** Flushes, shows all entries to the flush filters, and rewrites what carries garbage. */
    public void compact() {
        maintain(2, 0);
    }

    /** Waits until background work has nothing left to do. */
    public void drain() {
        maintain(3, 0);
    }

    /** Reads the indexes of all trees into memory. */
    public void warmUp() {
        maintain(4, 0);
    }

    /**
     * Changes the memory budget.
     *
     * @param bytes how much
     */
    public void setMemoryBudget(long bytes) {
        maintain(5, bytes);
    }

    /**
     * Limits background work.
     *
     * @param bytesPerSecond at most; 0: no limit
     */
    public void setBackgroundIoLimit(long bytesPerSecond) {
        maintain(6, bytesPerSecond);
    }

    /** A new data key for what is written from now on. Of encrypted databases. */
    public void rotateDataKey() {
        maintain(7, 0);
    }

    /**
     * Another key opens the database from now on. Durable.
     *
     * @param keyId its id
     */
    public void rotateKey(String keyId) {
        begin();
        try {
            Native.rotateKey(db(), Native.bytes(keyId));
        } finally {
            finish();
        }
    }

    /**
     * How it is encrypted.
     *
     * @return encrypted, key_id, generation, data_keys, data_key
     */
    public Row encryption() {
        return list(4).get(0);
    }

    /**
     * All figures of this moment.
     *
     * @return the fields of the library's Stats
     */
    public Row stats() {
        return list(0).get(0);
    }

    /**
     * One figure.
     *
     * @param name such as commits
     * @return its number
     * @throws HawthornException.NotFound for a name that there is not
     */
    public long stat(String name) {
        begin();
        try {
            return Native.stat(db(), Native.zeroEnded(name));
        } finally {
            finish();
        }
    }

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
     * Reads all that is on disk and verifies it, while the database is in use. Damage is no error
     * of
     * the call.
     *
     * @param options what is verified
     * @return ok, the fields of the library's CheckReport, and items, a list of what was found
     */
    public Row check(CheckOptions options) {
        final Callbacks progress = Callbacks.ofCheck(options.progress);
        begin();
        try {
            final byte[] rows = Native.check(db(), options.skipValues, options.skipFiles,
                    options.threads, options.bytesPerSecond, options.errorsMax, progress);
            Callbacks.rethrow(progress);
            return Row.one(rows);
        } finally {
            finish();
        }
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

    // ---- Copies and bulk loading

    /**
     * Makes a database of its own in a directory that is missing or empty. Durable.
     *
     * @param directory the directory
     * @param options how
     */
    public void checkpoint(Path directory, CopyOptions options) {
        final Callbacks progress = Callbacks.ofProgress(options.progress);
        begin();
        try {
            Native.checkpoint(db(), Native.zeroEnded(directory.toString()),
                    options.bytesPerSecond, options.copyBlocks, progress);
        } catch (HawthornException failed) {
            throw Callbacks.reason(progress, failed);
        } finally {
            finish();
        }
    }

    /**
     * Writes a backup to a stream, which stays open.
     *
     * @param out the stream; what it throws ends the backup
     * @param options how
     * @return id, created_us, bytes and others
     */
    public Row backupTo(OutputStream out, CopyOptions options) {
        final Callbacks sink =
                Callbacks.ofSink(java.util.Objects.requireNonNull(out), options.progress);
        begin();
        try {
            return Row.one(Native.backupTo(db(), sink, options.bytesPerSecond));
        } catch (HawthornException failed) {
            throw Callbacks.reason(sink, failed);
        } finally {
            finish();
        }
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
                Callbacks.ofSource(java.util.Objects.requireNonNull(in), options.progress);
        try {
            return options.withEncryption(handle ->
                    Row.one(Native.fromBackup(source, target, options.bytesPerSecond, handle)));
        } catch (HawthornException failed) {
            throw Callbacks.reason(source, failed);
        }
    }

    /**
     * Loads many entries straight into the data files, in one commit.
     *
     * @param tree into which
     * @param sorted whether keys come in ascending order; else they are sorted
     * @param durability of the commit
     * @return the load, to be finished and closed
     */
    public Ingest ingest(Tree tree, boolean sorted, Durability durability) {
        begin(tree);
        try {
            return new Ingest(this, Native.ingestOpen(db(), tree.resource.address, !sorted,
                    durability.ordinal(), 0));
        } finally {
            finish(tree);
        }
    }

    // ---- Change feeds

    /**
     * Makes a feed behind the present moment, which stays over restarts. Durable.
     *
     * @param name 1 to 255 bytes
     * @param logBytesMax how much log may be kept for it; 0: no limit; -1: 4 GB
     */
    public void createFeed(String name, long logBytesMax) {
        begin();
        try {
            Native.createFeed(db(), Native.bytes(name), logBytesMax);
        } finally {
            finish();
        }
    }

    /**
     * Drops a feed. Durable.
     *
     * @param name its name
     * @throws HawthornException.NotFound where there is none
     * @throws HawthornException.Busy for one that is open
     */
    public void dropFeed(String name) {
        begin();
        try {
            Native.dropFeed(db(), Native.bytes(name));
        } finally {
            finish();
        }
    }

    /**
     * All feeds.
     *
     * @return rows of name, position, created_us, log_bytes_max, log_bytes, lost, open
     */
    public List<Row> feeds() {
        return list(3);
    }

    /**
     * Reads a feed from its position on.
     *
     * @param name its name
     * @return the feed, to be closed
     */
    public Feed openFeed(String name) {
        begin();
        try {
            return new Feed(this, Native.feedOpen(db(), Native.bytes(name), 0));
        } finally {
            finish();
        }
    }

    /**
     * Reads behind any timestamp, for which nothing is kept.
     *
     * @param position the timestamp
     * @return the feed, to be closed
     * @throws HawthornException with {@link Code#TOO_OLD} where the log has gone
     */
    public Feed openFeedAt(long position) {
        begin();
        try {
            return new Feed(this, Native.feedOpen(db(), null, position));
        } finally {
            finish();
        }
    }

    /**
     * Makes this database the replica of another one.
     *
     * @return the replica, to be closed
     */
    public Replica replica() {
        begin();
        try {
            return new Replica(this, Native.replicaOpen(db()));
        } finally {
            finish();
        }
    }
}
