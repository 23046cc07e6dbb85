// Writes, the same of databases and transactions.

package dev.hawthorn;

/**
 * What can be written to: a {@link Database}, where each write is one commit that is durable when
 * it
 * returns, or a {@link Transaction}, where others see nothing before its commit.
 *
 * <p>Errors of all, besides those of reads: {@link HawthornException.InvalidArgument} for sizes;
 * {@link HawthornException.NoSpace} (nothing was written; deletes go on);
 * {@link HawthornException.ReadOnly}; {@link HawthornException.Conflict} and
 * {@link HawthornException.TimedOut} where others write the same key;
 * {@link HawthornException.Deadlock}; {@link HawthornException.NotSupported} for what trees of that
 * shape do not have.
 */
public abstract sealed class Writer extends Reader permits DatabaseWrites, Transaction {
    static final int PUT = 0;
    static final int DEL = 1;
    static final int DEL_VALUE = 2;
    static final int DELETE_RANGE = 3;
    static final int MERGE = 4;

    Writer(Resource resource) {
        super(resource);
    }

    final void change(Tree tree, int what, byte[] a, byte[] b, WriteOptions options) {
        begin(tree);
        try {
            Native.change(db(), txn(), 0, tree.resource.address, what, a, b,
                    options.durability.ordinal(), options.expiry, options.expiryMs);
        } finally {
            finish(tree);
        }
    }

    final boolean compareAndSet(
            Tree tree, int what, byte[] key, byte[] expected, byte[] value, WriteOptions options) {
        need(key);
        begin(tree);
        try {
            return Native.compareAndSet(db(), txn(), tree.resource.address, what, key, expected,
                    value, options.durability.ordinal(), options.expiry, options.expiryMs);
        } finally {
            finish(tree);
        }
    }

    /**
     * Writes a key.
     *
     * @param tree its tree
     * @param key the key
     * @param value its value, in a tree of several values to a key one more of them
     * @param options durability and expiry
     */
    public void put(Tree tree, byte[] key, byte[] value, WriteOptions options) {
        need(key);
        need(value);
        change(tree, PUT, key, value, options);
    }

    /**
     * The same as the options of the database and the tree say.
     *
     * @param tree its tree
     * @param key the key
     * @param value its value
     */
    public void put(Tree tree, byte[] key, byte[] value) {
        put(tree, key, value, WriteOptions.DEFAULT);
    }

    /**
     * The same out of direct buffers, from their positions to their limits, which stay.
     *
     * @param tree its tree
     * @param key the key, in a direct buffer
     * @param value its value, in a direct buffer
     * @param options durability and expiry
     */
    public void put(
            Tree tree, java.nio.ByteBuffer key, java.nio.ByteBuffer value, WriteOptions options) {
        needDirect(key);
        needDirect(value);
        begin(tree);
        try {
            Native.putDirect(db(), txn(), tree.resource.address, key, key.position(),
                    key.remaining(), value, value.position(), value.remaining(),
                    options.durability.ordinal(), options.expiry, options.expiryMs);
        } finally {
            finish(tree);
        }
    }

    /**
     * Deletes a key, with all of its values; one that is not there is no error.
     *
     * @param tree its tree
     * @param key the key
     */
    public void del(Tree tree, byte[] key) {
        need(key);
        change(tree, DEL, key, null, WriteOptions.DEFAULT);
    }

    /**
     * Deletes one value of a key that may have several.
     *
     * @param tree its tree
     * @param key the key
     * @param value the value
     */
    public void delValue(Tree tree, byte[] key, byte[] value) {
        need(key);
        need(value);
        change(tree, DEL_VALUE, key, value, WriteOptions.DEFAULT);
    }

    /**
     * Deletes all keys of a range, in a time that does not depend on how many there are.
     *
     * @param tree their tree
     * @param range the bounds
     */
    public void deleteRange(Tree tree, Range range) {
        change(tree, DELETE_RANGE, range.lower, range.upper, WriteOptions.DEFAULT);
    }

