#include "base/aead.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <atomic>
#include <climits>
#include <cstring>

#include "base/assert.h"
#include "base/out_of_memory.h"

namespace hawthorn {

struct FreeCipherContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using ContextPtr = std::unique_ptr<EVP_CIPHER_CTX, FreeCipherContext>;

namespace {

constexpr size_t kAesBlock = 16;

// Fetched once, as in made_once: it takes longer than to encrypt a record. nullptr: not to be had.
const EVP_CIPHER* gcm() {
  static constinit std::atomic<EVP_CIPHER*> cipher{nullptr};
  EVP_CIPHER* known = cipher.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  EVP_CIPHER* const fetched = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  if (fetched == nullptr || cipher.compare_exchange_strong(known, fetched)) return fetched;
  EVP_CIPHER_free(fetched);
  return known;
}

const unsigned char* unsigned_bytes(const void* bytes) {
  return static_cast<const unsigned char*>(bytes);
}

}  // namespace

SecretKey::~SecretKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Result<SecretKey> SecretKey::from_bytes(std::string_view bytes) try {
  if (bytes.size() != kBytes) {
    return Status(StatusCode::kInvalidArgument,
                  "a key has 32 bytes, not " + std::to_string(bytes.size()));
  }
  SecretKey key;
  std::memcpy(key.bytes_.data(), bytes.data(), kBytes);
  return key;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<SecretKey> SecretKey::from_hex(std::string_view digits) try {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = digits.find_first_not_of(kSpace);
  digits.remove_prefix(first == std::string_view::npos ? digits.size() : first);
  digits = digits.substr(0, digits.find_last_not_of(kSpace) + 1);
  const auto value = [](char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
  };
  SecretKey key;
  bool good = digits.size() == 2 * kBytes;
  for (size_t i = 0; good && i < kBytes; ++i) {
    const int high = value(digits[2 * i]);
    const int low = value(digits[2 * i + 1]);
    good = high >= 0 && low >= 0;
    if (good) key.bytes_[i] = static_cast<unsigned char>(high * 16 + low);
  }
  if (!good) {
    return Status(StatusCode::kInvalidArgument, "a key has 64 hexadecimal digits");
  }
  return key;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

bool fill_random(std::span<unsigned char> to) {
  return to.size() <= INT_MAX && RAND_bytes(to.data(), static_cast<int>(to.size())) == 1;
}

Result<SecretKey> SecretKey::generate() try {
  SecretKey key;
  if (RAND_priv_bytes(key.bytes_.data(), kBytes) != 1) {
    return Status(StatusCode::kIoError, "libcrypto has no random bytes for a key");
  }
  return key;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Nonce make_nonce(uint64_t first, uint32_t second) {
  Nonce nonce;
  std::memcpy(nonce.data(), &first, sizeof(first));
  std::memcpy(nonce.data() + sizeof(first), &second, sizeof(second));
  return nonce;
}

// Each direction gets the derived key with the first nonce that it sees: to expand it for one that
// nobody uses would take as long as to seal a small record.
struct Aead::Context {
  struct Direction {
    ContextPtr context{EVP_CIPHER_CTX_new()};
    bool keyed = false;
  };
  Direction seal;
  Direction open;
  std::array<unsigned char, SecretKey::kBytes> derived{};

  ~Context() { OPENSSL_cleanse(derived.data(), derived.size()); }
  // False: libcrypto failed. A context that had another key before is used again as it is.
  bool begin(Direction& direction, const Nonce& nonce, bool sealing) const {
    EVP_CIPHER_CTX* const context = direction.context.get();
    const unsigned char* const key = direction.keyed ? nullptr : derived.data();
    const EVP_CIPHER* const cipher =
        key == nullptr || EVP_CIPHER_CTX_get0_cipher(context) != nullptr ? nullptr : gcm();
    direction.keyed = (sealing ? EVP_EncryptInit_ex2 : EVP_DecryptInit_ex2)(
                          context, cipher, key, nonce.data(), nullptr) == 1;
    return direction.keyed;
  }
};

Aead::Aead() noexcept = default;
Aead::~Aead() = default;
Aead::Aead(Aead&&) noexcept = default;
Aead& Aead::operator=(Aead&&) noexcept = default;

bool Aead::seal(const Nonce& nonce, std::string_view associated,
                std::span<const std::string_view> pieces, char* to, char* tag) {
  HAWTHORN_ASSERT(context_ != nullptr && associated.size() <= INT_MAX);
  EVP_CIPHER_CTX* const context = context_->seal.context.get();
  int done = 0;
  bool good = context_->begin(context_->seal, nonce, true);
  if (!associated.empty()) {
    good = good && EVP_EncryptUpdate(context, nullptr, &done, unsigned_bytes(associated.data()),
                                     static_cast<int>(associated.size())) == 1;
  }
  for (const std::string_view piece : pieces) {
    HAWTHORN_ASSERT(piece.size() <= INT_MAX);
    if (piece.empty()) continue;
    good = good &&
           EVP_EncryptUpdate(context, reinterpret_cast<unsigned char*>(to), &done,
                             unsigned_bytes(piece.data()), static_cast<int>(piece.size())) == 1;
    to += piece.size();
  }
  unsigned char none[kAesBlock];
  // Not by EVP_CIPHER_CTX_ctrl, which translates into this: of a small record that is felt.
  OSSL_PARAM get_tag[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, kTagBytes),
      OSSL_PARAM_construct_end()};
  return good && EVP_EncryptFinal_ex(context, none, &done) == 1 &&
         EVP_CIPHER_CTX_get_params(context, get_tag) == 1;
}

bool Aead::open(const Nonce& nonce, std::string_view associated, std::string_view sealed,
                const char* tag, char* to) {
  HAWTHORN_ASSERT(context_ != nullptr && associated.size() <= INT_MAX && sealed.size() <= INT_MAX);
  EVP_CIPHER_CTX* const context = context_->open.context.get();
  int done = 0;
  bool good = context_->begin(context_->open, nonce, false);
  if (!associated.empty()) {
    good = good && EVP_DecryptUpdate(context, nullptr, &done, unsigned_bytes(associated.data()),
                                     static_cast<int>(associated.size())) == 1;
  }
  if (!sealed.empty()) {
    good = good &&
           EVP_DecryptUpdate(context, reinterpret_cast<unsigned char*>(to), &done,
                             unsigned_bytes(sealed.data()), static_cast<int>(sealed.size())) == 1;
  }
  unsigned char none[kAesBlock];
  return good &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, const_cast<char*>(tag)) ==
             1 &&
         EVP_DecryptFinal_ex(context, none, &done) == 1;
}

struct DerivingKey::State {
  ContextPtr aes{EVP_CIPHER_CTX_new()};
  std::array<unsigned char, kAesBlock> mask{};  // K1 of CMAC
  bool good = false;

  ~State() { OPENSSL_cleanse(mask.data(), mask.size()); }
  bool encrypt(std::span<const unsigned char> from, unsigned char* to) const {
    const int bytes = static_cast<int>(from.size());
    int done = 0;
    return EVP_EncryptUpdate(aes.get(), to, &done, from.data(), bytes) == 1 && done == bytes;
  }
};

DerivingKey::DerivingKey(const SecretKey& key) : state_(std::make_unique<State>()) {
  State& state = *state_;
  if (state.aes == nullptr ||
      EVP_EncryptInit_ex2(state.aes.get(), EVP_aes_256_ecb(), unsigned_bytes(key.bytes().data()),
                          nullptr, nullptr) != 1) {
    return;
  }
  EVP_CIPHER_CTX_set_padding(state.aes.get(), 0);
  const std::array<unsigned char, kAesBlock> zero{};
  std::array<unsigned char, kAesBlock> block{};
  state.good = state.encrypt(zero, block.data());
  for (size_t i = 0; i < kAesBlock; ++i) {
    const unsigned next = i + 1 < kAesBlock ? block[i + 1] >> 7U : 0;
    state.mask[i] = static_cast<unsigned char>((unsigned{block[i]} << 1U) | next);
  }
  if ((block[0] & 0x80U) != 0) state.mask[kAesBlock - 1] ^= 0x87;
  OPENSSL_cleanse(block.data(), block.size());
}

DerivingKey::~DerivingKey() = default;

// The first two blocks of SP 800-108's KDF in counter mode with CMAC: their input is one block
// long, so that a CMAC is one encryption.
bool DerivingKey::derive(const Salt& salt, Aead* aead) {
  if (aead->context_ == nullptr) aead->context_ = std::make_unique<Aead::Context>();
  Aead::Context& made = *aead->context_;
  made.seal.keyed = false;
  made.open.keyed = false;
  if (!state_->good || made.seal.context == nullptr || made.open.context == nullptr ||
      gcm() == nullptr) {
    return false;
  }
  unsigned char blocks[SecretKey::kBytes];
  for (unsigned half = 0; half < 2; ++half) {
    unsigned char* const block = blocks + half * kAesBlock;
    const unsigned char first[] = {0, static_cast<unsigned char>(half + 1), 'X', 0};
    std::memcpy(block, first, sizeof(first));
    std::memcpy(block + sizeof(first), salt.data(), salt.size());
    for (size_t i = 0; i < kAesBlock; ++i) block[i] ^= state_->mask[i];
  }
  const bool good = state_->encrypt(blocks, made.derived.data());
  OPENSSL_cleanse(blocks, sizeof(blocks));
  return good;
}

}  // namespace hawthorn
