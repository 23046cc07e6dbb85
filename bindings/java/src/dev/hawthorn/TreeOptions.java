// What a tree is made with.

package dev.hawthorn;

import java.time.Duration;

/** What a tree is made with; each method changes the object and returns it. */
public final class TreeOptions {
    String order;
    String valueOrder;
    int shape = 1;
    long ttlMs;

    /** An ordinary tree: bytewise order, one value to a key. */
    public TreeOptions() {}

    /**
     * The order of keys.
     *
     * @param name one of the library's, such as reverse, or of {@link Options}
     * @return this
     */
    public TreeOptions order(String name) {
        order = name;
        return this;
    }

    /**
     * The order of a key's values.
     *
     * @param name as of {@link #order}
     * @return this
     */
    public TreeOptions valueOrder(String name) {
        valueOrder = name;
        return this;
    }

    /**
     * A key may have several values.
     *
     * @return this
     */
    public TreeOptions multiValue() {
        shape |= 2;
        return this;
    }

    /**
     * Entries may end.
     *
     * @return this
     */
    public TreeOptions expires() {
        shape |= 4;
        return this;
    }

    /**
     * Entries end after this time, unless their put says otherwise.
     *
     * @param time from the put on
     * @return this
     */
    public TreeOptions timeToLive(Duration time) {
        shape |= 4;
        ttlMs = time.toMillis();
        return this;
    }

    /**
     * Values may be trees.
     *
     * @return this
     */
    public TreeOptions subtrees() {
        shape |= 8;
        return this;
    }
}
