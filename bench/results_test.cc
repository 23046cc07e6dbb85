#include "bench/results.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "bench/tables.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// As much of a JSON parser as an array of flat objects needs.
class FlatJson {
 public:
  using Object = std::map<std::string, std::string>;

  static std::vector<Object> parse(const std::string& text) {
    FlatJson json(text);
    std::vector<Object> objects;
    json.expect('[');
    while (!json.take(']')) {
      if (!objects.empty()) json.expect(',');
      objects.push_back(json.object());
    }
    json.space();
    EXPECT_EQ(json.at_, text.size()) << "text after the array";
    return objects;
  }

 private:
  explicit FlatJson(const std::string& text) : text_(text) {}
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw std::runtime_error(print_text("no %c at %zu", c, at_));
  }
  std::string string() {
    expect('"');
    std::string out;
    for (; text_.at(at_) != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      out += text_.at(at_);
    }
    ++at_;
    return out;
  }
  Object object() {
    Object fields;
    expect('{');
    while (!take('}')) {
      if (!fields.empty()) expect(',');
      const std::string name = string();
      expect(':');
      space();
      if (text_.at(at_) == '"') {
        fields[name] = "string " + string();
      } else {
        const size_t end = text_.find_first_of(",}", at_);
        fields[name] = "number " + text_.substr(at_, end - at_);
        at_ = end;
      }
    }
    return fields;
  }

  const std::string& text_;
  size_t at_ = 0;
};

Run make_run(const std::string& engine, unsigned repeat, double rate,
             std::optional<bool> assertions = false) {
  Run run{"bank", engine, repeat, Report(), {"here", "", "-O3 -DX=\"y\"", assertions, "One 1.2"}};
  run.report.add("write", "tx_per_s", rate);
  run.report.add("verify", "bytes_on_disk", 1e9 + 1);
  return run;
}

TEST(Json, HasTheDocumentedFieldsAndNoOthers) {
  Results results;
  results.add(make_run("one", 0, 123456.789));
  results.add(make_run("two", 0, 1.0 / 3.0));
  std::ostringstream text;
  results.write_json(text);
  const auto rows = FlatJson::parse(text.str());
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& row : rows) {
    std::string names;
    for (const auto& [name, value] : row) names += name + " ";
    EXPECT_EQ(names,
              "assertions compiler engine flags metric origin phase repeat unit value version "
              "workload ");
    for (const char* field : {"engine", "metric", "phase", "unit", "workload"}) {
      EXPECT_TRUE(row.at(field).starts_with("string ")) << field;
    }
    EXPECT_TRUE(row.at("repeat").starts_with("number "));
  }
  EXPECT_EQ(rows[0].at("workload"), "string bank");
  EXPECT_EQ(rows[0].at("phase"), "string write");
  EXPECT_EQ(rows[0].at("unit"), "string 1/s");
  EXPECT_EQ(std::stod(rows[0].at("value").substr(7)), 123456.789);
  EXPECT_EQ(std::stod(rows[2].at("value").substr(7)), 1.0 / 3.0);
  EXPECT_EQ(std::stod(rows[1].at("value").substr(7)), 1e9 + 1);
}

TEST(Json, SaysHowEachLibraryWasBuilt) {
  Results results;
  results.add(make_run("release", 0, 1, false));
  results.add(make_run("checked", 0, 1, true));
  results.add(make_run("unknown", 0, 1, std::nullopt));
  std::ostringstream text;
  results.write_json(text);
  const auto rows = FlatJson::parse(text.str());
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].at("version"), "string One 1.2");
  EXPECT_EQ(rows[0].at("origin"), "string here");
  EXPECT_EQ(rows[0].at("compiler"), "number null");
  EXPECT_EQ(rows[0].at("flags"), "string -O3 -DX=\"y\"");
  EXPECT_EQ(rows[0].at("assertions"), "number false");
  EXPECT_EQ(rows[2].at("assertions"), "number true");
  EXPECT_EQ(rows[4].at("assertions"), "number null");
}

TEST(Json, IsAnArrayWithoutRunsAndLeavesFailedRunsOut) {
  Results results;
  std::ostringstream empty;
  results.write_json(empty);
  EXPECT_TRUE(FlatJson::parse(empty.str()).empty());

  bench::Run wrong = make_run("wrong", 0, 1e9);
  wrong.report.fail("lost a commit");
  results.add(std::move(wrong));
  results.add(make_run("right", 0, 5));
  std::ostringstream text;
  results.write_json(text);
  const auto rows = FlatJson::parse(text.str());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("engine"), "string right");
  EXPECT_FALSE(results.all_ok());
  EXPECT_FALSE(results.summary("bank", "wrong", "write", "tx_per_s").has_value());
}

TEST(Json, EscapesStrings) { EXPECT_EQ(json_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\""); }

TEST(Report, RefusesNamesThatAreNotDocumented) {
  Report report;
  EXPECT_THROW(report.add("write", "speed", 1), std::logic_error);
  EXPECT_THROW(report.add("sleep", "tx_per_s", 1), std::logic_error);
  // As many as docs/benchmarks-json.md lists.
  EXPECT_EQ(phase_names().size(), 134U);
  EXPECT_EQ(metrics().size(), 45U);
}

