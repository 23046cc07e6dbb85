// Who is told what a database does.

package dev.hawthorn;

/**
 * Is told of flushes, stalls, errors and more, on a thread of the database, one after the other. It
 * may read, write and ask for figures; it must not close the database.
 */
@FunctionalInterface
public interface EventListener {
    /**
     * Something has happened.
     *
     * @param name such as flush_completed, write_stall_begun, background_error, opened
     * @param fields what there is to say of it
     */
    void event(String name, Row fields);
}
