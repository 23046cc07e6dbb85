// A key and its value.

package dev.hawthorn;

import java.util.Arrays;

/**
 * A key and its value; equal to another one with the same bytes.
 *
 * @param key the key
 * @param value the value
 */
public record Entry(byte[] key, byte[] value) {
    @Override
    public boolean equals(Object other) {
        return other instanceof Entry && Arrays.equals(key, ((Entry) other).key)
                && Arrays.equals(value, ((Entry) other).value);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(key) * 31 + Arrays.hashCode(value);
    }

    @Override
    public String toString() {
        return Bytes.text(key) + "=" + Bytes.text(value);
    }
}
