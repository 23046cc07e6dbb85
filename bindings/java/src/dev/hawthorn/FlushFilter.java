// What removes or changes entries by a rule.

package dev.hawthorn;

/**
 * Is shown entries while they are written to data files, and says what becomes of them.
 *
 * <p>Threads: called from any. It may read and write, but neither close, compact nor drain. What it
 * throws goes to the thread's handler of uncaught exceptions, and the entry is kept.
 */
@FunctionalInterface
public interface FlushFilter {
    /** What becomes of an entry. */
    final class Decision {
        /** It stays. */
        public static final Decision KEEP = new Decision(new byte[] {0});

        /** It goes. */
        public static final Decision REMOVE = new Decision(new byte[] {1});

        final byte[] encoded;

        private Decision(byte[] encoded) {
            this.encoded = encoded;
        }

        /**
         * It gets another value.
         *
         * @param value the new value
         * @return the decision
         */
        public static Decision change(byte[] value) {
            final byte[] encoded = new byte[value.length + 1];
            encoded[0] = 2;
            System.arraycopy(value, 0, encoded, 1, value.length);
            return new Decision(encoded);
        }
    }

    /**
     * Decides about an entry.
     *
     * @param key its key
     * @param value its value; empty where the filter wants keys only
     * @return what becomes of it
     */
    Decision filter(byte[] key, byte[] value);
}
