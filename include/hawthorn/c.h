#pragma once
// The whole public API in C99, for programs in C and for bindings of other languages.
//
//   hawthorn_db* db = NULL;
//   hawthorn_error* error = NULL;
//   if (hawthorn_db_open("/var/lib/app/db", NULL, &db, &error) != HAWTHORN_OK) {
//     fprintf(stderr, "%s\n", hawthorn_error_message(error, NULL));
//     hawthorn_error_free(error);
//     return 1;
//   }
//   hawthorn_tree* users = NULL;
//   hawthorn_db_tree(db, "users", HAWTHORN_STRING, NULL, &users, NULL);
//   hawthorn_db_put(db, users, "ada", 3, "1815", 4, NULL, NULL);
//
// c/base.h says what holds for all functions: errors, bytes, structures, handles, threads. What is
// offered is stable: functions, constants and structures of these headers keep their meaning and
// layout, and the shared library exports each function under the version HAWTHORN_1. docs/c-api.md
// says more, and what is not offered in C.

#include "c/access.h"
#include "c/base.h"
#include "c/check.h"
#include "c/copies.h"
#include "c/cursor.h"
#include "c/db.h"
#include "c/feed.h"
#include "c/options.h"
#include "c/read_queue.h"
#include "c/transaction.h"
