// Where keys of encryption come from.

package dev.hawthorn;

/** Gives keys by their ids. It must not call the database. Threads: called from any. */
@FunctionalInterface
public interface KeyProvider {
    /**
     * A key.
     *
     * @param id its id
     * @return 32 bytes; what is thrown refuses it
     */
    byte[] key(String id);
}
