// Which entries a walk shows.

package dev.hawthorn;

import java.util.Arrays;

/** From a key on, up to another one, which is left out; and in which direction. Never changes. */
public final class Range {
    /** All entries, ascending. */
    public static final Range ALL = new Range(null, null, false, false);

    final byte[] lower;
    final byte[] upper;
    final boolean keysOnly;
    final boolean descending;

    private Range(byte[] lower, byte[] upper, boolean keysOnly, boolean descending) {
        this.lower = lower;
        this.upper = upper;
        this.keysOnly = keysOnly;
        this.descending = descending;
    }

    /**
     * From a key on, up to another one.
     *
     * @param lower the first key that is shown; null: from the first on
     * @param upper the first key that is not; null: to the last
     * @return the range
     */
    public static Range of(byte[] lower, byte[] upper) {
        return new Range(lower == null ? null : lower.clone(), upper == null ? null : upper.clone(),
                false, false);
    }

    /**
     * From a key on.
     *
     * @param lower the first key that is shown
     * @return the range
     */
    public static Range from(byte[] lower) {
        return of(lower, null);
    }

    /**
     * Up to a key.
     *
     * @param upper the first key that is not shown
     * @return the range
     */
    public static Range until(byte[] upper) {
        return of(null, upper);
    }

    /**
     * The keys that begin with these bytes, of a tree in bytewise order.
     *
     * @param prefix the bytes
     * @return the range
     */
    public static Range prefix(byte[] prefix) {
        int size = prefix.length;
        while (size > 0 && prefix[size - 1] == -1) --size;
        if (size == 0) return of(prefix, null);
        final byte[] upper = Arrays.copyOf(prefix, size);
        ++upper[size - 1];
        return new Range(prefix.clone(), upper, false, false);
    }

    /**
     * The same without values, which are not read then, and come empty.
     *
     * @return another range
     */
    public Range keysOnly() {
        return new Range(lower, upper, true, descending);
    }

    /**
     * The same, the last entry first. Of a cursor it changes nothing.
     *
     * @return another range
     */
    public Range descending() {
        return new Range(lower, upper, keysOnly, true);
    }
}