    /**
     * Changes a value as the tree's merge operator says, without reading it.
     *
     * @param tree its tree, see {@link Database#setMergeOperator}
     * @param key the key
     * @param operand what is merged in
     */
    public void merge(Tree tree, byte[] key, byte[] operand) {
        need(key);
        need(operand);
        change(tree, MERGE, key, operand, WriteOptions.DEFAULT);
    }

    // ---- Compare and set

    /**
     * Writes a key that is absent.
     *
     * @param tree its tree
     * @param key the key
     * @param value its value
     * @return whether it was absent, and was written
     */
    public boolean insert(Tree tree, byte[] key, byte[] value) {
        need(value);
        return compareAndSet(tree, 0, key, null, value, WriteOptions.DEFAULT);
    }

    /**
     * Writes a key that is there.
     *
     * @param tree its tree
     * @param key the key
     * @param value its new value
     * @return whether it was there, and was written
     */
    public boolean update(Tree tree, byte[] key, byte[] value) {
        need(value);
        return compareAndSet(tree, 1, key, null, value, WriteOptions.DEFAULT);
    }

    /**
     * Writes a key that has an expected value.
     *
     * @param tree its tree
     * @param key the key
     * @param expected the value that it has to have; null: it has to be absent
     * @param value its new value
     * @return whether it was so, and was written
     */
    public boolean replace(Tree tree, byte[] key, byte[] expected, byte[] value) {
        need(value);
        return compareAndSet(tree, 2, key, expected, value, WriteOptions.DEFAULT);
    }

    /**
     * Deletes a key that has an expected value.
     *
     * @param tree its tree
     * @param key the key
     * @param expected the value that it has to have
     * @return whether it was so, and was deleted
     */
    public boolean removeIf(Tree tree, byte[] key, byte[] expected) {
        return compareAndSet(tree, 3, key, expected, null, WriteOptions.DEFAULT);
    }

    // ---- Values by parts

    final long part(
            Tree tree, int what, byte[] key, long offset, byte[] data, Durability durability) {
        need(key);
        if (offset < 0) throw new IllegalArgumentException("a negative number");
        begin(tree);
        try {
            return Native.writePart(db(), txn(), tree.resource.address, what, key, offset, data,
                    durability.ordinal());
        } finally {
            finish(tree);
        }
    }

    /**
     * Overwrites a part of a value, and lets it grow where it ends.
     *
     * @param tree its tree
     * @param key the key
     * @param offset where
     * @param data the bytes
     */
    public void writePart(Tree tree, byte[] key, long offset, byte[] data) {
        need(data);
        part(tree, 0, key, offset, data, Durability.DEFAULT);
    }

    /**
     * Adds bytes at a value's end.
     *
     * @param tree its tree
     * @param key the key
     * @param data the bytes
     * @return where they begin
     */
    public long append(Tree tree, byte[] key, byte[] data) {
        need(data);
        return part(tree, 1, key, 0, data, Durability.DEFAULT);
    }

    /**
     * Cuts a value off, or lets it grow by zeros.
     *
     * @param tree its tree
     * @param key the key
     * @param size its size then
     */
    public void resize(Tree tree, byte[] key, long size) {
        part(tree, 2, key, size, null, Durability.DEFAULT);
    }

    // ---- Trees

    /**
     * Opens a tree, and makes it when it is missing.
     *
     * @param name 1 to 255 bytes
     * @param options what it is made with; where it is there, it must be so. Null: as it is, or an
     *     ordinary one
     * @return the tree
     */
    public Tree tree(String name, TreeOptions options) {
        begin();
        try {
            final byte[] n = Native.bytes(name);
            return made(options == null
                    ? Native.tree(db(), txn(), n, 0, null, null, 0)
                    : Native.tree(db(), txn(), n, options.shape, Native.zeroEnded(options.order),
                            Native.zeroEnded(options.valueOrder), options.ttlMs));
        } finally {
            finish();
        }
    }

