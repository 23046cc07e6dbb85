// Directories for tests.

package dev.hawthorn;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

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

    static byte[] b(String text) {
        return Bytes.of(text);
    }
}
