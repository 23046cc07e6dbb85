#pragma once
// What `hawthorn web` answers: the files of the page, and below /api/ the database as JSON.
//
// Not here: HTTP (http_server.h), the page (web/). Threads: every function from any thread.
//
// 1. Nothing is written to the database.
// 2. All bytes of a database, names of trees among them, are hexadecimal, in parameters and in
//    answers, so that none is lost, and none is taken for anything else.
// 3. An answer has limits, in entries and in bytes; where more is there, `next` says where to go
// on.
// 4. Each answer is of one moment of its own.
//
//   /api/trees?from=&limit=
//   /api/entries?tree=&sub=&from=&from_value=&skip=&limit=&reverse=&preview=
//   /api/value?tree=&sub=&key=&offset=&size=
//   /api/containers?tree=&sub=&from=&limit=
//   /api/explain?tree=&sub=&key=
//   /api/metrics
//
// `tree` is the name, and `sub` the keys, with commas between, at which one gets from there to a
// subtree.

#include <memory>
#include <string>

#include "tools/command.h"
#include "tools/http_server.h"

namespace hawthorn::tools {

class WebApi {
 public:
  explicit WebApi(WatchedDatabase database) : database_(std::move(database)) {
    if (database_.follower) database_.db.reset();  // the first view; later ones replace it
  }

  HttpResponse answer(const HttpRequest& request) const;

 private:
  using Answer = Result<std::string> (WebApi::*)(Db& db, const HttpRequest& request) const;

  Result<std::string> trees(Db& db, const HttpRequest& request) const;
  Result<std::string> entries(Db& db, const HttpRequest& request) const;
  Result<std::string> value(Db& db, const HttpRequest& request) const;
  Result<std::string> containers(Db& db, const HttpRequest& request) const;
  Result<std::string> explain(Db& db, const HttpRequest& request) const;
  // `gone_on`: of the follower, if there is one.
  Result<std::string> metrics(Db& db, const Status& gone_on) const;

  WatchedDatabase database_;
};

}  // namespace hawthorn::tools
