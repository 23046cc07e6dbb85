// Bulk loading.

package dev.hawthorn;

import java.io.InputStream;

/**
 * Many entries that go straight into the data files, in one commit. The first error is final.
 * Closed
 * before {@link #finish} it leaves nothing. Threads: one at a time; others wait.
 */
public final class Ingest extends Handle {
    Ingest(Database database, long address) {
        super(new Resource(Resource.INGEST, address, new Resource.Serial(), database.live));
    }

    /**
     * Adds an entry.
     *
     * @param key its key
     * @param value its value
     * @throws HawthornException.InvalidArgument for a key out of order, and after finish
     */
    public void add(byte[] key, byte[] value) {
        Reader.need(key);
        Reader.need(value);
        final long address = enter();
        try {
            Native.ingestAdd(address, key, value);
        } finally {
            exit();
        }
    }

    /**
     * Adds all rows of columns.
     *
     * @param columns keys and values
     */
    public void add(Columns columns) {
        final long address = enter();
        try {
            columns.given(from -> Native.ingestAddColumns(address, from, columns.rows()));
        } finally {
            exit();
        }
    }

    /**
     * Adds an entry whose value comes from a stream.
     *
     * @param key its key
     * @param size how many bytes the stream gives
     * @param in the stream; what it throws ends the load. It must not use this
     */
    public void add(byte[] key, long size, InputStream in) {
        Reader.need(key);
        if (size < 0) throw new IllegalArgumentException("a negative number");
        final Callbacks source = Callbacks.ofSource(java.util.Objects.requireNonNull(in), null);
        final long address = enter();
        try {
            Native.ingestAddStream(address, key, size, source);
        } catch (HawthornException failed) {
            throw Callbacks.reason(source, failed);
        } finally {
            exit();
        }
    }

    /** Commits. Durable as it was opened. */
    public void finish() {
        final long address = enter();
        try {
            Native.ingestFinish(address);
        } finally {
            exit();
        }
    }

    /**
     * What was loaded.
     *
     * @return entries, entries_attached, entries_logged, containers, bytes_written
     */
    public Row stats() {
        final long address = enter();
        try {
            return Row.one(Native.ingestStats(address));
        } finally {
            exit();
        }
    }
}
