// The C API as a program in C99 has it: the header alone, and the shared library.
//
//   c99_test DIRECTORY     an empty one, or one that is missing

#include <hawthorn/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hawthorn_error* error;

static void fail(int line, const char* text) {
  fprintf(stderr, "line %d: %s: %s\n", line, text, hawthorn_error_message(error, NULL));
  exit(1);
}
#define OK(call)                                      \
  do {                                                \
    if ((call) != HAWTHORN_OK) fail(__LINE__, #call); \
  } while (0)
#define CHECK(truth)                      \
  do {                                    \
    if (!(truth)) fail(__LINE__, #truth); \
  } while (0)
#define FAILS(code, call)                                  \
  do {                                                     \
    if ((call) != (code)) fail(__LINE__, #call);           \
    CHECK(hawthorn_error_code(error) == (code));           \
    CHECK(hawthorn_error_message(error, NULL)[0] != '\0'); \
    hawthorn_error_free(error);                            \
  } while (0)

// ---- Callbacks

struct counts {
  int merges;
  int destroyed;
  int commits;
  int refused;
  int logged;
  int events;
};

// Keeps the longest of value and operands.
static int longest(void* context, const void* key, size_t key_size, const void* existing,
                   size_t existing_size, const hawthorn_bytes* operands, size_t count,
                   hawthorn_buffer* result) {
  const void* best = existing;
  size_t size = existing_size;
  size_t i;
  (void)key;
  (void)key_size;
  ++((struct counts*)context)->merges;
  for (i = 0; i < count; ++i) {
    if (best == NULL || operands[i].size > size) {
      best = operands[i].data;
      size = operands[i].size;
    }
  }
  return hawthorn_buffer_append(result, best, size);
}

static void destroyed(void* context) { ++((struct counts*)context)->destroyed; }

static hawthorn_error* before(void* context, uint64_t operations, hawthorn_durability durability) {
  struct counts* counts = (struct counts*)context;
  (void)operations;
  (void)durability;
  if (counts->refused == 0) return NULL;
  return hawthorn_error_create(HAWTHORN_BUSY, "not today", HAWTHORN_STRING);
}

static void after(void* context, uint64_t operations, hawthorn_durability durability,
                  uint64_t timestamp, hawthorn_code code, const hawthorn_error* outcome) {
  struct counts* counts = (struct counts*)context;
  (void)operations;
  (void)durability;
  if (code == HAWTHORN_OK && outcome == NULL && timestamp != 0) ++counts->commits;
}

static void on_event(void* context, hawthorn_event event, const hawthorn_records* fields) {
  struct counts* counts = (struct counts*)context;
  if (event == HAWTHORN_EVENT_OPENED && hawthorn_records_number(fields, 0, "created", 9) == 1) {
    ++counts->events;
  }
}

static hawthorn_db* open_database(const char* path, struct counts* counts) {
  hawthorn_db* db = NULL;
  hawthorn_options* options = hawthorn_options_create();
  hawthorn_merge_operator merge = HAWTHORN_MERGE_OPERATOR_INIT;
  merge.name = "longest";
  merge.context = counts;
  merge.destroy = destroyed;
  merge.merge = longest;
  CHECK(options != NULL);
  OK(hawthorn_options_set_memory_budget_bytes(options, 32u << 20, &error));
  OK(hawthorn_options_set_durability(options, HAWTHORN_DURABILITY_NONE, &error));
  OK(hawthorn_options_add_merge_operator(options, &merge, &error));
  OK(hawthorn_options_add_commit_hook(options, before, after, counts, NULL, &error));
  OK(hawthorn_options_add_listener(options, on_event, counts, NULL, &error));
  OK(hawthorn_db_open(path, options, &db, &error));
  hawthorn_options_free(options);
  CHECK(counts->destroyed == 0);
  return db;
}

static void use_callbacks(hawthorn_db* db, struct counts* counts) {
  hawthorn_tree* tree = NULL;
  char buffer[16];
  size_t size = 0;
  const int commits = counts->commits;
  OK(hawthorn_db_tree(db, "merged", HAWTHORN_STRING, NULL, &tree, &error));
  OK(hawthorn_db_set_merge_operator(db, tree, "longest", HAWTHORN_STRING, &error));
  OK(hawthorn_db_merge(db, tree, "k", 1, "aa", 2, NULL, &error));
  OK(hawthorn_db_merge(db, tree, "k", 1, "bbbb", 4, NULL, &error));
  OK(hawthorn_db_merge(db, tree, "k", 1, "c", 1, NULL, &error));
  OK(hawthorn_db_get_into(db, tree, "k", 1, NULL, buffer, sizeof(buffer), &size, &error));
  CHECK(size == 4 && memcmp(buffer, "bbbb", 4) == 0);
  CHECK(counts->merges > 0);
  CHECK(counts->commits >= commits + 3);
  counts->refused = 1;
  FAILS(HAWTHORN_BUSY, hawthorn_db_put(db, tree, "x", 1, "y", 1, NULL, &error));
  counts->refused = 0;
  hawthorn_tree_free(tree);
}

static void read_by_queue(hawthorn_db* db, hawthorn_tree* tree) {
  hawthorn_read_queue* queue = NULL;
  hawthorn_value* value = hawthorn_value_create();
  uint64_t tags = 0;
  int found = 0;
  uint64_t tag = 0;
  OK(hawthorn_read_queue_open(db, 0, &queue, &error));
  OK(hawthorn_read_queue_get(queue, tree, "k0001", 5, NULL, 1, NULL, NULL, &error));
  OK(hawthorn_read_queue_get(queue, tree, "absent", 6, NULL, 2, NULL, NULL, &error));
  while (hawthorn_read_queue_pending(queue) != 0) OK(hawthorn_read_queue_wait(queue, NULL, &error));
  for (;;) {
    const hawthorn_code code = hawthorn_read_queue_take(queue, &found, &tag, value, NULL);
    if (found == 0) break;
    CHECK(code == (tag == 1 ? HAWTHORN_OK : HAWTHORN_NOT_FOUND));
    tags += tag;
  }
  CHECK(tags == 3);
  hawthorn_value_free(value);
  hawthorn_read_queue_free(queue);
}

static void write_and_walk(hawthorn_db* db, hawthorn_tree* tree) {
  hawthorn_batch* batch = hawthorn_batch_create();
  hawthorn_cursor* cursor = NULL;
  hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  char keys[4096];
  int64_t offsets[101];
  int found = 0;
  int i;
  size_t all = 0;
  for (i = 0; i < 1000; ++i) {
    char key[8];
    sprintf(key, "k%04d", i);
    OK(hawthorn_batch_put(batch, tree, key, 5, key + 1, 4, NULL, &error));
  }
  OK(hawthorn_db_write(db, batch, NULL, &error));
  hawthorn_batch_free(batch);
  options.keys_only = 1;
  columns.rows_capacity = 100;
  columns.key_bytes = keys;
  columns.key_bytes_capacity = sizeof(keys);
  columns.key_offsets = offsets;
  OK(hawthorn_db_cursor(db, tree, &options, &cursor, &error));
  OK(hawthorn_cursor_first(cursor, &found, &error));
  do {
    OK(hawthorn_cursor_next_columns(cursor, &columns, &error));
    all += columns.rows;
  } while (columns.rows != 0);
  CHECK(all == 1000);
  hawthorn_cursor_free(cursor);
}

int main(int argc, char** argv) {
  struct counts counts = {0, 0, 0, 0, 0, 0};
  char path[4096];
  hawthorn_db* db;
  hawthorn_tree* tree = NULL;
  hawthorn_snapshot* snapshot = NULL;
  CHECK(argc == 2 && strlen(argv[1]) < sizeof(path) - 4);
  sprintf(path, "%s/db", argv[1]);
  if (hawthorn_destroy_database(path, NULL, &error) != HAWTHORN_OK) hawthorn_error_free(error);
  FAILS(HAWTHORN_INVALID_ARGUMENT, hawthorn_db_open(NULL, NULL, &db, &error));
  db = open_database(path, &counts);
  OK(hawthorn_db_tree(db, "tree", 4, NULL, &tree, &error));
  write_and_walk(db, tree);
  read_by_queue(db, tree);
  use_callbacks(db, &counts);
  OK(hawthorn_db_snapshot(db, &snapshot, &error));
  FAILS(HAWTHORN_BUSY, hawthorn_db_close(db, &error));
  hawthorn_snapshot_free(snapshot);
  hawthorn_tree_free(tree);
  OK(hawthorn_db_close(db, &error));
  CHECK(counts.events == 1);
  hawthorn_db_free(db);
  CHECK(counts.destroyed == 1);
  return 0;
}
