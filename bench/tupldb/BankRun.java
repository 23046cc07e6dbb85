import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.cojen.tupl.Cursor;
import org.cojen.tupl.LockFailureException;
import org.cojen.tupl.LockMode;
import org.cojen.tupl.Transaction;

/**
 * Transfers between accounts, with and without a reader: bank.h. A batch is one transaction, whose
 * reads lock rows so that they can be changed. The reader, which has to see one moment, holds locks
 * of the rows that it read; where writer and reader wait for each other the reader gives up, and what
 * it read does not count.
 */
final class BankRun extends Run {
  private static final int ROUNDS = 10;
  private static final int PICKS = 1 << 20;
  private static final int WINDOW_BATCH_MAX = 10_000;
  private static final int READER_WAIT_MS = 5;

  private final int accounts;
  private final long transactions;
  private final long batch;
  private final long syncEvery;
  private final long seed;
  private final long initialBalance;
  private final int readsPerTx;
  private final int threads;
  private final Accounts names;
  private final List<List<Stretch>> histories = new ArrayList<>();
  private final long[] logged;

  /** Transfers that a thread tried, one after another. */
  private record Stretch(Accounts.Source source, long attempts) {}

  private static final class Phase {
    double seconds;
    long attempts;
    long succeeded;
    long missing;
    final Histogram commits = new Histogram();
    final RateWindows windows = new RateWindows();
    final List<Double> roundEnds = new ArrayList<>();

    double rate() {
      return attempts / seconds;
    }
  }

  BankRun(Map<String, String> options, Report report) throws Exception {
    super(options, report);
    accounts = (int) number("accounts");
    transactions = number("transactions");
    batch = number("batch");
    syncEvery = number("sync-every");
    seed = number("seed");
    initialBalance = number("initial-balance");
    readsPerTx = Math.clamp(number("reads-per-tx"), 1, PICKS);
    threads = (int) number("threads");
    names = new Accounts(accounts, seed, text("dictionary"));
    logged = new long[threads];
    for (int t = 0; t < threads; ++t) {
      histories.add(new ArrayList<>());
    }
  }

  @Override
  void run() throws Exception {
    open();
    load();
    long warmUp = Math.min(transactions / 10, 100_000);
    if (warmUp != 0) {
      report.add("warm_up", "tx_per_s", runPhase("warm_up", seed ^ 0xDEAD, warmUp, true).rate());
    }
    drain();
    Phase write = runPhase("write", seed, transactions, false);
    reportPhase("write", write);
    report.add("drain", "tx_per_s", write.attempts / (write.seconds + drain()));
    if (text("reader").equals("1")) {
      runBesideReader(write.rate());
    }
    processFigures(0);
    scan();
    finish(verify());
  }

  private void load() throws Exception {
    long start = System.nanoTime();
    Transaction txn = db.newTransaction();
    try {
      for (byte[] name : names.names) {
        index.store(txn, name, Data.key(initialBalance));
      }
      txn.commit();
    } finally {
      txn.reset();
    }
    report.add("load", "ops_per_s", accounts / seconds(System.nanoTime() - start));
    drain();
  }

  private Phase runPhase(String name, long phaseSeed, long attempts, boolean nothing)
      throws Exception {
    Phase[] parts = new Phase[threads];
    long before = Arrays.stream(logged).sum();
    double seconds = runTeam(threads, (thread, start) -> {
      parts[thread] = runWriter(thread, start, phaseSeed, attempts, nothing);
    });
    Phase phase = new Phase();
    phase.seconds = seconds;
    phase.succeeded = Arrays.stream(logged).sum() - before;
    for (Phase part : parts) {
      phase.attempts += part.attempts;
      phase.missing += part.missing;
      phase.commits.merge(part.commits);
      phase.windows.merge(part.windows);
    }
    phase.roundEnds.addAll(parts[0].roundEnds);
    if (phase.missing != 0) {
      report.fail("%s: %,d accounts were not found", name, phase.missing);
    }
    return phase;
  }

  private Phase runWriter(int thread, long start, long phaseSeed, long allAttempts, boolean nothing)
      throws Exception {
    long first = (long) accounts * thread / threads;
    long end = (long) accounts * (thread + 1) / threads;
    long share = allAttempts * (thread + 1) / threads - allAttempts * thread / threads;
    Accounts.Source source =
        new Accounts.Source(phaseSeed + thread, first, end - first, initialBalance);
    if (!nothing) {
      histories.get(thread).add(new Stretch(source.copy(), share));
    }
    Phase phase = new Phase();
    long log = nothing ? 0 : logged[thread];
    long before = System.nanoTime();
    long commits = 0;
    long nextRound = Math.max(1, share / ROUNDS);
    Accounts.Transfer[] transfers = new Accounts.Transfer[(int) Math.min(batch, share)];
    while (phase.attempts < share) {
      int count = (int) Math.min(batch, share - phase.attempts);
      for (int i = 0; i < count; ++i) {
        transfers[i] = source.next();
      }
      log = commitBatch(transfers, count, thread, log, nothing, phase);
      if (syncEvery != 0 && ++commits % syncEvery == 0) {
        db.sync();
      }
      long now = System.nanoTime();
      phase.commits.record(now - before);
      phase.windows.add(now - start, count);
      before = now;
      phase.attempts += count;
      if (phase.attempts >= nextRound) {
        phase.roundEnds.add(seconds(now - start));
        nextRound = Math.max(phase.attempts + 1, nextRound + share / ROUNDS);
      }
    }
    if (!nothing) {
      logged[thread] = log;
    }
    return phase;
  }

