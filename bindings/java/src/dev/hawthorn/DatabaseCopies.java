// What a database gives to others and takes from them: copies, bulk loads, feeds.

package dev.hawthorn;

import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The part of a {@link Database} by which entries go in and out in bulk: copies, backups by stream,
 * loads past the log, change feeds, replicas. A class of its own for the size of files alone.
 */
abstract sealed class DatabaseCopies extends DatabaseWrites permits DatabaseUpkeep {
    DatabaseCopies(Resource resource) {
        super(resource);
    }

    final List<Row> list(int what) {
        begin();
        try {
            return Row.list(Native.list(db(), what));
        } finally {
            finish();
        }
    }

    // ---- Copies and bulk loading

    /**
     * Makes a database of its own in a directory that is missing or empty. Durable.
     *
     * @param directory the directory
     * @param options how
     */
    public void checkpoint(Path directory, CopyOptions options) {
        final Callbacks progress = Callbacks.ofProgress(options.progress);
        begin();
        try {
            Native.checkpoint(db(), Native.zeroEnded(directory.toString()),
                    options.bytesPerSecond, options.copyBlocks, progress);
        } catch (HawthornException failed) {
            throw Callbacks.reason(progress, failed);
        } finally {
            finish();
        }
    }

    /**
     * Writes a backup to a stream, which stays open.
     *
     * @param out the stream; what it throws ends the backup
     * @param options how
     * @return id, created_us, bytes and others
     */
    public Row backupTo(OutputStream out, CopyOptions options) {
        final Callbacks sink =
                Callbacks.ofSink(Objects.requireNonNull(out), options.progress);
        begin();
        try {
            return Row.one(Native.backupTo(db(), sink, options.bytesPerSecond));
        } catch (HawthornException failed) {
            throw Callbacks.reason(sink, failed);
        } finally {
            finish();
        }
    }

    /**
     * Loads many entries straight into the data files, in one commit.
     *
     * @param tree into which
     * @param sorted whether keys come in ascending order; else they are sorted
     * @param durability of the commit
     * @return the load, to be finished and closed
     */
    public Ingest ingest(Tree tree, boolean sorted, Durability durability) {
        return ingest(tree, sorted, durability, 0);
    }

    /**
     * The same with a share of memory for sorting.
     *
     * @param tree into which
     * @param sorted whether keys come in ascending order; else they are sorted
     * @param durability of the commit
     * @param sortMemoryBytes how much is sorted in memory at once; 0: as the library likes it
     * @return the load, to be finished and closed
     */
    public Ingest ingest(
            Tree tree, boolean sorted, Durability durability, long sortMemoryBytes) {
        if (sortMemoryBytes < 0) throw new IllegalArgumentException("a negative number");
        begin(tree);
        try {
            return new Ingest(database(), Native.ingestOpen(db(), tree.resource.address, !sorted,
                    durability.ordinal(), sortMemoryBytes));
        } finally {
            finish(tree);
        }
    }

    // ---- Change feeds

    /**
     * Makes a feed behind the present moment, which stays over restarts. Durable.
     *
     * @param name 1 to 255 bytes
     * @param logBytesMax how much log may be kept for it; 0: no limit; -1: 4 GB
     */
    public void createFeed(String name, long logBytesMax) {
        begin();
        try {
            Native.createFeed(db(), Native.bytes(name), logBytesMax);
        } finally {
            finish();
        }
    }

    /**
     * Drops a feed. Durable.
     *
     * @param name its name
     * @throws HawthornException.NotFound where there is none
     * @throws HawthornException.Busy for one that is open
     */
    public void dropFeed(String name) {
        begin();
        try {
            Native.dropFeed(db(), Native.bytes(name));
        } finally {
            finish();
        }
    }

    /**
     * All feeds.
     *
     * @return rows of name, position, created_us, log_bytes_max, log_bytes, lost, open
     */
    public List<Row> feeds() {
        return list(3);
    }

    /**
     * Reads a feed from its position on.
     *
     * @param name its name
     * @return the feed, to be closed
     */
    public Feed openFeed(String name) {
        begin();
        try {
            return new Feed(database(), Native.feedOpen(db(), Native.bytes(name), 0));
        } finally {
            finish();
        }
    }

    /**
     * Reads behind any timestamp, for which nothing is kept.
     *
     * @param position the timestamp
     * @return the feed, to be closed
     * @throws HawthornException with {@link Code#TOO_OLD} where the log has gone
     */
    public Feed openFeedAt(long position) {
        begin();
        try {
            return new Feed(database(), Native.feedOpen(db(), null, position));
        } finally {
            finish();
        }
    }

    /**
     * Makes this database the replica of another one.
     *
     * @return the replica, to be closed
     */
    public Replica replica() {
        begin();
        try {
            return new Replica(database(), Native.replicaOpen(db()));
        } finally {
            finish();
        }
    }
}
