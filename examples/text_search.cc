// Full-text search: an inverted index (which documents have a word, and how often), ranked by BM25.
// A document and its words are changed in one transaction, so that the index is never wrong.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "must.h"

using hawthorn::Db;
using hawthorn::Snapshot;
using hawthorn::Status;
using hawthorn::Transaction;
using hawthorn::Tree;

namespace {

// In a query a word may end with a '*'.
std::map<std::string, int> words_of(std::string_view text, bool query = false) {
  std::map<std::string, int> words;
  std::string word;
  for (const char c : std::string(text) + ' ') {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0 ||
        (query && c == '*')) {
      word += c;
    } else if (c >= 'A' && c <= 'Z') {
      word += static_cast<char>(c - 'A' + 'a');
    } else if (!word.empty()) {
      ++words[std::exchange(word, {})];
    }
  }
  return words;
}

int length_of(std::string_view text) {
  int length = 0;
  for (const auto& [word, count] : words_of(text)) length += count;
  return length;
}

class TextIndex {
 public:
  explicit TextIndex(Db& db)
      : db_(db),
        texts_(must(db.tree("texts"))),        // document -> its text
        postings_(must(db.tree("postings"))),  // word, 0, document -> count and length
        lengths_(must(db.tree("lengths"))) {   // "sum" -> of all documents
    must(db.insert(lengths_, "sum", "0").status());
  }

  // Adds a document, or changes it, or takes it away where there is no text. One at a time, so
  // that nobody has to begin again.
  void set(const std::string& document, const std::string& text) {
    Transaction transaction = must(db_.begin(hawthorn::TxnMode::kExclusive));
    hawthorn::Value before, sum;
    const Status had = transaction.get(texts_, document, before);
    if (!had.is_not_found()) must(had);
    for (const auto& [word, count] : words_of(before.view())) {
      must(transaction.del(postings_, word + '\0' + document));
    }
    const int length = length_of(text);
    for (const auto& [word, count] : words_of(text)) {
      must(transaction.put(postings_, word + '\0' + document,
                           std::to_string(count) + ' ' + std::to_string(length)));
    }
    must(transaction.get(lengths_, "sum", sum));
    const int lengths = std::stoi(sum.to_string()) + length - length_of(before.view());
    must(transaction.put(lengths_, "sum", std::to_string(lengths)));
    must(text.empty() ? transaction.del(texts_, document)
                      : transaction.put(texts_, document, text));
    must(transaction.commit());
  }

  // The best documents that have any of the words. A word that ends with '*' stands for all that
  // begin like that.
  std::vector<std::string> search(std::string_view query, size_t limit) {
    const Snapshot now = db_.snapshot();  // all that is read below is of one moment
    const uint64_t documents = must(db_.count(texts_, "", std::nullopt, {.snapshot = &now}));
    hawthorn::Value sum;
    must(db_.get(lengths_, "sum", sum, {.snapshot = &now}));
    const double mean = std::stod(sum.to_string()) / std::max(1.0, static_cast<double>(documents));
    std::map<std::string, double> scores;
    for (const auto& [word, count] : words_of(query, true)) {
      const auto found = postings(word, now);
      const auto having = static_cast<double>(found.size());
      const double rarity =
          std::log(1 + (static_cast<double>(documents) - having + 0.5) / (having + 0.5));
      for (const auto& [document, times, length] : found) {
        const double damped = times + 1.2 * (0.25 + 0.75 * length / mean);
        scores[document] += rarity * times * 2.2 / damped;
      }
    }
    std::vector<std::string> hits;
    for (const auto& [document, score] : scores) hits.push_back(document);
    std::sort(hits.begin(), hits.end(), [&](const std::string& a, const std::string& b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    if (hits.size() > limit) hits.resize(limit);
    return hits;
  }

 private:
  using Posting = std::tuple<std::string, double, double>;  // document, times, length

  std::vector<Posting> postings(std::string word, const Snapshot& now) {
    std::vector<Posting> found;
    const bool begins = word.back() == '*';
    if (begins) word.pop_back();
    hawthorn::Cursor cursor = db_.cursor(postings_, {.lower = begins ? word : word + '\0',
                                                     .upper = word + (begins ? '\xff' : '\x01'),
                                                     .snapshot = &now});
    for (bool more = cursor.first(); more; more = cursor.next()) {
      const std::string value(cursor.value());
      found.emplace_back(std::string(cursor.key().substr(cursor.key().find('\0') + 1)),
                         std::stod(value), std::stod(value.substr(value.find(' '))));
    }
    must(cursor.status());
    return found;
  }

  Db& db_;
  Tree texts_, postings_, lengths_;
};

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  TextIndex index(*db);
  index.set("log", "A log is written before the data: write-ahead logging.");
  index.set("tree", "A B-tree keeps keys in order; its pages are written in place.");
  index.set("lsm", "A log-structured tree writes sorted runs and merges them: log, log, log.");
  index.set("hash", "A hash table has no order of keys.");

  const auto first = [&](const char* query) { return index.search(query, 1).at(0); };
  must(first("log") == "lsm" && first("write-ahead log") == "log" &&
       first("B-tree pages") == "tree");
  must(index.search("keys order", 9).size() == 2 && index.search("zebra", 9).empty());
  must(index.search("MERG*", 9).size() == 1);
  must(first("ORDER of keys") == "hash");  // the rarer word and the shorter text
  index.set("hash", "");
  index.set("lsm", "Sorted runs that are merged.");
  must(index.search("hash", 9).empty() && first("log") == "log" && first("run*") == "lsm");
  must(db->close());
}
