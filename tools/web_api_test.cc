#include "tools/web_api.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "testing/temp_directory.h"
#include "tools/text.h"
#include "tools/web_request.h"

namespace hawthorn::tools {
namespace {

class WebApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open(path_, options);
    ASSERT_TRUE(db.ok()) << db.status().to_string();
    db_ = std::move(*db);
    api_ = std::make_unique<WebApi>(WatchedDatabase{db_, nullptr});
  }
  void TearDown() override {
    api_.reset();
    db_.reset();
  }

  Tree tree(const std::string& name, const TreeOptions& options = {}) {
    return db_->tree(name, options).value();
  }
  void put(const Tree& tree, std::string_view key, std::string_view value) {
    ASSERT_TRUE(db_->put(tree, key, value).ok());
  }
  // `query` as in an address; what stands in braces becomes hexadecimal digits.
  HttpResponse ask(const std::string& path, std::string query = "") {
    HttpRequest request{.path = path};
    for (size_t at = 0; at < query.size();) {
      const size_t end = std::min(query.find('&', at), query.size());
      const std::string field = query.substr(at, end - at);
      const size_t equals = field.find('=');
      std::string value = field.substr(equals + 1);
      for (size_t open; (open = value.find('{')) != std::string::npos;) {
        const size_t close = value.find('}');
        const std::string hex = hex_of(value.substr(open + 1, close - open - 1));
        value.replace(open, close - open + 1, hex);
      }
      request.parameters.emplace_back(field.substr(0, equals), value);
      at = end + 1;
    }
    return api_->answer(request);
  }
  // The keys of an answer, decoded.
  static std::vector<std::string> all_of(const std::string& json, const std::string& name) {
    std::vector<std::string> found;
    const std::string mark = "\"" + name + "\":\"";
    for (size_t at = 0; (at = json.find(mark, at)) != std::string::npos;) {
      at += mark.size();
      found.push_back(decode(Encoding::kHex, json.substr(at, json.find('"', at) - at)).value());
    }
    return found;
  }

  const hawthorn::testing::TempDirectory directory_;
  const std::string path_ = directory_ / "db";
  std::shared_ptr<Db> db_;
  std::unique_ptr<WebApi> api_;
};

using Strings = std::vector<std::string>;

TEST_F(WebApiTest, TheFilesOfThePage) {
  EXPECT_EQ(ask("/").type, "text/html; charset=utf-8");
  EXPECT_NE(ask("/").body.find("<!doctype html>"), std::string::npos);
  EXPECT_EQ(ask("/page.css").type, "text/css; charset=utf-8");
  EXPECT_EQ(ask("/page.js").type, "text/javascript; charset=utf-8");
  for (const char* path : {"/x", "/api", "/api/", "/api/nothing", "/../page.js", ""}) {
    EXPECT_EQ(ask(path).status, 404) << path;
  }
}

TEST_F(WebApiTest, ThePageMakesNoMarkupOfWhatItShows) {
  const std::string script = ask("/page.js").body;
  for (const char* way : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                          "new Function", "http://", "https://"}) {
    const bool is_name_of_svg = std::string(way) == "http://";
    const size_t at = script.find(way);
    if (is_name_of_svg) {
      EXPECT_EQ(script.find(way, script.find("http://www.w3.org/2000/svg") + 1),
                script.rfind("http://www.w3.org/2000/svg"));
    } else {
      EXPECT_EQ(at, std::string::npos) << way;
    }
  }
}

TEST_F(WebApiTest, Trees) {
  put(tree("main"), "a", "b");
  tree("edges", {.multi_value = true});
  tree(std::string("<b>\0", 4), {.order = "reverse"});
  const std::string body = ask("/api/trees").body;
  EXPECT_EQ(all_of(body, "name"), (Strings{std::string("<b>\0", 4), "edges", "main"}));
  EXPECT_NE(body.find("\"order\":\"reverse\""), std::string::npos);
  EXPECT_NE(body.find("\"multi_value\":true,\"value_order\":\"bytewise\""), std::string::npos);
  const std::string page = ask("/api/trees", "limit=1&from={c}").body;
  EXPECT_EQ(all_of(page, "name"), Strings{"edges"});
  EXPECT_EQ(all_of(page, "next"), Strings{"main"});
}

