// A fixed view of a database.

package dev.hawthorn;

/**
 * A fixed view of all trees at one commit. It blocks nobody, and keeps old versions while it is
 * open. Threads: any number at a time.
 */
public final class Snapshot extends Reader {
    private final Database database;

    Snapshot(Database database, long address) {
        super(new Resource(Resource.SNAPSHOT, address, new Resource.Shared(), database.live));
        this.database = database;
    }

    @Override
    void begin() {
        database.enter();
        try {
            enter();
        } catch (RuntimeException closed) {
            database.exit();
            throw closed;
        }
    }

    @Override
    void finish() {
        exit();
        database.exit();
    }

    @Override
    long db() {
        return database.resource.address;
    }

    @Override
    long snapshot() {
        return resource.address;
    }

    @Override
    public Database database() {
        return database;
    }

    /**
     * The timestamp of the commit that it shows.
     *
     * @return the timestamp
     */
    public long timestamp() {
        begin();
        try {
            return Native.snapshotFigure(snapshot(), false);
        } finally {
            finish();
        }
    }

    /**
     * Entries that end up to here have ended for it.
     *
     * @return milliseconds since 1970
     */
    public long nowMs() {
        begin();
        try {
            return Native.snapshotFigure(snapshot(), true);
        } finally {
            finish();
        }
    }

    /**
     * Whether anybody has committed to a key since.
     *
     * @param tree its tree
     * @param key the key
     * @return whether
     */
    public boolean changedSince(Tree tree, byte[] key) {
        need(key);
        begin(tree);
        try {
            return Native.changedSince(db(), tree.resource.address, snapshot(), key);
        } finally {
            finish(tree);
        }
    }
}
