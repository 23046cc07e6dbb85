// Orders of keys by an encoding.

package dev.hawthorn;

/**
 * An order of keys: that of their sort keys, byte by byte.
 *
 * <p>The results must depend on the arguments alone, and never change for a database. Threads:
 * called from any, several at a time. It must not call the database. What it throws stands for
 * null.
 */
public interface KeyOrder {
    /**
     * The sort key of a key.
     *
     * @param key a key
     * @return its sort key; null for what is no key
     */
    byte[] encode(byte[] key);

    /**
     * The key of a sort key.
     *
     * @param sortKey what {@link #encode} has made
     * @return the key; null for what is no sort key
     */
    byte[] decode(byte[] sortKey);
}
