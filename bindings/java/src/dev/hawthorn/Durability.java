// What a commit survives.

package dev.hawthorn;

/** What a commit survives; each includes those before it. The default is what the options say. */
public enum Durability {
    /** As the options say, which is {@link #FULL} unless they say else. */
    DEFAULT,
    /** The death of the process. */
    NONE,
    /** And a power loss, but for its last milliseconds. */
    ASYNC,
    /** All that the hardware survives. */
    FULL
}
