// What was committed, as it comes.

package dev.hawthorn;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads what was committed, one commit after the other:
 *
 * <pre>{@code
 * while (feed.next(Duration.ofSeconds(1))) {
 *   for (Change change; (change = feed.nextChange()) != null; ) ...
 *   feed.acknowledge(feed.commitTimestamp());
 * }
 * }</pre>
 *
 * <p>Threads: one at a time; others wait, close among them: until a wait for a commit has ended.
 */
public final class Feed extends Handle {
    /** Whether something of the commit was read: the rest of it is not the commit. */
    boolean begun;

    Feed(Database database, long address) {
        super(new Resource(Resource.FEED, address, new Resource.Serial(), database.live));
    }

    /** Behind enter: throws where a part of the commit was read already. */
    void whole() {
        if (begun) throw new IllegalStateException("changes of this commit were read already");
    }

    private long figure(int which) {
        final long address = enter();
        try {
            return Native.feedFigure(address, which);
        } finally {
            exit();
        }
    }

    /**
     * What was acknowledged.
     *
     * @return a timestamp
     */
    public long position() {
        return figure(0);
    }

    /**
     * The timestamp of the commit on which it stands.
     *
     * @return a timestamp; 0 where there is none
     */
    public long commitTimestamp() {
        return figure(1);
    }

    /**
     * The timestamp of the commit that was delivered before.
     *
     * @return a timestamp; 0 where there is none
     */
    public long previousTimestamp() {
        return figure(2);
    }

    /**
     * The id of the database that it is of.
     *
     * @return 32 digits
     */
    public String sourceId() {
        final long address = enter();
        try {
            return Native.string(Native.feedSourceId(address));
        } finally {
            exit();
        }
    }

    /**
     * Goes to the next commit.
     *
     * @param timeout how long it waits for one
     * @return false: none came within the time
     */
    public boolean next(Duration timeout) {
        final long address = enter();
        try {
            begun = false;
            return Native.feedNext(address, Math.max(timeout.toMillis(), 0));
        } finally {
            exit();
        }
    }

    /**
     * The next change of the commit, in the order in which they were made.
     *
     * @return the change; null where there is none left
     * @throws HawthornException.InvalidArgument where there is no commit
     */
    public Change nextChange() {
        final long address = enter();
        try {
            begun = true;
            final long[] numbers = new long[5];
            final byte[][] bytes = new byte[5][];
            if (!Native.feedNextChange(address, numbers, bytes)) return null;
            return new Change(Change.Type.values()[(int) numbers[0] - 1], numbers[1],
                    Native.string(bytes[0]), bytes[1], bytes[2], bytes[3], Native.string(bytes[4]),
                    numbers[3], numbers[4], numbers[2] != 0);
        } finally {
            exit();
        }
    }

    /**
     * The tree of the change as it was then.
     *
     * @return id, name, order, value_order, multi_value, expires, ttl_ms, subtrees, compression,
     *     merge_operator
     */
    public Row changeTree() {
        final long address = enter();
        try {
            return Row.one(Native.feedChangeTree(address));
        } finally {
            exit();
        }
    }

    /**
     * A part of the value of a change that is streamed.
     *
     * @param offset where it begins
     * @param size how many bytes, fewer at the end
     * @return the bytes
     */
    public byte[] readValue(long offset, int size) {
        if (offset < 0 || size < 0) throw new IllegalArgumentException("a negative number");
        final long address = enter();
        try {
            return Native.feedReadValue(address, offset, size);
        } finally {
            exit();
        }
    }

    /**
     * In place of {@link #nextChange}: the commit as bytes, for {@link Replica#apply(List,
     * Durability)}
     * elsewhere.
     *
     * @return its pieces
     * @throws IllegalStateException where something of the commit was read already
     */
    public List<byte[]> encode() {
        final long address = enter();
        try {
            whole();
            begun = true;
            final List<byte[]> pieces = new ArrayList<>();
            for (byte[] piece; (piece = Native.feedEncode(address)) != null; ) pieces.add(piece);
            return pieces;
        } finally {
            exit();
        }
    }

    /**
     * Commits up to a timestamp are not needed any more. Durable.
     *
     * @param timestamp one that was delivered
     */
    public void acknowledge(long timestamp) {
        final long address = enter();
        try {
            Native.feedAcknowledge(address, timestamp);
        } finally {
            exit();
        }
    }
}
