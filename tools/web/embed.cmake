# cmake -DFILES=a;b -DOUTPUT=file.cc -P embed.cmake: the bytes of the files, for tools/web_files.h.
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char kFile${number}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(kFile${number}), "
                     "sizeof(kFile${number})}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT}
"#include \"tools/web_files.h\"

namespace hawthorn::tools {
namespace {
${arrays}
const WebFile kFiles[] = {
${rows}};
}  // namespace

std::span<const WebFile> web_files() { return kFiles; }

}  // namespace hawthorn::tools
")