TEST_F(WebApiTest, EntriesInPagesAndBothDirections) {
  const Tree main = tree("main");
  for (const char* key : {"a", "b", "c", "d", "e"}) put(main, key, std::string("v") + key);
  std::string body = ask("/api/entries", "tree={main}&limit=2").body;
  EXPECT_EQ(all_of(body, "key"), (Strings{"a", "b"}));
  EXPECT_EQ(all_of(body, "value"), (Strings{"va", "vb"}));
  EXPECT_EQ(all_of(body, "from"), Strings{"c"});
  body = ask("/api/entries", "tree={main}&from={d}").body;
  EXPECT_EQ(all_of(body, "key"), (Strings{"d", "e"}));
  EXPECT_EQ(body.find("\"next\""), std::string::npos);
  EXPECT_EQ(all_of(ask("/api/entries", "tree={main}&reverse=1&from={cc}").body, "key"),
            (Strings{"c", "b", "a"}));
  EXPECT_EQ(all_of(ask("/api/entries", "tree={main}&skip=3").body, "key"), (Strings{"d", "e"}));
  EXPECT_EQ(all_of(ask("/api/entries", "tree={main}&reverse=1&skip=3").body, "key"),
            (Strings{"b", "a"}));
  body = ask("/api/entries", "tree={main}&preview=1&limit=1").body;
  EXPECT_EQ(all_of(body, "value"), Strings{"v"});
  EXPECT_NE(body.find("\"value_bytes\":2"), std::string::npos);
}

TEST_F(WebApiTest, PagesMeetEveryEntryOnceWhateverTheKeysAre) {
  const Tree main = tree("main");
  Strings keys;
  for (int i = 0; i < 60; ++i) {
    keys.push_back(std::string(static_cast<size_t>(1 + i % 3 * 3000), static_cast<char>('!' + i)));
    put(main, keys.back(), "v");
  }
  for (const bool reverse : {false, true}) {
    Strings seen;
    std::string next;
    do {
      const std::string body =
          ask("/api/entries",
              "tree={main}&limit=7" + std::string(reverse ? "&reverse=1" : "") + next)
              .body;
      for (std::string& key : all_of(body, "key")) seen.push_back(std::move(key));
      next.clear();
      const size_t at = body.find("\"next\":{");
      if (at == std::string::npos) break;
      const std::string said = body.substr(at);
      const Strings from = all_of(said, "from");
      if (!from.empty()) next += "&from={" + from[0] + "}";
      const size_t skip = said.find("\"skip\":");
      if (skip != std::string::npos)
        next += "&skip=" + said.substr(skip + 7, said.find('}') - skip - 7);
      ASSERT_LT(next.size(), 6000U);
    } while (true);
    if (reverse) std::reverse(seen.begin(), seen.end());
    EXPECT_EQ(seen, keys) << reverse;
  }
}

TEST_F(WebApiTest, SeveralValuesToAKey) {
  const Tree edges = tree("edges", {.multi_value = true});
  for (const char* value : {"1", "2", "3", "4"}) put(edges, "a", value);
  put(edges, "b", "5");
  const std::string at_a = "tree={edges}&from={a}&from_value=";
  std::string body = ask("/api/entries", "tree={edges}&limit=2").body;
  EXPECT_EQ(all_of(body, "value"), (Strings{"1", "2"}));
  EXPECT_EQ(all_of(body, "from_value"), Strings{"3"});
  EXPECT_EQ(all_of(ask("/api/entries", at_a + "{3}").body, "value"), (Strings{"3", "4", "5"}));
  EXPECT_EQ(all_of(ask("/api/entries", at_a + "{9}").body, "value"), Strings{"5"});
  EXPECT_EQ(all_of(ask("/api/entries", at_a + "{3}&reverse=1").body, "value"),
            (Strings{"3", "2", "1"}));
  EXPECT_EQ(all_of(ask("/api/entries", at_a + "{25}&reverse=1").body, "value"),
            (Strings{"2", "1"}));
  EXPECT_EQ(all_of(ask("/api/entries", at_a + "{9}&reverse=1").body, "value"),
            (Strings{"4", "3", "2", "1"}));
  EXPECT_EQ(ask("/api/value", "tree={edges}&key={a}").status, 501);
  ASSERT_TRUE(db_->flush().ok());
  body = ask("/api/containers", "tree={edges}").body;
  EXPECT_TRUE(body.starts_with("{\"keys_as_they_are\":false,\"containers\":[{")) << body;
  EXPECT_EQ(all_of(body, "low_key"), Strings{""});
  EXPECT_NE(body.find("\"entries_flushed\":5,"), std::string::npos) << body;
  tree("main");
  EXPECT_EQ(ask("/api/entries", "tree={main}&from={a}&from_value={1}").status, 400);
}

