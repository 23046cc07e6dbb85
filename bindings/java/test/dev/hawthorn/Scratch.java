// Directories for tests.

package dev.hawthorn;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Makes directories for tests, below the one that the script removes. */
final class Scratch {
    private Scratch() {}

    static Path directory() {
        try {
            final String root = System.getProperty("hawthorn.scratch");
            return root == null ? Files.createTempDirectory("hawthorn")
                    : Files.createTempDirectory(Path.of(root), "test");
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    static Options small() {
        return new Options().set("memory_budget_bytes", "64M").durability(Durability.NONE);
    }

    static Database open() {
        return Database.open(directory().resolve("db"), small());
    }

    /** No wait lasts as long, but where something hangs: no test says how long things take. */
    static final Duration HANG_LIMIT = Duration.ofMinutes(4);

    /** Looks again and again until it is so; false: it hangs. */
    static boolean waitUntil(BooleanSupplier done) {
        final long end = System.nanoTime() + HANG_LIMIT.toNanos();
        while (!done.getAsBoolean()) {
            if (System.nanoTime() - end > 0) return false;
            try {
                Thread.sleep(5);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }
        return true;
    }

    static byte[] b(String text) {
        return Bytes.of(text);
    }
}
