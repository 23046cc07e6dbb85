#pragma once
// Encryption that notices changes: AES-256-GCM by libcrypto, under a key that is derived for each
// salt, so that nonces of 24 bytes may be random (XAES-256-GCM, as C2SP specifies it): 12 of them
// are the salt, 12 the nonce under the derived key.
//
// Not here: which key, salt and nonce something has (os/data_keys.h), keys of the user
// (hawthorn/encryption.h).
// Used by wal, tree, db. Threads: one Aead, one thread at a time; DerivingKey: one at a time.
//
// 1. The first seal and the first open of an Aead set the derived key in a context of their own,
//    and libcrypto may allocate for that. After it only the nonce is set, and nothing is allocated.
// 2. Who seals never uses a nonce twice with one key and salt.
// 3. Keys are overwritten when their owner goes; libcrypto does so with its contexts.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "hawthorn/encryption.h"

namespace hawthorn {

inline constexpr size_t kTagBytes = 16;
using Salt = std::array<unsigned char, 12>;
using Nonce = std::array<unsigned char, 12>;

// Two numbers as a nonce, in a fixed order of bytes.
Nonce make_nonce(uint64_t first, uint32_t second);

// Random bytes of libcrypto's generator, which a fork does not repeat. False: it has none.
bool fill_random(std::span<unsigned char> to);

class Aead {
 public:
  Aead() noexcept;
  ~Aead();
  Aead(Aead&&) noexcept;
  Aead& operator=(Aead&&) noexcept;

  // The plain text is given in pieces; `to` has as many bytes, and may be where a single piece is.
  // False: libcrypto failed, then `to` means nothing.
  bool seal(const Nonce& nonce, std::string_view associated,
            std::span<const std::string_view> pieces, char* to, char* tag);
  bool seal(const Nonce& nonce, std::string_view associated, std::string_view plain, char* to,
            char* tag) {
    return seal(nonce, associated, {&plain, 1}, to, tag);
  }
  // False: not what was sealed, then `to` means nothing. `to` may be where the sealed bytes are.
  bool open(const Nonce& nonce, std::string_view associated, std::string_view sealed,
            const char* tag, char* to);

 private:
  friend class DerivingKey;
  struct Context;
  std::unique_ptr<Context> context_;
};

// A key from which that of each salt is derived.
class DerivingKey {
 public:
  explicit DerivingKey(const SecretKey& key);
  ~DerivingKey();
  DerivingKey(const DerivingKey&) = delete;
  DerivingKey& operator=(const DerivingKey&) = delete;

  // Makes *aead that of a salt; its contexts are used again. False: libcrypto failed, as the first
  // seal or open says where it cannot expand the key.
  bool derive(const Salt& salt, Aead* aead);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace hawthorn
