#include "tests/history/graph.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace hawthorn::history {

Graph::Graph(uint32_t nodes, uint32_t first_relay, std::vector<Edge> edges)
    : nodes_(nodes), first_relay_(first_relay), offsets_(nodes + 1) {
  for (const Edge& edge : edges) ++offsets_[edge.from + 1];
  for (uint32_t node = 0; node < nodes; ++node) offsets_[node + 1] += offsets_[node];
  std::vector<uint32_t> next(offsets_.begin(), offsets_.end() - 1);
  edges_.resize(edges.size());
  for (const Edge& edge : edges) edges_[next[edge.from]++] = edge;
}

bool Graph::follow(const CycleRule& rule, State from, const Edge& edge, State* to) {
  if (!rule.allows(edge.kind)) return false;
  const bool by_rw = (from & 1) != 0;
  bool rw = false;
  if (edge.kind == EdgeKind::kRelay) {
    rw = by_rw;
  } else if (rule.rw_apart && is_rw(edge.kind)) {
    if (by_rw) return false;
    rw = true;
  }
  *to = 2 * edge.to + (rw ? 1 : 0);
  return true;
}

// Tarjan's algorithm, with a stack of its own.
std::vector<std::vector<Graph::State>> Graph::components(const CycleRule& rule) {
  struct Frame {
    State state = 0;
    uint32_t edge = 0;  // the next one
  };
  const State states = 2 * nodes_;
  std::vector<uint32_t> number(states);  // in the order of discovery, from 1
  std::vector<uint32_t> low(states);
  std::vector<bool> on_stack(states);
  std::vector<State> stack;
  std::vector<Frame> frames;
  std::vector<std::vector<State>> found;
  component_.assign(states, 0);
  uint32_t last = 0;
  const auto enter = [&](State state) {
    number[state] = low[state] = ++last;
    on_stack[state] = true;
    stack.push_back(state);
    frames.push_back({state, offsets_[state / 2]});
  };
  // States with rw that nothing leads to are no part of a cycle; starting there does no harm.
  for (State root = 0; root < states; ++root) {
    if (number[root] != 0) continue;
    enter(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const State state = frame.state;
      State to = 0;
      if (frame.edge < offsets_[state / 2 + 1]) {
        if (!follow(rule, state, edges_[frame.edge++], &to)) continue;
        if (number[to] == 0) {
          enter(to);
        } else if (on_stack[to]) {
          low[state] = std::min(low[state], number[to]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) {
        low[frames.back().state] = std::min(low[frames.back().state], low[state]);
      }
      if (low[state] != number[state]) continue;
      const auto begin = std::find(stack.rbegin(), stack.rend(), state).base() - 1;
      for (auto member = begin; member != stack.end(); ++member) on_stack[*member] = false;
      if (stack.end() - begin > 1) {
        found.emplace_back(begin, stack.end());
        for (const State member : found.back()) {
          component_[member] = static_cast<uint32_t>(found.size());
        }
      }
      stack.erase(begin, stack.end());
    }
  }
  return found;
}

std::vector<Edge> Graph::shortest_cycle(const CycleRule& rule, State start) {
  if (start / 2 >= first_relay_) return {};
  constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();
  visits_.resize(2 * size_t{nodes_});
  ++round_;
  std::deque<State> queue{start};
  // The start is not visited at distance 0: the walk is over when it comes back.
  const auto distance_of = [&](State state) {
    return visits_[state].round == round_ ? visits_[state].distance : kFar;
  };
  bool first = true;
  while (!queue.empty()) {
    const State state = queue.front();
    queue.pop_front();
    const uint32_t distance = first ? 0 : visits_[state].distance;
    if (!first && state == start) break;
    first = false;
    for (uint32_t edge = offsets_[state / 2]; edge < offsets_[state / 2 + 1]; ++edge) {
      State to = 0;
      if (!follow(rule, state, edges_[edge], &to) || component_[to] != component_[start]) continue;
      const bool free = edges_[edge].kind == EdgeKind::kRelay;
      const uint32_t next = distance + (free ? 0 : 1);
      if (next >= distance_of(to)) continue;
      visits_[to] = {round_, next, state, edge};
      if (free) {
        queue.push_front(to);
      } else {
        queue.push_back(to);
      }
    }
  }
  std::vector<Edge> cycle;
  if (visits_[start].round != round_) return cycle;
  State state = start;
  do {
    cycle.push_back(edges_[visits_[state].edge]);
    state = visits_[state].before;
  } while (state != start);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

}  // namespace hawthorn::history
