import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Keys and values as stamp.h makes them, to the last byte, and numbers as bank_data.h draws them:
 * every engine of a comparison writes the same bytes.
 */
final class Data {
  static final int KEY_BYTES = 8;
  static final int STAMP_BYTES = 8;
  static final VarHandle LITTLE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int FILL_BYTES = 1 << 20;
  private static final byte[] FILL = makeFill();

  private Data() {}

  static long load(byte[] bytes, int at) {
    return (long) LITTLE.get(bytes, at);
  }

  static void store(byte[] bytes, int at, long word) {
    LITTLE.set(bytes, at, word);
  }

  /** A bijection whose result looks random: the finalizer of splitmix64. */
  static long mix(long x) {
    x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    return x ^ (x >>> 31);
  }

  /** The number in [0, limit) that a random number stands for. */
  static long scale(long random, long limit) {
    return Math.unsignedMultiplyHigh(random, limit);
  }

  /** XXH3 of the eight bytes of a sequence number, whose secret words are xored here. */
  static long randomKey(long sequence) {
    long h = Long.rotateLeft(sequence, 32) ^ (0x1cad21f72c81017cL ^ 0xdb979083e96dd4deL);
    h ^= Long.rotateLeft(h, 49) ^ Long.rotateLeft(h, 24);
    h *= 0x9fb21c651e98df25L;
    h ^= (h >>> 35) + KEY_BYTES;
    h *= 0x9fb21c651e98df25L;
    return h ^ (h >>> 28);
  }

  static byte[] key(long word) {
    byte[] key = new byte[KEY_BYTES];
    store(key, 0, word);
    return key;
  }

  static long stamp(long key) {
    return ((key ^ 0x5bf03635f0935ba9L) * 0x9e3779b97f4a7c15L) & ~0xffL;
  }

  /** The value of a key: its stamp, then the fill, of which `half` repeats what stands before it. */
  static byte[] value(long key, int bytes, boolean half) {
    byte[] value = new byte[bytes];
    store(value, 0, stamp(key));
    int end = half ? Math.max(STAMP_BYTES, (bytes + 1) / 2) : bytes;
    int from = (int) Long.remainderUnsigned(mix(key), FILL_BYTES / 2);
    for (int at = STAMP_BYTES; at < end; from = 0) {
      int count = Math.min(end - at, FILL_BYTES - from);
      System.arraycopy(FILL, from, value, at, count);
      at += count;
    }
    System.arraycopy(value, 0, value, end, bytes - end);
    return value;
  }

  private static byte[] makeFill() {
    byte[] fill = new byte[FILL_BYTES];
    long state = 0xdeadbeefcafebabeL;
    for (int at = 0; at < FILL_BYTES; at += 8) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
      store(fill, at, state);
    }
    return fill;
  }

  /** The generator that C++ calls mt19937_64. */
  static final class Twister implements Cloneable {
    private static final int SIZE = 312;
    private long[] state = new long[SIZE];
    private int at = SIZE;

    Twister(long seed) {
      state[0] = seed;
      for (int i = 1; i < SIZE; ++i) {
        long before = state[i - 1];
        state[i] = 6364136223846793005L * (before ^ (before >>> 62)) + i;
      }
    }

    @Override
    public Twister clone() {
      try {
        Twister copy = (Twister) super.clone();
        copy.state = state.clone();
        return copy;
      } catch (CloneNotSupportedException error) {
        throw new AssertionError(error);
      }
    }

    long next() {
      if (at == SIZE) {
        refill();
      }
      long y = state[at++];
      y ^= (y >>> 29) & 0x5555555555555555L;
      y ^= (y << 17) & 0x71d67fffeda60000L;
      y ^= (y << 37) & 0xfff7eee000000000L;
      return y ^ (y >>> 43);
    }

    /** A number in [0, limit) from the low bits, by rejection. */
    long below(long limit) {
      if (limit <= 1) {
        return 0;
      }
      long mask = -1L >>> Long.numberOfLeadingZeros(limit - 1);
      long number;
      do {
        number = next() & mask;
      } while (number >= limit);
      return number;
    }

    private void refill() {
      for (int i = 0; i < SIZE; ++i) {
        long x = (state[i] & 0xffffffff80000000L) | (state[(i + 1) % SIZE] & 0x7fffffffL);
        long twisted = (x >>> 1) ^ ((x & 1) == 0 ? 0 : 0xb5026f5aa96619e9L);
        state[i] = state[(i + 156) % SIZE] ^ twisted;
      }
      at = 0;
    }
  }
}
