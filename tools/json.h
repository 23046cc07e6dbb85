#pragma once
// Writes one JSON document into a string, from the outside in:
//
//   Json json;
//   json.begin_object().field("entries",
//   3).begin_array("trees").item("a").end_array().end_object(); json.text()  //
//   {"entries":3,"trees":["a"]}
//
// Not here: reading JSON, checking that begin and end match. Threads: one object, one thread.
//
// 1. Strings are UTF-8. bytes() writes a field NAME for UTF-8 and NAME_base64 for other bytes.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hawthorn::tools {

class Json {
 public:
  Json& begin_object();
  Json& begin_object(std::string_view name);
  Json& end_object();
  Json& begin_array(std::string_view name);
  Json& end_array();

  Json& field(std::string_view name, std::string_view value);
  Json& field(std::string_view name, const char* value) {
    return field(name, std::string_view(value));
  }
  Json& field(std::string_view name, bool value);
  Json& field(std::string_view name, double value);
  template <std::unsigned_integral T>
  Json& field(std::string_view name, T value) {
    return number(name, static_cast<uint64_t>(value));
  }
  Json& bytes(std::string_view name, std::string_view value);
  Json& item(std::string_view value);

  const std::string& text() const { return text_; }
  void clear();

 private:
  Json& number(std::string_view name, uint64_t value);
  void separate();
  void write_name(std::string_view name);
  void write_string(std::string_view value);

  std::string text_;
  bool first_ = true;  // nothing was written yet in the innermost object or array
};

}  // namespace hawthorn::tools
