#pragma once
// The model: what a database must hold at every commit that somebody may still look at.
//
// Keys come from a fixed sorted pool and are known by their rank; a value is known by a number that
// its bytes follow from. Not here: the database (model_test.cc). Threads: one.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

using Rank = uint32_t;
inline constexpr Rank kNoRank = std::numeric_limits<Rank>::max();

class KeyPool {
 public:
  KeyPool(uint64_t count, bool counters) {
    for (uint64_t i = 0; i < count; ++i) {
      keys_.push_back(counters ? counter_key_of(i) : key_of(i));
    }
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }
  Rank size() const { return static_cast<Rank>(keys_.size()); }
  const std::string& operator[](Rank rank) const { return keys_[rank]; }
  // The first key >= `key`; size() when there is none.
  Rank lower_bound(std::string_view key) const {
    return static_cast<Rank>(std::lower_bound(keys_.begin(), keys_.end(), key) - keys_.begin());
  }

 private:
  std::vector<std::string> keys_;
};

struct ModelValue {
  bool present = false;
  uint32_t size = 0;
  uint64_t number = 0;
  bool is(std::string_view bytes) const {
    return present && bytes.size() == size && bytes == value_of(number, size);
  }
};

struct ModelVersion {
  uint64_t commit = 0;
  ModelValue value;
};

// One tree, from its creation to its drop.
class ModelTree {
 public:
  explicit ModelTree(Rank keys) : chains_(keys) {}

  const ModelValue& at(Rank rank, uint64_t commit) const {
    static const ModelValue kAbsent;
    const std::vector<ModelVersion>& chain = chains_[rank];
    for (size_t i = chain.size(); i > 0; --i) {
      if (chain[i - 1].commit <= commit) return chain[i - 1].value;
    }
    return kAbsent;
  }
  // 0: never written.
  uint64_t last_commit(Rank rank) const {
    return chains_[rank].empty() ? 0 : chains_[rank].back().commit;
  }
  // `oldest`: nobody looks at anything older.
  void write(Rank rank, uint64_t commit, const ModelValue& value, uint64_t oldest) {
    std::vector<ModelVersion>& chain = chains_[rank];
    if (!chain.empty() && chain.back().commit == commit) {
      chain.back().value = value;
      return;
    }
    size_t keep = 0;  // the newest version that `oldest` sees stays
    while (keep + 1 < chain.size() && chain[keep + 1].commit <= oldest) ++keep;
    chain.erase(chain.begin(), chain.begin() + static_cast<ptrdiff_t>(keep));
    chain.push_back({commit, value});
  }
  // Nobody looks at the past any more.
  void forget_history() {
    for (std::vector<ModelVersion>& chain : chains_) {
      if (chain.empty()) continue;
      ModelVersion last = chain.back();
      chain.clear();
      if (last.value.present) chain.push_back(last);
    }
  }

 private:
  std::vector<std::vector<ModelVersion>> chains_;
};

using Overlay = std::map<Rank, ModelValue>;  // own writes of a transaction, in one tree

// What one reader sees of a tree.
struct ModelView {
  const ModelTree* tree = nullptr;
  uint64_t commit = 0;
  const Overlay* own = nullptr;
  Rank size = 0;

  const ModelValue& at(Rank rank) const {
    if (own != nullptr) {
      const auto found = own->find(rank);
      if (found != own->end()) return found->second;
    }
    return tree->at(rank, commit);
  }
  // The first present key in [from, to), or kNoRank.
  Rank next(Rank from, Rank to) const {
    for (Rank rank = from; rank < to; ++rank) {
      if (at(rank).present) return rank;
    }
    return kNoRank;
  }
  // The last present key in [from, to), or kNoRank.
  Rank prev(Rank from, Rank to) const {
    for (Rank rank = to; rank > from; --rank) {
      if (at(rank - 1).present) return rank - 1;
    }
    return kNoRank;
  }
};

}  // namespace hawthorn::tests