TEST(Report, ArrivesWholeThroughItsLines) {
  Report copy;
  Report report([&copy](const std::string& line) { EXPECT_TRUE(copy.apply(line)) << line; });
  report.add("scan", "entries_per_s", 0.1);
  report.note("a note\nof two lines");
  report.csv("1,2,3");
  report.limited("full");
  EXPECT_TRUE(copy.ok());
  report.fail("wrong");
  EXPECT_FALSE(copy.ok());
  EXPECT_EQ(copy.value("scan", "entries_per_s"), 0.1);
  EXPECT_EQ(copy.notes(), report.notes());
  EXPECT_EQ(copy.csv_lines(), report.csv_lines());
  EXPECT_EQ(copy.limits(), report.limits());
  EXPECT_EQ(copy.failures(), report.failures());
  EXPECT_FALSE(copy.apply("nonsense"));
}

TEST(Results, TakesMediansOverRepeats) {
  Results results;
  for (const double rate : {100.0, 140.0, 110.0})
    results.add(make_run("one", results.runs().size(), rate));
  const auto summary = results.summary("bank", "one", "write", "tx_per_s");
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->median, 110.0);
  EXPECT_NEAR(summary->spread, 40.0 / 110.0, 1e-9);
  EXPECT_EQ(summary->count, 3U);
}

TEST(Tables, ShowRatiosAgainstTheBaselineAndFailures) {
  Results results;
  results.add(make_run("fast", 0, 600'000));
  results.add(make_run("slow", 0, 100'000));
  bench::Run wrong = make_run("wrong", 0, 1);
  wrong.report.fail("lost a commit");
  results.add(std::move(wrong));
  std::ostringstream text;
  print_tables(results, {.baseline = "slow"}, text);
  EXPECT_NE(text.str().find("6.00x"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("FAIL"), std::string::npos) << text.str();
}

TEST(Tables, GiveNoRatioOfWhatHasAssertionsAndMarkIt) {
  Results results;
  results.add(make_run("fast", 0, 600'000));
  results.add(make_run("slow", 0, 100'000));
  results.add(make_run("checked", 0, 50'000, true));
  results.add(make_run("unknown", 0, 300'000, std::nullopt));
  std::ostringstream text;
  print_tables(results, {.baseline = "slow", .colors = true}, text);
  EXPECT_NE(text.str().find("6.00x"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("3.00x"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("0.50x"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("\033[31mchecked\033[0m"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("\033[31mON\033[0m"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("cost time: checked."), std::string::npos) << text.str();

  std::ostringstream against;
  print_tables(results, {.baseline = "checked"}, against);
  EXPECT_FALSE(std::regex_search(against.str(), std::regex("[0-9]x"))) << against.str();
  EXPECT_NE(against.str().find("cost time: checked."), std::string::npos) << against.str();
  EXPECT_EQ(against.str().find('\033'), std::string::npos) << against.str();
}

TEST(Tables, SayNothingOfAssertionsWhereNoneAreOn) {
  Results results;
  results.add(make_run("fast", 0, 600'000));
  results.add(make_run("slow", 0, 100'000));
  std::ostringstream text;
  print_tables(results, {.baseline = "slow", .colors = true}, text);
  EXPECT_EQ(text.str().find("ssertions"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find('\033'), std::string::npos) << text.str();
}

TEST(Csv, HasAHeadAndTheRepeatOfEachRound) {
  Results results;
  bench::Run run = make_run("one", 2, 1);
  run.report.csv("bank,one,100,write,1,5000");
  results.add(std::move(run));
  std::ostringstream text;
  results.write_csv(text);
  EXPECT_EQ(text.str(),
            "workload,engine,batch_size,phase,round,tx_per_s,repeat\n"
            "bank,one,100,write,1,5000,2\n");
  std::ostringstream none;
  results.write_failed_csv(none);
  EXPECT_EQ(none.str(), "");

  bench::Run wrong = make_run("two", 3, 1);
  wrong.report.csv("bank,two,100,write,1,7000");
  wrong.report.fail("lost a commit");
  results.add(std::move(wrong));
  std::ostringstream failed;
  results.write_failed_csv(failed);
  EXPECT_EQ(failed.str(),
            "workload,engine,batch_size,phase,round,tx_per_s,repeat\n"
            "bank,two,100,write,1,7000,3\n");
  std::ostringstream right;
  results.write_csv(right);
  EXPECT_EQ(right.str(), text.str());
}

TEST(Text, ReadsSizesAndCounts) {
  EXPECT_EQ(parse_size("2"), 2'000'000'000U);
  EXPECT_EQ(parse_size("0.5"), 500'000'000U);
  EXPECT_EQ(parse_size("512M"), 512'000'000U);
  EXPECT_EQ(parse_count("20M"), 20'000'000U);
  EXPECT_EQ(parse_count("1000"), 1000U);
  EXPECT_THROW(parse_size("two"), std::invalid_argument);
  EXPECT_THROW(parse_count("3X"), std::invalid_argument);
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(split("a,b,,c", ',').size(), 3U);
}

}  // namespace
}  // namespace hawthorn::bench
