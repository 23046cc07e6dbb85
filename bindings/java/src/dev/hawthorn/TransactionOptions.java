// How a transaction is begun.

package dev.hawthorn;

import java.time.Duration;

/** How a transaction is begun; each method changes the object and returns it. */
public final class TransactionOptions {
    /** What happens when two transactions want the same key. */
    public enum Mode {
        /** The first committer wins; the other one conflicts. */
        OPTIMISTIC,
        /** One at a time. */
        EXCLUSIVE,
        /** A write locks its key. */
        PESSIMISTIC
    }

    /** What a transaction sees of others. */
    public enum Isolation {
        /** The state of its beginning. */
        SNAPSHOT,
        /** Whatever was committed when it reads. */
        READ_COMMITTED,
        /** As if they came one after the other. */
        SERIALIZABLE
    }

    Mode mode = Mode.OPTIMISTIC;
    Isolation isolation = Isolation.SNAPSHOT;
    boolean readOnly;
    long lockTimeoutMs = -1;
    Snapshot snapshot;

    /** Optimistic, by a snapshot of now. */
    public TransactionOptions() {}

    /**
     * Its mode.
     *
     * @param mode the mode
     * @return this
     */
    public TransactionOptions mode(Mode mode) {
        this.mode = mode;
        return this;
    }

    /**
     * Its isolation.
     *
     * @param isolation the isolation
     * @return this
     */
    public TransactionOptions isolation(Isolation isolation) {
        this.isolation = isolation;
        return this;
    }

    /**
     * It only reads.
     *
     * @return this
     */
    public TransactionOptions readOnly() {
        readOnly = true;
        return this;
    }

    /**
     * How long a write or lock waits for a row; zero: not at all. Default: as the database's
     * options
     * say.
     *
     * @param time the longest wait
     * @return this
     */
    public TransactionOptions lockTimeout(Duration time) {
        if (time.isNegative()) throw new IllegalArgumentException("a negative time");
        lockTimeoutMs = time.toMillis();
        return this;
    }

    /**
     * The moment that it reads. Default: the present one.
     *
     * @param snapshot which has to stay open until the transaction has begun
     * @return this
     */
    public TransactionOptions snapshot(Snapshot snapshot) {
        this.snapshot = snapshot;
        return this;
    }
}
