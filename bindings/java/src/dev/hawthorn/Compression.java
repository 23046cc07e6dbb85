// How values are compressed.

package dev.hawthorn;

/** How a tree's values are compressed on disk. */
public enum Compression {
    /** Not at all. */
    NONE,
    /** Fast. */
    LZ4,
    /** Small. */
    ZSTD
}
