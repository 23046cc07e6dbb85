// What a database writes beyond what transactions do, too: commits with durability, batches.

package dev.hawthorn;

/**
 * The part of a {@link Database} for writes that are commits of their own: with durability and
 * expiry for each, and many as one. A class of its own for the size of files alone.
 */
abstract sealed class DatabaseWrites extends Writer permits DatabaseCopies {
    DatabaseWrites(Resource resource) {
        super(resource);
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
     * Writes a key that is there, with durability and expiry.
     *
     * @param tree its tree
     * @param key the key
     * @param value its new value
     * @param options durability and expiry
     * @return whether it was there, and was written
     */
    public boolean update(Tree tree, byte[] key, byte[] value, WriteOptions options) {
        need(value);
        return compareAndSet(tree, 1, key, null, value, options);
    }

    /**
     * Deletes a key that has an expected value, with a durability.
     *
     * @param tree its tree
     * @param key the key
     * @param expected the value that it has to have
     * @param options the durability
     * @return whether it was so, and was deleted
     */
    public boolean removeIf(Tree tree, byte[] key, byte[] expected, WriteOptions options) {
        return compareAndSet(tree, 3, key, expected, null, options);
    }

    /**
     * Overwrites a part of a value, with a durability.
     *
     * @param tree its tree
     * @param key the key
     * @param offset where the part begins
     * @param data the part
     * @param durability what the commit survives
     */
    public void writePart(
            Tree tree, byte[] key, long offset, byte[] data, Durability durability) {
        need(data);
        part(tree, 0, key, offset, data, durability);
    }

    /**
     * Appends to a value, with a durability.
     *
     * @param tree its tree
     * @param key the key
     * @param data what is appended
     * @param durability what the commit survives
     * @return where it begins in the value
     */
    public long append(Tree tree, byte[] key, byte[] data, Durability durability) {
        need(data);
        return part(tree, 1, key, 0, data, durability);
    }

    /**
     * Makes a value shorter or longer, with a durability.
     *
     * @param tree its tree
     * @param key the key
     * @param size its new size
     * @param durability what the commit survives
     */
    public void resize(Tree tree, byte[] key, long size, Durability durability) {
        part(tree, 2, key, size, null, durability);
    }

    /**
     * A new list of writes for {@link #write}.
     *
     * @return the batch, to be closed
     */
    public Batch batch() {
        begin();
        try {
            return new Batch(database());
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
}
