// A change of a commit.

package dev.hawthorn;

/**
 * A change of a commit, as a {@link Feed} gives it.
 *
 * @param type what was done
 * @param treeId the number of the tree
 * @param tree its name
 * @param key the key; of a delete of a range the first one
 * @param value the value or operand; empty where it is streamed; null where there is none
 * @param high of a delete of a range: the first key that stays; null: to the end of the tree
 * @param otherName of a rename the new name, of a clone the name of what it is a copy of
 * @param expiresAtMs when the entry ends; 0: never
 * @param valueBytes the size of the value, also of one that is streamed
 * @param streamed whether the value is to be read by {@link Feed#readValue}
 */
public record Change(
        Type type, long treeId, String tree, byte[] key, byte[] value, byte[] high,
        String otherName, long expiresAtMs, long valueBytes, boolean streamed) {
    /** What was done. */
    public enum Type {
        /** A key was written. */
        PUT,
        /** A key was deleted. */
        DELETE,
        /** One value of a key was deleted. */
        DELETE_VALUE,
        /** An operand was merged in. */
        MERGE,
        /** A range was deleted. */
        DELETE_RANGE,
        /** A tree was made. */
        CREATE_TREE,
        /** A tree was removed. */
        DROP_TREE,
        /** A tree was renamed. */
        RENAME_TREE,
        /** A tree was cloned. */
        CLONE_TREE
    }
}
