#include "tests/history/checker.h"

#include <algorithm>
#include <map>

#include "tests/history/graph.h"
#include "tests/history/orders.h"

namespace hawthorn::history {
namespace {

using Role = Orders::Role;

constexpr uint32_t bit(EdgeKind kind) { return uint32_t{1} << static_cast<uint32_t>(kind); }

// From these many starts in a component the shortest cycle is looked for.
constexpr size_t kStartsMax = 64;
// So many appends that nobody read get an edge each from each reader; more share a relay.
constexpr size_t kDirectMax = 4;

class Dependencies {
 public:
  Dependencies(const History& history, const Orders& orders, const CheckOptions& options)
      : history_(history),
        orders_(orders),
        first_relay_(static_cast<uint32_t>(history.transactions.size())),
        nodes_(first_relay_) {
    for (uint32_t order = 0; order < orders.keys.size(); ++order) add_order(order);
    if (options.real_time) add_real_time();
    if (options.session_order) add_sessions();
  }

  Graph graph() { return Graph(nodes_, first_relay_, std::move(edges_)); }

  struct Step {
    Edge edge;
    uint32_t to = 0;  // behind relays
  };
  std::vector<Step> steps_of(const std::vector<Edge>& cycle) const {
    // Begins with an edge that leaves a transaction: relays belong to the edge before them.
    std::vector<Step> steps;
    for (const Edge& edge : cycle) {
      if (edge.kind != EdgeKind::kRelay) {
        steps.push_back({edge, edge.to});
      } else if (!steps.empty()) {
        steps.back().to = edge.to;
      }
    }
    return steps;
  }

  // Begins with the transaction of the lowest id.
  std::string explain(std::vector<Step> steps) const {
    const auto first = std::min_element(
        steps.begin(), steps.end(),
        [&](const Step& a, const Step& b) { return at(a.edge.from).id < at(b.edge.from).id; });
    std::rotate(steps.begin(), first, steps.end());
    std::string text;
    for (const Step& step : steps) text += (text.empty() ? "" : "; ") + explain(step);
    return text;
  }

 private:
  const Transaction& at(Index index) const { return history_.transactions[index]; }
  std::string shown(Index index) const { return "T" + std::to_string(at(index).id); }

  void add(Index from, uint32_t to, EdgeKind kind, uint32_t order = 0, size_t position = 0) {
    if (from != to) edges_.push_back({from, to, order, static_cast<uint32_t>(position), kind});
  }

  void add_order(uint32_t number) {
    const KeyOrder& order = orders_.keys[number];
    const std::vector<Index>& writers = order.writers;
    for (size_t i = 1; i < writers.size(); ++i) {
      add(writers[i - 1], writers[i], EdgeKind::kWw, number, i);
    }
    for (const Index writer : order.unread) {
      if (!writers.empty()) add(writers.back(), writer, EdgeKind::kWw, number, writers.size());
    }
    const bool shared = order.unread.size() > kDirectMax;
    const uint32_t relay = nodes_;
    if (shared) {
      ++nodes_;
      for (const Index writer : order.unread) add(relay, writer, EdgeKind::kRelay);
    }
    for (const VersionRead& read : order.reads) {
      const EdgeKind rw = read.range ? EdgeKind::kRwRange : EdgeKind::kRw;
      if (read.length > 0) {
        add(writers[read.length - 1], read.reader, EdgeKind::kWr, number, read.length - 1);
      }
      if (read.length < writers.size()) {
        add(read.reader, writers[read.length], rw, number, read.length);
        continue;
      }
      // One that appended itself must not come to itself by the relay. There are several such only
      // where an update was lost, which is found anyway: edges to a few of them are enough.
      const auto& unread = order.unread;
      if (shared && std::find(unread.begin(), unread.end(), read.reader) == unread.end()) {
        add(read.reader, relay, rw, number, read.length);
        continue;
      }
      for (size_t i = 0; i < std::min(unread.size(), kDirectMax); ++i) {
        add(read.reader, unread[i], rw, number, read.length);
      }
    }
  }

  std::vector<Index> counting() const {
    std::vector<Index> list;
    for (Index i = 0; i < orders_.roles.size(); ++i) {
      if (orders_.roles[i] != Role::kNone) list.push_back(i);
    }
    return list;
  }

