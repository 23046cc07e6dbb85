#pragma once
// What the tests of the C API have in common: checks, and a database in a directory that is new.
//
// Not here: the tests. Used by c_*_test.c, which are C11. Threads: one.

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

// No error was set.
#define CHECK_OK(error)                                            \
  do {                                                             \
    if ((error) != NULL) {                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, (error)); \
      exit(1);                                                     \
    }                                                              \
  } while (0)

// One that begins so was, and is taken away.
#define CHECK_FAILED(error, beginning)                             \
  do {                                                             \
    CHECK((error) != NULL);                                        \
    if (strncmp((error), (beginning), strlen(beginning)) != 0) {   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, (error)); \
      exit(1);                                                     \
    }                                                              \
    rocksdb_free(error);                                           \
    (error) = NULL;                                                \
  } while (0)

#define CHECK_REFUSED(error) CHECK_FAILED(error, "Not implemented: ")

// The functions below end the program where they are called.
extern int line_of_check;
extern const char* file_of_check;
#define AT_LINE(call) (line_of_check = __LINE__, file_of_check = __FILE__, call)
#define check_taken(value, size, expected) AT_LINE(check_taken_at(value, size, expected))
// `bytes` may be a call that sets `size`.
#define check_bytes(bytes, size, expected)                   \
  do {                                                       \
    const char* const bytes_of_check = (bytes);              \
    AT_LINE(check_bytes_at(bytes_of_check, size, expected)); \
  } while (0)
#define check_text(text, expected) AT_LINE(check_text_at(text, expected))
#define check_get(in, key, expected) AT_LINE(check_get_at(in, key, expected))
#define check_walk(iterator, expected)                        \
  do {                                                        \
    rocksdb_iterator_t* const iterator_of_check = (iterator); \
    AT_LINE(check_walk_at(iterator_of_check, expected));      \
  } while (0)

// A buffer from malloc, which is freed, or null for `expected` null.
void check_taken_at(char* value, size_t size, const char* expected);
void check_bytes_at(const char* bytes, size_t size, const char* expected);
// Null-terminated.
void check_text_at(char* text, const char* expected);

// A path in the directory of the tests where nothing is.
const char* new_path(void);

typedef struct {
  const char* path;
  rocksdb_options_t* options;
  rocksdb_readoptions_t* read;
  rocksdb_writeoptions_t* write;
  rocksdb_t* db;
} Database;

// Options with create_if_missing; the database is not open.
Database new_database(void);
void open_database(Database* of);
void close_database(Database* of);
void end_database(Database* of);
void put(Database* in, const char* key, const char* value);
void check_get_at(Database* in, const char* key, const char* expected);
// "key=value " for each entry; the iterator is destroyed.
void check_walk_at(rocksdb_iterator_t* iterator, const char* expected);
// Joins values by commas.
rocksdb_mergeoperator_t* new_join(void);

void test_options(void);
void test_resources(void);
void test_callbacks(void);
void test_batches(void);
void test_indexed_batches(void);
void test_transactions(void);
void test_files(void);
void test_listeners(void);
void test_openings(void);
void test_refusals(void);
