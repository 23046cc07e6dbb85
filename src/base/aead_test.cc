#include "base/aead.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hawthorn {
namespace {

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Aead aead_of(std::string_view key, std::string_view nonce, Nonce* rest) {
  Salt salt;
  std::copy_n(nonce.begin(), salt.size(), salt.begin());
  std::copy_n(nonce.begin() + 12, rest->size(), rest->begin());
  DerivingKey deriving(*SecretKey::from_bytes(key));
  Aead aead;
  EXPECT_TRUE(deriving.derive(salt, &aead));
  return aead;
}

// The two test vectors of C2SP's XAES-256-GCM: of the keys' derivation both ways that a subkey's
// first bit may go.
TEST(Aead, KnownAnswers) {
  struct Vector {
    char key;
    std::string_view associated;
    std::string_view sealed;
  };
  const Vector vectors[] = {
      {1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
      {3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
  };
  for (const Vector& vector : vectors) {
    Nonce nonce;
    Aead aead = aead_of(std::string(32, vector.key), "ABCDEFGHIJKLMNOPQRSTUVWX", &nonce);
    const std::string_view plain = "XAES-256-GCM";
    std::string sealed(plain.size() + kTagBytes, '\0');
    ASSERT_TRUE(
        aead.seal(nonce, vector.associated, plain, sealed.data(), sealed.data() + plain.size()));
    EXPECT_EQ(sealed, from_hex(vector.sealed));
    std::string opened(plain.size(), '\0');
    ASSERT_TRUE(aead.open(nonce, vector.associated, std::string_view(sealed).substr(0, 12),
                          sealed.data() + plain.size(), opened.data()));
    EXPECT_EQ(opened, plain);
  }
}

TEST(Aead, EachBitCounts) {
  Nonce nonce;
  Aead aead = aead_of(std::string(32, 'k'), "ABCDEFGHIJKLMNOPQRSTUVWX", &nonce);
  const std::string associated = "of this place";
  const std::string plain = "thirty-three bytes, a block and so";
  std::string sealed(plain.size(), '\0');
  char tag[kTagBytes];
  ASSERT_TRUE(aead.seal(nonce, associated, plain, sealed.data(), tag));
  std::string to(plain.size(), '\0');
  const auto opens = [&](const Nonce& n, const std::string& a, const std::string& s,
                         const char* t) { return aead.open(n, a, s, t, to.data()); };
  ASSERT_TRUE(opens(nonce, associated, sealed, tag));
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(opens(nonce, associated, changed, tag)) << bit;
  }
  for (size_t bit = 0; bit < kTagBytes * 8; ++bit) {
    std::string changed(tag, kTagBytes);
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(opens(nonce, associated, sealed, changed.data())) << bit;
  }
  for (size_t bit = 0; bit < associated.size() * 8; ++bit) {
    std::string changed = associated;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(opens(nonce, changed, sealed, tag)) << bit;
  }
  for (size_t bit = 0; bit < nonce.size() * 8; ++bit) {
    Nonce changed = nonce;
    changed[bit / 8] = static_cast<unsigned char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(opens(changed, associated, sealed, tag)) << bit;
  }
  // And it is as good as new.
  EXPECT_TRUE(opens(nonce, associated, sealed, tag));
  EXPECT_EQ(to, plain);
}

TEST(Aead, PiecesAreAsOne) {
  Nonce nonce;
  Aead aead = aead_of(std::string(32, 'k'), "ABCDEFGHIJKLMNOPQRSTUVWX", &nonce);
  const std::string plain(1000, 'p');
  std::string whole(plain.size(), '\0');
  char tag[kTagBytes];
  ASSERT_TRUE(aead.seal(nonce, "", plain, whole.data(), tag));
  for (const size_t cut :
       {size_t{0}, size_t{1}, size_t{15}, size_t{16}, size_t{500}, size_t{999}}) {
    const std::string_view pieces[] = {
        std::string_view(plain).substr(0, cut), {}, std::string_view(plain).substr(cut)};
    std::string sealed(plain.size(), '\0');
    char own[kTagBytes];
    ASSERT_TRUE(aead.seal(nonce, "", pieces, sealed.data(), own));
    EXPECT_EQ(sealed, whole);
    EXPECT_EQ(std::string_view(own, kTagBytes), std::string_view(tag, kTagBytes));
  }
  // In its own place.
  std::string place = plain;
  ASSERT_TRUE(aead.seal(nonce, "", place, place.data(), tag));
  EXPECT_EQ(place, whole);
  ASSERT_TRUE(aead.open(nonce, "", place, tag, place.data()));
  EXPECT_EQ(place, plain);
}

TEST(Aead, SaltsAndKeysMakeOthers) {
  Nonce nonce;
  Aead one = aead_of(std::string(32, 'k'), "ABCDEFGHIJKLMNOPQRSTUVWX", &nonce);
  Aead salted = aead_of(std::string(32, 'k'), "aBCDEFGHIJKLMNOPQRSTUVWX", &nonce);
  Aead keyed = aead_of(std::string(32, 'K'), "ABCDEFGHIJKLMNOPQRSTUVWX", &nonce);
  char sealed[4];
  char tag[kTagBytes];
  ASSERT_TRUE(one.seal(nonce, "", "text", sealed, tag));
  char to[4];
  EXPECT_FALSE(salted.open(nonce, "", {sealed, 4}, tag, to));
  EXPECT_FALSE(keyed.open(nonce, "", {sealed, 4}, tag, to));
  EXPECT_TRUE(one.open(nonce, "", {sealed, 4}, tag, to));
}

// Contexts that have sealed and opened under another salt are used again, with the new key alone.
TEST(Aead, IsDerivedAgain) {
  DerivingKey deriving(*SecretKey::from_bytes(std::string(32, 'k')));
  const Nonce nonce = make_nonce(1, 2);
  const std::string plain(100, 'p');
  std::string old_sealed(plain.size(), '\0');
  char old_tag[kTagBytes];
  Aead used;
  ASSERT_TRUE(deriving.derive(Salt{1}, &used));
  ASSERT_TRUE(used.seal(nonce, "", plain, old_sealed.data(), old_tag));
  std::string to(plain.size(), '\0');
  ASSERT_TRUE(used.open(nonce, "", old_sealed, old_tag, to.data()));
  ASSERT_TRUE(deriving.derive(Salt{2}, &used));
  EXPECT_FALSE(used.open(nonce, "", old_sealed, old_tag, to.data()));
  Aead fresh;
  ASSERT_TRUE(deriving.derive(Salt{2}, &fresh));
  std::string sealed[2];
  char tags[2][kTagBytes];
  Aead* const both[] = {&used, &fresh};
  for (int i = 0; i < 2; ++i) {
    sealed[i].resize(plain.size());
    ASSERT_TRUE(both[i]->seal(nonce, "", plain, sealed[i].data(), tags[i]));
  }
  EXPECT_EQ(sealed[0], sealed[1]);
  EXPECT_NE(sealed[0], old_sealed);
  EXPECT_EQ(std::string_view(tags[0], kTagBytes), std::string_view(tags[1], kTagBytes));
  ASSERT_TRUE(used.open(nonce, "", sealed[1], tags[1], to.data()));
  EXPECT_EQ(to, plain);
}

TEST(SecretKey, ComesFromBytesAndDigits) {
  EXPECT_TRUE(
      SecretKey::from_bytes(std::string(31, 'x')).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(
      SecretKey::from_bytes(std::string(33, 'x')).status().is(StatusCode::kInvalidArgument));
  std::string digits;
  for (int i = 0; i < 32; ++i) digits += "aF";
  const auto key = SecretKey::from_hex(" \n" + digits + "\n");
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->bytes(), std::string(32, '\xaf'));
  const std::string zeros(62, '0');
  std::vector<std::string> wrong = {"", "\n", digits.substr(1)};
  wrong.push_back(digits + "00");
  wrong.push_back(zeros + "0x");
  wrong.push_back(zeros + " 0");
  for (const std::string& bad : wrong) {
    const Status status = SecretKey::from_hex(bad).status();
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument));
    EXPECT_EQ(status.message(), "a key has 64 hexadecimal digits");
  }
  EXPECT_NE(SecretKey::generate()->bytes(), SecretKey::generate()->bytes());
}

}  // namespace
}  // namespace hawthorn
