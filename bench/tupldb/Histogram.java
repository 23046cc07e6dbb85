/** Latencies in log-linear buckets, as histogram.h has them: a bucket is at most 1/64 wide. */
final class Histogram {
  private static final int SUB_BITS = 6;
  private static final int SUB_COUNT = 1 << SUB_BITS;

  private final long[] counts = new long[(64 - SUB_BITS + 1) * SUB_COUNT];
  private long count;
  private long sum;
  private long max;

  void record(long number) {
    ++counts[bucketOf(number)];
    ++count;
    sum += number;
    max = Math.max(max, number);
  }

  void merge(Histogram other) {
    for (int i = 0; i < counts.length; ++i) {
      counts[i] += other.counts[i];
    }
    count += other.count;
    sum += other.sum;
    max = Math.max(max, other.max);
  }

  long count() {
    return count;
  }

  long max() {
    return max;
  }

  double mean() {
    return count == 0 ? 0 : (double) sum / count;
  }

  /** The smallest end of a bucket that `percent` of the numbers do not exceed. */
  long percentile(double percent) {
    long rank = Math.max(1, (long) Math.ceil(percent / 100 * count));
    long seen = 0;
    for (int bucket = 0; bucket < counts.length; ++bucket) {
      seen += counts[bucket];
      if (seen >= rank) {
        return Math.min(endOf(bucket), max);
      }
    }
    return max;
  }

  private static int bucketOf(long number) {
    if (number < 2 * SUB_COUNT) {
      return (int) number;
    }
    int shift = 64 - Long.numberOfLeadingZeros(number) - SUB_BITS - 1;
    return shift * SUB_COUNT + (int) (number >>> shift);
  }

  private static long endOf(int bucket) {
    if (bucket < 2 * SUB_COUNT) {
      return bucket;
    }
    int shift = bucket / SUB_COUNT - 1;
    return ((bucket - (long) shift * SUB_COUNT + 1) << shift) - 1;
  }
}
