// What is asked before each commit, and told behind it.

package dev.hawthorn;

/** Called on the thread that commits. It may read, but neither write nor end a transaction. */
public interface CommitHook {
    /**
     * Before a commit: whatever is thrown refuses it, with the code of a {@link HawthornException}.
     *
     * @param operations how many writes it has
     * @param durability what was asked for
     */
    default void beforeCommit(long operations, Durability durability) {}

    /**
     * Behind it.
     *
     * @param operations how many writes it has
     * @param durability what was asked for
     * @param timestamp of the commit; 0 where it failed
     * @param failure what it failed with, or null
     */
    default void afterCommit(
            long operations, Durability durability, long timestamp, HawthornException failure) {}
}
