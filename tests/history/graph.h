#pragma once
// A directed graph whose edges have kinds: strongly connected components and shortest cycles of it
// under a rule that says which edges a cycle may use.
//
// Not here: what nodes and edges stand for (checker.cc). Used by checker.cc only. Threads: one.
//
// 1. Nodes from `first_relay` on are relays: they stand for many edges at once (everything that had
//    ended before something began). An edge into a relay counts as one step and has a kind; edges
//    out of relays are kRelay and are free. Relays alone form no cycle.
// 2. Where rw edges must stand apart, the search walks over states: a node, and whether the walk
//    came to it by an rw edge. A closed walk of states is then exactly a closed walk of nodes
//    without two rw edges in a row, its ends included.

#include <cstdint>
#include <vector>

namespace hawthorn::history {

enum class EdgeKind : uint8_t { kWw, kWr, kRw, kRwRange, kRealTime, kSession, kRelay };

struct Edge {
  uint32_t from = 0;
  uint32_t to = 0;
  // For explanations: which key's order, and the position in it that the edge is about.
  uint32_t order = 0;
  uint32_t position = 0;
  EdgeKind kind = EdgeKind::kWw;
};

inline bool is_rw(EdgeKind kind) { return kind == EdgeKind::kRw || kind == EdgeKind::kRwRange; }

struct CycleRule {
  uint32_t kinds = 0;  // a bit for each kind that a cycle may use; kRelay always
  bool rw_apart = false;
  bool allows(EdgeKind kind) const {
    return kind == EdgeKind::kRelay || (kinds >> static_cast<uint32_t>(kind) & 1) != 0;
  }
};

class Graph {
 public:
  // `nodes` includes the relays.
  Graph(uint32_t nodes, uint32_t first_relay, std::vector<Edge> edges);

  using State = uint32_t;  // 2 * node + whether the walk came by an rw edge

  // Components of more than one state.
  std::vector<std::vector<State>> components(const CycleRule& rule);
  // The shortest cycle through the state, inside of the component that it was given in by the last
  // call of components(); the edges in their order. Empty: the state is a relay's.
  std::vector<Edge> shortest_cycle(const CycleRule& rule, State start);

 private:
  // Whether a walk may leave the state by the edge, and which state that leads to.
  static bool follow(const CycleRule& rule, State from, const Edge& edge, State* to);

  const uint32_t nodes_;
  const uint32_t first_relay_;
  std::vector<Edge> edges_;  // by `from`
  std::vector<uint32_t> offsets_;
  std::vector<uint32_t> component_;  // of each state; 0: none of more than one
  // Of shortest_cycle; entries of another round are not valid.
  struct Visit {
    uint32_t round = 0;
    uint32_t distance = 0;
    State before = 0;
    uint32_t edge = 0;
  };
  std::vector<Visit> visits_;
  uint32_t round_ = 0;
};

}  // namespace hawthorn::history
