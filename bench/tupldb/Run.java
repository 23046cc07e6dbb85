import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.cojen.tupl.Cursor;
import org.cojen.tupl.Database;
import org.cojen.tupl.DatabaseConfig;
import org.cojen.tupl.DurabilityMode;
import org.cojen.tupl.Index;
import org.cojen.tupl.Transaction;

/** What all workloads share: the options, the database, and the steps at the end (workload.h). */
abstract class Run {
  private static final int SAMPLES = 10_000;

  final Report report;
  final String engine;
  final boolean half;  // Fill::kHalf
  Database db;
  Index index;

  private final Map<String, String> options;
  private final File directory;

  Run(Map<String, String> options, Report report) {
    this.options = options;
    this.report = report;
    engine = text("engine");
    half = text("fill").equals("half");
    directory = new File(text("path"));
  }

  abstract void run() throws Exception;

  final String text(String name) {
    String value = options.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the option " + name + " is missing");
    }
    return value;
  }

  final long number(String name) {
    return Long.parseLong(text(name));
  }

  final void open() throws IOException {
    DurabilityMode mode =
        text("sync").equals("full") ? DurabilityMode.SYNC : DurabilityMode.NO_SYNC;
    DatabaseConfig config = new DatabaseConfig()
        .baseFile(new File(directory, "tupl"))
        .createFilePath(true)
        .cacheSize(number("memory"))
        .durabilityMode(mode);
    db = Database.open(config);
    index = db.openIndex("bench");
    report.note("%s: %s on Java %s; cache %d MB, %s%s", engine, text("version"), Runtime.version(),
                number("memory") / 1_000_000, mode,
                text("sync").equals("async") ? " (it has no level between)" : "");
  }

  /** What background work there is, checkpoints, is done. */
  final double drain() throws IOException {
    long start = System.nanoTime();
    db.checkpoint();
    return seconds(System.nanoTime() - start);
  }

  final void reportDrain(long operations, double writeSeconds, double drainSeconds) {
    report.add("drain", "ops_per_s", operations / (writeSeconds + drainSeconds));
    report.add("drain", "seconds", drainSeconds);
  }

  final void processFigures(long bytesPut) throws IOException {
    report.add("verify", "rss_bytes", 1024.0 * numberIn("/proc/self/status", "VmHWM:"));
    double written = numberIn("/proc/self/io", "write_bytes:")
        - numberIn("/proc/self/io", "cancelled_write_bytes:");
    report.add("verify", "device_write_bytes", Math.max(0, written));
    if (bytesPut != 0) {
      report.add("verify", "write_amplification", Math.max(0, written) / bytesPut);
      report.note("write_amplification is of /proc/self/io");
    }
  }

  /** Records of random keys: all are there, in order, and a sample of them is right to the last byte. */
  final void verifyRecords(long records, int valueBytes, java.util.function.LongUnaryOperator sample)
      throws IOException {
    long start = System.nanoTime();
    long entries = 0;
    long errors = 0;
    byte[] before = null;
    try (Cursor cursor = index.newCursor(Transaction.BOGUS)) {
      for (cursor.first(); cursor.key() != null; cursor.next()) {
        byte[] key = cursor.key();
        byte[] value = cursor.value();
        boolean right = key.length == Data.KEY_BYTES && value.length == valueBytes
            && (before == null || java.util.Arrays.compareUnsigned(before, key) < 0)
            && Data.load(value, 0) == Data.stamp(Data.load(key, 0));
        errors += right ? 0 : 1;
        before = key;
        ++entries;
      }
    }
    report.add("verify", "entries_per_s", entries / seconds(System.nanoTime() - start));
    if (errors != 0 || entries != records) {
      report.fail("the scan found %,d entries of %,d and %,d errors", entries, records, errors);
    }
    long wrong = 0;
    for (long i = 0; i < Math.min(SAMPLES, records); ++i) {
      long word = Data.randomKey(sample.applyAsLong(i));
      byte[] value = index.load(Transaction.BOGUS, Data.key(word));
      wrong += java.util.Arrays.equals(value, Data.value(word, valueBytes, half)) ? 0 : 1;
    }
    if (wrong != 0) {
      report.fail("%,d values of a sample are wrong", wrong);
    }
  }

  /** Closes and opens again, and looks whether all is still there; then closes for good. */
  final void finish(long bytesRaw) throws IOException {
    report.add("verify", "bytes_raw", bytesRaw);
    db.close();
    report.add("verify", "bytes_on_disk", bytesOnDisk());
    long start = System.nanoTime();
    db = Database.open(new DatabaseConfig().baseFile(new File(directory, "tupl"))
        .cacheSize(number("memory")));
    index = db.openIndex("bench");
    report.add("open", "avg_us", (System.nanoTime() - start) / 1e3);
    long bytes = 0;
    try (Cursor cursor = index.newCursor(Transaction.BOGUS)) {
      for (cursor.first(); cursor.key() != null; cursor.next()) {
        bytes += cursor.key().length + cursor.value().length;
      }
    }
    if (bytes != bytesRaw) {
      report.fail("after close and open there are %,d bytes of keys and values, not %,d", bytes,
                  bytesRaw);
    }
    db.close();
  }

  final boolean diskIsNearlyFull() {
    return directory.getUsableSpace() < number("min-disk");
  }

  final long bytesOnDisk() {
    long bytes = 0;
    File[] files = directory.listFiles();
    for (File file : files == null ? new File[0] : files) {
      bytes += file.length();
    }
    return bytes;
  }

  static double seconds(long ns) {
    return ns * 1e-9;
  }

  /** Work of one of several threads that begin together. */
  interface Work {
    void run(int thread, long startNs) throws Exception;
  }

  /** Runs the work by so many threads; returns the seconds until the last one ended. */
  static double runTeam(int threads, Work work) throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread[] team = new Thread[threads];
    long start = System.nanoTime();
    for (int t = 0; t < threads; ++t) {
      int thread = t;
      team[t] = new Thread(() -> {
        try {
          work.run(thread, start);
        } catch (Throwable error) {
          failure.compareAndSet(null, error);
        }
      });
      team[t].start();
    }
    for (Thread one : team) {
      one.join();
    }
    if (failure.get() != null) {
      throw new Exception(failure.get());
    }
    return seconds(System.nanoTime() - start);
  }

  private static long numberIn(String path, String name) throws IOException {
    for (String line : Files.readString(Path.of(path), StandardCharsets.ISO_8859_1).split("\n")) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.substring(name.length()).trim().split(" ")[0]);
      }
    }
    return 0;
  }
}
