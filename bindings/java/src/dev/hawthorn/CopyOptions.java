// How copies are made.

package dev.hawthorn;

import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/** How copies are made and restored; each method changes the object and returns it. */
public final class CopyOptions {
    long bytesPerSecond;
    LongConsumer progress;
    boolean copyBlocks;
    boolean full;
    Options encryption;

    /** As fast as can be; nobody is told. */
    public CopyOptions() {}

    <T> T withEncryption(LongFunction<T> body) {
        return encryption == null ? body.apply(0) : Options.use(encryption, body);
    }

    /**
     * How fast it copies.
     *
     * @param bytes at most, a second; 0: no limit
     * @return this
     */
    public CopyOptions bytesPerSecond(long bytes) {
        bytesPerSecond = bytes;
        return this;
    }

    /**
     * Who is told how far it is.
     *
     * @param progress gets the bytes so far; what it throws ends the copy
     * @return this
     */
    public CopyOptions progress(LongConsumer progress) {
        this.progress = progress;
        return this;
    }

    /**
     * Of checkpoints: blocks are copied also where the file system could share them.
     *
     * @return this
     */
    public CopyOptions copyBlocks() {
        copyBlocks = true;
        return this;
    }

    /**
     * Of backups into a repository: all is stored again.
     *
     * @return this
     */
    public CopyOptions full() {
        full = true;
        return this;
    }

    /**
     * Of restores and verifications: what tells whether it is what was written.
     *
     * @param options whose encryption counts
     * @return this
     */
    public CopyOptions encryption(Options options) {
        encryption = options;
        return this;
    }
}
