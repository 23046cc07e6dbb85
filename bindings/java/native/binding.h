#pragma once
// What all parts of the JNI library share: bytes of Java arrays, errors as exceptions, calls of
// Java.
//
// Each native method is a static one of dev.hawthorn.Native; handles come as numbers, guarded by
// the Java side: none is ever freed while a call with it runs. Where a method takes a `db` and a
// `txn`, it is the transaction's unless that is 0. Nothing here holds a Java array in place over a
// call of the engine, so that the collector never waits for a disk.

#include <hawthorn/c.h>
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JNI(type, name) JNIEXPORT type JNICALL Java_dev_hawthorn_Native_##name
#define P(type, number) ((hawthorn_##type*)(intptr_t)(number))

// A copy of an array's bytes; short ones lie in the object itself. No array: data is NULL.
typedef struct Bytes {
  void* data;
  size_t size;
  int on_heap;
  char small[1024];
} Bytes;

// 0: an exception is pending, and there is nothing to drop.
int take(JNIEnv* env, jbyteArray array, Bytes* out);
// The same of two and three arrays at once.
int take2(JNIEnv* env, jbyteArray a, Bytes* out_a, jbyteArray b, Bytes* out_b);
int take3(JNIEnv* env, jbyteArray a, Bytes* out_a, jbyteArray b, Bytes* out_b, jbyteArray c,
          Bytes* out_c);
void drop(Bytes* bytes);

// A new array; NULL with an exception pending where there is no memory.
jbyteArray array_of(JNIEnv* env, const void* data, size_t size);
// The same as a string of UTF-8 bytes: NULL for NULL.
jbyteArray array_of_string(JNIEnv* env, const char* string);

// Throws what a call came to, and frees it. 0 where it succeeded.
int failed(JNIEnv* env, hawthorn_code code, hawthorn_error* error);
jthrowable exception_of(JNIEnv* env, hawthorn_code code, const hawthorn_error* error);
void throw_out_of_memory(JNIEnv* env);

// Rows of named fields as bytes, which dev.hawthorn.Row reads.
jbyteArray encode_records(JNIEnv* env, const hawthorn_records* records);
// The same of a call's result, which is freed; NULL with an exception pending where it failed.
jbyteArray records_result(JNIEnv* env, hawthorn_code code, hawthorn_error* error,
                          hawthorn_records* records);

hawthorn_write_options write_options(jint durability, jint expiry, jlong expiry_ms);

// Offsets of columns that Java has filled, copied and checked: within the capacity and ascending.
// NULL with an exception pending where they are not.
int64_t* checked_offsets(JNIEnv* env, const int64_t* offsets, size_t rows, size_t capacity);
// A copy of the columns with offsets of its own, to give to the engine as input. 0: exception.
int input_columns(JNIEnv* env, const hawthorn_columns* columns, hawthorn_columns* out);
void drop_input_columns(hawthorn_columns* columns);

// ---- Calls of Java

// The environment of this thread, which is attached where it is not one of Java's; NULL: no JVM.
JNIEnv* attached(void);

// Static methods of dev.hawthorn.Callbacks.
typedef struct CallbackMethods {
  jclass type;
  jmethodID merge, combine, encode, decode, compare, filter, log, expired, event;
  jmethodID before_commit, after_commit, key, progress, sink, source, check_progress;
} CallbackMethods;
extern CallbackMethods callbacks;

// Gives back a global reference to the Java object that is a context.
void destroy_context(void* context);
// The error that a callback's answer stands for (four bytes of code, then the message); NULL for
// no array. Drops the local reference.
hawthorn_error* callback_error(JNIEnv* env, jbyteArray answer);
// For hawthorn_stream_source and hawthorn_copy_progress, with a local or global reference.
typedef struct CallContext {
  jobject object;
} CallContext;
int64_t source_callback(void* context, void* buffer, size_t capacity, hawthorn_error** error);
hawthorn_error* progress_callback(void* context, uint64_t bytes);
