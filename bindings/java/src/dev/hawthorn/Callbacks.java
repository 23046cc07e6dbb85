// Where the JNI library calls Java; nothing that is thrown goes back into the engine.

package dev.hawthorn;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;

/** The callbacks of one call: what it reads or writes, and what was thrown meanwhile. */
final class Callbacks {
    private static final ThreadLocal<int[]> DEPTH = ThreadLocal.withInitial(() -> new int[1]);

    private InputStream in;
    private OutputStream out;
    private LongConsumer progress;
    private BiConsumer<Long, Long> checkProgress;
    private volatile Throwable thrown;

    static Callbacks ofSource(InputStream in, LongConsumer progress) {
        final Callbacks callbacks = new Callbacks();
        callbacks.in = in;
        callbacks.progress = progress;
        return callbacks;
    }

    static Callbacks ofSink(OutputStream out, LongConsumer progress) {
        final Callbacks callbacks = new Callbacks();
        callbacks.out = out;
        callbacks.progress = progress;
        return callbacks;
    }

    static Callbacks ofProgress(LongConsumer progress) {
        return progress == null ? null : ofSink(null, progress);
    }

    static Callbacks ofCheck(BiConsumer<Long, Long> progress) {
        if (progress == null) return null;
        final Callbacks callbacks = new Callbacks();
        callbacks.checkProgress = progress;
        return callbacks;
    }

    /** In place of the engine's error, what the program's own code has thrown. */
    static RuntimeException reason(Callbacks callbacks, RuntimeException otherwise) {
        final Throwable thrown = callbacks == null ? null : callbacks.thrown;
        if (thrown == null) return otherwise;
        if (thrown instanceof Error) throw (Error) thrown;
        if (thrown instanceof IOException) return new UncheckedIOException((IOException) thrown);
        return (RuntimeException) thrown;
    }

    /** Throws what a callback has thrown that could not end the call. */
    static void rethrow(Callbacks callbacks) {
        final RuntimeException reason = reason(callbacks, null);
        if (reason != null) throw reason;
    }

    /** Whether this thread is in a callback. */
    static boolean inside() {
        return DEPTH.get()[0] > 0;
    }

    static void begin() {
        ++DEPTH.get()[0];
    }

    static void end() {
        --DEPTH.get()[0];
    }

