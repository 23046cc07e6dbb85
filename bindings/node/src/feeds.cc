#include "addon.h"
namespace hawthorn_node {
void add_feeds(std::vector<Function>&) {}
}  // namespace hawthorn_node
