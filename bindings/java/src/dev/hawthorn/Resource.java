// A native handle, and who may use it when.

package dev.hawthorn;

import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A native handle. Nothing is freed while a call with it runs, and no call begins behind that: each
 * call stands between {@link #enter} and {@link #exit}. It does not know the object that it belongs
 * to, so the cleaner can run it.
 */
class Resource implements Runnable {
    static final int DB = 0;
    static final int TREE = 1;
    static final int SNAPSHOT = 2;
    static final int TXN = 3;
    static final int CURSOR = 4;
    static final int BATCH = 5;
    static final int READ_BATCH = 6;
    static final int READ_QUEUE = 7;
    static final int REPOSITORY = 8;
    static final int INGEST = 9;
    static final int FEED = 10;
    static final int REPLICA = 11;
    static final int FOLLOWER = 12;
    static final int VALUE = 13;

    private static final String[] NAMES = {
        "database", "tree", "snapshot", "transaction", "cursor", "batch", "read batch",
        "asynchronous reader", "repository", "ingest", "feed", "replica", "follower", "value"
    };

    /** Who lets calls in; several handles may share one. */
    abstract static class Guard {
        abstract void enter();

        abstract void exit();

        /** Before the free: returns when no call runs; false: this thread is in one. */
        abstract boolean begin();

        /** Behind the free. */
        abstract void end();
    }

    /** Of handles that any number of threads may use at a time. */
    static final class Shared extends Guard {
        // Counters of calls, each in a cache line of its own, so that threads do not meet there.
        private static final int STRIPES = 16;
        private static final int STRIDE = 16;
        private final AtomicIntegerArray running = new AtomicIntegerArray(STRIPES * STRIDE);

        private static int stripe() {
            return (int) (Thread.currentThread().getId() & (STRIPES - 1)) * STRIDE;
        }

        @Override
        void enter() {
            running.incrementAndGet(stripe());
        }

        @Override
        void exit() {
            running.decrementAndGet(stripe());
        }

        @Override
        boolean begin() {
            for (int i = 0; i < STRIPES * STRIDE; i += STRIDE) {
                while (running.get(i) != 0) LockSupport.parkNanos(50_000);
            }
            return true;
        }

        @Override
        void end() {}
    }

    /** Of handles that one thread may use at a time: the others wait. */
    static final class Serial extends Guard {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void enter() {
            if (lock.isHeldByCurrentThread()) {
                throw new IllegalStateException("used from within a callback of one of its calls");
            }
            lock.lock();
        }

        @Override
        void exit() {
            lock.unlock();
        }

        @Override
        boolean begin() {
            if (lock.isHeldByCurrentThread()) return false;
            lock.lock();
            return true;
        }

        @Override
        void end() {
            lock.unlock();
        }
    }

    final Guard guard;
    final long address; // valid between enter and exit
    private final int kind;
    private final Set<Resource> siblings;
    private volatile boolean open = true;

    Resource(int kind, long address, Guard guard, Set<Resource> siblings) {
        this.kind = kind;
        this.address = address;
        this.guard = guard;
        this.siblings = siblings;
        if (siblings != null) siblings.add(this);
    }

    /** The handle, which stays until {@link #exit}. */
    final long enter() {
        guard.enter();
        if (open) return address;
        guard.exit();
        throw closed();
    }

    final void exit() {
        guard.exit();
    }

    final boolean isClosed() {
        return !open;
    }

    final IllegalStateException closed() {
        return new IllegalStateException("the " + NAMES[kind] + " is closed");
    }

    /** Lets no further call in. False: it was closed before. */
    private synchronized boolean shut() {
        final boolean was = open;
        open = false;
        return was;
    }

    /** What is still to be done with the handle. */
    void beforeFree() {}

    /** Frees the handle; nobody uses it. */
    void freeNative() {
        Native.free(kind, address);
    }

    /** Lets no call in, returns when none runs any more, and frees the handle, if nobody has. */
    void close() {
        if (!open) return;
        if (guard instanceof Shared) {
            if (Callbacks.inside()) throw inCallback();
            if (!shut()) return;
            guard.begin();
            free();
        } else {
            if (!guard.begin()) throw inCallback();
            try {
                if (shut()) free();
            } finally {
                guard.end();
            }
        }
    }

    private void free() {
        try {
            beforeFree();
        } finally {
            freeNative();
            if (siblings != null) siblings.remove(this);
        }
    }

    private IllegalStateException inCallback() {
        return new IllegalStateException("the " + NAMES[kind] + " is closed within a callback");
    }

    /** The object was not reachable any more. */
    @Override
    public void run() {
        close();
    }
}
