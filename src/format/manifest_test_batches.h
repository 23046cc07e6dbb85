#pragma once
// For tests: random states' changes, valid for the state that they are made for, and hex dumps for
// golden images.
//
// Threads: one object from one thread at a time.

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "base/prng.h"
#include "format/manifest_state.h"

namespace hawthorn::format {

class BatchMaker {
 public:
  explicit BatchMaker(uint64_t seed) : prng_(seed) {}

  ManifestBatch make(const ManifestState& state) {
    ManifestBatch batch;
    const uint32_t new_tree = make_trees(state, batch);
    make_containers(state, batch, new_tree);
    if (prng_.one_in(5)) batch.epochs_set.push_back(epoch(state.epochs.size() + 1));
    if (prng_.one_in(9) && !state.epochs.empty()) {
      batch.epochs_deleted.push_back(state.epochs.front().number);
    }
    if (prng_.one_in(3)) batch.log_trim = state.log_trim + 1 + prng_.below(100000);
    if (prng_.one_in(4) || batch.empty()) {
      batch.lsn_reserved = state.lsn_reserved + 1 + prng_.below(1 << 20);
    }
    return batch;
  }

  ContainerRecord container(uint64_t id, uint32_t tree) {
    ContainerRecord record;
    record.id = id;
    record.tree = tree;
    record.low = bytes(prng_.below(40));
    record.cut = prng_.below(kLsnMax);
    record.max_ts = prng_.below(record.cut + 1);
    record.entries = prng_.below(100000);
    record.run_checksum = prng_.next();
    if (!prng_.one_in(8)) record.run = extent();
    for (uint64_t i = prng_.below(6); i > 0; --i) {
      const ExtentAddress address = extent();
      const auto size = static_cast<uint32_t>(prng_.below(uint64_t{address.blocks} * 4096 + 1));
      const auto garbage = static_cast<uint32_t>(prng_.below(uint64_t{size} + 1));
      record.values.push_back({address, size, garbage});
    }
    if (prng_.one_in(4)) {
      for (uint64_t i = prng_.below(5); i > 0; --i) record.large.push_back(extent());
    }
    return record;
  }

 private:
  std::string bytes(size_t size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(prng_.next());
    return text;
  }
  ExtentAddress extent() {
    return {static_cast<uint32_t>(prng_.below(50)), static_cast<uint32_t>(prng_.below(1 << 18)),
            static_cast<uint32_t>(1 + prng_.below(1024))};
  }
  LogEpoch epoch(uint64_t number_max) {
    const Lsn start = prng_.below(1 << 30);
    return {1 + prng_.below(number_max), start,
            prng_.one_in(2) ? kLsnMax : start + prng_.below(1 << 30), prng_.next()};
  }

  // Returns a tree that exists after the batch; there always is one.
  uint32_t make_trees(const ManifestState& state, ManifestBatch& batch) {
    if (state.trees.empty() || prng_.one_in(10)) {
      const uint32_t id = state.next_tree + static_cast<uint32_t>(prng_.below(3));
      batch.trees_created.push_back({id, bytes(prng_.below(30)), 0, 0});
      if (id > 1 && prng_.one_in(3)) {
        batch.trees_created.back().layer_of = 1;
        batch.trees_created.back().layer_cts = prng_.below(1000);
      } else if (id > 1 && prng_.one_in(3)) {
        batch.trees_created.back().clone_of = 1;
        batch.trees_created.back().clone_ts = prng_.below(1000);
      }
      return id;
    }
    auto at = state.trees.begin();
    std::advance(at, static_cast<ptrdiff_t>(prng_.below(state.trees.size())));
    if (state.trees.size() > 1 && prng_.one_in(20)) {
      batch.trees_dropped.push_back(at->first);
      return at == state.trees.begin() ? std::next(at)->first : state.trees.begin()->first;
    }
    return at->first;
  }

  void make_containers(const ManifestState& state, ManifestBatch& batch, uint32_t tree) {
    const uint64_t mean = prng_.one_in(10) ? 60 : 4;
    uint64_t id = state.next_container + prng_.below(2);
    for (uint64_t i = prng_.below(mean); i > 0; --i) {
      batch.containers_set.push_back(container(id++, tree));
    }
    uint64_t position = prng_.below(8);
    for (auto at = state.containers.begin(); at != state.containers.end(); ++at, ++position) {
      if (position % 8 != 0) continue;
      if (prng_.one_in(4)) batch.containers_deleted.push_back(at->first);
      if (prng_.one_in(3)) batch.containers_set.push_back(container(at->first, at->second.tree));
    }
  }

  Prng prng_;
};

// Bytes as hex, 32 to a line; runs of more than 8 zeros as "<count>z".
inline std::string hex_dump(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  size_t column = 0;
  for (size_t i = 0; i < bytes.size();) {
    size_t zeros = 0;
    while (i + zeros < bytes.size() && bytes[i + zeros] == 0) ++zeros;
    if (zeros > 8) {
      text += (column == 0 ? "" : "\n") + std::to_string(zeros) + "z\n";
      column = 0;
      i += zeros;
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes[i++]);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
    if (++column == 32) {
      text += '\n';
      column = 0;
    }
  }
  if (column != 0) text += '\n';
  return text;
}

// The bytes of a hex_dump.
inline std::string undump(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('z')) {
      size_t count = 0;
      for (const char c : line.substr(0, line.size() - 1)) {
        count = count * 10 + static_cast<size_t>(c - '0');
      }
      bytes.append(count, '\0');
      continue;
    }
    for (; line.size() >= 2; line.remove_prefix(2)) {
      bytes += static_cast<char>(digit(line[0]) << 4 | digit(line[1]));
    }
  }
  return bytes;
}

}  // namespace hawthorn::format
