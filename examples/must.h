#pragma once
// How the examples treat errors: they say what went wrong and end. A program that lives longer
// looks at Status::code() instead. Used by all examples.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "hawthorn/hawthorn.h"

inline void must(const hawthorn::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}

template <typename T>
T must(hawthorn::Result<T> result) {
  must(result.status());
  return std::move(result).value();
}

inline void must(bool truth) {
  if (truth) return;
  std::fprintf(stderr, "the example does not hold\n");
  std::exit(1);
}

// A new, empty database in the directory that the first argument names.
inline std::unique_ptr<hawthorn::Db> fresh_database(int argc, char** argv,
                                                    const hawthorn::Options& options = {}) {
  const std::string directory = argc > 1 ? argv[1] : "example.db";
  const hawthorn::Status removed = hawthorn::Db::destroy(directory);
  if (!removed.is_not_found()) must(removed);
  return must(hawthorn::Db::open(directory, options));
}
