import java.io.PrintStream;
import java.util.Locale;

/**
 * What a run found out, as lines on standard output that hawthorn-bench reads (report.h): the kind of
 * an event, a space, its text.
 */
final class Report {
  private final PrintStream out;
  private boolean failed;

  Report(PrintStream out) {
    this.out = out;
  }

  synchronized void add(String phase, String metric, double value) {
    tell('R', phase + " " + metric + " " + value);
  }

  void latencies(String phase, Histogram ns) {
    if (ns.count() == 0) {
      return;
    }
    add(phase, "avg_us", ns.mean() / 1e3);
    add(phase, "p50_us", ns.percentile(50) / 1e3);
    add(phase, "p90_us", ns.percentile(90) / 1e3);
    add(phase, "p99_us", ns.percentile(99) / 1e3);
    add(phase, "p999_us", ns.percentile(99.9) / 1e3);
    add(phase, "max_us", ns.max() / 1e3);
  }

  /** Of a phase that writes: its worst seconds, its first and its last tenth. */
  void rateParts(String phase, RateWindows windows, double seconds) {
    if (windows.measured()) {
      add(phase, "worst_second_ops_per_s", windows.worstRate(1));
      add(phase, "worst_ten_seconds_ops_per_s", windows.worstRate(10));
    }
    add(phase, "first_tenth_ops_per_s", windows.rateOfPart(0, 0.1, seconds));
    add(phase, "last_tenth_ops_per_s", windows.rateOfPart(0.9, 1, seconds));
  }

  void note(String format, Object... values) {
    tell('N', String.format(Locale.ROOT, format, values));
  }

  void csv(String format, Object... values) {
    tell('C', String.format(Locale.ROOT, format, values));
  }

  /** The engine gave a wrong answer or failed: its figures do not count. */
  void fail(String format, Object... values) {
    failed = true;
    tell('F', String.format(Locale.ROOT, format, values));
  }

  /** The engine ran full: a result, and its figures count. */
  void limited(String format, Object... values) {
    tell('L', String.format(Locale.ROOT, format, values));
  }

  boolean failed() {
    return failed;
  }

  private synchronized void tell(char kind, String text) {
    out.print(kind + " " + text.replace('\n', ' ') + "\n");
    out.flush();
  }
}
