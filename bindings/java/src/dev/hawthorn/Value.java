// A value in place.

package dev.hawthorn;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A value where the engine has read it, without a copy for Java. Writes do not change it, and it may
 * be kept beyond the snapshot or the transaction that it was read by.
 *
 * <p>Close it: it keeps memory of the engine. A use after that is an
 * {@link IllegalStateException}. Threads: one at a time; others wait.
 */
public final class Value extends Handle {
    private final Held held;

    Value(Database database, long address) {
        this(new Held(database, address));
    }

    private Value(Held held) {
        super(held);
        this.held = held;
    }

    /** The native value. Where a buffer of it is out, it is freed when that cannot be reached. */
    private static final class Held extends Resource {
        // Slices and duplicates keep the buffer that they were made of.
        private ByteBuffer bytes;
        private boolean isOut;
        private final AtomicInteger lent;

        Held(Database database, long address) {
            super(VALUE, address, new Serial(), database.live);
            lent = database.lent;
            bytes = Native.valueBytes(address);
        }

        @Override
        void freeNative() {
            final ByteBuffer out = bytes;
            bytes = null;
            if (!isOut) {
                super.freeNative();
                return;
            }
            lent.incrementAndGet();
            Handle.CLEANER.register(out, new Late(address, lent));
        }
    }

    /** Frees the native value behind the last of its buffers. */
    private record Late(long address, AtomicInteger lent) implements Runnable {
        @Override
        public void run() {
            Native.free(Resource.VALUE, address);
            lent.decrementAndGet();
        }
    }

    /**
     * How many bytes it has.
     *
     * @return the number
     */
    public int size() {
        enter();
        try {
            return held.bytes.capacity();
        } finally {
            exit();
        }
    }

    /**
     * One byte.
     *
     * @param offset which
     * @return the byte
     * @throws IndexOutOfBoundsException outside of the value
     */
    public byte get(int offset) {
        enter();
        try {
            return held.bytes.get(offset);
        } finally {
            exit();
        }
    }

    /**
     * Copies a part.
     *
     * @param offset where it begins
     * @param into gets the bytes
     * @param from where in the array
     * @param size how many
     * @throws IndexOutOfBoundsException outside of the value or the array
     */
    public void get(int offset, byte[] into, int from, int size) {
        enter();
        try {
            Objects.checkFromIndexSize(from, size, into.length);
            held.bytes.get(offset, into, from, size);
        } finally {
            exit();
        }
    }

    /**
     * Copies all of it.
     *
     * @return an array of its own
     */
    public byte[] bytes() {
        enter();
        try {
            final byte[] all = new byte[held.bytes.capacity()];
            held.bytes.get(0, all);
            return all;
        } finally {
            exit();
        }
    }

    /**
     * Its bytes as a buffer to read from, in place, big-endian as all new ones. It stays readable
     * behind {@link #close}: the engine's memory is let go of when neither it nor any buffer made
     * of it can be reached any more, instead of at once. {@link Database#close} lets the collector
     * look for such ones, for a tenth of a second at most.
     *
     * @return a new read-only direct buffer
     */
    public ByteBuffer buffer() {
        enter();
        try {
            held.isOut = true;
            return held.bytes.asReadOnlyBuffer();
        } finally {
            exit();
        }
    }
}
