// The functions of the JNI library, and loading it.

package dev.hawthorn;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * What native/*.c define. Handles are numbers here; who calls has entered their {@link Resource}.
 */
final class Native {
    private Native() {}

    static {
        load();
    }

    /**
     * From the path in the property dev.hawthorn.library, from java.library.path, or, where it is
     * not there, from the jar, which may have it and libhawthorn.so.0 under native/OS-ARCH/.
     */
    private static void load() {
        final String given = System.getProperty("dev.hawthorn.library");
        if (given != null) {
            System.load(Path.of(given).toAbsolutePath().toString());
            return;
        }
        try {
            System.loadLibrary("hawthorn_java");
            return;
        } catch (UnsatisfiedLinkError missing) {
            if (!loadFromJar()) throw missing;
        }
    }

    private static boolean loadFromJar() {
        final String system = System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT);
        final String folder = "/native/" + system + "-" + System.getProperty("os.arch") + "/";
        try {
            if (Native.class.getResource(folder + "libhawthorn_java.so") == null) return false;
            final Path directory = Files.createTempDirectory("hawthorn-java");
            // The second one finds the first beside itself: it is linked with $ORIGIN.
            for (String name : new String[] {"libhawthorn.so.0", "libhawthorn_java.so"}) {
                try (InputStream in = Native.class.getResourceAsStream(folder + name)) {
                    if (in == null) continue;
                    Files.copy(in, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
                }
            }
            System.load(directory.resolve("libhawthorn_java.so").toString());
            for (String name : new String[] {"libhawthorn.so.0", "libhawthorn_java.so"}) {
                Files.deleteIfExists(directory.resolve(name)); // what is mapped stays
            }
            Files.delete(directory);
            return true;
        } catch (IOException failed) {
            throw new UnsatisfiedLinkError("cannot unpack the native library: " + failed);
        }
    }

