// Who is told of entries that have ended.

package dev.hawthorn;

/** Is told when an entry that had ended was removed. It may call the database, but not close it. */
@FunctionalInterface
public interface ExpiryListener {
    /**
     * An entry was removed.
     *
     * @param tree the name of its tree
     * @param key its key
     * @param value its value
     */
    void expired(String tree, byte[] key, byte[] value);
}
