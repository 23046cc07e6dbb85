// A moment in a transaction.

package dev.hawthorn;

/** A moment in a {@link Transaction} to roll back to. */
public final class Savepoint {
    final long[] words = new long[2];

    Savepoint() {}
}
