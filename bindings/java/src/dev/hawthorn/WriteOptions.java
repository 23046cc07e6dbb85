// How one write is made.

package dev.hawthorn;

import java.time.Duration;
import java.time.Instant;

/**
 * How a write is made: what it survives, and when a put's entry ends. An object never changes.
 *
 * <p>In transactions and batches the durability is the commit's: another one here is an error.
 */
public final class WriteOptions {
    /** As the options of the database and of the tree say. */
    public static final WriteOptions DEFAULT = new WriteOptions(Durability.DEFAULT, 0, 0);

    final Durability durability;
    final int expiry;
    final long expiryMs;

    private WriteOptions(Durability durability, int expiry, long expiryMs) {
        this.durability = durability;
        this.expiry = expiry;
        this.expiryMs = expiryMs;
    }

    /**
     * With a durability.
     *
     * @param durability what it survives
     * @return the options
     */
    public static WriteOptions of(Durability durability) {
        return new WriteOptions(durability, 0, 0);
    }

    /**
     * The same, and the entry ends at a moment.
     *
     * @param moment when
     * @return other options
     */
    public WriteOptions expiresAt(Instant moment) {
        return new WriteOptions(durability, 2, moment.toEpochMilli());
    }

    /**
     * The same, and the entry ends after a time.
     *
     * @param time from the write on
     * @return other options
     */
    public WriteOptions expiresAfter(Duration time) {
        return new WriteOptions(durability, 3, time.toMillis());
    }

    /**
     * The same, and the entry never ends.
     *
     * @return other options
     */
    public WriteOptions neverExpires() {
        return new WriteOptions(durability, 1, 0);
    }
}
