# Flags and the functions that every folder uses:
#   hawthorn_layer(NAME [SMALL patterns...])
#                          one folder of src/ as an object library; its *_test.cc become the test
#                          program NAME_test, its *_concurrency_test.cc NAME_concurrency_test;
#                          files that are compiled for size, since they run seldom or wait for a
#                          disk: half of what -O3 makes
#   hawthorn_test(NAME SOURCES... LINK libs... [LABELS labels...] [SHARDS count] [APART] [FORKS])
#                          one GoogleTest program, which ctest runs as one test, or, when it takes
#                          long, as so many shards of it. What its cases did, and how long each
#                          took, is in test-results/NAME.xml. Presets compile its files as one,
#                          unless it is APART: names that two of its files share then need a
#                          namespace for each file. FORKS: it forks while other threads are at work,
#                          in the tests of HAWTHORN_FORKING
#   hawthorn_test_code(TARGET)
#                          a library or program that is no GoogleTest program, compiled as those are
#                          where that is for speed alone
#   hawthorn_python_test(NAME SCRIPT file [ARGS args...] [LABELS labels...])
#                          one script of unittest cases, one ctest entry
#   hawthorn_add_test(NAME COMMAND command... [LABELS labels...] [ENVIRONMENT NAME=value...])
#                          any other program as a test
#   hawthorn_runnable(VARIABLE TARGET)
#                          what a script or another program calls to run TARGET: its file, or one
#                          that calls the emulator of a cross build
#
# Labels decide where scripts/test.py runs a test:
#   unit          beside the code, and what else judges most changes in a moment: `make check`
#   concurrency   several threads against the engine: these run under ThreadSanitizer
#   long          minutes of work (ten million operations against the model): `make reliability`
#   package       needs the whole build installed: release only
#
# HAWTHORN_TEST_EXCLUDED is a file of tests that are left out, one pattern (as for --gtest_filter)
# in a line. No test has a time limit that a slow machine could meet: HAWTHORN_TEST_TIMEOUT seconds
# only end what hangs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(CheckLinkerFlag)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache's manual asks for where headers are precompiled; and one cache for all checkouts.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
# 3.0 or later: what it has to be asked for, and how contexts are used again, is of that version.
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto>=3.0)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
# Without it, or with a version before the flags that src/os asks for, a pool of threads reads.
set(HAWTHORN_URING_FOUND FALSE)
if(HAWTHORN_URING)
  pkg_check_modules(URING IMPORTED_TARGET liburing>=2.3)
  set(HAWTHORN_URING_FOUND ${URING_FOUND})
endif()
if(HAWTHORN_URING_FOUND)
  message(STATUS "Asynchronous reads: io_uring (liburing ${URING_VERSION}), or threads")
else()
  message(STATUS "Asynchronous reads: threads only, without liburing (liburing-dev 2.3 or later)")
endif()

# hawthorn_warnings: how all code here is compiled. Whatever sees only include/ (tools, examples)
# links this and hawthorn::static.
add_library(hawthorn_warnings INTERFACE)
target_compile_options(hawthorn_warnings INTERFACE
  -Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wpedantic
  -fno-omit-frame-pointer)
