// Messages for an operator.

package dev.hawthorn;

/** Gets messages for an operator. Threads: called from any, several at a time. */
@FunctionalInterface
public interface LogListener {
    /** How much a message matters. */
    enum Level {
        /** What was done. */
        INFO,
        /** What somebody should look at. */
        WARNING,
        /** What went wrong. */
        ERROR
    }

    /**
     * A message.
     *
     * @param level how much it matters
     * @param message its words
     */
    void log(Level level, String message);
}
