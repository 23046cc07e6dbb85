#pragma once
// What all parts of the C API share: calling conventions, errors, bytes, lists of named fields.
//
// Not here: what one calls on a database (c/db.h); c.h includes all parts.
//
// Calls. A function that can fail returns a hawthorn_code and takes, as its last argument, where to
// put an error object: NULL where nobody wants it. It is set by every call, to NULL when that
// succeeds; what it pointed to before is not looked at. Results come through pointers (`out`), and
// are written when the call succeeds, and as said where it does not. No exception leaves the
// library, and no call ends the process. Wrong arguments give HAWTHORN_INVALID_ARGUMENT and a
// message that names them: a NULL where something is needed, bytes without an address, a number
// that is none of the constants, a structure whose struct_size is not set, a tree of another
// database. What cannot be seen is not: handles that were freed, sizes that are too large.
//
// Bytes. Keys, values and names are an address and a size. Any bytes may be in them. Where the size
// is HAWTHORN_STRING, it is that of a string that ends with a zero byte. An address of NULL with a
// size of 0 is empty; where a function says that bytes may be missing, NULL is that. What is given
// is copied where it is needed beyond the call. Paths, and names of options, are strings.
//
// Structures that are given begin with struct_size, to be set by the macro NAME_INIT or as
// sizeof(NAME); all other fields at 0 are the defaults. Later versions add fields at the end: a
// library takes structures of older and of newer headers, but for fields that it does not know and
// that are not 0 (HAWTHORN_NOT_SUPPORTED).
//
// Handles are pointers to types that nobody sees into. Each is freed by its own function, which
// takes NULL, too. A handle keeps alive what it was made from (a cursor its transaction, snapshot
// and database), so the order of freeing is free; hawthorn_db_close tells who is left.
//
// Threads: a hawthorn_db, hawthorn_tree, hawthorn_snapshot, hawthorn_follower and
// hawthorn_repository may be used by any number of threads at a time, and so may what a function
// has returned for reading only; all other handles by one at a time. Freeing one is a use.
//
// Units: sizes are in bytes. Times are in milliseconds (ms) or microseconds (us), as names say, and
// moments count from 1970.

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HAWTHORN_C_API __attribute__((visibility("default")))
#else
#define HAWTHORN_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The size of bytes that are a string with a zero byte at its end.
#define HAWTHORN_STRING ((size_t)-1)

// What a call came to. Codes are never given another meaning; new ones may come.
typedef int32_t hawthorn_code;
enum {
  HAWTHORN_OK = 0,
  HAWTHORN_NOT_FOUND = 1,         // no such key, tree or database
  HAWTHORN_INVALID_ARGUMENT = 2,  // the caller's mistake: sizes, handles, order of calls
  HAWTHORN_NOT_SUPPORTED = 3,     // a known wish that this version does not fulfil
  HAWTHORN_CORRUPTION = 4,        // bytes on disk are not what was written; the message says where
  HAWTHORN_IO_ERROR = 5,          // the operating system refused a read or write
  HAWTHORN_NO_SPACE = 6,          // the disk is full; reads and deletes go on
  HAWTHORN_BUSY = 7,              // somebody else holds it
  HAWTHORN_CONFLICT = 8,          // another transaction committed first; abort and try again
  HAWTHORN_READ_ONLY = 9,         // opened so, made so by a failed sync, or on a read-only medium
  HAWTHORN_OUT_OF_MEMORY = 10,    // the memory budget, or the process, does not allow it
  HAWTHORN_FORKED = 11,           // the handle was opened by the parent process
  HAWTHORN_UNKNOWN_OUTCOME = 12,  // the sync of this commit failed: it may or may not survive
  HAWTHORN_CLOSED = 13,           // the handle was closed
  HAWTHORN_TIMED_OUT = 14,        // others held a lock for too long; the message names them
  HAWTHORN_DEADLOCK = 15,         // transactions wait for each other; abort and try again
  HAWTHORN_TOO_OLD = 16,          // what was asked for is not kept any more; begin anew
  HAWTHORN_NOT_IN_MEMORY = 17,    // the disk would have to be read, which the caller did not want
  // The system does not let this process do it: the permissions of a file or directory, or a
  // sandbox; the message names it.
  HAWTHORN_PERMISSION_DENIED = 18,
  HAWTHORN_BUFFER_TOO_SMALL = 100,  // of the C API alone: the buffer that was given; see there
  HAWTHORN_INTERNAL = 101  // of the C API alone: an exception, which its callbacks must not throw
};

