// What a call came to, as the C API numbers it.

package dev.hawthorn;

/** The kinds of errors; {@link HawthornException#code()} tells which one it was. */
public enum Code {
    /** No error. */
    OK(0),
    /** No such tree, snapshot or database. A key that is not there is no error of a get. */
    NOT_FOUND(1),
    /** The caller's mistake: sizes, handles, order of calls. */
    INVALID_ARGUMENT(2),
    /** A known wish that this version does not fulfil. */
    NOT_SUPPORTED(3),
    /** Bytes on disk are not what was written; the message says where. */
    CORRUPTION(4),
    /** The operating system refused a read or write. */
    IO_ERROR(5),
    /** The disk is full; reads and deletes go on. */
    NO_SPACE(6),
    /** Somebody else holds it. */
    BUSY(7),
    /** Another transaction committed first; abort and try again. */
    CONFLICT(8),
    /** Opened read-only, made so by a failed sync, or on a read-only medium. */
    READ_ONLY(9),
    /** The memory budget, or the process, does not allow it. */
    OUT_OF_MEMORY(10),
    /** The handle was opened by the parent process. */
    FORKED(11),
    /** The sync of this commit failed: it may or may not survive. */
    UNKNOWN_OUTCOME(12),
    /** The handle was closed. */
    CLOSED(13),
    /** Others held a lock for too long; the message names them. */
    TIMED_OUT(14),
    /** Transactions wait for each other; abort and try again. */
    DEADLOCK(15),
    /** What was asked for is not kept any more; begin anew. */
    TOO_OLD(16),
    /** The disk would have to be read, which the caller did not want. */
    NOT_IN_MEMORY(17),
    /** The permissions of a file or directory, or a sandbox, forbid it; the message names it. */
    PERMISSION_DENIED(18),
    /** Not one entry fits into the columns. */
    BUFFER_TOO_SMALL(100),
    /** A callback failed in a way that it must not. */
    INTERNAL(101);

    final int number;

    Code(int number) {
        this.number = number;
    }

    static Code of(int number) {
        for (Code code : values()) {
            if (code.number == number) return code;
        }
        return INTERNAL;
    }
}
