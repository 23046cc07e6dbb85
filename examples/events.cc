// A listener is told of flushes, stalls, errors and changes of trees, on a thread of the database,
// and may use the database itself. Here: a page is due when writing has ended for good, and a list
// of trees is kept up to date without asking.

#include <mutex>
#include <set>
#include <string>

#include "must.h"

namespace {
class Watch : public hawthorn::EventListener {
 public:
  void on_tree_changed(const hawthorn::TreeChanged& e) override {
    const std::lock_guard lock(mutex_);
    if (e.change == hawthorn::TreeChanged::Change::kRenamed) trees_.erase(e.former_name);
    if (e.change == hawthorn::TreeChanged::Change::kDropped) {
      trees_.erase(e.name);
    } else {
      trees_.insert(e.name);
    }
  }
  void on_background_error(const hawthorn::BackgroundError& e) override {
    std::fprintf(stderr, "%s%s\n", e.status.to_string().c_str(), e.read_only ? ", for good" : "");
  }
  void on_flush_completed(const hawthorn::FlushCompleted& e) override {
    std::printf("flushed %llu bytes of %s\n", static_cast<unsigned long long>(e.delta_bytes),
                e.tree_name.empty() ? "the catalog" : e.tree_name.c_str());
  }
  void on_closed(const hawthorn::Closed&) override { std::puts("closed"); }

  std::set<std::string> trees() {
    const std::lock_guard lock(mutex_);
    return trees_;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> trees_;
};
}  // namespace

int main(int argc, char** argv) {
  fresh_database(argc, argv).reset();
  const auto watch = std::make_shared<Watch>();
  hawthorn::Options options;
  options.listeners.push_back(watch);
  auto db = must(hawthorn::Db::open(argc > 1 ? argv[1] : "example.db", options));
  const hawthorn::Tree tree = must(db->tree("orders"));
  must(db->tree("scratch"));
  must(db->put(tree, "1", "a book"));
  must(db->rename_tree("orders", "orders of today"));
  must(db->drop_tree("scratch"));
  must(db->close());  // all that was told has arrived when it returns
  must(watch->trees() == std::set<std::string>{"orders of today"});
}
