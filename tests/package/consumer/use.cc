// Writes and reads one entry through an installed library: use DIRECTORY
#include <cstdio>

#include "hawthorn/hawthorn.h"

int main(int, char** argv) {
  auto db = hawthorn::Db::open(argv[1], {});
  if (!db.ok()) {
    std::fprintf(stderr, "%s\n", db.status().to_string().c_str());
    return 1;
  }
  hawthorn::Tree tree = (*db)->tree("main").value();
  hawthorn::Value value;
  hawthorn::Status status = (*db)->put(tree, "key", "value");
  if (status.ok()) status = (*db)->get(tree, "key", value);
  std::printf("%s %s\n", std::string(hawthorn::version()).c_str(), value.to_string().c_str());
  value.reset();
  if (status.ok()) status = (*db)->close();
  return status.ok() ? 0 : 1;
}
