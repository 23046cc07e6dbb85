// What the one who runs a database does: settings of trees, work at hand, figures, checks.

package dev.hawthorn;

import java.nio.file.Path;

/**
 * The part of a {@link Database} for who runs it: what is set while it is open, flushes and their
 * like, figures, check and repair. A class of its own for the size of files alone.
 */
abstract sealed class DatabaseUpkeep extends DatabaseCopies permits Database {
    DatabaseUpkeep(Resource resource) {
        super(resource);
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
}
