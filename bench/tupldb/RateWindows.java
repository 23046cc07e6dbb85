import java.util.Arrays;

/** Operations per tenth of a second, as histogram.h has them. */
final class RateWindows {
  private static final long SLOT_NS = 100_000_000;
  private static final int SLOTS_PER_SECOND = 10;

  private long[] counts = new long[64];
  private int size;

  void add(long sinceStartNs, long operations) {
    int slot = (int) (sinceStartNs / SLOT_NS);
    grow(slot + 1);
    counts[slot] += operations;
  }

  void merge(RateWindows other) {
    grow(other.size);
    for (int i = 0; i < other.size; ++i) {
      counts[i] += other.counts[i];
    }
  }

  boolean measured() {
    return size > 1;
  }

  /** The fewest operations in any stretch of so many seconds, as a rate per second. */
  double worstRate(int seconds) {
    // The last tenth is not over when the last operation ends: it does not count as one.
    int whole = Math.max(0, size - 1);
    int slots = SLOTS_PER_SECOND * seconds;
    if (whole < slots) {
      return whole == 0 ? 0 : (double) sum(0, whole) * SLOTS_PER_SECOND / whole;
    }
    long window = sum(0, slots);
    long worst = window;
    for (int i = slots; i < whole; ++i) {
      window += counts[i] - counts[i - slots];
      worst = Math.min(worst, window);
    }
    return (double) worst / seconds;
  }

  /** The rate over the operations from one part of all to another. */
  double rateOfPart(double from, double to, double seconds) {
    double all = sum(0, size);
    double start = from == 0 ? 0 : secondsUntil(from * all, seconds);
    double length = secondsUntil(to * all, seconds) - start;
    return length > 0 ? (to - from) * all / length : 0;
  }

  long[] perSecond() {
    long[] sums = new long[(size + SLOTS_PER_SECOND - 1) / SLOTS_PER_SECOND];
    for (int i = 0; i < size; ++i) {
      sums[i / SLOTS_PER_SECOND] += counts[i];
    }
    return sums;
  }

  private double secondsUntil(double operations, double seconds) {
    double slotSeconds = 1.0 / SLOTS_PER_SECOND;
    double sum = 0;
    for (int i = 0; i < size; ++i) {
      if (sum + counts[i] >= operations && counts[i] > 0) {
        double start = i * slotSeconds;
        double length = Math.min(slotSeconds, Math.max(0.0, seconds - start));
        return start + length * (operations - sum) / counts[i];
      }
      sum += counts[i];
    }
    return seconds;
  }

  private long sum(int first, int end) {
    long sum = 0;
    for (int i = first; i < end; ++i) {
      sum += counts[i];
    }
    return sum;
  }

  private void grow(int wanted) {
    if (wanted > counts.length) {
      counts = Arrays.copyOf(counts, Math.max(wanted, 2 * counts.length));
    }
    size = Math.max(size, wanted);
  }
}
