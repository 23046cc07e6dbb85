// Reads, the same of databases, snapshots and transactions.

package dev.hawthorn;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * What can be read: the newest committed state of a {@link Database}, a {@link Snapshot}, or what a
 * {@link Transaction} sees, its own writes among it.
 *
 * <p>Errors of all: {@link IllegalStateException} when something is closed,
 * {@link HawthornException.InvalidArgument} for a tree of another database,
 * {@link HawthornException.Corruption}, and {@link Code#IO_ERROR}. Arrays that are given are
 * copied,
 * those that are returned belong to the caller.
 */
public abstract sealed class Reader extends Handle permits Writer, Snapshot {
    Reader(Resource resource) {
        super(resource);
    }

    /** Holds what the call needs; then db(), txn() and snapshot() are valid. */
    abstract void begin();

    abstract void finish();

    long db() {
        return 0;
    }

    long txn() {
        return 0;
    }

    long snapshot() {
        return 0;
    }

    final void begin(Tree tree) {
        Objects.requireNonNull(tree, "tree");
        begin();
        try {
            tree.enter();
        } catch (RuntimeException closed) {
            finish();
            throw closed;
        }
    }

    final void finish(Tree tree) {
        tree.exit();
        finish();
    }

    static void need(byte[] key) {
        Objects.requireNonNull(key, "key");
    }

    /**
     * The database that is read.
     *
     * @return the database
     */
    public abstract Database database();

    // ---- Single keys

    final byte[] get(Tree tree, byte[] key, int way) {
        need(key);
        begin(tree);
        try {
            return Native.get(db(), txn(), tree.resource.address, snapshot(), key, way);
        } finally {
            finish(tree);
        }
    }

    /**
     * Reads a key.
     *
     * @param tree its tree
     * @param key the key
     * @return its value; null where the key is not there
     */
    public byte[] get(Tree tree, byte[] key) {
        return get(tree, key, 0);
    }

    /**
     * Reads a key without a copy, for large values, and for those of which little is looked at.
     *
     * @param tree its tree
     * @param key the key
     * @return its value, to be closed; null where the key is not there
     */
    public Value getValue(Tree tree, byte[] key) {
        need(key);
        begin(tree);
        try {
            final long address =
                    Native.getValue(db(), txn(), tree.resource.address, snapshot(), key);
            return address == 0 ? null : new Value(database(), address);
        } finally {
            finish(tree);
        }
    }

    /**
     * The same for who prefers an optional to null.
     *
     * @param tree its tree
     * @param key the key
     * @return its value; empty where the key is not there
     */
    public Optional<byte[]> find(Tree tree, byte[] key) {
        return Optional.ofNullable(get(tree, key));
    }

    /**
     * Reads a key between direct buffers, without arrays: from the key's position to its limit,
     * into
     * the target from its position on. Positions stay, the target's limit is set behind the value
     * where that fits.
     *
     * @param tree its tree
     * @param key the key, in a direct buffer
     * @param target for the value, a direct buffer
     * @return the size of the value, of which the target has the beginning where it is larger than
     *     what remained; -1 where the key is not there
     */
    public long get(Tree tree, ByteBuffer key, ByteBuffer target) {
        needDirect(key);
        needDirect(target);
        if (target.isReadOnly()) throw new IllegalArgumentException("a buffer that is read-only");
        begin(tree);
        try {
            final long size = Native.getDirect(db(), txn(), tree.resource.address, snapshot(), key,
                    key.position(), key.remaining(), target, target.position(), target.remaining());
            if (size >= 0 && size <= target.remaining()) {
                target.limit(target.position() + (int) size);
            }
            return size;
        } finally {
            finish(tree);
        }
    }

    static void needDirect(ByteBuffer buffer) {
        if (!buffer.isDirect()) throw new IllegalArgumentException("a buffer that is not direct");
    }

    /**
     * Whether a key is there.
     *
     * @param tree its tree
     * @param key the key
     * @return whether
     */
    public boolean contains(Tree tree, byte[] key) {
        return ask(tree, key, 2) >= 0;
    }

    final long ask(Tree tree, byte[] key, int what) {
        need(key);
        begin(tree);
        try {
            return Native.ask(db(), txn(), tree.resource.address, snapshot(), key, what);
        } finally {
            finish(tree);
        }
    }

    /**
     * The size of a value, which is not read.
     *
     * @param tree its tree
     * @param key the key
     * @return the size in bytes; -1 where the key is not there
     */
    public long size(Tree tree, byte[] key) {
        return ask(tree, key, 0);
    }

    /**
     * A part of a value.
     *
     * @param tree its tree
     * @param key the key
     * @param offset where it begins
     * @param size how many bytes, fewer at the value's end
     * @return the bytes; null where the key is not there
     */
    public byte[] readPart(Tree tree, byte[] key, long offset, int size) {
        need(key);
        if (offset < 0 || size < 0) throw new IllegalArgumentException("a negative number");
        begin(tree);
        try {
            return Native.readPart(db(), txn(), tree.resource.address, snapshot(), key, offset,
                    size);
        } finally {
            finish(tree);
        }
    }

    /**
     * A value as a stream, of any size. Each piece is read when it is wanted: of a database, and
     * not
     * of a snapshot or transaction, a value that is changed meanwhile is read as it is then.
     *
     * @param tree its tree
     * @param key the key
     * @return the stream; null where the key is not there
     */
    public InputStream open(Tree tree, byte[] key) {
        final long size = size(tree, key);
        return size < 0 ? null : new ValueStream(this, tree, key.clone(), size);
    }

    // ---- Many keys

    /**
     * Reads many keys of one moment, much faster than one by one.
     *
     * @param tree their tree
     * @param keys the keys
     * @return a value for each, null where the key is not there
     */
    public byte[][] multiGet(Tree tree, byte[]... keys) {
        final byte[][] wanted = keys.clone();
        for (byte[] key : wanted) need(key);
        try (ReadBatch batch = database().readBatch()) {
            batch.read(this, tree, wanted);
            return batch.values();
        }
    }

    /**
     * The same of a collection.
     *
     * @param tree their tree
     * @param keys the keys
     * @return a value for each, null where the key is not there
     */
    public byte[][] multiGet(Tree tree, Collection<byte[]> keys) {
        return multiGet(tree, keys.toArray(new byte[0][]));
    }

    // ---- Walks

    /**
     * A cursor, which stands nowhere yet. Of a database it shows the present moment.
     *
     * @param tree what it walks over
     * @param range what it may show
     * @return the cursor, to be closed
     */
    public Cursor cursor(Tree tree, Range range) {
        begin(tree);
        try {
            final long address = Native.cursor(db(), txn(), tree.resource.address, snapshot(),
                    range.keysOnly, range.lower, range.upper);
            return new Cursor(this, address);
        } finally {
            finish(tree);
        }
    }

    /**
     * A cursor over all of a tree.
     *
     * @param tree what it walks over
     * @return the cursor, to be closed
     */
    public Cursor cursor(Tree tree) {
        return cursor(tree, Range.ALL);
    }

    /**
     * Entries in the order of keys, or the other way around. Each iterator walks by itself, closes
     * at
     * its end, and may be closed before. It reads ahead: in a transaction, what is written
     * meanwhile
     * is seen by a {@link Cursor} only.
     *
     * @param tree what is walked over
     * @param range which entries
     * @return the entries
     */
    public Iterable<Entry> entries(Tree tree, Range range) {
        return () -> iterator(tree, range);
    }

    /**
     * All entries of a tree, as {@link #entries(Tree, Range)}.
     *
     * @param tree what is walked over
     * @return the entries
     */
    public Iterable<Entry> entries(Tree tree) {
        return entries(tree, Range.ALL);
    }

    /**
     * One walk of {@link #entries(Tree, Range)}, which can be closed.
     *
     * @param tree what is walked over
     * @param range which entries
     * @return the iterator
     */
    public EntryIterator iterator(Tree tree, Range range) {
        return new EntryIterator(cursor(tree, range), range);
    }

    /**
     * The same as a stream, which is to be closed, by try-with-resources, where it is not read to
     * its
     * end.
     *
     * @param tree what is walked over
     * @param range which entries
     * @return the stream
     */
    public Stream<Entry> stream(Tree tree, Range range) {
        final EntryIterator iterator = iterator(tree, range);
        final int is = Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.IMMUTABLE;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator, is), false)
                .onClose(iterator::close);
    }

    /**
     * How many entries a range has, exactly.
     *
     * @param tree what is counted
     * @param range its bounds
     * @return the number
     */
    public long count(Tree tree, Range range) {
        begin(tree);
        try {
            return Native.count(db(), txn(), tree.resource.address, snapshot(), range.lower,
                    range.upper);
        } finally {
            finish(tree);
        }
    }

    /**
     * How many entries a tree has, exactly.
     *
     * @param tree what is counted
     * @return the number
     */
    public long count(Tree tree) {
        return count(tree, Range.ALL);
    }

    // ---- Trees

    final Tree made(long address) {
        return address == 0 ? null : new Tree(database(), address);
    }

    /**
     * A tree that is there.
     *
     * @param name its name
     * @return the tree; null where there is none
     */
    public Tree findTree(String name) {
        begin();
        try {
            return made(Native.findTree(db(), txn(), snapshot(), Native.bytes(name)));
        } finally {
            finish();
        }
    }

    /**
     * The names of all trees.
     *
     * @return the names
     */
    public List<String> trees() {
        begin();
        try {
            final List<String> names = new ArrayList<>();
            for (Row row : Row.list(Native.listTrees(db(), txn(), snapshot(), 0))) {
                names.add(row.text("name"));
            }
            return names;
        } finally {
            finish();
        }
    }

    /**
     * The tree at a key.
     *
     * @param parent the tree that was made for subtrees
     * @param key the key
     * @return the tree; null where nothing is at the key
     */
    public Tree subtree(Tree parent, byte[] key) {
        need(key);
        begin(parent);
        try {
            return made(
                    Native.subtree(db(), txn(), snapshot(), parent.resource.address, key));
        } finally {
            finish(parent);
        }
    }

    /**
     * The keys at which trees hang.
     *
     * @param parent the tree that was made for subtrees
     * @return the keys
     */
    public List<byte[]> subtrees(Tree parent) {
        begin(parent);
        try {
            final List<byte[]> keys = new ArrayList<>();
            final byte[] rows = Native.listTrees(db(), txn(), snapshot(), parent.resource.address);
            for (Row row : Row.list(rows)) keys.add(row.bytes("key"));
            return keys;
        } finally {
            finish(parent);
        }
    }
}
