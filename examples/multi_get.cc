// Reading many keys at once. The engine fetches them side by side, so that a batch of 64 costs far
// less than 64 reads.

#include <string>
#include <string_view>
#include <vector>

#include "must.h"

using hawthorn::ReadBatch;
using hawthorn::Tree;
using hawthorn::WriteBatch;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree lengths = must(db->tree("lengths"));
  WriteBatch batch;
  for (const char* word : {"hawthorn", "yew", "rowan", "elder"}) {
    batch.put(lengths, word, std::to_string(std::string_view(word).size()));
  }
  must(db->write(batch));

  {
    // Any order, repeated and missing keys too; answers come in the order of the keys.
    const std::vector<std::string_view> keys = {"yew", "oak", "elder", "yew"};
    ReadBatch answers;  // reused from call to call: it keeps its memory
    must(db->multi_get(lengths, keys, answers));
    for (size_t i = 0; i < keys.size(); ++i) {
      const std::string value(answers[i].found() ? answers[i].value : "not found");
      std::printf("%s: %s\n", std::string(keys[i]).c_str(), value.c_str());
    }
    must(answers.size() == 4 && !answers[1].found());
    must(answers[0].value == "3" && answers[2].value == "5" && answers[3].value == "3");
  }
  must(db->close());
}
