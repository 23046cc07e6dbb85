#include "tests/history/orders.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <set>
#include <unordered_set>

namespace hawthorn::history {

void Anomalies::add(AnomalyKind kind, std::string name, std::string explanation) {
  Count& count = counts_[static_cast<uint8_t>(kind)];
  if (++count.found > per_kind_max_) return;
  count.last = list_.size();
  list_.push_back({kind, std::move(name), std::move(explanation)});
}

std::vector<Anomaly> Anomalies::take() {
  for (const auto& [kind, count] : counts_) {
    if (count.found <= per_kind_max_) continue;
    list_[count.last].explanation +=
        " (and " + std::to_string(count.found - per_kind_max_) + " more of this kind)";
  }
  return std::move(list_);
}

namespace {

using Role = Orders::Role;
using Kind = Operation::Kind;

struct Append {
  Index writer = 0;
  Key key = 0;
  uint32_t position = 0;  // among the writer's appends to that key
  bool last = true;       // of these
  bool read = false;      // by a transaction that counts
};

// A read of one key: what it saw of others is the list's first `length` elements.
struct ReadOf {
  Index reader = 0;
  const List* list = nullptr;
  uint32_t length = 0;
  bool range = false;
  bool updates = false;  // the reader has not appended to the key yet, and will
};

class Finder {
 public:
  Finder(const History& history, Level level, const CheckOptions& options, Orders* orders,
         Anomalies* anomalies)
      : history_(history),
        level_(level),
        options_(options),
        orders_(*orders),
        anomalies_(*anomalies) {}

  bool find() {
    collect_appends();
    check_form();
    if (!anomalies_.empty()) return false;
    find_roles();
    for (Index i = 0; i < history_.transactions.size(); ++i) {
      if (orders_.roles[i] != Role::kNone) collect_reads(i);
    }
    for (auto& [key, reads] : reads_) order_key(key, reads);
    place_unread();
    return true;
  }

 private:
  const Transaction& at(Index index) const { return history_.transactions[index]; }
  std::string shown(Index index) const { return "T" + std::to_string(at(index).id); }
  static std::string shown(const List& list, size_t length) {
    std::string text = "[";
    for (size_t i = 0; i < length; ++i) text += (i > 0 ? " " : "") + std::to_string(list[i]);
    return text + "]";
  }
  static std::string of_key(Key key) { return "key " + std::to_string(key); }
  void malformed(std::string what) { anomalies_.add(AnomalyKind::kMalformed, std::move(what)); }

  void collect_appends() {
    for (Index i = 0; i < history_.transactions.size(); ++i) {
      std::map<Key, Append*> previous;
      for (const Operation& operation : at(i).operations) {
        if (operation.kind != Kind::kAppend) continue;
        const auto [place, added] = appends_.try_emplace(operation.element);
        if (!added) {
          malformed("element " + std::to_string(operation.element) + " is appended by " +
                    shown(place->second.writer) + " and again by " + shown(i));
          continue;
        }
        Append*& before = previous[operation.key];
        place->second.writer = i;
        place->second.key = operation.key;
        if (before != nullptr) {
          before->last = false;
          place->second.position = before->position + 1;
        }
        before = &place->second;
      }
    }
  }

  void check_form() {
    std::unordered_map<uint64_t, Index> ids;
    for (Index i = 0; i < history_.transactions.size(); ++i) {
      const Transaction& transaction = at(i);
      if (!ids.emplace(transaction.id, i).second) malformed("two transactions are " + shown(i));
      if (transaction.begin >= transaction.end) malformed(shown(i) + " ends before it begins");
      for (const Operation& operation : transaction.operations) {
        const bool fits = operation.kind == Kind::kAppend ? operation.lists.empty()
                          : operation.kind == Kind::kRead ? operation.lists.size() == 1
                                                          : true;
        if (!fits) malformed(shown(i) + " has an operation with a wrong number of lists");
      }
    }
    if (options_.session_order) check_sessions();
    if (!history_.last_read.has_value()) return;
    const auto last = ids.find(*history_.last_read);
    if (last == ids.end() || at(last->second).outcome != Outcome::kCommitted) {
      malformed("the last read is T" + std::to_string(*history_.last_read) +
                ", which is no committed transaction");
      return;
    }
    std::unordered_set<Key> covered;
    for (const Operation& operation : at(last->second).operations) {
      for (size_t k = 0; k < operation.lists.size(); ++k) {
        covered.insert(operation.key + k);
        for (const Element element : operation.lists[k]) final_.insert(element);
      }
    }
    for (const auto& [element, append] : appends_) {
      if (covered.contains(append.key)) continue;
      malformed("the last read does not cover " + of_key(append.key));
    }
  }

