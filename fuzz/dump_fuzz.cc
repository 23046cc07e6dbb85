// The text of dumps (tools/dump_format.h) and of the command line (tools/text.h). A dump that is
// read to its end is written again, and is then read as the same.
//
// The first byte: bit 0 clear: #end lines get the count and checksum that they need; bit 1: the
// rest is one encoded text. Bits 2 and 3: how what was read is encoded again.
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "fuzz/fuzz.h"
#include "tools/dump_format.h"

using hawthorn::fuzz::Bytes;
namespace tools = hawthorn::tools;
using Event = tools::DumpReader::Event;

namespace {

// A file in memory, for code that wants a name.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("dump", 0)) { FUZZ_CHECK(fd_ >= 0); }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string name() const { return "/proc/self/fd/" + std::to_string(fd_); }
  void write(std::string_view text) const {
    FUZZ_CHECK(::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

 private:
  const int fd_;
};

struct Thing {
  Event event = Event::kEnd;
  std::string name;  // of a tree, or the key
  std::string value;
  uint64_t number = 0;  // where it hangs, or when it ends
  hawthorn::TreeOptions options;
  bool operator==(const Thing& t) const {
    return event == t.event && name == t.name && value == t.value && number == t.number &&
           options.order == t.options.order && options.multi_value == t.options.multi_value &&
           options.value_order == t.options.value_order && options.expires == t.options.expires &&
           options.ttl_ms == t.options.ttl_ms && options.subtrees == t.options.subtrees;
  }
};

bool read_large(tools::DumpReader& reader, std::string* value) {
  char buffer[1000];
  for (;;) {
    const auto got = reader.read_value(buffer);
    if (!got.ok()) return false;
    if (*got == 0) break;
    value->append(buffer, *got);
  }
  FUZZ_CHECK(value->size() == reader.value_bytes());
  return true;
}

bool read(const std::string& text, std::vector<Thing>* things) {
  const MemoryFile file;
  file.write(text);
  auto input = tools::Input::open(file.name());
  FUZZ_OK(input.status());
  tools::DumpReader reader(*input);
  for (;;) {
    const auto event = reader.next();
    if (!event.ok()) {
      FUZZ_CHECK(event.status().message().starts_with(file.name() + ":"));
      return false;
    }
    Thing& thing = things->emplace_back();
    thing.event = *event;
    if (*event == Event::kEnd) return true;
    if (*event == Event::kTree || *event == Event::kSubtree) {
      thing.name = reader.tree();
      thing.number = *event == Event::kSubtree ? reader.hangs_in() : 0;
      thing.options = reader.tree_options().value_or(hawthorn::TreeOptions());
    } else if (*event != Event::kTreeEnd) {
      thing.name = reader.key();
      thing.number = reader.expires_at();
      if (*event == Event::kEntry) thing.value = reader.value();
      if (*event == Event::kLargeValue && !read_large(reader, &thing.value)) return false;
      FUZZ_CHECK(thing.name.size() + thing.value.size() <= text.size());
    }
  }
}

std::string write(const std::vector<Thing>& things, tools::Encoding encoding) {
  static const std::string name = "/dev/shm/hawthorn_dump_fuzz_" + std::to_string(getpid());
  auto output = tools::Output::to_file(name);
  FUZZ_OK(output.status());
  tools::DumpWriter writer(*output, encoding, tools::kDumpVersion);
  for (const Thing& thing : things) {
    switch (thing.event) {
      case Event::kTree:
        writer.begin_tree(thing.name, thing.options);
        break;
      case Event::kSubtree:
        writer.begin_subtree(thing.number, thing.name, thing.options);
        break;
      case Event::kEntry:
        writer.entry(thing.name, thing.value, thing.number);
        break;
      case Event::kLargeValue:
        writer.begin_value(thing.name, thing.value.size(), thing.number);
        for (size_t at = 0; at < thing.value.size(); at += tools::kValuePartBytes) {
          writer.value_part(std::string_view(thing.value).substr(at, tools::kValuePartBytes));
        }
        break;
      case Event::kTreeEnd:
        writer.end_tree();
        break;
      case Event::kEnd:
        writer.finish();
        break;
    }
  }
  FUZZ_OK(output->finish());
  auto input = tools::Input::open(name);
  FUZZ_OK(input.status());
  std::string text(input->size(), '\0');
  FUZZ_CHECK(input->read(text).value() == text.size());
  unlink(name.c_str());
  return text;
}

// With the #end lines that the sections need.
std::string mended(std::string_view text) {
  std::string made;
  tools::LineChecksum checksum;
  uint64_t entries = 0;
  uint64_t sections = 0;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(size);
    if (line.starts_with("#tree") || line.starts_with("#subtree")) {
      checksum.reset();
      entries = 0;
      made += line;
    } else if (line.starts_with("#end-of-dump")) {
      made += "#end-of-dump trees=" + std::to_string(sections) + "\n";
    } else if (line.starts_with("#end")) {
      made += "#end entries=" + std::to_string(entries) + " xxh3=" + checksum.hex() + "\n";
      ++sections;
    } else {
      checksum.add(line);
      // Lines of a large value hold no tab.
      if (line.starts_with("#value") || line.find('\t') != std::string_view::npos) ++entries;
      made += line;
    }
  }
  return made;
}

void text(std::string_view bytes) {
  for (const auto encoding :
       {tools::Encoding::kEscaped, tools::Encoding::kHex, tools::Encoding::kBase64}) {
    const std::string encoded = tools::encode(encoding, bytes);
    for (const char c : encoded) FUZZ_CHECK(static_cast<unsigned char>(c) >= 32);
    const auto back = tools::decode(encoding, encoded);
    FUZZ_OK(back.status());
    FUZZ_CHECK(*back == bytes);
    const auto decoded = tools::decode(encoding, bytes);
    if (!decoded.ok()) continue;
    FUZZ_CHECK(decoded->size() <= bytes.size());
    FUZZ_CHECK(tools::decode(encoding, tools::encode(encoding, *decoded)).value() == *decoded);
  }
  (void)tools::is_utf8(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const uint8_t how = in.byte();
  if ((how & 2) != 0) {
    text(in.rest());
    return 0;
  }
  std::vector<Thing> things;
  if (!read((how & 1) == 0 ? mended(in.rest()) : std::string(in.rest()), &things)) return 0;
  static constexpr tools::Encoding kEncodings[] = {tools::Encoding::kEscaped,
                                                   tools::Encoding::kBase64};
  std::vector<Thing> again;
  FUZZ_CHECK(read(write(things, kEncodings[how >> 2 & 1]), &again));
  FUZZ_CHECK(again == things);
  return 0;
}
