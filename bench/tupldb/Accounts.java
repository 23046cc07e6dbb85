import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Names and transfers of the bank as bank_data.h makes them, and keys and values of its log. */
final class Accounts {
  private static final int NAME_BYTES_MAX = 31;
  private static final byte[] LOG_PREFIX = {0, 'T', 'X'};

  final byte[][] names;

  Accounts(int count, long seed, String dictionary) throws IOException {
    names = new byte[count][];
    int size = 0;
    Path file = Path.of(dictionary);
    byte[] words = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
    for (int at = 0, end; size < count && at < words.length; at = end + 1) {
      for (end = at; end < words.length && words[end] != '\n'; ++end) {
      }
      if (end > at && end - at <= NAME_BYTES_MAX) {
        names[size++] = Arrays.copyOfRange(words, at, end);
      }
    }
    for (int i = 0; size < count; ++i) {
      long number = i / 3 + 1;
      switch (i % 3) {
        case 0 -> names[size++] = Data.key(Long.reverseBytes(number));
        case 1 -> names[size++] = Data.key(number);
        default -> names[size++] =
            String.format("%08d", number).getBytes(StandardCharsets.US_ASCII);
      }
    }
    Data.Twister generator = new Data.Twister(seed);
    for (int i = 0; i + 1 < count; ++i) {
      int other = i + (int) generator.below(count - i);
      byte[] name = names[i];
      names[i] = names[other];
      names[other] = name;
    }
  }

  /** The accounts in the order of their names. */
  int[] inOrder() {
    Integer[] order = new Integer[names.length];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Arrays.compareUnsigned(names[a], names[b]));
    return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
  }

  record Transfer(int source, int target, long amount) {}

  /** The transfers of one phase and thread. */
  static final class Source {
    private final Data.Twister generator;
    private final long first;
    private final long count;
    private final long amountMax;

    Source(long seed, long first, long count, long amountMax) {
      this(new Data.Twister(seed), first, count, amountMax);
    }

    private Source(Data.Twister generator, long first, long count, long amountMax) {
      this.generator = generator;
      this.first = first;
      this.count = count;
      this.amountMax = amountMax;
    }

    Source copy() {
      return new Source(generator.clone(), first, count, amountMax);
    }

    Transfer next() {
      long source = pick();
      long target = pick();
      long amount = 1 + generator.below(amountMax);
      if (target == source) {
        target = (source + 1) % count;
      }
      return new Transfer((int) (first + source), (int) (first + target), amount);
    }

    private long pick() {
      long base = generator.below(count / 2);
      return base + generator.below(count / 2);
    }
  }

  /** Accounts that the reader asks for: 80% of the reads go to 20% of the accounts. */
  static int[] pareto(int accounts, long seed, int count) {
    double shape = 1.160964;
    double scales = 12.1;
    double scaleOfRank = accounts / scales;
    double covered = 1.0 - Math.pow(1.0 + scales, -shape);
    Data.Twister generator = new Data.Twister(seed);
    int[] picks = new int[count];
    for (int i = 0; i < count; ++i) {
      double even = (generator.next() >>> 11) * 0x1.0p-53;
      double rank = scaleOfRank * (Math.pow(1.0 - even * covered, -1.0 / shape) - 1.0);
      picks[i] = (int) Math.min(rank, accounts - 1);
    }
    return picks;
  }

  static byte[] logKey(int thread, long number) {
    byte[] key = Arrays.copyOf(LOG_PREFIX, LOG_PREFIX.length + 8);
    Data.store(key, LOG_PREFIX.length, Long.reverseBytes(((long) thread << 48) | number));
    return key;
  }

  static boolean isLogKey(byte[] key) {
    return key.length == LOG_PREFIX.length + 8
        && Arrays.equals(key, 0, LOG_PREFIX.length, LOG_PREFIX, 0, LOG_PREFIX.length);
  }

  byte[] logValue(Transfer transfer, long amount) {
    byte[] source = names[transfer.source()];
    byte[] target = names[transfer.target()];
    byte[] value = new byte[2 + source.length + 2 + target.length + 8];
    int at = 0;
    for (byte[] name : new byte[][] {source, target}) {
      value[at] = (byte) name.length;
      System.arraycopy(name, 0, value, at + 2, name.length);
      at += 2 + name.length;
    }
    Data.store(value, at, amount);
    return value;
  }
}
