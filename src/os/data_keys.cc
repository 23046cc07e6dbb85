#include "os/data_keys.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace hawthorn::os {

namespace {
constexpr size_t kIdleSealersMax = 16;
// Under one derived key: few enough for the bounds of GCM, enough that to draw a salt and to derive
// from it is not felt.
constexpr uint32_t kSealsOfSalt = 1024;

Status no_random_bytes() {
  return Status(StatusCode::kIoError, "libcrypto has no random bytes for a salt");
}
}  // namespace

DataKeys::Lease::~Lease() {
  if (aead_ == nullptr) return;
  MutexLock lock(keys_->mutex_);
  if (keys_->idle_.size() < kIdleSealersMax)
    keys_->idle_.push_back({key_, salt_, std::move(aead_)});
}

void DataKeys::add(uint32_t number, const SecretKey& key, bool current) {
  MutexLock lock(mutex_);
  std::unique_ptr<DerivingKey>& place = keys_[number];
  if (place == nullptr) place = std::make_unique<DerivingKey>(key);
  if (current) current_ = number;
}

void DataKeys::keep_only(const std::vector<uint32_t>& numbers) {
  MutexLock lock(mutex_);
  std::erase_if(keys_, [&](const auto& key) {
    return std::find(numbers.begin(), numbers.end(), key.first) == numbers.end();
  });
  idle_.clear();
}

uint32_t DataKeys::current() const {
  MutexLock lock(mutex_);
  return current_;
}

bool DataKeys::has(uint32_t number) const {
  MutexLock lock(mutex_);
  return keys_.contains(number);
}

Result<Salt> DataKeys::new_salt() {
  Salt salt;
  if (!fill_random(salt)) return no_random_bytes();
  return salt;
}

Result<Seal> DataKeys::new_seal() {
  MutexLock lock(mutex_);
  if (seals_left_ == 0 || next_seal_.key != current_) {
    // At once: what it costs is the call, as much as to seal half a block.
    std::array<unsigned char, sizeof(Seal::salt) + sizeof(Seal::base)> random;
    if (!fill_random(random)) return no_random_bytes();
    next_seal_.key = current_;
    std::memcpy(next_seal_.salt.data(), random.data(), next_seal_.salt.size());
    std::memcpy(next_seal_.base.data(), random.data() + next_seal_.salt.size(),
                next_seal_.base.size());
    seals_left_ = kSealsOfSalt;
  }
  --seals_left_;
  unsigned char* const base = next_seal_.base.data();
  uint64_t number = load<uint64_t>(base);
  if (number == 0) ++number;
  store(base, number);
  const Seal seal = next_seal_;
  store(base, number + 1);
  return seal;
}

// False: the key is not known.
bool DataKeys::derive_known(uint32_t key, const Salt& salt, Aead* aead, Status* status) {
  MutexLock lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) return false;
  if (!found->second->derive(salt, aead)) {
    *status = Status(StatusCode::kOutOfMemory, "libcrypto could not make a context for AES");
  }
  return true;
}

Status DataKeys::derive(uint32_t key, const Salt& salt, Aead* aead) {
  Status status;
  if (derive_known(key, salt, aead, &status)) return status;
  if (reload) {
    if (Status s = reload(); !s.ok()) return s;
    if (derive_known(key, salt, aead, &status)) return status;
  }
  return Status(StatusCode::kCorruption,
                "it is sealed with data key " + std::to_string(key) + ", which does not exist");
}

Result<DataKeys::Lease> DataKeys::lease(uint32_t key, const Salt& salt) {
  std::unique_ptr<Aead> aead;
  {
    MutexLock lock(mutex_);
    for (Idle& idle : idle_) {
      if (idle.key != key || idle.salt != salt) continue;
      aead = std::move(idle.aead);
      std::swap(idle, idle_.back());
      idle_.pop_back();
      return Lease(this, key, salt, std::move(aead));
    }
    if (idle_.size() == kIdleSealersMax) {
      aead = std::move(idle_.front().aead);
      idle_.erase(idle_.begin());
    }
  }
  if (aead == nullptr) aead = std::make_unique<Aead>();
  if (Status s = derive(key, salt, aead.get()); !s.ok()) return s;
  return Lease(this, key, salt, std::move(aead));
}

Result<std::unique_ptr<Aead>> DataKeys::make(uint32_t key, const Salt& salt) {
  auto aead = std::make_unique<Aead>();
  if (Status s = derive(key, salt, aead.get()); !s.ok()) return s;
  return aead;
}

}  // namespace hawthorn::os
