// Reads of many keys at once.

package dev.hawthorn;

/**
 * Reads many keys of one moment, and holds the answers in native memory until it is read into
 * again,
 * released or closed. One object for many reads keeps its memory, which is the fastest way.
 *
 * <p>Threads: one at a time; others wait.
 */
public final class ReadBatch extends Handle {
    ReadBatch(Database database) {
        super(new Resource(Resource.READ_BATCH, Native.readBatchCreate(), new Resource.Serial(),
                database.live));
    }

    /**
     * Reads keys.
     *
     * @param reader what is read
     * @param tree their tree
     * @param keys the keys
     */
    public void read(Reader reader, Tree tree, byte[]... keys) {
        final byte[][] wanted = keys.clone();
        for (byte[] key : wanted) Reader.need(key);
        final long address = enter();
        try {
            reader.begin(tree);
            try {
                Native.multiGet(reader.db(), reader.txn(), tree.resource.address,
                        reader.snapshot(), wanted, address);
            } finally {
                reader.finish(tree);
            }
        } finally {
            exit();
        }
    }

    /**
     * Reads keys out of columns, and fills others with the answers, as many as fit: values, and
     * {@link Columns#found}. The others are there for {@link #columns}.
     *
     * @param reader what is read
     * @param tree their tree
     * @param keys the keys
     * @param answers what is filled, other columns
     * @return how many answers were filled
     */
    public int read(Reader reader, Tree tree, Columns keys, Columns answers) {
        if (keys == answers) throw new IllegalArgumentException("the same columns twice");
        final long address = enter();
        try {
            reader.begin(tree);
            try {
                final int[] rows = new int[1];
                keys.given(from -> rows[0] = answers.filled(into -> Native.multiGetColumns(
                        reader.db(), reader.txn(), tree.resource.address, reader.snapshot(), from,
                        keys.rows(), address, into)));
                return rows[0];
            } finally {
                reader.finish(tree);
            }
        } finally {
            exit();
        }
    }

    /**
     * How many answers it has.
     *
     * @return the number of keys
     */
    public int count() {
        final long address = enter();
        try {
            return Native.readBatchCount(address);
        } finally {
            exit();
        }
    }

    /**
     * The bytes of all values together.
     *
     * @return the sum
     */
    public long valueBytes() {
        final long address = enter();
        try {
            return Native.readBatchBytes(address);
        } finally {
            exit();
        }
    }

    /**
     * An answer.
     *
     * @param index of the key
     * @return its value; null where it was not found
     */
    public byte[] value(int index) {
        final long address = enter();
        try {
            if (index < 0 || index >= Native.readBatchCount(address)) {
                throw new IndexOutOfBoundsException(index);
            }
            return Native.readBatchValue(address, index);
        } finally {
            exit();
        }
    }

    /**
     * All answers.
     *
     * @return a value for each key, null where it was not found
     */
    public byte[][] values() {
        final long address = enter();
        try {
            final byte[][] values = new byte[Native.readBatchCount(address)][];
            Native.readBatchValues(address, values);
            return values;
        } finally {
            exit();
        }
    }

    /**
     * Fills columns with answers, as many as fit.
     *
     * @param first the index of the first one
     * @param columns what is filled
     * @return how many were filled
     * @throws HawthornException.NotFound for a first one behind the last
     */
    public int columns(int first, Columns columns) {
        if (first < 0) throw new IndexOutOfBoundsException(first);
        final long address = enter();
        try {
            return columns.filled(into -> Native.readBatchColumns(address, first, into));
        } finally {
            exit();
        }
    }

    /** Lets go of the answers; keeps the memory. */
    public void release() {
        final long address = enter();
        try {
            Native.readBatchRelease(address);
        } finally {
            exit();
        }
    }
}