// The name of a code, such as "NotFound"; "Unknown" for other numbers. Lifetime: static.
HAWTHORN_C_API const char* hawthorn_code_name(hawthorn_code code);

typedef struct hawthorn_error hawthorn_error;

// What went wrong. HAWTHORN_OK for NULL.
HAWTHORN_C_API hawthorn_code hawthorn_error_code(const hawthorn_error* error);
// The same in words, what and where: a string, of which *size (may be NULL) becomes the size. Empty
// for NULL. Lifetime: the error's.
HAWTHORN_C_API const char* hawthorn_error_message(const hawthorn_error* error, size_t* size);
// A new error for callbacks to return; freed by who gets it. HAWTHORN_OK becomes
// HAWTHORN_INTERNAL. NULL only where there is no memory.
HAWTHORN_C_API hawthorn_error* hawthorn_error_create(hawthorn_code code, const char* message,
                                                     size_t message_size);
HAWTHORN_C_API void hawthorn_error_free(hawthorn_error* error);

// The version of the library, such as "0.1.0". Lifetime: static.
HAWTHORN_C_API const char* hawthorn_version(void);
// The newest version of databases that it opens: those of older ones open, too.
HAWTHORN_C_API uint32_t hawthorn_format_version(void);
// Of the functions and structures of these headers: 1. Functions are only ever added to it.
HAWTHORN_C_API uint32_t hawthorn_abi_version(void);

// Frees what a function has returned as "to be freed by hawthorn_free". NULL is fine.
HAWTHORN_C_API void hawthorn_free(void* memory);

// Limits of sizes, in bytes.
HAWTHORN_C_API uint64_t hawthorn_limit_key_bytes(void);
HAWTHORN_C_API uint64_t hawthorn_limit_value_bytes(void);         // in one call: 64 MB
HAWTHORN_C_API uint64_t hawthorn_limit_stream_value_bytes(void);  // by stream or parts: 4 GB
HAWTHORN_C_API uint64_t hawthorn_limit_tree_name_bytes(void);
HAWTHORN_C_API uint64_t hawthorn_limit_memory_budget_bytes_min(void);

// Bytes in an array of them.
typedef struct hawthorn_bytes {
  const void* data;
  size_t size;
} hawthorn_bytes;

// An entry in an array of them.
typedef struct hawthorn_entry {
  const void* key;
  size_t key_size;
  const void* value;
  size_t value_size;
} hawthorn_entry;

// What a commit survives (Durability in options.h): each includes those before it.
typedef uint32_t hawthorn_durability;
enum {
  HAWTHORN_DURABILITY_DEFAULT = 0,  // what the options say, which is full unless they say else
  HAWTHORN_DURABILITY_NONE = 1,     // the death of the process
  HAWTHORN_DURABILITY_ASYNC = 2,    // and a power loss, but for its last milliseconds
  HAWTHORN_DURABILITY_FULL = 3      // all that the hardware survives
};

typedef uint32_t hawthorn_io_mode;
enum { HAWTHORN_IO_AUTO = 0, HAWTHORN_IO_DIRECT = 1, HAWTHORN_IO_BUFFERED = 2 };

typedef uint32_t hawthorn_compression;
enum { HAWTHORN_COMPRESSION_NONE = 0, HAWTHORN_COMPRESSION_LZ4 = 1, HAWTHORN_COMPRESSION_ZSTD = 2 };

// Bytes that a callback makes: the library gives an empty one, and takes what is in it when the
// callback returns. Never to be kept.
typedef struct hawthorn_buffer hawthorn_buffer;
// Appends. 0: there is no memory, or an argument is NULL.
HAWTHORN_C_API int hawthorn_buffer_append(hawthorn_buffer* buffer, const void* data, size_t size);
// What is in it. Lifetime: until the next append.
HAWTHORN_C_API const void* hawthorn_buffer_data(const hawthorn_buffer* buffer, size_t* size);

// Called once with the context that was given, when the library will not use that any more; NULL:
// not wanted. Any thread.
typedef void (*hawthorn_destroy)(void* context);

// ---- Values that reads return

// Holds the bytes of one value, in place where that can be. Used again for many reads it keeps its
// memory, which is the fastest way.
typedef struct hawthorn_value hawthorn_value;

