// Writes that are committed as one.

package dev.hawthorn;

/**
 * A list of writes, which {@link Database#write} commits at one moment. It stays as it is then,
 * until
 * it is cleared. What cannot be done, the write tells, and writes nothing.
 *
 * <p>Threads: one at a time; others wait.
 */
public final class Batch extends Handle {
    Batch(Database database) {
        super(new Resource(Resource.BATCH, Native.batchCreate(), new Resource.Serial(),
                database.live));
    }

    private Batch add(Tree tree, int what, byte[] a, byte[] b, WriteOptions options) {
        final long address = enter();
        try {
            final long t = tree.enter();
            try {
                Native.change(0, 0, address, t, what, a, b, options.durability.ordinal(),
                        options.expiry, options.expiryMs);
                return this;
            } finally {
                tree.exit();
            }
        } finally {
            exit();
        }
    }

    /**
     * Adds a put.
     *
     * @param tree its tree
     * @param key the key
     * @param value its value
     * @param options when it ends
     * @return this
     */
    public Batch put(Tree tree, byte[] key, byte[] value, WriteOptions options) {
        Reader.need(key);
        Reader.need(value);
        return add(tree, Writer.PUT, key, value, options);
    }

    /**
     * Adds a put.
     *
     * @param tree its tree
     * @param key the key
     * @param value its value
     * @return this
     */
    public Batch put(Tree tree, byte[] key, byte[] value) {
        return put(tree, key, value, WriteOptions.DEFAULT);
    }

    /**
     * Adds puts of all rows of columns.
     *
     * @param tree their tree
     * @param columns keys and values
     * @return this
     */
    public Batch put(Tree tree, Columns columns) {
        final long address = enter();
        try {
            final long t = tree.enter();
            try {
                columns.given(
                        from -> Native.batchPutColumns(address, t, from, columns.rows()));
                return this;
            } finally {
                tree.exit();
            }
        } finally {
            exit();
        }
    }

    /**
     * Adds a delete.
     *
     * @param tree its tree
     * @param key the key
     * @return this
     */
    public Batch del(Tree tree, byte[] key) {
        Reader.need(key);
        return add(tree, Writer.DEL, key, null, WriteOptions.DEFAULT);
    }

    /**
     * Adds a delete of one value of a key that may have several.
     *
     * @param tree its tree
     * @param key the key
     * @param value the value
     * @return this
     */
    public Batch delValue(Tree tree, byte[] key, byte[] value) {
        Reader.need(key);
        Reader.need(value);
        return add(tree, Writer.DEL_VALUE, key, value, WriteOptions.DEFAULT);
    }

    /**
     * Adds a delete of all keys of a range.
     *
     * @param tree their tree
     * @param range the bounds
     * @return this
     */
    public Batch deleteRange(Tree tree, Range range) {
        return add(tree, Writer.DELETE_RANGE, range.lower, range.upper, WriteOptions.DEFAULT);
    }

    /**
     * Adds a merge.
     *
     * @param tree its tree
     * @param key the key
     * @param operand what is merged in
     * @return this
     */
    public Batch merge(Tree tree, byte[] key, byte[] operand) {
        Reader.need(key);
        Reader.need(operand);
        return add(tree, Writer.MERGE, key, operand, WriteOptions.DEFAULT);
    }

    private long figure(boolean bytes) {
        final long address = enter();
        try {
            return Native.batchFigure(address, bytes);
        } finally {
            exit();
        }
    }

    /**
     * The number of writes.
     *
     * @return the number
     */
    public long count() {
        return figure(false);
    }

    /**
     * The bytes that they take in the log.
     *
     * @return the bytes
     */
    public long bytes() {
        return figure(true);
    }

    /** Forgets all writes; keeps the memory. */
    public void clear() {
        final long address = enter();
        try {
            Native.batchClear(address);
        } finally {
            exit();
        }
    }
}
