// What is done in a transaction, with a result.

package dev.hawthorn;

/**
 * What {@link Database#compute} does in a transaction, perhaps several times.
 *
 * @param <R> its result
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface TransactionFunction<R, X extends Exception> {
    /**
     * Reads and writes; the commit comes behind it.
     *
     * @param txn the transaction
     * @return the result
     * @throws X which aborts it
     */
    R run(Transaction txn) throws X;
}
