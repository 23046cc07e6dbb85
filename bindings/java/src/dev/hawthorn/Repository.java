// A directory of incremental backups.

package dev.hawthorn;

import java.nio.file.Path;
import java.util.List;

/** A directory of incremental backups. Threads: any number at a time. */
public final class Repository extends Handle {
    private Repository(long address) {
        super(new Resource(Resource.REPOSITORY, address, new Resource.Shared(), null));
    }

    /**
     * Opens the repository in a directory, and makes it when missing.
     *
     * @param directory the directory
     * @return the repository, to be closed
     */
    public static Repository open(Path directory) {
        return new Repository(Native.repositoryOpen(Native.zeroEnded(directory.toString())));
    }

    /**
     * Stores a backup: what is not there yet of the database.
     *
     * @param database what is stored
     * @param options how
     * @return id, created_us, bytes, bytes_stored, bytes_read, incremental, encrypted
     */
    public Row backup(Database database, CopyOptions options) {
        final Callbacks progress = Callbacks.ofProgress(options.progress);
        final long address = enter();
        try {
            database.begin();
            try {
                return Row.one(Native.backup(database.db(), address, options.bytesPerSecond,
                        options.full, progress));
            } finally {
                database.finish();
            }
        } catch (HawthornException failed) {
            throw Callbacks.reason(progress, failed);
        } finally {
            exit();
        }
    }

    /**
     * All backups, the oldest first.
     *
     * @return rows as of {@link #backup}
     */
    public List<Row> list() {
        final long address = enter();
        try {
            return Row.list(Native.repositoryList(address));
        } finally {
            exit();
        }
    }

    private void run(int what, long id, byte[] target, CopyOptions options) {
        final Callbacks progress = Callbacks.ofProgress(options.progress);
        final long address = enter();
        try {
            options.withEncryption(handle -> {
                Native.repositoryDo(address, what, id, target, options.bytesPerSecond, handle,
                        progress);
                return null;
            });
        } catch (HawthornException failed) {
            throw Callbacks.reason(progress, failed);
        } finally {
            exit();
        }
    }

    /**
     * Reads a backup and verifies it.
     *
     * @param id its id
     * @param options how
     * @throws HawthornException.Corruption where it is damaged
     */
    public void verify(long id, CopyOptions options) {
        run(0, id, null, options);
    }

    /**
     * Makes a database of a backup. Durable.
     *
     * @param id its id
     * @param target a directory that is missing or empty
     * @param options how
     */
    public void restore(long id, Path target, CopyOptions options) {
        run(1, id, Native.zeroEnded(target.toString()), options);
    }

    /**
     * Removes a backup, and what no other one needs.
     *
     * @param id its id
     */
    public void remove(long id) {
        run(2, id, null, new CopyOptions());
    }
}
