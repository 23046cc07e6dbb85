// Merge operators of the program.

package dev.hawthorn;

import java.util.List;

/**
 * Makes a value of the one that is there and of operands that were merged into it.
 *
 * <p>The result must depend on the arguments alone. Threads: called from any, several at a time. It
 * must not call the database. What it throws goes to the thread's handler of uncaught exceptions,
 * and stands for operands that do not fit together.
 */
public interface MergeOperator {
    /**
     * Folds operands into a value.
     *
     * @param key the key
     * @param existing the value that is there, or null
     * @param operands the operands, the oldest first
     * @return the new value; null where they do not fit together
     */
    byte[] merge(byte[] key, byte[] existing, List<byte[]> operands);

    /**
     * Makes one operand of two neighbours, so that fewer have to be kept.
     *
     * @param key the key
     * @param left the older one
     * @param right the newer one
     * @return the operand; null where it cannot, which is the default
     */
    default byte[] combine(byte[] key, byte[] left, byte[] right) {
        return null;
    }
}
