// web: a page of this machine that shows a database, until somebody ends it.

#include "tools/command.h"
#include "tools/http_server.h"
#include "tools/json.h"
#include "tools/web_api.h"

namespace hawthorn::tools {

Status run_web(const CommonOptions& common, const WebOptions& options) {
  Result<WatchedDatabase> database = open_watched(common);
  if (!database.ok()) return database.status();
  const WebApi api(*std::move(database));
  const EndSignals end;
  const Result<std::unique_ptr<HttpServer>> server =
      HttpServer::start({.port = options.port, .same_user = true},
                        [&api](const HttpRequest& request) { return api.answer(request); });
  if (!server.ok()) return server.status();
  Json json;
  json.begin_object().field("url", (*server)->url()).end_object();
  Status status = print_line(common.json ? json.text() : (*server)->url());
  if (status.ok()) end.wait();
  return status;
}

}  // namespace hawthorn::tools