  // A chain of relays, one for each end: whatever ended leads into the chain, and whatever began
  // later is reached from it.
  void add_real_time() {
    std::vector<Index> begins = counting();
    std::vector<Index> ends;
    for (const Index i : begins) {
      if (at(i).end != kNever) ends.push_back(i);
    }
    std::sort(begins.begin(), begins.end(),
              [&](Index a, Index b) { return at(a).begin < at(b).begin; });
    std::sort(ends.begin(), ends.end(), [&](Index a, Index b) { return at(a).end < at(b).end; });
    const uint32_t chain = nodes_;
    nodes_ += static_cast<uint32_t>(ends.size());
    uint32_t ended = 0;
    for (const Index i : begins) {
      for (; ended < ends.size() && at(ends[ended]).end < at(i).begin; ++ended) {
        add(ends[ended], chain + ended, EdgeKind::kRealTime);
        if (ended > 0) add(chain + ended - 1, chain + ended, EdgeKind::kRelay);
      }
      if (ended > 0) add(chain + ended - 1, i, EdgeKind::kRelay);
    }
  }

  void add_sessions() {
    std::vector<Index> sorted = counting();
    std::sort(sorted.begin(), sorted.end(), [&](Index a, Index b) {
      return std::pair(at(a).process, at(a).begin) < std::pair(at(b).process, at(b).begin);
    });
    for (size_t i = 1; i < sorted.size(); ++i) {
      const Transaction& before = at(sorted[i - 1]);
      const Transaction& after = at(sorted[i]);
      if (before.process == after.process && before.end < after.begin) {
        add(sorted[i - 1], sorted[i], EdgeKind::kSession);
      }
    }
  }

  std::string explain(const Step& step) const {
    const Edge& edge = step.edge;
    const std::string from = shown(edge.from);
    const std::string to = shown(step.to);
    if (edge.kind == EdgeKind::kRealTime) {
      return from + " -rt-> " + to + ": " + from + " ended at " +
             std::to_string(at(edge.from).end) + ", " + to + " began at " +
             std::to_string(at(step.to).begin);
    }
    if (edge.kind == EdgeKind::kSession) {
      return from + " -so-> " + to + ": " + from + " ran before " + to + " in process " +
             std::to_string(at(step.to).process);
    }
    const KeyOrder& order = orders_.keys[edge.order];
    const std::string key = "key " + std::to_string(order.key);
    const auto element = [&](size_t position) { return std::to_string(order.elements[position]); };
    const bool unread = edge.position == order.elements.size();
    switch (edge.kind) {
      case EdgeKind::kWw:
        return from + " -ww-> " + to + ": " + to + " appended " +
               (unread ? "what nobody read" : element(edge.position)) + " to " + key + ", behind " +
               element(edge.position - 1) + " of " + from;
      case EdgeKind::kWr:
        return from + " -wr-> " + to + ": " + to + " read " + key + " up to " +
               element(edge.position) + ", which " + from + " appended";
      default:
        return from + " -rw-> " + to + ": " + from + " read " +
               (edge.kind == EdgeKind::kRwRange ? "a range, with " : "") + key +
               (edge.position == 0 ? " empty" : " up to " + element(edge.position - 1)) +
               ", without " +
               (unread ? "what " + to + " appended and nobody read"
                       : element(edge.position) + " that " + to + " appended");
    }
  }

