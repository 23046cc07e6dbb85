// Reads that do not wait.

package dev.hawthorn;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Reads whose answers come as futures, many on their way to the disk at once, with one thread of
 * its
 * own for all. Threads: any number at a time begin reads.
 *
 * <p>Futures are completed on that thread, and so is what depends on them, but for methods that end
 * with Async: it should be short, and must not close the reader or the database. A read that was
 * begun
 * is completed, also when the reader is closed behind it.
 */
public final class AsyncReader extends Handle {
    private final State state;

    private AsyncReader(State state) {
        super(state);
        this.state = state;
    }

    static AsyncReader start(Database database, long address) {
        final State state = new State(database, address);
        final AsyncReader reader = new AsyncReader(state);
        state.thread.start();
        return reader;
    }

    /**
     * Begins to read a key of the newest committed state.
     *
     * @param tree its tree
     * @param key the key
     * @return its value, null where the key is not there; or a {@link HawthornException}
     */
    public CompletableFuture<byte[]> get(Tree tree, byte[] key) {
        return get(tree, key, null);
    }

    /**
     * Begins to read a key of a snapshot.
     *
     * @param tree its tree
     * @param key the key
     * @param snapshot what is read, to be open until the read has begun on the reader's thread:
     *     best
     *     until the future is complete; null: the newest committed state
     * @return its value, null where the key is not there; or a {@link HawthornException}
     */
    public CompletableFuture<byte[]> get(Tree tree, byte[] key, Snapshot snapshot) {
        Objects.requireNonNull(tree, "tree");
        final Request request = new Request(tree, key.clone(), snapshot);
        enter();
        try {
            state.requests.add(request);
        } finally {
            exit();
        }
        return request.future;
    }

    private static final class Request {
        final Tree tree;
        final byte[] key;
        final Snapshot snapshot;
        final CompletableFuture<byte[]> future = new CompletableFuture<>();

        Request(Tree tree, byte[] key, Snapshot snapshot) {
            this.tree = tree;
            this.key = key;
            this.snapshot = snapshot;
        }
    }

    /** The queue and its thread, which does not keep the reader from being collected. */
    private static final class State extends Resource {
        private static final Request STOP = new Request(null, null, null);

        final LinkedBlockingQueue<Request> requests = new LinkedBlockingQueue<>();
        final Thread thread = new Thread(this::loop, "hawthorn-reads");
        private final Map<Long, Request> pending = new HashMap<>();
        private long tag;

        State(Database database, long address) {
            super(READ_QUEUE, address, new Shared(), database.live);
            thread.setDaemon(true);
        }

        /** No request comes any more. */
        @Override
        void beforeFree() {
            requests.add(STOP);
            boolean interrupted = false;
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException again) {
                    interrupted = true;
                }
            }
            if (interrupted) Thread.currentThread().interrupt();
        }

        private void loop() {
            boolean stop = false;
            while (!stop || !pending.isEmpty()) {
                try {
                    Request request = pending.isEmpty() ? requests.take() : requests.poll();
                    for (; request != null; request = requests.poll()) {
                        stop |= request == STOP;
                        if (request != STOP) begin(request);
                    }
                    if (!pending.isEmpty()) Native.queueRun(address, true);
                    complete();
                } catch (InterruptedException ignored) {
                    // Nobody has a reason to; close ends it.
                } catch (Throwable failed) {
                    pending.values().forEach(r -> r.future.completeExceptionally(failed));
                    pending.clear();
                }
            }
        }

        private void begin(Request request) {
            try {
                request.tree.enter();
                try {
                    if (request.snapshot != null) request.snapshot.enter();
                    try {
                        Native.queueGet(address, request.tree.resource.address,
                                request.snapshot == null ? 0 : request.snapshot.resource.address,
                                request.key, ++tag);
                        pending.put(tag, request);
                    } finally {
                        if (request.snapshot != null) request.snapshot.exit();
                    }
                } finally {
                    request.tree.exit();
                }
            } catch (RuntimeException failed) {
                fail(request, failed);
            }
        }

        private static void fail(Request request, Throwable failed) {
            Callbacks.begin();
            try {
                request.future.completeExceptionally(failed);
            } finally {
                Callbacks.end();
            }
        }

        private void complete() {
            final long[] number = new long[1];
            final Object[] result = new Object[1];
            while (Native.queueTake(address, number, result)) {
                final Request request = pending.remove(number[0]);
                if (request == null) continue;
                if (result[0] instanceof Throwable) {
                    fail(request, (Throwable) result[0]);
                    continue;
                }
                Callbacks.begin();
                try {
                    request.future.complete((byte[]) result[0]);
                } finally {
                    Callbacks.end();
                }
            }
        }
    }
}
