// Bytes of strings and numbers.

package dev.hawthorn;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Makes keys and values of strings and numbers, and the other way around. */
public final class Bytes {
    private Bytes() {}

    /**
     * A string in UTF-8.
     *
     * @param string the string
     * @return its bytes
     */
    public static byte[] of(String string) {
        return string.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Eight bytes whose order is that of the numbers that are not negative.
     *
     * @param number the number
     * @return its bytes, the highest first
     */
    public static byte[] of(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    /**
     * Eight bytes as the merge operator uint64_add counts.
     *
     * @param number the number
     * @return its bytes, the lowest first
     */
    public static byte[] littleEndian(long number) {
        return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array();
    }

    /**
     * Bytes as a string of UTF-8.
     *
     * @param bytes the bytes, or null
     * @return the string, or null
     */
    public static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    /**
     * The number of {@link #of(long)}.
     *
     * @param bytes eight bytes, the highest first
     * @return the number
     */
    public static long number(byte[] bytes) {
        return ByteBuffer.wrap(bytes).getLong();
    }

    /**
     * The number of {@link #littleEndian}.
     *
     * @param bytes eight bytes, the lowest first
     * @return the number
     */
    public static long littleEndianNumber(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }
}
