#pragma once
// What a table and cursors on it do as libmdbx documents it, on a map of sets.
//
// It leaves out what is not documented: behind a move that found nothing a cursor of the model is
// kUnknown, and only moves that need no place are asked of it.
//
// Used by oracle_test.cc. Threads: one.

#include <mdbx.h>

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "shims/mdbx/src/common.h"

namespace hawthorn::mdbx {

// By the order that the library itself tells for such a table.
struct ModelOrder {
  Compare compare = nullptr;
  bool operator()(const std::string& a, const std::string& b) const {
    const auto as_value = [](const std::string& bytes) {
      MDBX_val value;
      value.iov_base = const_cast<char*>(bytes.data());
      value.iov_len = bytes.size();
      return value;
    };
    const MDBX_val first = as_value(a);
    const MDBX_val second = as_value(b);
    return compare(&first, &second) < 0;
  }
};

using ModelPair = std::pair<std::string, std::string>;

struct ModelTable {
  using Values = std::set<std::string, ModelOrder>;
  using Keys = std::map<std::string, Values, ModelOrder>;

  ModelTable(bool is_multi, ModelOrder key_order, ModelOrder value_order)
      : multi(is_multi), values_by(value_order), keys(key_order) {}

  std::optional<ModelPair> first_of(Keys::const_iterator at) const {
    if (at == keys.end()) return std::nullopt;
    return ModelPair(at->first, *at->second.begin());
  }
  std::optional<ModelPair> last_before(Keys::const_iterator at) const {
    if (at == keys.begin()) return std::nullopt;
    --at;
    return ModelPair(at->first, *at->second.rbegin());
  }
  std::optional<ModelPair> value_from(const std::string& key, const std::string& value,
                                      bool behind = false) const {
    const auto at = keys.find(key);
    if (at == keys.end()) return std::nullopt;
    const auto met = behind ? at->second.upper_bound(value) : at->second.lower_bound(value);
    if (met == at->second.end()) return std::nullopt;
    return ModelPair(key, *met);
  }
  std::optional<ModelPair> value_before(const std::string& key, const std::string& value) const {
    const auto at = keys.find(key);
    if (at == keys.end()) return std::nullopt;
    const auto met = at->second.lower_bound(value);
    if (met == at->second.begin()) return std::nullopt;
    return ModelPair(key, *std::prev(met));
  }
  // The first pair from this one on, or behind it; the last before it. Where keys have one value,
  // that is compared, too.
  std::optional<ModelPair> pair_from(const std::string& key, const std::string& value,
                                     bool behind) const {
    if (const auto met = value_from(key, value, behind)) return met;
    return first_of(keys.upper_bound(key));
  }
  std::optional<ModelPair> pair_before(const std::string& key, const std::string& value) const {
    if (const auto met = value_before(key, value)) return met;
    return last_before(keys.lower_bound(key));
  }
  bool has(const std::string& key) const { return keys.count(key) != 0; }
  bool has(const std::string& key, const std::string& value) const {
    const auto at = keys.find(key);
    return at != keys.end() && at->second.count(value) != 0;
  }
  size_t count(const std::string& key) const {
    const auto at = keys.find(key);
    return at == keys.end() ? 0 : at->second.size();
  }
  size_t entries() const {
    size_t all = 0;
    for (const auto& [key, values] : keys) all += values.size();
    return all;
  }
  void add(const std::string& key, const std::string& value) {
    Values& values = keys.try_emplace(key, values_by).first->second;
    if (!multi) values.clear();
    values.insert(value);
  }
  void remove(const std::string& key, const std::string& value) {
    const auto at = keys.find(key);
    at->second.erase(value);
    if (at->second.empty()) keys.erase(at);
  }

  bool multi;
  ModelOrder values_by;
  Keys keys;
};

struct ModelCursor {
  enum class Spot {
    kFresh,
    kOn,            // key, value
    kBeforeValue,   // key, value: the one before it was deleted
    kBehindValues,  // key: the last of its values was deleted
    kBeforeKey,     // key: the one before it was deleted
    kEnd,           // the last key was deleted
    kUnknown
  };