  void check_sessions() {
    std::vector<Index> sorted(history_.transactions.size());
    for (Index i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::sort(sorted.begin(), sorted.end(), [&](Index a, Index b) {
      return std::pair(at(a).process, at(a).begin) < std::pair(at(b).process, at(b).begin);
    });
    for (size_t i = 1; i < sorted.size(); ++i) {
      const Transaction& before = at(sorted[i - 1]);
      const Transaction& after = at(sorted[i]);
      if (before.process != after.process || before.end == kNever) continue;
      if (before.end < after.begin) continue;
      malformed(shown(sorted[i - 1]) + " and " + shown(sorted[i]) + " overlap in process " +
                std::to_string(after.process));
    }
  }

  // An unknown outcome is known where a transaction that counts has read the appends, which may
  // make the reader's own appends count, and so on.
  void find_roles() {
    const Role otherwise = options_.aborted_reads ? Role::kReader : Role::kNone;
    std::bitset<65536> maybe;  // elements of unknown outcome, by their last bits
    std::vector<Index> work;
    orders_.roles.reserve(history_.transactions.size());
    for (Index i = 0; i < history_.transactions.size(); ++i) {
      const bool committed = at(i).outcome == Outcome::kCommitted;
      orders_.roles.push_back(committed ? Role::kCommitted : otherwise);
      if (orders_.roles.back() != Role::kNone) work.push_back(i);
      if (at(i).outcome != Outcome::kUnknown) continue;
      for (const Operation& operation : at(i).operations) {
        if (operation.kind == Kind::kAppend) maybe.set(operation.element % maybe.size());
      }
    }
    if (maybe.none()) return;
    while (!work.empty()) {
      const Index reader = work.back();
      work.pop_back();
      for (const Operation& operation : at(reader).operations) {
        for (const List& list : operation.lists) {
          for (const Element element : list) {
            if (!maybe.test(element % maybe.size())) continue;
            const auto append = appends_.find(element);
            if (append == appends_.end()) continue;
            const Index writer = append->second.writer;
            Role& role = orders_.roles[writer];
            if (writer == reader || at(writer).outcome != Outcome::kUnknown) continue;
            if (role == Role::kNone) work.push_back(writer);
            role = Role::kCommitted;
          }
        }
      }
    }
  }

  void collect_reads(Index reader) {
    std::map<Key, size_t> to_append;
    for (const Operation& operation : at(reader).operations) {
      if (operation.kind == Kind::kAppend) ++to_append[operation.key];
    }
    std::map<Key, List> own;
    for (const Operation& operation : at(reader).operations) {
      if (operation.kind == Kind::kAppend) {
        own[operation.key].push_back(operation.element);
        continue;
      }
      for (size_t i = 0; i < operation.lists.size(); ++i) {
        const Key key = operation.key + i;
        const bool appends = to_append.contains(key);
        ReadOf read;
        read.reader = reader;
        read.list = &operation.lists[i];
        read.length = appends ? length_of_others(reader, key, *read.list, own[key])
                              : static_cast<uint32_t>(read.list->size());
        read.range = operation.kind == Kind::kRange;
        read.updates = appends && own[key].empty() && orders_.roles[reader] == Role::kCommitted;
        reads_[key].push_back(read);
      }
    }
  }

  // How much of the list is not the reader's own: all before the appends that it has made so far.
  uint32_t length_of_others(Index reader, Key key, const List& list, const List& own) {
    const auto is_own = [&](Element element) {
      const auto append = appends_.find(element);
      return append != appends_.end() && append->second.writer == reader;
    };
    const auto length = std::find_if(list.begin(), list.end(), is_own) - list.begin();
    if (!std::equal(list.begin() + length, list.end(), own.begin(), own.end()) &&
        level_ >= Level::kSnapshot) {
      anomalies_.add(AnomalyKind::kInternal, shown(reader) + " read " + of_key(key) + " as " +
                                                 shown(list, list.size()) +
                                                 ", which does not end with what it had appended " +
                                                 "itself, " + shown(own, own.size()));
    }
    return static_cast<uint32_t>(length);
  }

  // The elements of a read that belong into an order; reports the others.
  List kept_of(Key key, const ReadOf& read, std::vector<uint32_t>* lengths = nullptr) {
    List kept;
    for (size_t i = 0; i < read.length; ++i) {
      const Element element = (*read.list)[i];
      if (is_kept(key, read, i)) kept.push_back(element);
      if (lengths != nullptr) lengths->push_back(static_cast<uint32_t>(kept.size()));
    }
    return kept;
  }

  bool is_kept(Key key, const ReadOf& read, size_t i) {
    const Element element = (*read.list)[i];
    const std::string what =
        shown(read.reader) + " read " + of_key(key) + " with element " + std::to_string(element);
    const auto found = appends_.find(element);
    if (found == appends_.end() || found->second.key != key) {
      report_once(AnomalyKind::kUnwrittenElement, element,
                  what + (found == appends_.end()
                              ? ", which nobody appended"
                              : ", which was appended to " + of_key(found->second.key)));
      return false;
    }
    if (orders_.roles[found->second.writer] != Role::kCommitted) {
      report_once(AnomalyKind::kAbortedRead, element,
                  what + ", whose writer " + shown(found->second.writer) + " aborted");
      return false;
    }
    found->second.read = true;
    const auto begin = read.list->begin();
    if (std::find(begin, begin + static_cast<ptrdiff_t>(i), element) !=
        begin + static_cast<ptrdiff_t>(i)) {
      report_once(AnomalyKind::kDuplicateElement, element, what + " twice");
      return false;
    }
    return true;
  }

  // Once for each element, or each key: many transactions meet the same mistake.
  void report_once(AnomalyKind kind, uint64_t of, std::string what) {
    if (reported_.emplace(kind, of).second) anomalies_.add(kind, std::move(what));
  }

  void order_key(Key key, const std::vector<ReadOf>& reads) {
    const ReadOf& longest =
        *std::max_element(reads.begin(), reads.end(),
                          [](const ReadOf& a, const ReadOf& b) { return a.length < b.length; });
    KeyOrder order;
    order.key = key;
    std::vector<uint32_t> lengths{0};  // of the order, by the length of a prefix of `longest`
    order.elements = kept_of(key, longest, &lengths);
    std::unordered_map<uint32_t, Index> updates;  // who appended to the version of that length
    for (const ReadOf& read : reads) {
      uint32_t length = 0;
      if (std::equal(read.list->begin(), read.list->begin() + read.length, longest.list->begin())) {
        length = lengths[read.length];
      } else {
        const List kept = kept_of(key, read);
        length = static_cast<uint32_t>(kept.size());
        const size_t common = std::min(kept.size(), order.elements.size());
        if (!std::equal(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(common),
                        order.elements.begin())) {
          report_once(AnomalyKind::kIncompatibleOrder, key,
                      of_key(key) + ": " + shown(read.reader) + " read " +
                          shown(*read.list, read.length) + ", but " + shown(longest.reader) +
                          " read " + shown(*longest.list, longest.length));
          continue;
        }
        if (kept.size() > order.elements.size()) order.elements = kept;
      }
      if (length > 0) check_intermediate(key, read, order.elements[length - 1]);
      if (read.updates && level_ >= Level::kSnapshot) {
        const auto [other, first] = updates.emplace(length, read.reader);
        if (!first && other->second != read.reader) {
          report_once(AnomalyKind::kLostUpdate, key,
                      shown(other->second) + " and " + shown(read.reader) + " both read " +
                          of_key(key) + " as " + shown(order.elements, length) +
                          " and both appended to it");
        }
      }
      // Reads of a transaction follow each other; the same version once is enough.
      if (!order.reads.empty() && order.reads.back().reader == read.reader &&
          order.reads.back().length == length) {
        order.reads.back().range &= read.range;
      } else {
        order.reads.push_back({read.reader, length, read.range});
      }
    }
    for (size_t i = 0; i < order.elements.size(); ++i) {
      const Append& append = appends_.find(order.elements[i])->second;
      order.writers.push_back(append.writer);
      if (append.position > 0) check_own_order(order, append);
    }
    places_.emplace(key, orders_.keys.size());
    orders_.keys.push_back(std::move(order));
  }

  void check_intermediate(Key key, const ReadOf& read, Element last) {
    const Append& append = appends_.find(last)->second;
    if (append.last || append.writer == read.reader) return;
    anomalies_.add(AnomalyKind::kIntermediateRead, shown(read.reader) + " read " + of_key(key) +
                                                       " up to element " + std::to_string(last) +
                                                       ", but its writer " + shown(append.writer) +
                                                       " appended more to it");
  }

  // A transaction's element, not its first of the key: the one before it must stand before it.
  void check_own_order(const KeyOrder& order, const Append& append) {
    const size_t end = order.writers.size() - 1;
    for (size_t i = end; i > 0; --i) {
      if (order.writers[i - 1] != append.writer) continue;
      const Append& before = appends_.find(order.elements[i - 1])->second;
      if (before.position + 1 == append.position) return;
      break;
    }
    anomalies_.add(AnomalyKind::kIncompatibleOrder,
                   of_key(order.key) + " has element " + std::to_string(order.elements[end]) +
                       " of " + shown(append.writer) + " not behind the one that " +
                       shown(append.writer) +
                       " appended before it: " + shown(order.elements, order.elements.size()));
  }

  // Appends that count and that nobody read: lost where there is a last read.
  void place_unread() {
    for (Index i = 0; i < history_.transactions.size(); ++i) {
      if (orders_.roles[i] != Role::kCommitted) continue;
      for (const Operation& operation : at(i).operations) {
        if (operation.kind != Kind::kAppend) continue;
        if (history_.last_read.has_value() && !final_.contains(operation.element)) {
          anomalies_.add(AnomalyKind::kLostElement,
                         "element " + std::to_string(operation.element) + " that " + shown(i) +
                             " appended to " + of_key(operation.key) + " is not in the last read");
          continue;
        }
        if (appends_.find(operation.element)->second.read) continue;
        const auto [place, added] = places_.emplace(operation.key, orders_.keys.size());
        if (added) orders_.keys.emplace_back().key = operation.key;
        std::vector<Index>& unread = orders_.keys[place->second].unread;
        if (unread.empty() || unread.back() != i) unread.push_back(i);
      }
    }
  }

  const History& history_;
  const Level level_;
  const CheckOptions& options_;
  Orders& orders_;
  Anomalies& anomalies_;
  std::unordered_map<Element, Append> appends_;
  std::unordered_set<Element> final_;                    // what the last read holds
  std::map<Key, std::vector<ReadOf>> reads_;             // of transactions that count
  std::unordered_map<Key, size_t> places_;               // in orders_.keys
  std::set<std::pair<AnomalyKind, uint64_t>> reported_;  // with an element or a key
};

}  // namespace

bool find_orders(const History& history, Level level, const CheckOptions& options, Orders* orders,
                 Anomalies* anomalies) {
  return Finder(history, level, options, orders, anomalies).find();
}

}  // namespace hawthorn::history