  const History& history_;
  const Orders& orders_;
  const uint32_t first_relay_;
  uint32_t nodes_;
  std::vector<Edge> edges_;
};

struct Class {
  AnomalyKind kind = AnomalyKind::kG0;
  std::string name;
};

Class class_of(const std::vector<Dependencies::Step>& steps) {
  uint32_t kinds = 0;
  size_t rw = 0;
  bool in_a_row = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const EdgeKind kind = steps[i].edge.kind;
    kinds |= bit(kind);
    if (!is_rw(kind)) continue;
    ++rw;
    in_a_row |= is_rw(steps[(i + 1) % steps.size()].edge.kind);
  }
  Class found;
  if (rw == 0) {
    found.kind = (kinds & bit(EdgeKind::kWr)) != 0 ? AnomalyKind::kG1c : AnomalyKind::kG0;
  } else if (!in_a_row) {
    found.kind = rw == 1 ? AnomalyKind::kGSingle : AnomalyKind::kGNonadjacent;
  } else {
    found.kind = (kinds & bit(EdgeKind::kRwRange)) != 0 ? AnomalyKind::kG2 : AnomalyKind::kG2Item;
  }
  found.name = name_of(found.kind);
  if ((kinds & bit(EdgeKind::kRealTime)) != 0) {
    found.name += "-realtime";
  } else if ((kinds & bit(EdgeKind::kSession)) != 0) {
    found.name += "-session";
  }
  return found;
}

struct Search {
  CycleRule rule;
  std::vector<AnomalyKind> kinds;  // what it looks for; others are left to the searches before it
};

// From the narrowest graph to the widest: a component of a later one that has no cycle of the kinds
// looked for there has one that an earlier search has reported.
std::vector<Search> searches_of(Level level) {
  const uint32_t orders = bit(EdgeKind::kRealTime) | bit(EdgeKind::kSession);
  const uint32_t ww = orders | bit(EdgeKind::kWw);
  const uint32_t wr = ww | bit(EdgeKind::kWr);
  const uint32_t all = wr | bit(EdgeKind::kRw) | bit(EdgeKind::kRwRange);
  std::vector<Search> searches{{{ww, false}, {AnomalyKind::kG0}},
                               {{wr, false}, {AnomalyKind::kG1c}}};
  if (level >= Level::kSnapshot) {
    searches.push_back({{all, true}, {AnomalyKind::kGSingle, AnomalyKind::kGNonadjacent}});
  }
  if (level >= Level::kSerializable) {
    searches.push_back({{all, false}, {AnomalyKind::kG2Item, AnomalyKind::kG2}});
  }
  return searches;
}

void find_cycles(Graph& graph, const Dependencies& dependencies, const Search& search,
                 Anomalies* anomalies) {
  struct Found {
    Class of;
    std::vector<Dependencies::Step> steps;
  };
  for (const std::vector<Graph::State>& component : graph.components(search.rule)) {
    std::map<AnomalyKind, Found> best;
    // Relays give no start: they are passed over until there is one.
    const size_t step = std::max<size_t>(1, component.size() / kStartsMax);
    size_t next = 0;
    for (size_t i = 0; i < component.size(); ++i) {
      if (i < next) continue;
      const auto steps = dependencies.steps_of(graph.shortest_cycle(search.rule, component[i]));
      if (steps.empty()) continue;
      next = i + step;
      const Class of = class_of(steps);
      if (std::find(search.kinds.begin(), search.kinds.end(), of.kind) == search.kinds.end()) {
        continue;
      }
      Found& found = best[of.kind];
      if (found.steps.empty() || steps.size() < found.steps.size()) found = {of, steps};
    }
    for (const auto& [kind, found] : best) {
      anomalies->add(kind, found.of.name, dependencies.explain(found.steps));
    }
  }
}

}  // namespace

std::string_view name_of(AnomalyKind kind) {
  switch (kind) {
    case AnomalyKind::kMalformed:
      return "malformed";
    case AnomalyKind::kDuplicateElement:
      return "duplicate-element";
    case AnomalyKind::kUnwrittenElement:
      return "unwritten-element";
    case AnomalyKind::kIncompatibleOrder:
      return "incompatible-order";
    case AnomalyKind::kLostElement:
      return "lost-element";
    case AnomalyKind::kAbortedRead:
      return "G1a";
    case AnomalyKind::kIntermediateRead:
      return "G1b";
    case AnomalyKind::kG0:
      return "G0";
    case AnomalyKind::kG1c:
      return "G1c";
    case AnomalyKind::kInternal:
      return "internal";
    case AnomalyKind::kLostUpdate:
      return "lost-update";
    case AnomalyKind::kGSingle:
      return "G-single";
    case AnomalyKind::kGNonadjacent:
      return "G-nonadjacent";
    case AnomalyKind::kG2Item:
      return "G2-item";
    case AnomalyKind::kG2:
      break;
  }
  return "G2";
}

std::vector<Anomaly> check(const History& history, Level level, const CheckOptions& options) {
  Anomalies anomalies(options.per_kind_max);
  Orders orders;
  if (!find_orders(history, level, options, &orders, &anomalies)) return anomalies.take();
  Dependencies dependencies(history, orders, options);
  Graph graph = dependencies.graph();
  for (const Search& search : searches_of(level)) {
    find_cycles(graph, dependencies, search, &anomalies);
  }
  return anomalies.take();
}

std::string to_text(const std::vector<Anomaly>& anomalies) {
  std::string text;
  for (const Anomaly& anomaly : anomalies) text += anomaly.name + ": " + anomaly.explanation + "\n";
  return text;
}

}  // namespace hawthorn::history
