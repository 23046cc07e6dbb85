// The exception of all calls, and those that programs catch by themselves.

package dev.hawthorn;

/**
 * What went wrong: a code and a message that says what and where.
 *
 * <p>It is unchecked, as calls come in iterators, streams and lambdas. Misuse that is seen on the
 * side of Java is an {@link IllegalStateException} (use after close) or an
 * {@link IllegalArgumentException} instead.
 */
public class HawthornException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The kind of error. */
    private final Code code;

    /**
     * A new one, as callbacks may throw it.
     *
     * @param code the kind of error
     * @param message what and where
     */
    public HawthornException(Code code, String message) {
        super(message == null || message.isEmpty() ? code.name() : code.name() + ": " + message);
        this.code = code;
    }

    /**
     * The kind of error.
     *
     * @return never {@link Code#OK}
     */
    public Code code() {
        return code;
    }

    /**
     * Whether the same transaction may succeed when it is begun again.
     *
     * @return true for {@link Code#CONFLICT} and {@link Code#DEADLOCK}
     */
    public boolean isRetryable() {
        return code == Code.CONFLICT || code == Code.DEADLOCK;
    }

    static HawthornException of(int number, byte[] message) {
        final Code code = Code.of(number);
        final String text = Native.string(message);
        switch (code) {
            case NOT_FOUND:
                return new NotFound(text);
            case INVALID_ARGUMENT:
                return new InvalidArgument(text);
            case NOT_SUPPORTED:
                return new NotSupported(text);
            case CORRUPTION:
                return new Corruption(text);
            case NO_SPACE:
                return new NoSpace(text);
            case BUSY:
                return new Busy(text);
            case CONFLICT:
                return new Conflict(text);
            case DEADLOCK:
                return new Deadlock(text);
            case READ_ONLY:
                return new ReadOnly(text);
            case PERMISSION_DENIED:
                return new PermissionDenied(text);
            case UNKNOWN_OUTCOME:
                return new UnknownOutcome(text);
            case TIMED_OUT:
                return new TimedOut(text);
            default:
                return new HawthornException(code, text);
        }
    }

    /** There is no such tree, snapshot, feed or database. */
    public static final class NotFound extends HawthornException {
        private static final long serialVersionUID = 1;

        NotFound(String message) {
            super(Code.NOT_FOUND, message);
        }
    }

    /** A mistake of the caller. */
    public static final class InvalidArgument extends HawthornException {
        private static final long serialVersionUID = 1;

        InvalidArgument(String message) {
            super(Code.INVALID_ARGUMENT, message);
        }
    }

    /** What this version, or a tree of this shape, does not do. */
    public static final class NotSupported extends HawthornException {
        private static final long serialVersionUID = 1;

        NotSupported(String message) {
            super(Code.NOT_SUPPORTED, message);
        }
    }

    /** Bytes on disk are not what was written. */
    public static final class Corruption extends HawthornException {
        private static final long serialVersionUID = 1;

        Corruption(String message) {
            super(Code.CORRUPTION, message);
        }
    }

    /** The disk is full; nothing was written. */
    public static final class NoSpace extends HawthornException {
        private static final long serialVersionUID = 1;

        NoSpace(String message) {
            super(Code.NO_SPACE, message);
        }
    }

    /** Somebody else holds it. */
    public static final class Busy extends HawthornException {
        private static final long serialVersionUID = 1;

        Busy(String message) {
            super(Code.BUSY, message);
        }
    }

    /** Another transaction committed first; nothing was written. */
    public static final class Conflict extends HawthornException {
        private static final long serialVersionUID = 1;

        Conflict(String message) {
            super(Code.CONFLICT, message);
        }
    }

    /** Transactions wait for each other. */
    public static final class Deadlock extends HawthornException {
        private static final long serialVersionUID = 1;

        Deadlock(String message) {
            super(Code.DEADLOCK, message);
        }
    }

    /** The database takes no writes. */
    public static final class ReadOnly extends HawthornException {
        private static final long serialVersionUID = 1;

        ReadOnly(String message) {
            super(Code.READ_ONLY, message);
        }
    }

    /** The permissions of a file or directory, or a sandbox, forbid it. */
    public static final class PermissionDenied extends HawthornException {
        private static final long serialVersionUID = 1;

        PermissionDenied(String message) {
            super(Code.PERMISSION_DENIED, message);
        }
    }

    /** The sync of a commit failed, which may or may not survive. */
    public static final class UnknownOutcome extends HawthornException {
        private static final long serialVersionUID = 1;

        UnknownOutcome(String message) {
            super(Code.UNKNOWN_OUTCOME, message);
        }
    }

    /** Others held a lock for too long. */
    public static final class TimedOut extends HawthornException {
        private static final long serialVersionUID = 1;

        TimedOut(String message) {
            super(Code.TIMED_OUT, message);
        }
    }
}
