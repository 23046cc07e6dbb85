// A filter removes what is over in the background: here sessions whose time has passed, which
// stand in their values. Until it comes to an entry, that is there as before.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "must.h"

namespace {
std::atomic<uint64_t> now{100};

class Expired : public hawthorn::FlushFilter {
 public:
  std::string_view name() const override { return "expired"; }
  Decision filter(std::string_view, std::string_view value, std::string*) override {
    return std::stoull(std::string(value)) < now ? Decision::kRemove : Decision::kKeep;
  }
};
}  // namespace

int main(int argc, char** argv) {
  fresh_database(argc, argv).reset();
  hawthorn::Options options;
  options.flush_filters["sessions"] = std::make_shared<Expired>();
  auto db = must(hawthorn::Db::open(argc > 1 ? argv[1] : "example.db", options));
  const hawthorn::Tree sessions = must(db->tree("sessions"));
  for (uint64_t end = 200; end < 1200; ++end) {
    must(db->put(sessions, std::to_string(end), std::to_string(end)));
  }
  {
    const hawthorn::Snapshot before = db->snapshot();
    now = 700;
    must(db->compact());  // without it, sooner or later behind a flush
    must(must(db->count(sessions, "", std::nullopt)) == 500);
    must(must(db->count(sessions, "", std::nullopt, {.snapshot = &before})) == 1000);
  }
  must(db->close());
}
