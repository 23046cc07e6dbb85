// Many entries in four buffers.

package dev.hawthorn;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.function.LongUnaryOperator;

/**
 * Direct buffers that hold many entries: the bytes of all keys and offsets into them, and the same
 * of
 * values, in the layout of Arrow's LargeBinary. They are filled by {@link Cursor#next(Columns)} and
 * {@link ReadBatch}, or by the program, for {@link Batch#put(Tree, Columns)}, {@link Ingest} and
 * as the keys of a {@link ReadBatch}.
 *
 * <p>They belong to the collector: nothing has to be closed, and what was filled stays when the
 * database is closed. Threads: one at a time.
 */
public final class Columns {
    private final ByteBuffer header; // a hawthorn_columns, which only native code touches
    private final int rowsCapacity;
    private long headerAddress;
    private ByteBuffer keyBytes;
    private ByteBuffer valueBytes;
    private final ByteBuffer keyOffsetBytes;
    private final ByteBuffer valueOffsetBytes;
    private final ByteBuffer foundBytes;
    private final LongBuffer keyOffsets;
    private final LongBuffer valueOffsets;
    private int rows;

    /**
     * Allocates the buffers.
     *
     * @param rows for how many entries
     * @param keyBytes for all keys together
     * @param valueBytes for all values together
     */
    public Columns(int rows, int keyBytes, int valueBytes) {
        if (rows < 1 || rows > (Integer.MAX_VALUE >> 3) - 1) {
            throw new IllegalArgumentException("rows");
        }
        rowsCapacity = rows;
        header = ByteBuffer.allocateDirect(Native.columnsHeaderBytes());
        headerAddress = Native.addressOf(header);
        this.keyBytes = ByteBuffer.allocateDirect(Math.max(keyBytes, 1));
        this.valueBytes = ByteBuffer.allocateDirect(Math.max(valueBytes, 1));
        keyOffsetBytes = ByteBuffer.allocateDirect((rows + 1) * 8).order(ByteOrder.nativeOrder());
        valueOffsetBytes = ByteBuffer.allocateDirect((rows + 1) * 8).order(ByteOrder.nativeOrder());
        foundBytes = ByteBuffer.allocateDirect(rows);
        keyOffsets = keyOffsetBytes.asLongBuffer();
        valueOffsets = valueOffsetBytes.asLongBuffer();
        initialize();
    }

    private void initialize() {
        Native.columnsInit(headerAddress, rowsCapacity, Native.addressOf(keyBytes),
                keyBytes.capacity(), Native.addressOf(keyOffsetBytes), Native.addressOf(valueBytes),
                valueBytes.capacity(), Native.addressOf(valueOffsetBytes),
                Native.addressOf(foundBytes));
    }

    /** Lets native code fill it. */
    int filled(LongUnaryOperator call) {
        rows = 0;
        rows = (int) call.applyAsLong(headerAddress);
        java.lang.ref.Reference.reachabilityFence(this);
        return rows;
    }

    /** Lets native code read it. */
    void given(java.util.function.LongConsumer call) {
        call.accept(headerAddress);
        java.lang.ref.Reference.reachabilityFence(this);
    }

    /**
     * How many entries it holds.
     *
     * @return the rows that were filled
     */
    public int rows() {
        return rows;
    }

    /**
     * Says how many rows the program has filled.
     *
     * @param rows so many
     */
    public void setRows(int rows) {
        if (rows < 0 || rows > rowsCapacity) throw new IllegalArgumentException("rows");
        this.rows = rows;
    }

    /**
     * For how many entries it is.
     *
     * @return the rows that there can be
     */
    public int rowsCapacity() {
        return rowsCapacity;
    }

    /**
     * The bytes of all keys, one behind the other.
     *
     * @return the buffer itself, direct
     */
    public ByteBuffer keyBytes() {
        return keyBytes;
    }

    /**
     * Where keys begin: key i ends where key i + 1 begins.
     *
     * @return the buffer itself, direct, in the order of the machine
     */
    public LongBuffer keyOffsets() {
        return keyOffsets;
    }

    /**
     * The bytes of all values, one behind the other.
     *
     * @return the buffer itself, direct
     */
    public ByteBuffer valueBytes() {
        return valueBytes;
    }

    /**
     * Where values begin: value i ends where value i + 1 begins.
     *
     * @return the buffer itself, direct, in the order of the machine
     */
    public LongBuffer valueOffsets() {
        return valueOffsets;
    }

    /**
     * Of answers to keys: whether the key was there.
     *
     * @param row which one
     * @return whether
     */
    public boolean found(int row) {
        return foundBytes.get(row) != 0;
    }

    private byte[] copy(ByteBuffer bytes, LongBuffer offsets, int row) {
        if (row < 0 || row >= rows) throw new IndexOutOfBoundsException(row);
        final int from = Math.toIntExact(offsets.get(row));
        final byte[] copy = new byte[Math.toIntExact(offsets.get(row + 1)) - from];
        bytes.get(from, copy);
        return copy;
    }

    /**
     * A key.
     *
     * @param row which one
     * @return a copy
     */
    public byte[] key(int row) {
        return copy(keyBytes, keyOffsets, row);
    }

    /**
     * A value; empty where a key was not found.
     *
     * @param row which one
     * @return a copy
     */
    public byte[] value(int row) {
        return copy(valueBytes, valueOffsets, row);
    }

    /** Forgets the rows, so that others can be added. */
    public void clear() {
        rows = 0;
    }

    /**
     * Adds a row.
     *
     * @param key its key
     * @param value its value
     * @return false: it does not fit, and nothing has changed
     */
    public boolean add(byte[] key, byte[] value) {
        if (rows == 0) {
            keyOffsets.put(0, 0);
            valueOffsets.put(0, 0);
        }
        if (rows == rowsCapacity) return false;
        final long keyFrom = keyOffsets.get(rows);
        final long valueFrom = valueOffsets.get(rows);
        if (keyFrom + key.length > keyBytes.capacity()) return false;
        if (valueFrom + value.length > valueBytes.capacity()) return false;
        keyBytes.put((int) keyFrom, key);
        valueBytes.put((int) valueFrom, value);
        keyOffsets.put(rows + 1, keyFrom + key.length);
        valueOffsets.put(rows + 1, valueFrom + value.length);
        ++rows;
        return true;
    }

    /**
     * Adds a row that is a key alone.
     *
     * @param key the key
     * @return false: it does not fit, and nothing has changed
     */
    public boolean add(byte[] key) {
        return add(key, NOTHING);
    }

    private static final byte[] NOTHING = new byte[0];

    /**
     * Larger buffers, behind {@link Code#BUFFER_TOO_SMALL}: so large that the call gets further.
     * Contents are gone.
     */
    public void grow() {
        final long keys = Native.columnsFigure(headerAddress, 1);
        final long values = Native.columnsFigure(headerAddress, 2);
        if (keys > keyBytes.capacity()) {
            keyBytes = ByteBuffer.allocateDirect(Math.toIntExact(keys));
        }
        if (values > valueBytes.capacity()) {
            valueBytes = ByteBuffer.allocateDirect(Math.toIntExact(values));
        }
        rows = 0;
        initialize();
        java.lang.ref.Reference.reachabilityFence(this);
    }
}
