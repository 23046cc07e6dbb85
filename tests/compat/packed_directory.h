#pragma once
// A directory of files that are mostly zeros, kept small: their sectors of 512 bytes that are not
// all zeros, one behind the other, and a list of what lies where.
//
//   contents   lines of text: `file <name> <bytes>`, then for each stretch of its sectors that are
//              kept `at <offset> <bytes>`
//   sectors    the bytes of all stretches, in the order of the list
//
// Databases reserve 64 MB at a time, so that a small one has 130 MB of zeros. What is unpacked has
// the same bytes and the same sizes; where the zeros were it has holes.
//
// Not here: what the files mean. Used by the tests of this folder. Threads: none.
// Names have no spaces; there are no folders in the folder.

#include <string>

namespace hawthorn::tests {

// Both make `to`, and answer what went wrong; empty: nothing.
std::string pack_directory(const std::string& from, const std::string& to);
std::string unpack_directory(const std::string& from, const std::string& to);

}  // namespace hawthorn::tests