    private static void report(Throwable thrown) {
        final Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
        } catch (Throwable ignored) {
            // Of a handler that throws nothing is left to tell.
        }
    }

    private static byte[] error(Code code, String message) {
        final byte[] text = Native.bytes(String.valueOf(message));
        return ByteBuffer.allocate(4 + text.length)
                .order(ByteOrder.nativeOrder())
                .putInt(code.number)
                .put(text)
                .array();
    }

    private static byte[] error(Throwable thrown) {
        final Code code = thrown instanceof HawthornException
                ? ((HawthornException) thrown).code() : Code.INTERNAL;
        return error(code, thrown.toString());
    }

    // ---- From options: on any thread

    static byte[] merge(MergeOperator operator, byte[] key, byte[] existing, byte[][] operands) {
        begin();
        try {
            return operator.merge(key, existing, Arrays.asList(operands));
        } catch (Throwable thrown) {
            report(thrown);
            return null;
        } finally {
            end();
        }
    }

    static byte[] combine(MergeOperator operator, byte[] key, byte[] left, byte[] right) {
        begin();
        try {
            return operator.combine(key, left, right);
        } catch (Throwable thrown) {
            report(thrown);
            return null;
        } finally {
            end();
        }
    }

    static byte[] encode(KeyOrder order, byte[] key) {
        begin();
        try {
            return order.encode(key);
        } catch (Throwable thrown) {
            report(thrown);
            return null;
        } finally {
            end();
        }
    }

    static byte[] decode(KeyOrder order, byte[] sortKey) {
        begin();
        try {
            return order.decode(sortKey);
        } catch (Throwable thrown) {
            report(thrown);
            return null;
        } finally {
            end();
        }
    }

    static int compare(Comparator<byte[]> comparator, byte[] a, byte[] b) {
        begin();
        try {
            return comparator.compare(a, b);
        } catch (Throwable thrown) {
            report(thrown);
            return Arrays.compareUnsigned(a, b);
        } finally {
            end();
        }
    }

    static byte[] filter(FlushFilter filter, byte[] key, byte[] value) {
        begin();
        try {
            final FlushFilter.Decision decision = filter.filter(key, value);
            return decision == null ? new byte[] {0} : decision.encoded;
        } catch (Throwable thrown) {
            report(thrown);
            return new byte[] {0};
        } finally {
            end();
        }
    }

    static void log(LogListener listener, int level, byte[] message) {
        begin();
        try {
            listener.log(LogListener.Level.values()[level], Native.string(message));
        } catch (Throwable thrown) {
            report(thrown);
        } finally {
            end();
        }
    }

    static void expired(ExpiryListener listener, byte[] tree, byte[] key, byte[] value) {
        begin();
        try {
            listener.expired(Native.string(tree), key, value);
        } catch (Throwable thrown) {
            report(thrown);
        } finally {
            end();
        }
    }

    static void event(EventListener listener, byte[] name, byte[] rows) {
        begin();
        try {
            listener.event(Native.string(name), Row.one(rows));
        } catch (Throwable thrown) {
            report(thrown);
        } finally {
            end();
        }
    }

    static byte[] beforeCommit(CommitHook hook, long operations, int durability) {
        begin();
        try {
            hook.beforeCommit(operations, Durability.values()[durability]);
            return null;
        } catch (Throwable thrown) {
            return error(thrown);
        } finally {
            end();
        }
    }

    static void afterCommit(
            CommitHook hook, long operations, int durability, long timestamp, int code,
            byte[] message) {
        begin();
        try {
            hook.afterCommit(operations, Durability.values()[durability], timestamp,
                    code == 0 ? null : HawthornException.of(code, message));
        } catch (Throwable thrown) {
            report(thrown);
        } finally {
            end();
        }
    }

    static byte[] key(KeyProvider provider, byte[] id) {
        begin();
        try {
            final byte[] key = provider.key(Native.string(id));
            if (key == null || key.length != 32) {
                return Native.bytes("\1a key has 32 bytes");
            }
            final byte[] answer = new byte[33];
            System.arraycopy(key, 0, answer, 1, 32);
            return answer;
        } catch (Throwable thrown) {
            return Native.bytes("\1" + thrown);
        } finally {
            end();
        }
    }

    // ---- Of one call: what is thrown ends it, and comes out of it

    static byte[] progress(Callbacks callbacks, long bytes) {
        if (callbacks.progress == null) return null;
        begin();
        try {
            callbacks.progress.accept(bytes);
            return null;
        } catch (Throwable thrown) {
            callbacks.thrown = thrown;
            return error(thrown);
        } finally {
            end();
        }
    }

    static byte[] sink(Callbacks callbacks, byte[] data) {
        begin();
        try {
            callbacks.out.write(data);
            return null;
        } catch (Throwable thrown) {
            callbacks.thrown = thrown;
            return error(thrown);
        } finally {
            end();
        }
    }

    static byte[] source(Callbacks callbacks, int capacity) {
        begin();
        try {
            final byte[] bytes = callbacks.in.readNBytes(capacity);
            if (bytes.length <= capacity) return bytes;
            throw new IOException("a stream gave more bytes than it was asked for");
        } catch (Throwable thrown) {
            callbacks.thrown = thrown;
            return null;
        } finally {
            end();
        }
    }

    static void checkProgress(Callbacks callbacks, long done, long all) {
        begin();
        try {
            if (callbacks.thrown == null) callbacks.checkProgress.accept(done, all);
        } catch (Throwable thrown) {
            callbacks.thrown = thrown;
        } finally {
            end();
        }
    }
}