    static String string(byte[] utf8) {
        return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    static byte[] bytes(String string) {
        return string == null ? null : string.getBytes(StandardCharsets.UTF_8);
    }

    /** With a zero byte behind it, as the C API takes paths and names of options. */
    static byte[] zeroEnded(String string) {
        if (string == null) return null;
        if (string.indexOf(0) >= 0) throw new IllegalArgumentException("a zero in a name");
        return (string + '\0').getBytes(StandardCharsets.UTF_8);
    }

    // ---- native/database.c

    static native void free(int kind, long handle);

    static native byte[] version();

    static native long limit(int which);

    static native byte[] codeName(int code);

    static native long open(byte[] path, long options);

    static native void closeDatabase(long db);

    static native void destroyDatabase(byte[] path, long options);

    static native byte[] databaseId(long db);

    static native long tree(
            long db, long txn, byte[] name, int shape, byte[] order, byte[] valueOrder, long ttlMs);

    static native long findTree(long db, long txn, long snapshot, byte[] name);

    static native int treeId(long tree);

    static native byte[] treeOptions(long db, long tree);

    static native byte[] listTrees(long db, long txn, long snapshot, long parent);

    static native void dropTree(long db, long txn, byte[] name);

    static native void renameTree(long db, long txn, byte[] from, byte[] to);

    static native long cloneTree(long db, long txn, byte[] from, byte[] to, int durability);

    static native void setCompression(long db, long tree, int compression);

    static native void setMergeOperator(long db, long tree, byte[] name);

    static native long createSubtree(
            long db, long txn, long parent, byte[] key, int shape, byte[] order, byte[] valueOrder,
            long ttlMs, int durability);

    static native long subtree(long db, long txn, long snapshot, long parent, byte[] key);

    static native void attach(
            long db, long txn, long parent, byte[] key, byte[] name, int durability,
            boolean detach);

    static native void moveSubtree(
            long db, long txn, long parent, byte[] key, long toParent, byte[] toKey,
            int durability);

    static native long cloneSubtree(
            long db, long txn, long parent, byte[] key, byte[] to, int durability);

    static native long snapshot(long db);

    static native long snapshotFigure(long snapshot, boolean nowMs);

    static native long namedSnapshot(long db, int what, byte[] name);

    static native void maintain(long db, int what, long number);

    static native void rotateKey(long db, byte[] keyId);

    static native byte[] list(long db, int what);

    static native long stat(long db, byte[] name);

    static native byte[] readCounters(byte[] directory);


    // ---- native/options.c

    static native long optionsCreate();

    static native void optionsFree(long options);

    static native void optionsSet(long options, byte[] name, byte[] value);

    static native byte[] optionsGet(long options, byte[] name);

    static native byte[] optionsName(int index);

    static native void optionsAddMergeOperator(long options, byte[] name, Object object);

    static native void optionsAddKeyOrder(long options, byte[] name, int fixedBytes, Object object);

    static native void optionsAddKeyComparator(long options, byte[] name, Object object);

    static native void optionsSetFlushFilter(
            long options, byte[] tree, byte[] name, boolean keysOnly, Object object);

    static native void optionsSetLog(long options, Object object);

    static native void optionsSetOnExpiry(long options, Object object);

    static native void optionsAddListener(long options, Object object);

    static native void optionsAddCommitHook(long options, Object object);

    static native void optionsSetEncryption(long options, byte[] keyId, Object object);

    static native byte[] generateKey();


    // ---- native/access.c

    static native byte[] get(long db, long txn, long tree, long snapshot, byte[] key, int way);

    static native long getValue(
            long db, long txn, long tree, long snapshot, byte[] key);

    static native ByteBuffer valueBytes(long value);

    static native long getDirect(
            long db, long txn, long tree, long snapshot, ByteBuffer key, int keyFrom, int keySize,
            ByteBuffer target, int targetFrom, int targetSize);

    static native void putDirect(
            long db, long txn, long tree, ByteBuffer key, int keyFrom, int keySize,
            ByteBuffer value, int valueFrom, int valueSize, int durability, int expiry,
            long expiryMs);

    static native long ask(long db, long txn, long tree, long snapshot, byte[] key, int what);

    static native boolean changedSince(long db, long tree, long since, byte[] key);

    static native long count(long db, long txn, long tree, long snapshot, byte[] low, byte[] high);

    static native void estimate(
            long db, long tree, byte[] low, byte[] high, long[] entriesAndBytes);

    static native byte[] explain(long db, long tree, long snapshot, byte[] key);

    static native void change(
            long db, long txn, long batch, long tree, int change, byte[] a, byte[] b,
            int durability, int expiry, long expiryMs);

    static native boolean compareAndSet(
            long db, long txn, long tree, int what, byte[] key, byte[] expected, byte[] value,
            int durability, int expiry, long expiryMs);

    static native byte[] readPart(
            long db, long txn, long tree, long snapshot, byte[] key, long offset, int capacity);

    static native long writePart(
            long db, long txn, long tree, int what, byte[] key, long offset, byte[] data,
            int durability);

    static native long putStream(
            long txn, long tree, int what, byte[] key, long offset, long size, Object source);


    // ---- native/transaction.c

    static native long begin(
            long db, int mode, int isolation, boolean readOnly, long lockTimeoutMs, long snapshot);

    static native long beginNested(long txn);

    static native void commit(long txn, int durability);

    static native void abort(long txn);

    static native boolean isOpen(long txn);

    static native void savepoint(long txn, int what, long[] words);

    static native void prepare(long txn, byte[] id);

    static native void endPrepared(long db, byte[] id, boolean commit, int durability);

    static native void lock(long txn, long tree, byte[] key, int lock, long timeoutMs);

    static native long cursor(
            long db, long txn, long tree, long snapshot, boolean keysOnly, byte[] lower,
            byte[] upper);

    static native boolean move(long cursor, int move);

    static native boolean moveBy(long cursor, int how, long number);

    static native boolean seek(long cursor, int how, byte[] key, byte[] value);

    static native byte[] cursorBytes(long cursor, boolean value);

    static native boolean cursorValid(long cursor);

    static native void cursorStatus(long cursor);

    static native long cursorAsk(long cursor, int what);

    static native int columnsHeaderBytes();

    static native long addressOf(ByteBuffer buffer);

    static native void columnsInit(
            long header, long rows, long keyBytes, long keyCapacity, long keyOffsets,
            long valueBytes, long valueCapacity, long valueOffsets, long found);

    static native long columnsFigure(long header, int which);

    static native int cursorColumns(long cursor, long header, boolean backwards);

    static native long readBatchCreate();

    static native int multiGetColumns(
            long db, long txn, long tree, long snapshot, long keys, int keyCount, long batch,
            long header);

    static native void multiGet(
            long db, long txn, long tree, long snapshot, byte[][] keys, long batch);

    static native int readBatchCount(long batch);

    static native long readBatchBytes(long batch);

    static native byte[] readBatchValue(long batch, int index);

    static native void readBatchValues(long batch, byte[][] values);

    static native int readBatchColumns(long batch, int first, long header);

    static native void readBatchRelease(long batch);

    static native long batchCreate();

    static native void batchClear(long batch);

    static native long batchFigure(long batch, boolean bytes);

    static native void batchPutColumns(long batch, long tree, long header, int rows);

    static native void writeBatch(long db, long batch, int durability);


    // ---- native/copies.c

    static native long queueOpen(long db, int depth);

    static native void queueGet(long queue, long tree, long snapshot, byte[] key, long tag);

    static native void queueRun(long queue, boolean wait);

    static native boolean queueTake(long queue, long[] tag, Object[] result);

    static native long queuePending(long queue);

    static native void checkpoint(
            long db, byte[] directory, long bytesPerSecond, boolean copyBlocks, Object progress);

    static native long repositoryOpen(byte[] directory);

    static native byte[] backup(
            long db, long repository, long bytesPerSecond, boolean full, Object progress);

    static native byte[] repositoryList(long repository);

    static native void repositoryDo(
            long repository, int what, long id, byte[] target, long bytesPerSecond,
            long encryption, Object progress);

    static native byte[] backupTo(long db, Object sink, long bytesPerSecond);

    static native byte[] fromBackup(
            Object source, byte[] target, long bytesPerSecond, long encryption);

    static native long ingestOpen(
            long db, long tree, boolean unsorted, int durability, long sortMemoryBytes);

    static native void ingestAdd(long ingest, byte[] key, byte[] value);

    static native void ingestAddColumns(long ingest, long header, int rows);

    static native void ingestAddStream(long ingest, byte[] key, long size, Object source);

    static native void ingestFinish(long ingest);

    static native byte[] ingestStats(long ingest);

    static native void createFeed(long db, byte[] name, long logBytesMax);

    static native void dropFeed(long db, byte[] name);

    static native long feedOpen(long db, byte[] name, long position);

    static native long feedFigure(long feed, int which);

    static native byte[] feedSourceId(long feed);

    static native boolean feedNext(long feed, long timeoutMs);

    static native boolean feedNextChange(long feed, long[] numbers, byte[][] bytes);

    static native byte[] feedChangeTree(long feed);

    static native byte[] feedReadValue(long feed, long offset, int capacity);

    static native byte[] feedEncode(long feed);

    static native void feedAcknowledge(long feed, long timestamp);

    static native long replicaOpen(long db);

    static native void replicaCopy(long replica, long source);

    static native void replicaBeginAt(long replica, byte[] sourceId, long timestamp);

    static native long replicaPosition(long replica);

    static native byte[] replicaSourceId(long replica);

    static native void replicaApply(long replica, long feed, int durability);

    static native void replicaApplyPieces(long replica, byte[][] list, int durability);

    static native long followerOpen(byte[] path, long options);

    static native long followerDo(long follower, int what);

    static native byte[] check(
            long db, boolean skipValues, boolean skipFiles, int threads, long bytesPerSecond,
            long errorsMax, Object progress);

    static native byte[] repair(
            byte[] source, byte[] target, long database, boolean ignoreManifest, Object progress);
}
