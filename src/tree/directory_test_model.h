#pragma once
// For tests of the directory: one beside an ordered map of the same containers, by low key.
//
// Threads: the model from one; its directory() as directory.h says.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/epoch.h"
#include "tree/directory.h"

namespace hawthorn::tree::directory_model {

inline Container* make_container(const std::string& low) {
  return new Container(1, low, "", false, nullptr);
}

// A directory and an ordered map of the same containers, by low key.
class Model {
 public:
  explicit Model(const std::vector<std::string>& lows) {
    std::vector<std::string> sorted = lows;
    sorted.emplace_back();
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<Container*> containers;
    for (const std::string& low : sorted) {
      containers.push_back(make_container(low));
      containers_[low] = containers.back();
    }
    directory_ = std::make_unique<Directory>(std::move(containers));
  }

  void expect_at(const std::string& key) const {
    const os::epoch::Guard guard;
    const auto covers = std::prev(containers_.upper_bound(key));
    ASSERT_EQ(directory_->find(key), covers->second);
    // before() takes a low key, or one that has stopped being a low key.
    const auto at = containers_.lower_bound(key);
    ASSERT_EQ(directory_->before(key), at == containers_.begin() ? nullptr : std::prev(at)->second);
  }
  void expect_whole(const std::vector<std::string>& probes) const {
    const os::epoch::Guard guard;
    const std::vector<Container*> all = directory_->all();
    ASSERT_EQ(all.size(), containers_.size());
    ASSERT_EQ(directory_->size(), containers_.size());
    ASSERT_EQ(directory_->last(), containers_.rbegin()->second);
    size_t i = 0;
    for (const auto& [low, container] : containers_) {
      ASSERT_EQ(all[i++], container);
      ASSERT_NO_FATAL_FAILURE(expect_at(low));
      std::string near = low;
      near.push_back('\0');
      ASSERT_NO_FATAL_FAILURE(expect_at(near));
      if (low.empty()) continue;
      near = low;
      near.back() = static_cast<char>(near.back() - 1);
      ASSERT_NO_FATAL_FAILURE(expect_at(near));
      ASSERT_NO_FATAL_FAILURE(expect_at(low.substr(0, low.size() / 2)));
    }
    for (const std::string& probe : probes) ASSERT_NO_FATAL_FAILURE(expect_at(probe));
    ASSERT_NO_FATAL_FAILURE(expect_at(""));
    ASSERT_NO_FATAL_FAILURE(expect_at(std::string(40, '\xff')));
  }

  // Replaces `count` containers from the one that covers `key` by as many as `lows` makes.
  void replace(const std::string& key, size_t count, std::vector<std::string> lows) {
    auto at = std::prev(containers_.upper_bound(key));
    const std::string first = at->first;
    std::vector<Container*> old_ones;
    for (; count > 0 && at != containers_.end(); --count) {
      old_ones.push_back(at->second);
      at = containers_.erase(at);
    }
    std::erase_if(lows, [&](const std::string& low) {
      return low <= first || (at != containers_.end() && low >= at->first);
    });
    lows.push_back(first);
    std::sort(lows.begin(), lows.end());
    lows.erase(std::unique(lows.begin(), lows.end()), lows.end());
    std::vector<Container*> new_ones;
    for (const std::string& low : lows) {
      new_ones.push_back(make_container(low));
      containers_[low] = new_ones.back();
    }
    directory_->replace(old_ones, new_ones);
  }
  size_t size() const { return containers_.size(); }
  Directory& directory() { return *directory_; }

 private:
  std::map<std::string, Container*> containers_;
  std::unique_ptr<Directory> directory_;
};

}  // namespace hawthorn::tree::directory_model
