// A tree of a database.

package dev.hawthorn;

/**
 * A tree: what keys are in. It works with every transaction, cursor and snapshot of its database,
 * and
 * is closed with that. Closing one frees nothing of the tree. Threads: any number at a time.
 */
public final class Tree extends Handle {
    private final Database database;

    Tree(Database database, long address) {
        super(new Resource(Resource.TREE, address, new Resource.Shared(), database.live));
        this.database = database;
    }

    /**
     * The database that it is of.
     *
     * @return the database
     */
    public Database database() {
        return database;
    }

    /**
     * Its number, which no other tree of the database ever has.
     *
     * @return the number
     */
    public long id() {
        final long address = enter();
        try {
            return Integer.toUnsignedLong(Native.treeId(address));
        } finally {
            exit();
        }
    }
}