  /** Tries the transfers as one transaction, again where a reader was in its way. */
  private long commitBatch(Accounts.Transfer[] transfers, int count, int thread, long log,
                           boolean nothing, Phase phase) throws Exception {
    for (;;) {
      Transaction txn = db.newTransaction();
      txn.lockMode(LockMode.UPGRADABLE_READ);
      txn.lockTimeout(10, TimeUnit.SECONDS);
      long number = log;
      long missing = 0;
      try {
        for (int i = 0; i < count; ++i) {
          int answer = transfer(txn, transfers[i], thread, number + 1, nothing);
          number += answer > 0 ? 1 : 0;
          missing += answer < 0 ? 1 : 0;
        }
        txn.commit();
        phase.missing += missing;
        return number;
      } catch (LockFailureException retry) {
        // A deadlock with the reader: nothing was written.
      } finally {
        txn.reset();
      }
    }
  }

  /** 1: the money went over; 0: there was too little; -1: an account is missing. */
  private int transfer(Transaction txn, Accounts.Transfer transfer, int thread, long number,
                       boolean nothing) throws Exception {
    byte[] source = names.names[transfer.source()];
    byte[] target = names.names[transfer.target()];
    long amount = nothing ? 0 : transfer.amount();
    try (Cursor from = index.newCursor(txn); Cursor to = index.newCursor(txn)) {
      from.find(source);
      if (from.value() == null || from.value().length != 8) {
        return -1;
      }
      long sourceBalance = Data.load(from.value(), 0);
      if (Long.compareUnsigned(sourceBalance, amount) < 0) {
        return 0;
      }
      to.find(target);
      if (to.value() == null || to.value().length != 8) {
        return -1;
      }
      long targetBalance = Data.load(to.value(), 0);
      from.store(Data.key(sourceBalance - amount));
      to.store(Data.key(targetBalance + amount));
    }
    index.store(txn, Accounts.logKey(thread, number), names.logValue(transfer, amount));
    return 1;
  }

  private void reportPhase(String name, Phase phase) {
    report.add(name, "tx_per_s", phase.rate());
    report.latencies(name, phase.commits);
    report.note("%s: %,d of %,d transfers found the money", name, phase.succeeded, phase.attempts);
    double worst = phase.windows.worstRate(1);
    if (batch <= WINDOW_BATCH_MAX && worst > 0) {
      report.add(name, "worst_second_ops_per_s", worst);
    }
    long share = phase.attempts / threads;
    double before = 0;
    for (int round = 0; round < phase.roundEnds.size(); ++round) {
      long attempts = share * (round + 1) / ROUNDS - share * round / ROUNDS;
      double end = phase.roundEnds.get(round);
      report.csv("bank,%s,%d,%s,%d,%.0f", engine, batch, name, round + 1,
                 attempts * threads / (end - before));
      before = end;
    }
  }

  private void runBesideReader(double rateAlone) throws Exception {
    AtomicBoolean stopping = new AtomicBoolean();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    long[] reads = new long[2];  // that count, and snapshots that were given up
    double[] seconds = new double[1];
    int[] picks = Accounts.pareto(accounts, seed + threads + 999, PICKS);
    Thread reader = new Thread(() -> {
      try {
        long start = System.nanoTime();
        int at = 0;
        while (!stopping.get()) {
          if (at + readsPerTx > PICKS) {
            at = 0;
          }
          if (readSnapshot(picks, at)) {
            reads[0] += readsPerTx;
          } else {
            ++reads[1];
          }
          at += readsPerTx;
        }
        seconds[0] = seconds(System.nanoTime() - start);
      } catch (Throwable error) {
        failure.set(error);
      }
    });
    reader.start();
    Phase both;
    try {
      both = runPhase("write_read", seed + threads, transactions, false);
    } finally {
      stopping.set(true);
      reader.join();
    }
    if (failure.get() != null) {
      report.fail("the reader: %s", failure.get());
      return;
    }
    reportPhase("write_read", both);
    report.add("write_read", "reads_per_s", reads[0] / seconds[0]);
    report.add("write_read", "writer_loss", 1.0 - both.rate() / rateAlone);
    report.note("the reader gave up %,d snapshots of %d reads, whose rows the writer had locked",
                reads[1], readsPerTx);
    drain();
  }

