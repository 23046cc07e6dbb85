// Writes and reads one entry through the C API of an installed library: use DIRECTORY
#include <hawthorn/c.h>
#include <stdio.h>

int main(int argc, char** argv) {
  hawthorn_error* error = NULL;
  hawthorn_db* db = NULL;
  hawthorn_tree* tree = NULL;
  char value[8];
  size_t size = 0;
  hawthorn_code code = hawthorn_db_open(argc > 1 ? argv[1] : NULL, NULL, &db, &error);
  if (code == HAWTHORN_OK) code = hawthorn_db_tree(db, "main", 4, NULL, &tree, &error);
  if (code == HAWTHORN_OK) code = hawthorn_db_put(db, tree, "key", 3, "value", 5, NULL, &error);
  if (code == HAWTHORN_OK) {
    code = hawthorn_db_get_into(db, tree, "key", 3, NULL, value, sizeof(value), &size, &error);
  }
  if (code == HAWTHORN_OK) code = hawthorn_db_close(db, &error);
  if (code != HAWTHORN_OK) {
    fprintf(stderr, "%s\n", hawthorn_error_message(error, NULL));
    return 1;
  }
  printf("%s %.*s\n", hawthorn_version(), (int)size, value);
  hawthorn_tree_free(tree);
  hawthorn_db_free(db);
  return 0;
}