// A new one without bytes. NULL where there is no memory.
HAWTHORN_C_API hawthorn_value* hawthorn_value_create(void);
// Its bytes; *size (may be NULL) is their number. Lifetime: until the object is read into again,
// released, moved from or freed. Threads: the bytes may be read from any.
HAWTHORN_C_API const void* hawthorn_value_data(const hawthorn_value* value, size_t* size);
// Lets go of the bytes, and of the database, which is kept open meanwhile.
HAWTHORN_C_API void hawthorn_value_release(hawthorn_value* value);
// Makes `to` hold what `from` holds, which is empty then: the way to keep the value that a
// completion shows. Errors: HAWTHORN_INVALID_ARGUMENT.
HAWTHORN_C_API hawthorn_code hawthorn_value_move(hawthorn_value* from, hawthorn_value* to,
                                                 hawthorn_error** error);
HAWTHORN_C_API void hawthorn_value_free(hawthorn_value* value);

// ---- Lists of named fields

// What is told in lists (figures, names, reports, events): rows of fields, each with a name and a
// value. Fields may be added by later versions; those that there are keep name, type and unit.
// docs/c-api.md has the names.
typedef struct hawthorn_records hawthorn_records;

typedef uint32_t hawthorn_field_type;
enum {
  HAWTHORN_FIELD_NONE = 0,    // there is nothing where there could be something
  HAWTHORN_FIELD_NUMBER = 1,  // `number`
  HAWTHORN_FIELD_FLAG = 2,    // `number`: 0 or 1
  HAWTHORN_FIELD_BYTES = 3,   // `data` and `size`, with a zero byte behind them
  HAWTHORN_FIELD_RECORDS = 4  // `records`: freed with the list that has it
};

typedef uint32_t hawthorn_unit;
enum {
  HAWTHORN_UNIT_NUMBER = 0,
  HAWTHORN_UNIT_BYTES = 1,
  HAWTHORN_UNIT_MICROSECONDS = 2,
  HAWTHORN_UNIT_MILLISECONDS = 3,
  HAWTHORN_UNIT_SECONDS = 4
};

typedef struct hawthorn_field {
  const char* name;
  hawthorn_field_type type;
  hawthorn_unit unit;  // of a number
  uint64_t number;
  const void* data;
  size_t size;
  const hawthorn_records* records;
} hawthorn_field;

// How many rows; 0 for NULL.
HAWTHORN_C_API size_t hawthorn_records_count(const hawthorn_records* records);
// How many fields a row has; 0 for a row that there is not.
HAWTHORN_C_API size_t hawthorn_records_field_count(const hawthorn_records* records, size_t row);
// A field by its place. Lifetime: what *out points to, the list's. Errors: HAWTHORN_NOT_FOUND
// where there is no such row or field.
HAWTHORN_C_API hawthorn_code hawthorn_records_field(const hawthorn_records* records, size_t row,
                                                    size_t index, hawthorn_field* out,
                                                    hawthorn_error** error);
// A field by its name. Lifetime, Errors: the same.
HAWTHORN_C_API hawthorn_code hawthorn_records_find(const hawthorn_records* records, size_t row,
                                                   const char* name, hawthorn_field* out,
                                                   hawthorn_error** error);
// The number or flag of that name; `otherwise` where there is none.
HAWTHORN_C_API uint64_t hawthorn_records_number(const hawthorn_records* records, size_t row,
                                                const char* name, uint64_t otherwise);
// The bytes of that name, as a string; NULL where there are none. Lifetime: the list's.
HAWTHORN_C_API const char* hawthorn_records_bytes(const hawthorn_records* records, size_t row,
                                                  const char* name, size_t* size);
HAWTHORN_C_API void hawthorn_records_free(hawthorn_records* records);

// ---- Columns: many entries in four buffers

// Buffers of the caller which a call fills with entries: key i is the bytes of key_bytes from
// key_offsets[i] on, below key_offsets[i + 1]; values the same. This is the layout of Arrow's
// LargeBinary. Where key_offsets or value_offsets is NULL, keys or values are left out.
typedef struct hawthorn_columns {
  size_t struct_size;
  size_t rows_capacity;
  void* key_bytes;
  size_t key_bytes_capacity;
  int64_t* key_offsets;  // rows_capacity + 1 of them
  void* value_bytes;
  size_t value_bytes_capacity;
  int64_t* value_offsets;  // rows_capacity + 1 of them
  uint8_t* found;          // of answers to keys, rows_capacity of them: 1 or 0; NULL: not wanted
  // Written by the call:
  size_t rows;                // that were filled
  size_t key_bytes_needed;    // with HAWTHORN_BUFFER_TOO_SMALL: capacities with which the call
  size_t value_bytes_needed;  // would get further; else what was used
} hawthorn_columns;
#define HAWTHORN_COLUMNS_INIT \
  {sizeof(hawthorn_columns), 0, NULL, 0, NULL, NULL, 0, NULL, NULL, 0, 0, 0}

#ifdef __cplusplus
}
#endif
