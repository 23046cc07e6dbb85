// Walks over a tree.

package dev.hawthorn;

/**
 * A walk over a tree, in both directions. Moves return whether it stands on an entry then; the ends
 * of its range are no error. A cursor of a transaction sees that one's writes, also later ones, and
 * is closed for use when that ends. It never blocks writers, but keeps old versions.
 *
 * <p>Threads: one at a time uses it, together with its transaction; others wait.
 */
public final class Cursor extends Handle {
    private final Reader reader;

    Cursor(Reader reader, long address) {
        super(new Resource(Resource.CURSOR, address,
                reader instanceof Transaction ? reader.resource.guard : new Resource.Serial(),
                reader.database().live));
        this.reader = reader;
    }

    @Override
    long enter() {
        final long address = super.enter();
        if (!(reader instanceof Transaction) || !((Transaction) reader).hasEnded()) return address;
        exit();
        throw new IllegalStateException("the transaction of the cursor has ended");
    }

    private boolean move(int how) {
        final long address = enter();
        try {
            return Native.move(address, how);
        } finally {
            exit();
        }
    }

    private boolean seek(int how, byte[] key, byte[] value) {
        Reader.need(key);
        final long address = enter();
        try {
            return Native.seek(address, how, key, value);
        } finally {
            exit();
        }
    }

    private boolean moveBy(int how, long number) {
        final long address = enter();
        try {
            return Native.moveBy(address, how, number);
        } finally {
            exit();
        }
    }

    private long ask(int what) {
        final long address = enter();
        try {
            return Native.cursorAsk(address, what);
        } finally {
            exit();
        }
    }

    private byte[] bytes(boolean value) {
        final long address = enter();
        try {
            return Native.cursorBytes(address, value);
        } finally {
            exit();
        }
    }

    /**
     * To the first entry.
     *
     * @return whether there is one
     */
    public boolean first() {
        return move(0);
    }

    /**
     * To the last entry.
     *
     * @return whether there is one
     */
    public boolean last() {
        return move(1);
    }

    /**
     * To the next entry; one that stands nowhere stays there.
     *
     * @return whether there is one
     */
    public boolean next() {
        return move(2);
    }

    /**
     * To the entry before; one that stands nowhere stays there.
     *
     * @return whether there is one
     */
    public boolean prev() {
        return move(3);
    }

    /**
     * To the first entry that is not before the key.
     *
     * @param key the key
     * @return whether there is one
     */
    public boolean seek(byte[] key) {
        return seek(0, key, null);
    }

    /**
     * To the last entry that is not behind the key.
     *
     * @param key the key
     * @return whether there is one
     */
    public boolean seekForPrev(byte[] key) {
        return seek(1, key, null);
    }

    /**
     * As so many calls of next, or of prev for a negative number, in much less time.
     *
     * @param count how many
     * @return whether it stands on an entry
     */
    public boolean skip(long count) {
        return moveBy(0, count);
    }

    /**
     * To an entry of the range, each about as likely as the others.
     *
     * @param random a random number
     * @return whether there is one
     */
    public boolean seekRandom(long random) {
        return moveBy(1, random);
    }

    /**
     * To the first value of the next key.
     *
     * @return whether there is one
     */
    public boolean nextKey() {
        return move(4);
    }

    /**
     * To the last value of the key before.
     *
     * @return whether there is one
     */
    public boolean prevKey() {
        return move(5);
    }

    /**
     * To the key's next value; it stays where there is none.
     *
     * @return whether there is one
     */
    public boolean nextValue() {
        return move(6);
    }

    /**
     * To the key's value before; it stays where there is none.
     *
     * @return whether there is one
     */
    public boolean prevValue() {
        return move(7);
    }

    /**
     * To the key's first value.
     *
     * @return whether there is one
     */
    public boolean firstValue() {
        return move(8);
    }

    /**
     * To the key's last value.
     *
     * @return whether there is one
     */
    public boolean lastValue() {
        return move(9);
    }

    /**
     * To the first value of this key that is not before a value.
     *
     * @param key the key
     * @param value the value
     * @return whether there is one
     * @throws HawthornException.NotSupported in trees of one value to a key
     */
    public boolean seekValue(byte[] key, byte[] value) {
        Reader.need(value);
        return seek(2, key, value);
    }

    /**
     * How many values the key has.
     *
     * @return the number
     * @throws HawthornException.InvalidArgument where it stands on no entry
     */
    public long countValues() {
        return ask(0);
    }

    /**
     * When the entry ends.
     *
     * @return milliseconds since 1970; 0: never
     */
    public long expiresAtMs() {
        return ask(1);
    }

    /**
     * Whether the entry is a subtree.
     *
     * @return whether
     * @throws HawthornException.InvalidArgument where it stands on no entry
     */
    public boolean isSubtree() {
        return ask(2) != 0;
    }

    /**
     * Whether it stands on an entry.
     *
     * @return whether
     */
    public boolean valid() {
        final long address = enter();
        try {
            return Native.cursorValid(address);
        } finally {
            exit();
        }
    }

    /**
     * The key on which it stands.
     *
     * @return the key; null where it stands on none
     */
    public byte[] key() {
        return bytes(false);
    }

    /**
     * The value on which it stands.
     *
     * @return the value; null where it stands on none
     */
    public byte[] value() {
        return bytes(true);
    }

    /**
     * The entry on which it stands.
     *
     * @return the entry; null where it stands on none
     */
    public Entry entry() {
        final long address = enter();
        try {
            final byte[] key = Native.cursorBytes(address, false);
            return key == null ? null : new Entry(key, Native.cursorBytes(address, true));
        } finally {
            exit();
        }
    }

    /**
     * Fills columns with entries in ascending order, from the one on which the cursor stands, or
     * from
     * behind the last columns, as many as fit. The next call goes on behind them.
     *
     * @param columns what is filled
     * @return how many entries; 0 at the end
     * @throws HawthornException with {@link Code#BUFFER_TOO_SMALL} where not one fits: after
     *     {@link Columns#grow} the next call begins there
     */
    public int next(Columns columns) {
        return fill(columns, false);
    }

    /**
     * The same in descending order.
     *
     * @param columns what is filled
     * @return how many entries; 0 at the end
     */
    public int prev(Columns columns) {
        return fill(columns, true);
    }

    private int fill(Columns columns, boolean backwards) {
        final long address = enter();
        try {
            return columns.filled(header -> Native.cursorColumns(address, header, backwards));
        } finally {
            exit();
        }
    }
}
