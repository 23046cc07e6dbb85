#pragma once
// libmdbx's C API, in two flavours, over the engine of Hawthorn; mdbx.h chooses the flavour.
//
// What it is not: libmdbx. An environment is a directory of the engine, opened by one process;
// files of libmdbx are not read. Pages, their sizes and their counts are estimates for programs
// that print them.
//
// 1. Names, values of constants and layouts of structs are those of libmdbx; HAWTHORN_MDBX_API is
//    13 for its releases 0.13.x, and 14 for 0.14.x, where they differ.
// 2. Functions that return int give 0, MDBX_RESULT_TRUE, an MDBX_error or an errno.
// 3. Each declaration says how it is met: [mapped] does what libmdbx documents, [accepted] is taken
//    without a meaning here, [refused] gives MDBX_ENOSYS. Members and enumerators have the mark of
//    their type, unless they have their own. supported.py makes SUPPORTED.md of them.
//
// Threads: an environment is for all threads; a transaction for the thread that began it, or with
// MDBX_NOSTICKYTHREADS for one thread at a time; a cursor goes with its transaction.
// Lifetime: values that are read stay where they are until the transaction ends, and in one that
// writes until its next change.

#if !defined(HAWTHORN_MDBX_API) || (HAWTHORN_MDBX_API != 13 && HAWTHORN_MDBX_API != 14)
#error "include mdbx.h of one flavour"
#endif

#include "hawthorn_mdbx/checks.h"
#include "hawthorn_mdbx/compiler.h"
#include "hawthorn_mdbx/cursors.h"
#include "hawthorn_mdbx/debug.h"
#include "hawthorn_mdbx/environment.h"
#include "hawthorn_mdbx/errors.h"
#include "hawthorn_mdbx/limits.h"
#include "hawthorn_mdbx/operations.h"
#include "hawthorn_mdbx/readers.h"
#include "hawthorn_mdbx/statistics.h"
#include "hawthorn_mdbx/tables.h"
#include "hawthorn_mdbx/transactions.h"
#include "hawthorn_mdbx/types.h"
