#pragma once
// What several files of src/c show of trees. Threads: any.

#include <string>
#include <string_view>
#include <vector>

#include "c/records.h"
#include "hawthorn/hawthorn.h"

namespace hawthorn::c {

// Adds the fields of a tree's options.
void show_tree_options(const TreeOptions& options, Row* row);
// A row for each name, with this field; `out` may be null.
Status hand_out_names(std::string_view field, Result<std::vector<std::string>> names,
                      hawthorn_records** out);

}  // namespace hawthorn::c
