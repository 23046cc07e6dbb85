// An index of words that follows a tree of texts by its change feed: what was indexed is
// acknowledged, and after a restart the index goes on from there. A hook of commits refuses texts
// that nobody could index.

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "must.h"

using hawthorn::ChangeType;
using hawthorn::CommitHook;
using hawthorn::CommitInfo;
using hawthorn::Db;
using hawthorn::Feed;
using hawthorn::FeedChange;
using hawthorn::FeedCommit;
using hawthorn::Options;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::Tree;

namespace {

class Index {
 public:
  void apply(FeedCommit& commit) {
    FeedChange change;
    while (must(commit.next(&change))) {
      if (change.tree->name != "texts") continue;
      const std::string key(change.key);
      if (change.type == ChangeType::kPut || change.type == ChangeType::kDelete) {
        for (auto& [word, keys] : words_) keys.erase(key);
      }
      if (change.type != ChangeType::kPut) continue;
      std::istringstream text{std::string(change.value)};
      for (std::string word; text >> word;) words_[word].insert(key);
    }
  }
  size_t count(const std::string& word) { return words_[word].size(); }

 private:
  std::map<std::string, std::set<std::string>> words_;
};

void catch_up(Db& db, Index& index) {
  Feed feed = must(db.open_feed("index"));
  // Returns when nothing came for 20 milliseconds; a program that follows for good asks again.
  while (FeedCommit* commit = must(feed.next(20))) {
    index.apply(*commit);
    must(feed.acknowledge(commit->cts()));
  }
}

class SmallCommits : public CommitHook {
 public:
  Status before(const CommitInfo& info) override {
    return info.operations <= 100 ? Status()
                                  : Status(StatusCode::kInvalidArgument, "at most 100 at once");
  }
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.commit_hooks = {std::make_shared<SmallCommits>()};
  Index index;  // a real one would be stored somewhere, together with the feed's position
  {
    auto db = fresh_database(argc, argv, options);
    const Tree texts = must(db->tree("texts"));
    must(db->create_feed("index"));
    must(db->put(texts, "1", "the hawthorn flowers"));
    must(db->put(texts, "2", "the database of the hawthorn"));
    catch_up(*db, index);
    must(index.count("hawthorn") == 2 && index.count("the") == 2);

    must(db->put(texts, "1", "the rose flowers"));
    must(db->del(texts, "2"));
    must(db->close());  // the log stays, as the feed has not seen the last two commits
  }
  auto db = must(Db::open(argc > 1 ? argv[1] : "example.db", options));
  catch_up(*db, index);
  must(index.count("hawthorn") == 0 && index.count("rose") == 1 && index.count("the") == 1);

  const Tree texts = must(db->find_tree("texts"));
  hawthorn::WriteBatch many;
  for (int i = 0; i < 101; ++i) many.put(texts, std::to_string(i), "too many");
  must(db->write(many).code() == StatusCode::kInvalidArgument);
  catch_up(*db, index);
  must(index.count("many") == 0);

  must(db->drop_feed("index"));
  must(db->close());
}
