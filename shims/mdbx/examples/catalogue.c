// A library's catalogue, by libmdbx's API: books by their number, their numbers by author, and a
// count of loans. Compiles against the headers of 0.13 and 0.14, the original's as well as ours:
//
//   catalogue DIRECTORY
//
// The directory is made, and removed in the end.

#include <mdbx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int code, const char* what) {
  if (code == MDBX_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, mdbx_strerror(code));
  exit(1);
}

static MDBX_val text(const char* bytes) {
  MDBX_val value;
  value.iov_base = (void*)bytes;
  value.iov_len = strlen(bytes);
  return value;
}

static MDBX_val number(uint32_t* at) {
  MDBX_val value;
  value.iov_base = at;
  value.iov_len = sizeof(*at);
  return value;
}

struct tables {
  MDBX_dbi books;    // number -> title
  MDBX_dbi authors;  // author -> numbers
};

static struct tables open_tables(MDBX_env* env) {
  struct tables t;
  MDBX_txn* txn;
  check(mdbx_txn_begin(env, NULL, MDBX_TXN_READWRITE, &txn), "begin");
  check(mdbx_dbi_open(txn, "books", MDBX_CREATE | MDBX_INTEGERKEY, &t.books), "books");
  check(mdbx_dbi_open(txn, "authors", MDBX_CREATE | MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP,
                      &t.authors),
        "authors");
  check(mdbx_txn_commit(txn), "commit");
  return t;
}

static void add(MDBX_txn* txn, const struct tables* t, uint32_t id, const char* author,
                const char* title) {
  MDBX_val key = number(&id);
  MDBX_val value = text(title);
  check(mdbx_put(txn, t->books, &key, &value, MDBX_NOOVERWRITE), title);
  MDBX_val name = text(author);
  MDBX_val book = number(&id);
  check(mdbx_put(txn, t->authors, &name, &book, MDBX_NODUPDATA), author);
}

static void print_author(MDBX_txn* txn, const struct tables* t, const char* author) {
  MDBX_cursor* cursor;
  check(mdbx_cursor_open(txn, t->authors, &cursor), "cursor");
  MDBX_val name = text(author);
  MDBX_val book;
  printf("%s:\n", author);
  int code = mdbx_cursor_get(cursor, &name, &book, MDBX_SET_KEY);
  while (code == MDBX_SUCCESS) {
    uint32_t id;
    memcpy(&id, book.iov_base, sizeof(id));
    MDBX_val key = number(&id);
    MDBX_val title;
    check(mdbx_get(txn, t->books, &key, &title), "a book");
    printf("  %u %.*s\n", id, (int)title.iov_len, (const char*)title.iov_base);
    code = mdbx_cursor_get(cursor, &name, &book, MDBX_NEXT_DUP);
  }
  if (code != MDBX_NOTFOUND) check(code, "next");
  mdbx_cursor_close(cursor);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: catalogue DIRECTORY\n");
    return 2;
  }
  MDBX_env* env;
  check(mdbx_env_create(&env), "create");
  check(mdbx_env_set_maxdbs(env, 2), "maxdbs");
  check(mdbx_env_open(env, argv[1], MDBX_SAFE_NOSYNC, 0600), argv[1]);
  const struct tables t = open_tables(env);

  MDBX_txn* txn;
  check(mdbx_txn_begin(env, NULL, MDBX_TXN_READWRITE, &txn), "begin");
  add(txn, &t, 512, "Lem", "Solaris");
  add(txn, &t, 7, "Lem", "The Cyberiad");
  add(txn, &t, 90, "Le Guin", "The Dispossessed");
  uint64_t loans;
  check(mdbx_dbi_sequence(txn, t.books, &loans, 3), "sequence");

  // A part that is not kept.
  MDBX_txn* part;
  check(mdbx_txn_begin(env, txn, MDBX_TXN_READWRITE, &part), "begin a part");
  add(part, &t, 1000, "Lem", "A book that does not exist");
  check(mdbx_txn_abort(part), "abort");
  check(mdbx_txn_commit(txn), "commit");

  check(mdbx_txn_begin(env, NULL, MDBX_TXN_RDONLY, &txn), "read");
  print_author(txn, &t, "Le Guin");
  print_author(txn, &t, "Lem");
  check(mdbx_dbi_sequence(txn, t.books, &loans, 0), "sequence");
  MDBX_stat stat;
  check(mdbx_dbi_stat(txn, t.books, &stat, sizeof(stat)), "stat");
  printf("%u books, %u loans\n", (unsigned)stat.ms_entries, (unsigned)loans);
  check(mdbx_txn_abort(txn), "end");

  check(mdbx_env_close(env), "close");
  check(mdbx_env_delete(argv[1], MDBX_ENV_JUST_DELETE), "delete");
  return 0;
}
