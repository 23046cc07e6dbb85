import java.util.Map;
import org.cojen.tupl.Transaction;

/** Upserts of random keys into a growing database: upsert.h. */
final class UpsertRun extends Run {
  private final long rounds;
  private final long items;
  private final long batch;
  private final int valueBytes;
  private final Histogram commits = new Histogram();
  private final RateWindows windows = new RateWindows();
  private long committed;

  UpsertRun(Map<String, String> options, Report report) {
    super(options, report);
    rounds = number("rounds");
    items = number("items");
    batch = number("batch");
    valueBytes = (int) number("value-bytes");
  }

  @Override
  void run() throws Exception {
    open();
    long start = System.nanoTime();
    for (int round = 1; round <= rounds; ++round) {
      if (diskIsNearlyFull()) {
        report.limited("the disk is nearly full after %,d keys", committed);
        break;
      }
      runRound(round, start);
    }
    double seconds = seconds(System.nanoTime() - start);
    report.add("upsert", "ops_per_s", committed / seconds);
    report.latencies("upsert", commits);
    report.rateParts("upsert", windows, seconds);
    reportDrain(committed, seconds, drain());
    long bytesRaw = committed * (Data.KEY_BYTES + valueBytes);
    processFigures(bytesRaw);
    verifyRecords(committed, valueBytes, i -> Data.scale(Data.mix(i), committed));
    finish(bytesRaw);
  }

  private void runRound(int round, long start) throws Exception {
    long roundStart = System.nanoTime();
    long before = roundStart;
    for (long done = 0; done < items;) {
      long count = Math.min(batch, items - done);
      Transaction txn = db.newTransaction();
      try {
        for (long sequence = committed; sequence < committed + count; ++sequence) {
          long word = Data.randomKey(sequence);
          index.store(txn, Data.key(word), Data.value(word, valueBytes, half));
        }
        txn.commit();
      } finally {
        txn.reset();
      }
      committed += count;
      done += count;
      long now = System.nanoTime();
      commits.record(now - before);
      windows.add(now - start, count);
      before = now;
    }
    double rate = items / seconds(System.nanoTime() - roundStart);
    report.csv("upsert,%s,%d,%d,%.0f,%d", engine, round, committed, rate, bytesOnDisk());
  }
}
