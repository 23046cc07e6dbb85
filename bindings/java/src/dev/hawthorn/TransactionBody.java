// What is done in a transaction.

package dev.hawthorn;

/**
 * What {@link Database#transact} does in a transaction, perhaps several times.
 *
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface TransactionBody<X extends Exception> {
    /**
     * Reads and writes; the commit comes behind it.
     *
     * @param txn the transaction
     * @throws X which aborts it
     */
    void run(Transaction txn) throws X;
}
