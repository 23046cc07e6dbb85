// Entries as an iterator.

package dev.hawthorn;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** Walks over entries, many at a time out of columns. Threads: one at a time. */
public final class EntryIterator implements Iterator<Entry>, AutoCloseable {
    private final Cursor cursor;
    private final boolean descending;
    private Columns columns = new Columns(256, 8 << 10, 64 << 10);
    private boolean started;
    private boolean ended;
    private int at;

    EntryIterator(Cursor cursor, Range range) {
        this.cursor = cursor;
        descending = range.descending;
    }

    private int fill() {
        for (;;) {
            try {
                return descending ? cursor.prev(columns) : cursor.next(columns);
            } catch (HawthornException tooSmall) {
                if (tooSmall.code() != Code.BUFFER_TOO_SMALL) throw tooSmall;
                columns.grow();
            }
        }
    }

    @Override
    public boolean hasNext() {
        if (at < columns.rows()) return true;
        if (ended) return false;
        if (!started) {
            started = true;
            if (!(descending ? cursor.last() : cursor.first())) {
                close();
                return false;
            }
        } else if (columns.rowsCapacity() < 4096) {
            columns = new Columns(4096, 128 << 10, 1 << 20); // a longer walk
        }
        at = 0;
        if (fill() > 0) return true;
        close();
        return false;
    }

    @Override
    public Entry next() {
        if (!hasNext()) throw new NoSuchElementException();
        final Entry entry = new Entry(columns.key(at), columns.value(at));
        ++at;
        return entry;
    }

    /** Ends the walk: it has no further entry. */
    @Override
    public void close() {
        ended = true;
        at = 0;
        columns.clear();
        cursor.close();
    }
}
