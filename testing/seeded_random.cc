// libcrypto's random numbers, from a seed: keys and nonces of an encrypted database are the same
// whenever a run is replayed.

#define OPENSSL_SUPPRESS_DEPRECATED
#include "testing/seeded_random.h"

#include <openssl/rand.h>

#include "base/prng.h"

namespace hawthorn::testing {
namespace {

Prng* numbers = nullptr;

// One thread runs at a time.
int fill(unsigned char* to, int size) {
  for (int i = 0; i < size; ++i) to[i] = static_cast<unsigned char>(numbers->next());
  return 1;
}

int status() { return 1; }

}  // namespace

void seed_random(uint64_t seed) {
  static const RAND_METHOD kMethod = {nullptr, fill, nullptr, nullptr, fill, status};
  static Prng prng(seed);
  prng = Prng(seed);
  numbers = &prng;
  RAND_set_rand_method(&kMethod);
}

}  // namespace hawthorn::testing
