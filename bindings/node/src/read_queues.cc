#include "addon.h"
namespace hawthorn_node {
void add_read_queues(std::vector<Function>&) {}
}  // namespace hawthorn_node
