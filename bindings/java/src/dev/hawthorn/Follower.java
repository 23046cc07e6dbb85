// Reads beside the process that writes.

package dev.hawthorn;

import java.nio.file.Path;

/** Reads a database beside the process that writes it. Threads: any number at a time. */
public final class Follower extends Handle {
    private final Path path;

    private Follower(Path path, long address) {
        super(new Resource(Resource.FOLLOWER, address, new Resource.Shared(), null));
        this.path = path;
    }

    /**
     * Opens one.
     *
     * @param path the directory of the database
     * @param options of which memory budget, io_mode, merge operators, orders, encryption and log
     *     count; null: the defaults
     * @return the follower, to be closed
     */
    public static Follower open(Path path, Options options) {
        return Options.use(options, handle -> new Follower(
                path, Native.followerOpen(Native.zeroEnded(path.toString()), handle)));
    }

    private long run(int what) {
        final long address = enter();
        try {
            return Native.followerDo(address, what);
        } finally {
            exit();
        }
    }

    /** When it returns, views show at least all that was committed before the call. */
    public void refresh() {
        run(0);
    }

    /** The same by a new view in any case. */
    public void rebuild() {
        run(1);
    }

    /**
     * The newest view: a database that is read-only, and stays as it is while it is open.
     *
     * @return the view, to be closed
     */
    public Database view() {
        return Database.of(path, run(2), true);
    }

    /**
     * A refresh, and the view then.
     *
     * @return the view, to be closed
     */
    public Database latest() {
        return Database.of(path, run(3), true);
    }
}
