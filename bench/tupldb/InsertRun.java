import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.cojen.tupl.Transaction;

/** Records with random keys by many threads: insert.h. */
final class InsertRun extends Run {
  private static final int LOOK_EVERY = 16_384;  // records between two looks at the disk

  private final long records;
  private final int recordBytes;
  private final long batch;
  private final int threads;
  private final long[] done;
  private final Histogram[] commits;
  private final RateWindows[] windows;
  private final AtomicBoolean diskFull = new AtomicBoolean();

  InsertRun(Map<String, String> options, Report report) {
    super(options, report);
    records = number("records");
    recordBytes = (int) number("record-bytes");
    batch = number("batch");
    threads = (int) number("threads");
    done = new long[threads];
    commits = new Histogram[threads];
    windows = new RateWindows[threads];
  }

  @Override
  void run() throws Exception {
    open();
    double seconds = runTeam(threads, this::write);
    Histogram allCommits = new Histogram();
    RateWindows allWindows = new RateWindows();
    long sum = 0;
    for (int t = 0; t < threads; ++t) {
      allCommits.merge(commits[t]);
      allWindows.merge(windows[t]);
      sum += done[t];
    }
    if (diskFull.get()) {
      report.limited("the disk is nearly full after %,d records", sum);
    }
    report.add("insert", "ops_per_s", sum / seconds);
    report.latencies("insert", allCommits);
    report.rateParts("insert", allWindows, seconds);
    long soFar = 0;
    long[] perSecond = allWindows.perSecond();
    for (int second = 0; second < perSecond.length; ++second) {
      soFar += perSecond[second];
      report.csv("insert,%s,%d,%d,%d,%d", engine, recordBytes, second + 1, soFar,
                 perSecond[second]);
    }
    reportDrain(sum, seconds, drain());
    long bytesRaw = sum * recordBytes;
    processFigures(bytesRaw);
    verifyRecords(sum, valueBytes(), i -> {
      int thread = (int) (i % threads);
      // Of one thread's share, up to where it came.
      while (done[thread] == 0) {
        thread = (thread + 1) % threads;
      }
      return records * thread / threads + Data.scale(Data.mix(i), done[thread]);
    });
    finish(bytesRaw);
  }

  private int valueBytes() {
    return recordBytes - Data.KEY_BYTES;
  }

  private void write(int thread, long start) throws Exception {
    Histogram latencies = commits[thread] = new Histogram();
    RateWindows rates = windows[thread] = new RateWindows();
    long first = records * thread / threads;
    long end = records * (thread + 1) / threads;
    long lookAt = first;
    long before = System.nanoTime();
    for (long at = first; at < end && !diskFull.get();) {
      if (at >= lookAt) {
        lookAt = at + LOOK_EVERY;
        if (diskIsNearlyFull()) {
          diskFull.set(true);
          break;
        }
      }
      long count = Math.min(batch, end - at);
      if (count == 1) {
        long word = Data.randomKey(at);
        index.store(null, Data.key(word), Data.value(word, valueBytes(), half));
      } else {
        Transaction txn = db.newTransaction();
        try {
          for (long i = 0; i < count; ++i) {
            long word = Data.randomKey(at + i);
            index.store(txn, Data.key(word), Data.value(word, valueBytes(), half));
          }
          txn.commit();
        } finally {
          txn.reset();
        }
      }
      at += count;
      done[thread] += count;
      long now = System.nanoTime();
      latencies.record(now - before);
      rates.add(now - start, count);
      before = now;
    }
  }
}