  private boolean readSnapshot(int[] picks, int at) throws Exception {
    Transaction txn = db.newTransaction();
    txn.lockMode(LockMode.REPEATABLE_READ);
    txn.lockTimeout(READER_WAIT_MS, TimeUnit.MILLISECONDS);
    try {
      long first = 0;
      for (int i = 0; i < readsPerTx; ++i) {
        long balance = readBalance(txn, picks[at + i]);
        first = i == 0 ? balance : first;
      }
      if (readBalance(txn, picks[at]) != first) {
        throw new IllegalStateException("a balance changed within a snapshot");
      }
      return true;
    } catch (LockFailureException busy) {
      return false;
    } finally {
      txn.reset();
    }
  }

  private long readBalance(Transaction txn, int account) throws Exception {
    byte[] value = index.load(txn, names.names[account]);
    if (value == null || value.length != 8) {
      throw new IllegalStateException("account " + account + " is missing or has no balance");
    }
    long balance = Data.load(value, 0);
    if (Long.compareUnsigned(balance, initialBalance * accounts) > 0) {
      throw new IllegalStateException("account " + account + " holds more than the bank");
    }
    return balance;
  }

  /** Sums over all entries; by cursor, which is the only way there is. */
  private void scan() throws Exception {
    double[] rates = new double[3];
    for (int pass = 0; pass <= rates.length; ++pass) {
      long start = System.nanoTime();
      long balances = 0;
      long found = 0;
      long logs = 0;
      try (Cursor cursor = index.newCursor(Transaction.BOGUS)) {
        for (cursor.first(); cursor.key() != null; cursor.next()) {
          if (Accounts.isLogKey(cursor.key())) {
            ++logs;
          } else {
            ++found;
            balances += Data.load(cursor.value(), 0);
          }
        }
      }
      if (pass != 0) {
        rates[pass - 1] = (found + logs) / seconds(System.nanoTime() - start);
      }
      if (balances != initialBalance * accounts) {
        report.fail("the balances sum up to %,d, not %,d", balances, initialBalance * accounts);
      }
      if (found != accounts || logs != Arrays.stream(logged).sum()) {
        report.fail("%,d accounts and %,d log entries, not %,d and %,d", found, logs, accounts,
                    Arrays.stream(logged).sum());
      }
    }
    Arrays.sort(rates);
    report.add("iterate", "entries_per_s", rates[1]);
    report.add("scan", "entries_per_s", rates[1]);
  }

  /** The log of one thread as it must be, made again transfer by transfer. */
  private final class LogWalk {
    private final List<Stretch> stretches;
    private final long[] balances;
    private int at = -1;
    private Accounts.Source source;
    private long left;
    long seen;

    LogWalk(List<Stretch> stretches, long[] balances) {
      this.stretches = stretches;
      this.balances = balances;
    }

    /** The next transfer that found the money; null at the end. */
    Accounts.Transfer next() {
      for (;;) {
        while (left == 0) {
          if (++at == stretches.size()) {
            --at;
            return null;
          }
          source = stretches.get(at).source().copy();
          left = stretches.get(at).attempts();
        }
        --left;
        Accounts.Transfer transfer = source.next();
        if (Long.compareUnsigned(balances[transfer.source()], transfer.amount()) >= 0) {
          balances[transfer.source()] -= transfer.amount();
          balances[transfer.target()] += transfer.amount();
          ++seen;
          return transfer;
        }
      }
    }
  }

  /** Compares every entry with what the transfers must have left; returns keys and values. */
  private long verify() throws Exception {
    long[] last = new long[accounts];
    long[] running = new long[accounts];
    Arrays.fill(last, initialBalance);
    Arrays.fill(running, initialBalance);
    // Threads have accounts of their own: one after another is as they ran.
    LogWalk[] walks = new LogWalk[threads];
    for (int thread = 0; thread < threads; ++thread) {
      LogWalk whole = new LogWalk(histories.get(thread), last);
      while (whole.next() != null) {
      }
      walks[thread] = new LogWalk(histories.get(thread), running);
    }
    int[] order = names.inOrder();
    int accountsSeen = 0;
    long bytes = 0;
    long differences = 0;
    try (Cursor cursor = index.newCursor(Transaction.BOGUS)) {
      for (cursor.first(); cursor.key() != null; cursor.next()) {
        byte[] key = cursor.key();
        byte[] value = cursor.value();
        bytes += key.length + value.length;
        boolean right = false;
        if (Accounts.isLogKey(key)) {
          int thread = (int) (Long.reverseBytes(Data.load(key, 3)) >>> 48);
          Accounts.Transfer transfer = thread < threads ? walks[thread].next() : null;
          right = transfer != null
              && Arrays.equals(key, Accounts.logKey(thread, walks[thread].seen))
              && Arrays.equals(value, names.logValue(transfer, transfer.amount()));
        } else {
          right = accountsSeen < accounts && value.length == 8
              && Arrays.equals(key, names.names[order[accountsSeen]])
              && Data.load(value, 0) == last[order[accountsSeen]];
          ++accountsSeen;
        }
        differences += right ? 0 : 1;
      }
    }
    differences += Math.abs(accounts - accountsSeen);
    for (LogWalk walk : walks) {
      while (walk.next() != null) {
        ++differences;
      }
    }
    if (differences != 0) {
      report.fail("%,d differences from what the transfers must have left", differences);
    }
    return bytes;
  }
}