  void stand(const std::optional<ModelPair>& pair, bool by_last = false) {
    at_end = by_last;
    spot = pair ? Spot::kOn : Spot::kUnknown;
    if (pair) std::tie(key, value) = *pair;
  }

  // What NEXT, PREV, ... find; the place is as before where that is nothing.
  std::optional<ModelPair> step(const ModelTable& table, MDBX_cursor_op op) const {
    const bool forward = op == MDBX_NEXT || op == MDBX_NEXT_DUP || op == MDBX_NEXT_NODUP;
    const bool of_key = op == MDBX_NEXT_DUP || op == MDBX_PREV_DUP;
    const bool whole = op == MDBX_NEXT_NODUP || op == MDBX_PREV_NODUP;
    switch (spot) {
      case Spot::kFresh:
        return forward ? table.first_of(table.keys.begin()) : table.last_before(table.keys.end());
      case Spot::kBeforeKey:
        if (of_key) return std::nullopt;
        return forward ? table.first_of(table.keys.find(key))
                       : table.last_before(table.keys.find(key));
      case Spot::kEnd:
        return forward || of_key ? std::nullopt : table.last_before(table.keys.end());
      case Spot::kOn:
      case Spot::kBeforeValue:
      case Spot::kBehindValues:
        break;
      case Spot::kUnknown:
        return std::nullopt;
    }
    if (of_key && !table.multi) return std::nullopt;
    if (!whole && table.multi) {
      std::optional<ModelPair> met;
      if (spot == Spot::kBehindValues) {
        if (!forward) met = ModelPair(key, *table.keys.find(key)->second.rbegin());
      } else if (forward) {
        met = table.value_from(key, value, spot == Spot::kOn);
      } else {
        met = table.value_before(key, value);
      }
      if (met || of_key) return met;
    }
    return forward ? table.first_of(table.keys.upper_bound(key))
                   : table.last_before(table.keys.find(key));
  }

  // Whether GET_CURRENT is said to give something, and what.
  std::optional<ModelPair> current(const ModelTable& table) const {
    switch (spot) {
      case Spot::kOn:
      case Spot::kBeforeValue:
        return table.multi ? table.value_from(key, value) : table.first_of(table.keys.find(key));
      case Spot::kBeforeKey:
        return table.first_of(table.keys.find(key));
      default:
        return std::nullopt;
    }
  }

  // Behind the delete of a pair, or of all of its key.
  void deleted(const ModelTable& table, const std::string& gone_key,
               const std::string* gone_value) {
    if (spot == Spot::kEnd) {
      if (table.keys.empty()) spot = Spot::kUnknown;
      return;
    }
    if (spot == Spot::kFresh || spot == Spot::kUnknown) return;
    if (table.keys.key_comp()(key, gone_key) || table.keys.key_comp()(gone_key, key)) return;
    if (!table.has(key)) {
      at_end = false;
      const auto next = table.keys.upper_bound(key);
      if (next != table.keys.end()) {
        spot = Spot::kBeforeKey;
        key = next->first;
      } else {
        spot = table.keys.empty() ? Spot::kUnknown : Spot::kEnd;
      }
      return;
    }
    if ((spot != Spot::kOn && spot != Spot::kBeforeValue) || table.has(key, value)) return;
    if (gone_value == nullptr) return;
    const auto next = table.value_from(key, value);
    if (at_end) {
      spot = Spot::kUnknown;
      return;
    }
    spot = next ? Spot::kBeforeValue : Spot::kBehindValues;
    if (next) value = next->second;
  }

  // To the last pair by LAST: whether NEXT finds what is put behind it later is not said.
  bool is_said(const ModelTable& table, const std::optional<ModelPair>& next, bool forward) const {
    return !at_end || (table.count(key) == 1 && !(forward && next));
  }

  bool at_end = false;
  Spot spot = Spot::kFresh;
  std::string key;
  std::string value;
};

}  // namespace hawthorn::mdbx
