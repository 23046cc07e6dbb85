// A second database that is kept equal to a first one: a first copy, then the commits of the feed,
// here as bytes, as if they had come over a connection.

#include <deque>
#include <string>

#include "must.h"

using hawthorn::Db;
using hawthorn::Feed;
using hawthorn::FeedCommit;
using hawthorn::Options;
using hawthorn::Replica;
using hawthorn::Result;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::Tree;
using hawthorn::Value;

namespace {

// Pieces on their way.
std::deque<std::string> connection;

void send_all(Feed& feed) {
  while (FeedCommit* commit = must(feed.next(20))) {
    std::string piece;
    while (must(commit->encode(&piece))) connection.push_back(piece);
  }
}

void receive_all(Replica& replica) {
  std::string piece;
  while (!connection.empty()) {
    must(replica.apply([&]() -> Result<std::string_view> {
      if (connection.empty()) return Status(StatusCode::kIoError, "the connection is gone");
      piece = std::move(connection.front());
      connection.pop_front();
      return std::string_view(piece);
    }));
  }
}

std::string get(Db& db, const char* key) {
  Value value;
  must(db.get(must(db.find_tree("t")), key, value));
  return value.to_string();
}

}  // namespace

int main(int argc, char** argv) {
  auto source = fresh_database(argc, argv);
  const Tree tree = must(source->tree("t"));
  must(source->put(tree, "before", "1"));

  const std::string path = std::string(argc > 1 ? argv[1] : "example.db") + ".replica";
  const Status removed = Db::destroy(path);
  if (!removed.is_not_found()) must(removed);
  auto target = must(Db::open(path, Options()));
  auto replica = must(Replica::open(*target));
  must(source->create_feed("replica"));  // before the copy: nothing is missed
  must(replica->copy(*source));
  must(get(*target, "before") == "1");

  Feed feed = must(source->open_feed("replica"));
  must(source->put(tree, "a", "2"));
  must(source->put(tree, "large", std::string(200'000, 'l')));
  must(source->rename_tree("t", "u"));
  must(source->rename_tree("u", "t"));
  send_all(feed);
  receive_all(*replica);
  must(get(*target, "a") == "2" && get(*target, "large").size() == 200'000);

  // The replica tells how far it has come; only then may the source forget.
  must(feed.acknowledge(replica->position()));
  feed = Feed();
  replica.reset();
  must(target->close());
  must(source->close());
}