# g++ refuses to inline xxhash's streaming functions at -Og, which the header otherwise demands.
target_compile_definitions(hawthorn_warnings INTERFACE $<$<CONFIG:Debug>:XXH_NO_INLINE_HINTS=1>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Wrong about every "x" + std::to_string(n) that it inlines (GCC bug 105651).
  target_compile_options(hawthorn_warnings INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Collects garbage from a heap of 1 GB on, in kB: a tenth of the time goes into smaller heaps.
  target_compile_options(hawthorn_warnings INTERFACE --param=ggc-min-heapsize=1000000)
endif()
# Assertions, and the checks of tests, have __FILE__ in them. Without the checkout's folder it is
# the same in all checkouts, and one compiler cache serves them all; but a precompiled header would
# hold this option, so what makes one is compiled without. Under clang there is none: in batches of
# files it gains a tenth for some programs, and it differs by checkout.
set(map_to_checkout -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
  target_compile_options(hawthorn_warnings INTERFACE ${map_to_checkout})
else()
  target_compile_options(hawthorn_warnings INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:PRECOMPILE_HEADERS>>>:${map_to_checkout}>)
endif()
if(HAWTHORN_WERROR)
  target_compile_options(hawthorn_warnings INTERFACE -Werror)
endif()
# Links what has these flags by another linker, where it is there.
function(hawthorn_prefer_linker flags linker)
  check_linker_flag(CXX -fuse-ld=${linker} HAWTHORN_HAVE_LINKER_${linker})
  if(HAWTHORN_HAVE_LINKER_${linker})
    target_link_options(${flags} INTERFACE -fuse-ld=${linker})
  endif()
endfunction()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(hawthorn_warnings INTERFACE -Wthread-safety)
  # Links a test program of a sanitizer in a third of the time.
  hawthorn_prefer_linker(hawthorn_warnings lld)
endif()
if(HAWTHORN_SANITIZE)
  target_compile_options(hawthorn_warnings INTERFACE
    -fsanitize=${HAWTHORN_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(hawthorn_warnings INTERFACE -fsanitize=${HAWTHORN_SANITIZE})
endif()

# hawthorn_flags: the same for code that may include src/ (the engine itself, testing/, tests/).
add_library(hawthorn_flags INTERFACE)
target_link_libraries(hawthorn_flags INTERFACE hawthorn_warnings Threads::Threads PkgConfig::HWY
  PkgConfig::LZ4 PkgConfig::ZSTD PkgConfig::CRYPTO)
target_include_directories(hawthorn_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
if(HAWTHORN_URING_FOUND)
  target_link_libraries(hawthorn_flags INTERFACE PkgConfig::URING)
  target_compile_definitions(hawthorn_flags INTERFACE HAWTHORN_HAVE_URING=1)
endif()
# So that the linker leaves out of the library what nothing calls.
target_compile_options(hawthorn_flags INTERFACE $<$<CONFIG:Release>:-ffunction-sections>)
# A program may load the library late, and the C library ends one that has no memory for what
# thread-local objects take then. Set aside when it is loaded, they take none.
target_compile_options(hawthorn_flags INTERFACE -ftls-model=initial-exec)
if(HAWTHORN_TEST_POINTS)
  target_compile_definitions(hawthorn_flags INTERFACE HAWTHORN_TEST_POINTS=1)
endif()

set_property(GLOBAL PROPERTY HAWTHORN_LAYER_OBJECTS "")

# What nearly all of the engine includes.
file(CONFIGURE OUTPUT engine_precompiled.cc CONTENT "\n" @ONLY)
add_library(hawthorn_engine_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/engine_precompiled.cc)
target_link_libraries(hawthorn_engine_precompiled PRIVATE hawthorn_flags)
# So that ccache takes files with precompiled headers.
add_library(hawthorn_precompiled_flags INTERFACE)
target_compile_options(hawthorn_precompiled_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
target_link_libraries(hawthorn_flags INTERFACE hawthorn_precompiled_flags)
set(HAWTHORN_PRECOMPILED <algorithm> <array> <atomic> <chrono> <cstring> <deque> <functional> <map>
  <memory> <optional> <set> <span> <string> <string_view> <thread> <variant> <vector>)
target_precompile_headers(hawthorn_engine_precompiled PRIVATE ${HAWTHORN_PRECOMPILED})

# The same for the files that a layer names SMALL: a precompiled header serves one level only.
add_library(hawthorn_small_flags INTERFACE)
target_link_libraries(hawthorn_small_flags INTERFACE hawthorn_flags)
target_compile_options(hawthorn_small_flags INTERFACE $<$<CONFIG:Release>:-Os>)
add_library(hawthorn_small_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/engine_precompiled.cc)
target_link_libraries(hawthorn_small_precompiled PRIVATE hawthorn_small_flags)
target_precompile_headers(hawthorn_small_precompiled PRIVATE ${HAWTHORN_PRECOMPILED})

# Own headers as well. To #pragma once one that differs in its comments alone is another one, and so
# it has to be to ccache.
function(hawthorn_precompile_own target)
  target_precompile_headers(${target} PRIVATE ${HAWTHORN_PRECOMPILED} ${ARGN})
  set_target_properties(${target} PROPERTIES
    CXX_COMPILER_LAUNCHER "env;CCACHE_COMMENTS=1;${CMAKE_CXX_COMPILER_LAUNCHER}")
endfunction()
# For what has not hawthorn_flags: headers beside those that are much used.
function(hawthorn_precompile target)
  target_link_libraries(${target} PRIVATE hawthorn_precompiled_flags)
  hawthorn_precompile_own(${target} ${ARGN})
endfunction()

if(HAWTHORN_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  # The programs with a label: what the stages tsan and check build.
  add_custom_target(hawthorn_concurrency_tests)
  add_custom_target(hawthorn_unit_tests)

  # hawthorn_test_flags: how test programs are compiled. They are half of all code, and none of them
  # is slow in itself: little optimisation or none (sanitizers take four times as long to compile
  # with it), and the headers that nearly all of them include precompiled.
  add_library(hawthorn_test_flags INTERFACE)
  target_link_libraries(hawthorn_test_flags INTERFACE hawthorn_flags GTest::gtest_main)
  set(little -O1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # A fifth less to compile than with -O1, and not as slow as with -O0.
    set(little -Og)
    target_compile_definitions(hawthorn_test_flags INTERFACE
      $<$<CONFIG:Release>:XXH_NO_INLINE_HINTS=1>)
  endif()
  target_compile_options(hawthorn_test_flags INTERFACE
    $<$<CONFIG:Release>:${little}> $<$<CONFIG:Debug>:-O0>)
  # What computes more: simulator and fuzz targets.
  add_library(hawthorn_test_code_flags INTERFACE)
  target_link_libraries(hawthorn_test_code_flags INTERFACE hawthorn_test_flags)
  target_compile_options(hawthorn_test_code_flags INTERFACE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Links a test program in half of the time.
    hawthorn_prefer_linker(hawthorn_test_flags gold)
  endif()
  file(CONFIGURE OUTPUT precompiled.cc CONTENT "int main() { return 0; }\n" @ONLY)
  add_executable(hawthorn_precompiled ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(hawthorn_precompiled PRIVATE hawthorn_test_flags)
  hawthorn_precompile_own(hawthorn_precompiled
    <gtest/gtest.h> <filesystem> <random> <hawthorn/hawthorn.h>)
endif()

# What ends a test that hangs, in seconds.
set(HAWTHORN_TEST_TIMEOUT 1800)

set(HAWTHORN_TEST_PATTERNS "")
if(HAWTHORN_TEST_EXCLUDED)
  cmake_path(ABSOLUTE_PATH HAWTHORN_TEST_EXCLUDED BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE excluded)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${excluded})
  file(STRINGS ${excluded} HAWTHORN_TEST_PATTERNS REGEX "^[^#]")
endif()

# AddressSanitizer does not take the lock of its quarantine at a fork: where another thread had it,
# a child hangs when it frees. So these tests run without a quarantine there, by themselves.
set(HAWTHORN_FORKING "*Fork*.*hildren*ork*")

function(hawthorn_test name)
  cmake_parse_arguments(arg "APART;FORKS" "SHARDS" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE hawthorn_test_flags ${arg_LINK})
  hawthorn_test_precompiled(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  if(arg_APART)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()

  set(excluded ${HAWTHORN_TEST_PATTERNS})
  set(results ${PROJECT_BINARY_DIR}/test-results)
  if(arg_FORKS AND HAWTHORN_SANITIZE MATCHES "address")
    list(APPEND excluded ${HAWTHORN_FORKING})
    add_test(NAME ${name}.forks COMMAND ${name})
    set_tests_properties(${name}.forks PROPERTIES LABELS "${arg_LABELS}"
      TIMEOUT ${HAWTHORN_TEST_TIMEOUT}
      ENVIRONMENT "GTEST_OUTPUT=xml:${results}/${name}.forks.xml;GTEST_BRIEF=1;\
GTEST_FILTER=${HAWTHORN_FORKING};\
ASAN_OPTIONS=quarantine_size_mb=0:thread_local_quarantine_size_kb=0")
  endif()
  list(JOIN excluded ":" patterns)
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(test ${name})
    if(arg_SHARDS GREATER 1)
      set(test ${name}.${shard}_of_${arg_SHARDS})
    endif()
    math(EXPR index "${shard} - 1")
    set(environment GTEST_OUTPUT=xml:${results}/${test}.xml GTEST_BRIEF=1
      GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index})
    if(patterns)
      list(APPEND environment "GTEST_FILTER=-${patterns}")
    endif()
    add_test(NAME ${test} COMMAND ${name})
    # Those in shards are the longest: ctest begins with them.
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" COST ${arg_SHARDS}
      TIMEOUT ${HAWTHORN_TEST_TIMEOUT} ENVIRONMENT "${environment}")
  endforeach()
  foreach(label unit concurrency)
    if(label IN_LIST arg_LABELS)
      add_dependencies(hawthorn_${label}_tests ${name})
    endif()
  endforeach()
endfunction()

# The precompiled header is that of programs: libraries are compiled for those alone, too.
function(hawthorn_test_precompiled target)
  target_precompile_headers(${target} REUSE_FROM hawthorn_precompiled)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    target_compile_options(${target} PRIVATE -fPIE)
  endif()
endfunction()

function(hawthorn_test_code target)
  target_link_libraries(${target} PRIVATE hawthorn_flags)
  if(CMAKE_BUILD_TYPE STREQUAL Release AND TARGET hawthorn_precompiled)
    target_link_libraries(${target} PRIVATE hawthorn_test_code_flags)
    hawthorn_test_precompiled(${target})
  endif()
endfunction()

function(hawthorn_add_test name)
  cmake_parse_arguments(arg "" "" "COMMAND;LABELS;ENVIRONMENT" ${ARGN})
  if(name IN_LIST HAWTHORN_TEST_PATTERNS)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${HAWTHORN_TEST_TIMEOUT}
    ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

function(hawthorn_python_test name)
  cmake_parse_arguments(arg "" "SCRIPT" "ARGS;LABELS" ${ARGN})
  # Not Python3::Interpreter, which a cross build would run under its emulator.
  hawthorn_add_test(${name} LABELS ${arg_LABELS}
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT} ${arg_ARGS})
endfunction()

function(hawthorn_runnable variable target)
  if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(${variable} $<TARGET_FILE:${target}> PARENT_SCOPE)
    return()
  endif()
  set(script ${PROJECT_BINARY_DIR}/emulated/${target})
  get_property(written GLOBAL PROPERTY HAWTHORN_EMULATED)
  if(NOT target IN_LIST written)
    set_property(GLOBAL APPEND PROPERTY HAWTHORN_EMULATED ${target})
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    file(GENERATE OUTPUT ${script}
      CONTENT "#!/bin/sh\nexec ${emulator} $<TARGET_FILE:${target}> \"$@\"\n"
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                       WORLD_READ WORLD_EXECUTE)
  endif()
  set(${variable} ${script} PARENT_SCOPE)
endfunction()

function(hawthorn_layer name)
  cmake_parse_arguments(arg "" "" "SMALL" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  set(small "")
  foreach(pattern ${arg_SMALL})
    file(GLOB matching CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${pattern}.cc)
    list(FILTER matching EXCLUDE REGEX "_test\\.cc$")
    if(NOT matching)
      message(FATAL_ERROR "layer ${name}: no file is named ${pattern}.cc")
    endif()
    list(APPEND small ${matching})
  endforeach()
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(concurrency_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_concurrency_test\\.cc$")
  list(FILTER concurrency_tests INCLUDE REGEX "_concurrency_test\\.cc$")
  if(small)
    list(REMOVE_ITEM sources ${small})
    add_library(hawthorn_${name}_small OBJECT ${small})
    target_link_libraries(hawthorn_${name}_small PUBLIC hawthorn_small_flags)
    target_precompile_headers(hawthorn_${name}_small REUSE_FROM hawthorn_small_precompiled)
    set_property(GLOBAL APPEND PROPERTY HAWTHORN_LAYER_OBJECTS
      $<TARGET_OBJECTS:hawthorn_${name}_small>)
  endif()
  if(sources)
    add_library(hawthorn_${name} OBJECT ${sources})
    target_link_libraries(hawthorn_${name} PUBLIC hawthorn_flags)
    target_precompile_headers(hawthorn_${name} REUSE_FROM hawthorn_engine_precompiled)
    set_property(GLOBAL APPEND PROPERTY HAWTHORN_LAYER_OBJECTS $<TARGET_OBJECTS:hawthorn_${name}>)
  endif()
  # Tests of the trees take minutes under a sanitizer, and all others together as long.
  set(shards 1)
  if(name STREQUAL tree)
    set(shards 3)
  endif()
  if(HAWTHORN_BUILD_TESTS AND tests)
    hawthorn_test(${name}_test SOURCES ${tests} LINK hawthorn_testing hawthorn_static
      LABELS unit SHARDS ${shards})
  endif()
  if(HAWTHORN_BUILD_TESTS AND concurrency_tests)
    hawthorn_test(${name}_concurrency_test SOURCES ${concurrency_tests}
      LINK hawthorn_testing hawthorn_static LABELS concurrency unit)
  endif()
endfunction()
