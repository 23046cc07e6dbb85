# bench_library_facts(VARIABLE FILE): what the file of a library, shared or static, shows of its
# build.
#
#   VARIABLE_compiler     as the compiler noted it; empty where that was stripped
#   VARIABLE_assertions   true, false, or std::nullopt where the file cannot be read. On are those
#                         of a library that calls what the C library's assert() calls, or that has
#                         the text of a failed assertion of its own. Some libraries do so in
#                         release builds, too, where they find something damaged
#
# Used by CMakeLists.txt and, with `cmake -P`, by library_facts_test.py.
function(bench_library_facts variable file)
  set(arguments --undefined-only)
  if(file MATCHES "\\.so(\\.|$)")
    list(APPEND arguments -D)
  endif()
  execute_process(COMMAND ${CMAKE_NM} ${arguments} ${file}
    RESULT_VARIABLE failed OUTPUT_VARIABLE symbols ERROR_QUIET)
  if(failed)
    set(${variable}_compiler "" PARENT_SCOPE)
    set(${variable}_assertions std::nullopt PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${file} texts LIMIT_COUNT 1 REGEX "[Aa]ssertion .*failed")
  set(assertions false)
  if(symbols MATCHES " U __assert[a-z_]*" OR texts)
    set(assertions true)
  endif()
  file(STRINGS ${file} compiler LIMIT_COUNT 1 REGEX "^(GCC: \\(|.*clang version )")
  set(${variable}_compiler "${compiler}" PARENT_SCOPE)
  set(${variable}_assertions ${assertions} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  bench_library_facts(fact ${LIBRARY})
  message("assertions=${fact_assertions}")
  message("compiler=${fact_compiler}")
endif()
