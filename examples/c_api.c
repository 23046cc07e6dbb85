// The C API: open, write, read, walk into columns, a transaction that is tried again, figures.

#include <hawthorn/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A program that lives longer looks at the code instead.
static hawthorn_error* error;
static void must(hawthorn_code code) {
  if (code == HAWTHORN_OK) return;
  fprintf(stderr, "%s: %s\n", hawthorn_code_name(code), hawthorn_error_message(error, NULL));
  hawthorn_error_free(error);
  exit(1);
}
static void check(int truth) {
  if (truth) return;
  fprintf(stderr, "the example does not hold\n");
  exit(1);
}

static hawthorn_db* fresh_database(const char* path) {
  hawthorn_db* db = NULL;
  hawthorn_options* options = hawthorn_options_create();
  if (hawthorn_destroy_database(path, NULL, &error) == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);  // each error belongs to who has asked for it
  } else {
    must(hawthorn_error_code(error));
  }
  must(hawthorn_options_set_memory_budget_bytes(options, 64u << 20, &error));
  must(hawthorn_options_set(options, "compression", "lz4", &error));
  must(hawthorn_db_open(path, options, &db, &error));
  hawthorn_options_free(options);
  return db;
}

// Values stay where they are: `value` is used again for each read, and copies nothing.
static void put_and_get(hawthorn_db* db, hawthorn_tree* users) {
  hawthorn_value* value = hawthorn_value_create();
  size_t size = 0;
  must(hawthorn_db_put(db, users, "ada", 3, "1815", 4, NULL, &error));
  must(hawthorn_db_put(db, users, "grace", 5, "1906", 4, NULL, &error));
  must(hawthorn_db_get(db, users, "ada", HAWTHORN_STRING, NULL, value, &error));
  check(memcmp(hawthorn_value_data(value, &size), "1815", 4) == 0 && size == 4);
  check(hawthorn_db_get(db, users, "bob", 3, NULL, value, NULL) == HAWTHORN_NOT_FOUND);
  hawthorn_value_free(value);
}

// Many entries in one call: what bindings make arrays of.
static void walk(hawthorn_db* db, hawthorn_tree* users) {
  char keys[64];
  char values[64];
  int64_t key_offsets[11];
  int64_t value_offsets[11];
  int found = 0;
  hawthorn_cursor* cursor = NULL;
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  columns.rows_capacity = 10;
  columns.key_bytes = keys;
  columns.key_bytes_capacity = sizeof(keys);
  columns.key_offsets = key_offsets;
  columns.value_bytes = values;
  columns.value_bytes_capacity = sizeof(values);
  columns.value_offsets = value_offsets;
  must(hawthorn_db_cursor(db, users, NULL, &cursor, &error));
  must(hawthorn_cursor_first(cursor, &found, &error));
  must(hawthorn_cursor_next_columns(cursor, &columns, &error));
  check(columns.rows == 2 && key_offsets[2] == 8);
  for (size_t row = 0; row < columns.rows; ++row) {
    printf("%.*s %.*s\n", (int)(key_offsets[row + 1] - key_offsets[row]), keys + key_offsets[row],
           (int)(value_offsets[row + 1] - value_offsets[row]), values + value_offsets[row]);
  }
  hawthorn_cursor_free(cursor);
}

// Adds one to a counter of four bytes; who comes second begins again.
static void count(hawthorn_db* db, hawthorn_tree* counters, int in_between) {
  hawthorn_value* value = hawthorn_value_create();
  hawthorn_code code = HAWTHORN_CONFLICT;
  int rounds = 0;
  for (; code == HAWTHORN_CONFLICT; ++rounds) {
    uint32_t number = 0;
    hawthorn_txn* txn = NULL;
    must(hawthorn_txn_begin(db, NULL, &txn, &error));
    code = hawthorn_txn_get_for_update(txn, counters, "visits", 6, value, NULL);
    if (code == HAWTHORN_OK) memcpy(&number, hawthorn_value_data(value, NULL), sizeof(number));
    if (in_between && rounds == 0) count(db, counters, 0);
    ++number;
    code = hawthorn_txn_put(txn, counters, "visits", 6, &number, sizeof(number), NULL, NULL);
    if (code == HAWTHORN_OK) code = hawthorn_txn_commit(txn, HAWTHORN_DURABILITY_ASYNC, NULL);
    hawthorn_txn_free(txn);
  }
  check(code == HAWTHORN_OK && rounds == (in_between ? 2 : 1));
  hawthorn_value_free(value);
}

int main(int argc, char** argv) {
  hawthorn_db* db = fresh_database(argc > 1 ? argv[1] : "example.db");
  hawthorn_tree* users = NULL;
  hawthorn_tree* counters = NULL;
  hawthorn_records* stats = NULL;
  must(hawthorn_db_tree(db, "users", HAWTHORN_STRING, NULL, &users, &error));
  must(hawthorn_db_tree(db, "counters", HAWTHORN_STRING, NULL, &counters, &error));
  put_and_get(db, users);
  walk(db, users);
  count(db, counters, 1);

  must(hawthorn_db_stats(db, &stats, &error));
  printf("%llu commits\n", (unsigned long long)hawthorn_records_number(stats, 0, "commits", 0));
  check(hawthorn_records_number(stats, 0, "commits", 0) >= 4);
  hawthorn_records_free(stats);

  hawthorn_tree_free(users);
  hawthorn_tree_free(counters);
  must(hawthorn_db_close(db, &error));
  hawthorn_db_free(db);
  return 0;
}
