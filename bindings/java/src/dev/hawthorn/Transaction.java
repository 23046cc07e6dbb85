// Reads and writes that are committed together.

package dev.hawthorn;

import java.io.InputStream;
import java.time.Duration;

/**
 * Reads and writes that are committed together, or not at all. Closing one that has not ended
 * aborts
 * it, unless it is prepared:
 *
 * <pre>{@code
 * try (Transaction txn = db.beginTransaction()) {
 *   txn.put(tree, key, value);
 *   txn.commit();
 * }
 * }</pre>
 *
 * <p>Once it has ended, it and its cursors throw {@link IllegalStateException}. While a nested one
 * is
 * open, it takes no calls ({@link HawthornException.InvalidArgument}). Threads: one at a time uses
 * it, its nested ones and its cursors; others wait.
 */
public final class Transaction extends Writer {
    private final Database database;
    private final Transaction outer;

    Transaction(Database database, long address) {
        super(new Resource(Resource.TXN, address, new Resource.Serial(), database.live));
        this.database = database;
        this.outer = null;
    }

    private Transaction(Transaction outer, long address) {
        super(new Resource(Resource.TXN, address, outer.resource.guard, outer.database.live));
        this.database = outer.database;
        this.outer = outer;
    }

    @Override
    long enter() {
        final long address = super.enter();
        if (outer == null || !outer.hasEnded()) return address;
        exit();
        throw new IllegalStateException("the outer transaction has ended");
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
    long txn() {
        return resource.address;
    }

    @Override
    public Database database() {
        return database;
    }

    /**
     * Whether it was committed, aborted or closed.
     *
     * @return whether
     */
    public boolean hasEnded() {
        return isClosed() || (outer != null && outer.hasEnded());
    }

    /**
     * Commits as the options of the database say.
     *
     * @throws HawthornException.Conflict nothing was written; begin again
     */
    public void commit() {
        commit(Durability.DEFAULT);
    }

    /**
     * Commits. It has ended in every case, but a prepared one, which stays with
     * {@link Code#NO_SPACE}, {@link Code#READ_ONLY} and {@link Code#IO_ERROR}. That of a nested one
     * leaves its writes to the outer one.
     *
     * @param durability what it survives
     * @throws HawthornException.Conflict nothing was written; begin again
     * @throws HawthornException.UnknownOutcome when the sync failed
     */
    public void commit(Durability durability) {
        boolean open = true;
        final long address = enter();
        try {
            Native.commit(address, durability.ordinal());
            open = false;
        } catch (RuntimeException failed) {
            open = Native.isOpen(address);
            throw failed;
        } finally {
            exit();
            if (!open) close();
        }
    }

    /** Ends it; nothing of it remains. One that has ended is left alone. */
    public void abort() {
        if (hasEnded()) {
            close();
            return;
        }
        final long address = enter();
        try {
            Native.abort(address);
        } finally {
            exit();
        }
        close();
    }

    /**
     * Begins one inside of this, which can be used again when that has ended.
     *
     * @return the nested one
     */
    public Transaction beginNested() {
        final long address = enter();
        try {
            return new Transaction(this, Native.beginNested(address));
        } finally {
            exit();
        }
    }

    private Savepoint savepoint(int what, Savepoint savepoint) {
        final long address = enter();
        try {
            Native.savepoint(address, what, savepoint.words);
            return savepoint;
        } finally {
            exit();
        }
    }

    /**
     * Marks this moment.
     *
     * @return the savepoint
     */
    public Savepoint savepoint() {
        return savepoint(0, new Savepoint());
    }

    /**
     * Undoes all writes and locks since; it stays, later ones are gone.
     *
     * @param savepoint the moment
     * @throws HawthornException.InvalidArgument for one that is gone, or of another transaction
     */
    public void rollbackTo(Savepoint savepoint) {
        savepoint(1, savepoint);
    }

    /**
     * Forgets it, and later ones; what was written stays.
     *
     * @param savepoint the moment
     */
    public void release(Savepoint savepoint) {
        savepoint(2, savepoint);
    }

    /**
     * The first of two phases: makes what was written durable under an id. It stays prepared, over
     * restarts, until it is committed or aborted, here or by {@link Database#commitPrepared}.
     *
     * @param id 1 to 200 bytes
     */
    public void prepare(String id) {
        final long address = enter();
        try {
            Native.prepare(address, Native.bytes(id));
        } finally {
            exit();
        }
    }

    /**
     * Reads a key that is to be written: nobody else writes it before this one ends, or its commit
     * conflicts.
     *
     * @param tree its tree
     * @param key the key
     * @return its value; null where the key is not there
     */
    public byte[] getForUpdate(Tree tree, byte[] key) {
        return get(tree, key, 1);
    }

    /**
     * Locks a row, there or not, until the transaction ends; pessimistic ones only.
     *
     * @param tree its tree
     * @param key the key
     * @param lock how
     * @param timeout the longest wait; null: as the options say
     */
    public void lock(Tree tree, byte[] key, RowLock lock, Duration timeout) {
        need(key);
        if (timeout != null && timeout.isNegative()) {
            throw new IllegalArgumentException("a negative time");
        }
        begin(tree);
        try {
            Native.lock(txn(), tree.resource.address, key, lock.ordinal(),
                    timeout == null ? -1 : timeout.toMillis());
        } finally {
            finish(tree);
        }
    }

    private long stream(Tree tree, int what, byte[] key, long offset, long size, InputStream in) {
        need(key);
        need(in);
        if (offset < 0 || size < 0) throw new IllegalArgumentException("a negative number");
        final Callbacks source = Callbacks.ofSource(in, null);
        begin(tree);
        try {
            return Native.putStream(
                    txn(), tree.resource.address, what, key, offset, size, source);
        } catch (HawthornException failed) {
            throw Callbacks.reason(source, failed);
        } finally {
            finish(tree);
        }
    }

    private static void need(InputStream in) {
        java.util.Objects.requireNonNull(in, "in");
    }

    /**
     * Writes a value of up to 4 GB from a stream.
     *
     * @param tree its tree
     * @param key the key
     * @param size how many bytes the stream gives; an end before is an error
     * @param in the stream; what it throws ends the call (as an UncheckedIOException). It must not
     *     use the transaction
     */
    public void put(Tree tree, byte[] key, long size, InputStream in) {
        stream(tree, 0, key, 0, size, in);
    }

    /**
     * Overwrites a part of a value from a stream.
     *
     * @param tree its tree
     * @param key the key
     * @param offset where
     * @param size how many bytes the stream gives
     * @param in the stream
     */
    public void writePart(Tree tree, byte[] key, long offset, long size, InputStream in) {
        stream(tree, 1, key, offset, size, in);
    }

    /**
     * Adds bytes of a stream at a value's end.
     *
     * @param tree its tree
     * @param key the key
     * @param size how many bytes the stream gives
     * @param in the stream
     * @return where they begin
     */
    public long append(Tree tree, byte[] key, long size, InputStream in) {
        return stream(tree, 2, key, 0, size, in);
    }
}