TEST_F(WebApiTest, Subtrees) {
  const Tree folders = tree("folders", {.subtrees = true});
  const Tree docs = db_->create_subtree(folders, "docs", {.subtrees = true}).value();
  put(db_->create_subtree(docs, "deep").value(), "k", "v");
  put(folders, "plain", "");
  EXPECT_NE(ask("/api/entries", "tree={folders}")
                .body.find("{\"key\":\"646f6373\",\"subtree\":true},{\"key\":\"706c61696e\","
                           "\"value_bytes\":0,\"value\":\"\"}"),
            std::string::npos);
  EXPECT_EQ(all_of(ask("/api/entries", "tree={folders}&sub={docs},{deep}").body, "value"),
            Strings{"v"});
  EXPECT_EQ(all_of(ask("/api/value", "tree={folders}&sub={docs},{deep}&key={k}").body, "value"),
            Strings{"v"});
  EXPECT_EQ(ask("/api/entries", "tree={folders}&sub={none}").status, 404);
  EXPECT_EQ(ask("/api/entries", "tree={folders}&sub={plain}").status / 100, 4);
  EXPECT_EQ(ask("/api/entries", "tree={folders}&sub=zz").status, 400);
}

TEST_F(WebApiTest, Values) {
  const Tree main = tree("main");
  const std::string large(3'000'000, 'x');
  put(main, "large", large);
  put(main, "", "of the empty key");
  EXPECT_EQ(all_of(ask("/api/value", "tree={main}&key=").body, "value"),
            Strings{"of the empty key"});
  std::string body = ask("/api/value", "tree={main}&key={large}").body;
  EXPECT_EQ(all_of(body, "value")[0].size(), 65536U);
  EXPECT_NE(body.find("\"value_bytes\":3000000"), std::string::npos);
  body = ask("/api/value", "tree={main}&key={large}&offset=2999990&size=1048576").body;
  EXPECT_EQ(all_of(body, "value"), Strings{"xxxxxxxxxx"});
  EXPECT_EQ(all_of(ask("/api/value", "tree={main}&key={large}&offset=4000000").body, "value"),
            Strings{""});
  EXPECT_EQ(ask("/api/value", "tree={main}&key={none}").status, 404);
}

TEST_F(WebApiTest, EntriesThatEnd) {
  const Tree sessions = tree("sessions", {.expires = true});
  ASSERT_TRUE(db_->put(sessions, "a", "v", Expiry::at_ms(4102444800000)).ok());
  ASSERT_TRUE(db_->put(sessions, "b", "w").ok());
  const std::string body = ask("/api/entries", "tree={sessions}").body;
  EXPECT_NE(body.find("\"value\":\"76\",\"expires_at\":4102444800000}"), std::string::npos) << body;
  EXPECT_NE(body.find("\"value\":\"77\"}"), std::string::npos) << body;
  EXPECT_NE(ask("/api/value", "tree={sessions}&key={a}").body.find("\"expires_at\":4102444800000"),
            std::string::npos);
}