    /**
     * Opens a tree as it is, or makes an ordinary one.
     *
     * @param name 1 to 255 bytes
     * @return the tree
     */
    public Tree tree(String name) {
        return tree(name, null);
    }

    /**
     * Removes a tree and all below it.
     *
     * @param name its name
     * @throws HawthornException.NotFound where there is none
     */
    public void dropTree(String name) {
        begin();
        try {
            Native.dropTree(db(), txn(), Native.bytes(name));
        } finally {
            finish();
        }
    }

    /**
     * Gives a tree another name.
     *
     * @param from its name
     * @param to the new one
     * @throws HawthornException.NotFound where there is none
     * @throws HawthornException.InvalidArgument for a name that is taken
     */
    public void renameTree(String from, String to) {
        begin();
        try {
            Native.renameTree(db(), txn(), Native.bytes(from), Native.bytes(to));
        } finally {
            finish();
        }
    }

    /**
     * Makes a tree that begins with all that another one holds.
     *
     * @param from the name of that one
     * @param to the name of the new one
     * @return the new one
     */
    public Tree cloneTree(String from, String to) {
        begin();
        try {
            return made(Native.cloneTree(db(), txn(), Native.bytes(from), Native.bytes(to), 0));
        } finally {
            finish();
        }
    }

    /**
     * Hangs an empty tree at a key that has nothing yet.
     *
     * @param parent a tree that was made for subtrees
     * @param key the key
     * @param options what it is made with; null: an ordinary one
     * @return the new tree
     */
    public Tree createSubtree(Tree parent, byte[] key, TreeOptions options) {
        need(key);
        begin(parent);
        try {
            final TreeOptions o = options == null ? new TreeOptions() : options;
            return made(Native.createSubtree(db(), txn(), parent.resource.address, key, o.shape,
                    Native.zeroEnded(o.order), Native.zeroEnded(o.valueOrder), o.ttlMs, 0));
        } finally {
            finish(parent);
        }
    }

    private void attach(Tree parent, byte[] key, String name, boolean detach) {
        need(key);
        begin(parent);
        try {
            Native.attach(db(), txn(), parent.resource.address, key, Native.bytes(name), 0, detach);
        } finally {
            finish(parent);
        }
    }

    /**
     * Hangs a tree that has a name at a key.
     *
     * @param parent a tree that was made for subtrees
     * @param key the key
     * @param name the name, which it loses
     */
    public void attach(Tree parent, byte[] key, String name) {
        attach(parent, key, name, false);
    }

    /**
     * Takes a tree off its key, and gives it a name.
     *
     * @param parent the tree in which it hangs
     * @param key the key
     * @param name its name then
     */
    public void detach(Tree parent, byte[] key, String name) {
        attach(parent, key, name, true);
    }

    /**
     * Hangs a tree at another key, of the same tree or of another one.
     *
     * @param parent the tree in which it hangs
     * @param key the key
     * @param toParent the tree in which it is to hang
     * @param toKey the key there
     */
    public void moveSubtree(Tree parent, byte[] key, Tree toParent, byte[] toKey) {
        need(key);
        need(toKey);
        begin(parent);
        try {
            toParent.enter();
            try {
                Native.moveSubtree(db(), txn(), parent.resource.address, key,
                        toParent.resource.address, toKey, 0);
            } finally {
                toParent.exit();
            }
        } finally {
            finish(parent);
        }
    }

    /**
     * Makes a tree with a name that begins with all that a subtree holds.
     *
     * @param parent the tree in which that hangs
     * @param key the key
     * @param to the name
     * @return the new one
     */
    public Tree cloneSubtree(Tree parent, byte[] key, String to) {
        need(key);
        begin(parent);
        try {
            return made(Native.cloneSubtree(db(), txn(), parent.resource.address, key,
                    Native.bytes(to), 0));
        } finally {
            finish(parent);
        }
    }
}
