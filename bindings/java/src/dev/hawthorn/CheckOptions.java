// What a check verifies.

package dev.hawthorn;

import java.util.function.BiConsumer;

/** What {@link Database#check} verifies; each method changes the object and returns it. */
public final class CheckOptions {
    boolean skipValues;
    boolean skipFiles;
    int threads;
    long bytesPerSecond;
    long errorsMax;
    BiConsumer<Long, Long> progress;

    /** Everything, by one thread. */
    public CheckOptions() {}

    /**
     * Indexes only.
     *
     * @return this
     */
    public CheckOptions skipValues() {
        skipValues = true;
        return this;
    }

    /**
     * Containers only, without superblock, manifest and log.
     *
     * @return this
     */
    public CheckOptions skipFiles() {
        skipFiles = true;
        return this;
    }

    /**
     * How many threads read.
     *
     * @param threads 1 to 64
     * @return this
     */
    public CheckOptions threads(int threads) {
        this.threads = threads;
        return this;
    }

    /**
     * How fast it reads.
     *
     * @param bytes at most, a second; 0: no limit
     * @return this
     */
    public CheckOptions bytesPerSecond(long bytes) {
        bytesPerSecond = bytes;
        return this;
    }

    /**
     * How many errors are told; the rest is counted.
     *
     * @param errors default: 1000
     * @return this
     */
    public CheckOptions errorsMax(long errors) {
        errorsMax = errors;
        return this;
    }

    /**
     * Who is told how far it is.
     *
     * @param progress gets the containers that are done, and all, on any thread
     * @return this
     */
    public CheckOptions progress(BiConsumer<Long, Long> progress) {
        this.progress = progress;
        return this;
    }
}