TEST_F(WebApiTest, TheMapWalksFromContainerToContainer) {
  const Tree main = tree("main");
  for (int i = 0; i < 60'000; ++i) put(main, std::to_string(1'000'000 + i), std::string(100, 'v'));
  ASSERT_TRUE(db_->flush().ok());
  put(main, "1000000", "anew");
  const std::string whole = ask("/api/containers", "tree={main}").body;
  const Strings lows = all_of(whole, "low_key");
  ASSERT_GT(lows.size(), 1U) << whole;
  EXPECT_EQ(lows.size(), db_->stats().trees.at(0).containers);
  EXPECT_TRUE(std::is_sorted(lows.begin(), lows.end()));
  EXPECT_NE(whole.find("\"entries_unflushed\":1,"), std::string::npos);
  Strings one_by_one;
  std::string from;
  for (size_t i = 0; i < lows.size(); ++i) {
    const std::string body = ask("/api/containers", "tree={main}&limit=1&from={" + from + "}").body;
    one_by_one.push_back(all_of(body, "low_key").at(0));
    const Strings next = all_of(body, "next");
    ASSERT_EQ(next.empty(), i + 1 == lows.size());
    if (!next.empty()) from = next[0];
  }
  EXPECT_EQ(one_by_one, lows);
  const Tree events = tree("events", {.order = "reverse"});
  for (int i = 0; i < 60'000; ++i) put(events, std::to_string(i), std::string(100, 'v'));
  ASSERT_TRUE(db_->flush().ok());
  const std::string reversed = ask("/api/containers", "tree={events}").body;
  EXPECT_TRUE(reversed.starts_with("{\"keys_as_they_are\":false,")) << reversed;
  const Strings stored = all_of(reversed, "low_key");
  EXPECT_GT(stored.size(), 1U);
  EXPECT_TRUE(std::is_sorted(stored.begin(), stored.end()));
}

TEST_F(WebApiTest, ExplainAndMetrics) {
  put(tree("main"), "a", "b");
  EXPECT_NE(ask("/api/explain", "tree={main}&key={a}").body.find("\"place\":\"memory\""),
            std::string::npos);
  EXPECT_NE(ask("/api/explain", "tree={main}&key={b}").body.find("\"found\":false"),
            std::string::npos);
  const std::string body = ask("/api/metrics").body;
  EXPECT_NE(body.find("\"mode\":\"read_only\""), std::string::npos);
  EXPECT_NE(body.find("\"stats\":{\"path\":"), std::string::npos);
}

TEST_F(WebApiTest, BadParameters) {
  tree("main");
  EXPECT_EQ(ask("/api/entries", "tree={none}").status, 404);
  for (const char* query : {"", "tree=6", "tree=zz", "tree={main}&from=1", "tree={main}&limit=0",
                            "tree={main}&limit=501", "tree={main}&limit=-1", "tree={main}&limit=1x",
                            "tree={main}&limit=99999999999999999999", "tree={main}&preview=65537",
                            "tree={main}&reverse=2", "tree={main}&skip=1000000001"}) {
    const HttpResponse answer = ask("/api/entries", query);
    EXPECT_EQ(answer.status, 400) << query << answer.body;
    EXPECT_TRUE(answer.body.starts_with("{\"error\":{\"code\":\"InvalidArgument\"")) << answer.body;
  }
  for (const char* query : {"tree={main}", "tree={main}&key=x", "tree={main}&key={a}&size=1048577",
                            "tree={main}&key={a}&offset=-1"}) {
    EXPECT_EQ(ask("/api/value", query).status, 400) << query;
  }
  EXPECT_EQ(ask("/api/explain", "tree={main}").status, 400);
  EXPECT_EQ(ask("/api/containers", "tree={main}&limit=1001").status, 400);
  EXPECT_EQ(ask("/api/trees", "limit=1001").status, 400);
  std::string steps = "{a}";
  for (int i = 0; i < 70; ++i) steps += ",{a}";
  EXPECT_EQ(ask("/api/entries", "tree={main}&sub=" + steps).status / 100, 4);
}

}  // namespace
}  // namespace hawthorn::tools
