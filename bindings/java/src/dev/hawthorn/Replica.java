// A database that is kept equal to another one.

package dev.hawthorn;

import java.util.List;

/** Keeps a database equal to another one by its feed. Threads: one at a time; others wait. */
public final class Replica extends Handle {
    Replica(Database target, long address) {
        super(new Resource(Resource.REPLICA, address, new Resource.Serial(), target.live));
    }

    /**
     * The first copy, after the feed was made.
     *
     * @param source what is copied
     */
    public void copy(Database source) {
        final long address = enter();
        try {
            source.begin();
            try {
                Native.replicaCopy(address, source.db());
            } finally {
                source.finish();
            }
        } finally {
            exit();
        }
    }

    /**
     * In its place, where the program has brought a copy here by other means.
     *
     * @param sourceId the id of the source
     * @param timestamp up to which it is a copy
     */
    public void beginAt(String sourceId, long timestamp) {
        final long address = enter();
        try {
            Native.replicaBeginAt(address, Native.bytes(sourceId), timestamp);
        } finally {
            exit();
        }
    }

    /**
     * It holds all commits of the source up to here.
     *
     * @return a timestamp; 0: no copy yet
     */
    public long position() {
        final long address = enter();
        try {
            return Native.replicaPosition(address);
        } finally {
            exit();
        }
    }

    /**
     * The id of the source.
     *
     * @return 32 digits; empty: no copy yet
     */
    public String sourceId() {
        final long address = enter();
        try {
            return Native.string(Native.replicaSourceId(address));
        } finally {
            exit();
        }
    }

    /**
     * Applies the commit on which a feed stands, or passes over it where it is there already.
     * Behind
     * an error it may be tried again when the feed is opened anew.
     *
     * @param feed the feed
     * @param durability of the commit here
     * @throws IllegalStateException where something of the commit was read already
     */
    public void apply(Feed feed, Durability durability) {
        final long address = enter();
        try {
            final long from = feed.enter();
            try {
                feed.whole();
                feed.begun = true;
                Native.replicaApply(address, from, durability.ordinal());
            } finally {
                feed.exit();
            }
        } finally {
            exit();
        }
    }

    /**
     * The same of the pieces of {@link Feed#encode}.
     *
     * @param pieces all of them
     * @param durability of the commit here
     */
    public void apply(List<byte[]> pieces, Durability durability) {
        final byte[][] list = pieces.toArray(new byte[0][]);
        for (byte[] piece : list) Reader.need(piece);
        final long address = enter();
        try {
            Native.replicaApplyPieces(address, list, durability.ordinal());
        } finally {
            exit();
        }
    }
}
