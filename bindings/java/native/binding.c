// What all parts of the JNI library share.

#include "binding.h"

#include <pthread.h>

static JavaVM* machine;
static pthread_key_t attached_key;
static jclass exception_class;
static jmethodID exception_of_method;
CallbackMethods callbacks;

static void detach(void* unused) {
  (void)unused;
  (*machine)->DetachCurrentThread(machine);
}

static int find_callbacks(JNIEnv* env) {
  const struct {
    jmethodID* method;
    const char* name;
    const char* signature;
  } wanted[] = {
      {&callbacks.merge, "merge", "(Ldev/hawthorn/MergeOperator;[B[B[[B)[B"},
      {&callbacks.combine, "combine", "(Ldev/hawthorn/MergeOperator;[B[B[B)[B"},
      {&callbacks.encode, "encode", "(Ldev/hawthorn/KeyOrder;[B)[B"},
      {&callbacks.decode, "decode", "(Ldev/hawthorn/KeyOrder;[B)[B"},
      {&callbacks.compare, "compare", "(Ljava/util/Comparator;[B[B)I"},
      {&callbacks.filter, "filter", "(Ldev/hawthorn/FlushFilter;[B[B)[B"},
      {&callbacks.log, "log", "(Ldev/hawthorn/LogListener;I[B)V"},
      {&callbacks.expired, "expired", "(Ldev/hawthorn/ExpiryListener;[B[B[B)V"},
      {&callbacks.event, "event", "(Ldev/hawthorn/EventListener;[B[B)V"},
      {&callbacks.before_commit, "beforeCommit", "(Ldev/hawthorn/CommitHook;JI)[B"},
      {&callbacks.after_commit, "afterCommit", "(Ldev/hawthorn/CommitHook;JIJI[B)V"},
      {&callbacks.key, "key", "(Ldev/hawthorn/KeyProvider;[B)[B"},
      {&callbacks.progress, "progress", "(Ldev/hawthorn/Callbacks;J)[B"},
      {&callbacks.sink, "sink", "(Ldev/hawthorn/Callbacks;[B)[B"},
      {&callbacks.source, "source", "(Ldev/hawthorn/Callbacks;I)[B"},
      {&callbacks.check_progress, "checkProgress", "(Ldev/hawthorn/Callbacks;JJ)V"},
  };
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    *wanted[i].method =
        (*env)->GetStaticMethodID(env, callbacks.type, wanted[i].name, wanted[i].signature);
    if (*wanted[i].method == NULL) return 0;
  }
  return 1;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* reserved) {
  (void)reserved;
  JNIEnv* env = NULL;
  machine = vm;
  if ((*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  if (pthread_key_create(&attached_key, detach) != 0) return JNI_ERR;
  jclass local = (*env)->FindClass(env, "dev/hawthorn/HawthornException");
  if (local == NULL) return JNI_ERR;
  exception_class = (*env)->NewGlobalRef(env, local);
  exception_of_method = (*env)->GetStaticMethodID(env, exception_class, "of",
                                                  "(I[B)Ldev/hawthorn/HawthornException;");
  local = (*env)->FindClass(env, "dev/hawthorn/Callbacks");
  if (local == NULL || exception_of_method == NULL) return JNI_ERR;
  callbacks.type = (*env)->NewGlobalRef(env, local);
  return find_callbacks(env) ? JNI_VERSION_1_8 : JNI_ERR;
}

JNIEnv* attached(void) {
  JNIEnv* env = NULL;
  if ((*machine)->GetEnv(machine, (void**)&env, JNI_VERSION_1_8) == JNI_OK) return env;
  JavaVMAttachArgs arguments = {JNI_VERSION_1_8, (char*)"hawthorn", NULL};
  if ((*machine)->AttachCurrentThreadAsDaemon(machine, (void**)&env, &arguments) != JNI_OK) {
    return NULL;
  }
  pthread_setspecific(attached_key, env);  // so that the thread is detached when it ends
  return env;
}

void throw_out_of_memory(JNIEnv* env) {
  jclass type = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
  if (type != NULL) (*env)->ThrowNew(env, type, "native memory");
}

int take(JNIEnv* env, jbyteArray array, Bytes* out) {
  out->data = NULL;
  out->size = 0;
  out->on_heap = 0;
  if (array == NULL) return 1;
  out->size = (size_t)(*env)->GetArrayLength(env, array);
  out->data = out->small;
  if (out->size > sizeof(out->small)) {
    out->data = malloc(out->size);
    out->on_heap = 1;
    if (out->data == NULL) return throw_out_of_memory(env), 0;
  }
  (*env)->GetByteArrayRegion(env, array, 0, (jsize)out->size, out->data);
  return 1;
}

int take2(JNIEnv* env, jbyteArray a, Bytes* out_a, jbyteArray b, Bytes* out_b) {
  if (!take(env, a, out_a)) return 0;
  if (take(env, b, out_b)) return 1;
  drop(out_a);
  return 0;
}

int take3(JNIEnv* env, jbyteArray a, Bytes* out_a, jbyteArray b, Bytes* out_b, jbyteArray c,
          Bytes* out_c) {
  if (!take2(env, a, out_a, b, out_b)) return 0;
  if (take(env, c, out_c)) return 1;
  drop(out_a);
  drop(out_b);
  return 0;
}

void drop(Bytes* bytes) {
  if (bytes->on_heap) free(bytes->data);
}

jbyteArray array_of(JNIEnv* env, const void* data, size_t size) {
  if (size > INT32_MAX - 8) return throw_out_of_memory(env), NULL;
  jbyteArray array = (*env)->NewByteArray(env, (jsize)size);
  if (array != NULL && size > 0) (*env)->SetByteArrayRegion(env, array, 0, (jsize)size, data);
  return array;
}

jbyteArray array_of_string(JNIEnv* env, const char* string) {
  return string == NULL ? NULL : array_of(env, string, strlen(string));
}

jthrowable exception_of(JNIEnv* env, hawthorn_code code, const hawthorn_error* error) {
  size_t size = 0;
  const char* const message = hawthorn_error_message(error, &size);
  jbyteArray bytes = array_of(env, message, size);
  if (bytes == NULL) return NULL;
  jthrowable exception = (*env)->CallStaticObjectMethod(env, exception_class, exception_of_method,
                                                        (jint)code, bytes);
  return (*env)->ExceptionCheck(env) ? NULL : exception;
}

int failed(JNIEnv* env, hawthorn_code code, hawthorn_error* error) {
  if (code == HAWTHORN_OK) return 0;
  jthrowable exception = exception_of(env, code, error);
  hawthorn_error_free(error);
  if (exception != NULL) (*env)->Throw(env, exception);
  return 1;
}

hawthorn_write_options write_options(jint durability, jint expiry, jlong expiry_ms) {
  hawthorn_write_options options = HAWTHORN_WRITE_OPTIONS_INIT;
  options.durability = (hawthorn_durability)durability;
  options.expiry = (hawthorn_expiry)expiry;
  options.expiry_ms = (uint64_t)expiry_ms;
  return options;
}

// ---- Rows of fields

typedef struct Growing {
  char* data;
  size_t size, capacity;
  int out_of_memory;
} Growing;

static void grow(Growing* to, const void* data, size_t size) {
  if (to->out_of_memory) return;
  if (to->size + size > to->capacity) {
    const size_t capacity = (to->size + size) * 2 + 256;
    char* const larger = realloc(to->data, capacity);
    if (larger == NULL) {
      to->out_of_memory = 1;
      return;
    }
    to->data = larger;
    to->capacity = capacity;
  }
  if (size > 0) memcpy(to->data + to->size, data, size);
  to->size += size;
}
static void grow_number(Growing* to, uint64_t number) { grow(to, &number, sizeof(number)); }

static void add_records(Growing* to, const hawthorn_records* records) {
  const size_t rows = hawthorn_records_count(records);
  grow_number(to, rows);
  for (size_t row = 0; row < rows; ++row) {
    const size_t fields = hawthorn_records_field_count(records, row);
    grow_number(to, fields);
    for (size_t i = 0; i < fields; ++i) {
      hawthorn_field field;
      memset(&field, 0, sizeof(field));
      hawthorn_records_field(records, row, i, &field, NULL);
      const size_t name_size = field.name != NULL ? strlen(field.name) : 0;
      grow_number(to, name_size);
      grow(to, field.name, name_size);
      grow_number(to, field.type);
      grow_number(to, field.unit);
      grow_number(to, field.type == HAWTHORN_FIELD_BYTES ? field.size : field.number);
      if (field.type == HAWTHORN_FIELD_BYTES) grow(to, field.data, field.size);
      if (field.type == HAWTHORN_FIELD_RECORDS) add_records(to, field.records);
    }
  }
}

jbyteArray encode_records(JNIEnv* env, const hawthorn_records* records) {
  Growing bytes = {NULL, 0, 0, 0};
  add_records(&bytes, records);
  jbyteArray array = NULL;
  if (bytes.out_of_memory) {
    throw_out_of_memory(env);
  } else {
    array = array_of(env, bytes.data, bytes.size);
  }
  free(bytes.data);
  return array;
}

jbyteArray records_result(JNIEnv* env, hawthorn_code code, hawthorn_error* error,
                          hawthorn_records* records) {
  if (failed(env, code, error)) return NULL;
  jbyteArray array = encode_records(env, records);
  hawthorn_records_free(records);
  return array;
}

// ---- Columns that are given

int64_t* checked_offsets(JNIEnv* env, const int64_t* offsets, size_t rows, size_t capacity) {
  int64_t* const copy = malloc((rows + 1) * sizeof(int64_t));
  if (copy == NULL) return throw_out_of_memory(env), NULL;
  memcpy(copy, offsets, (rows + 1) * sizeof(int64_t));
  int good = copy[0] >= 0;
  for (size_t i = 0; i < rows; ++i) good &= copy[i] <= copy[i + 1];
  if (good && (uint64_t)copy[rows] <= capacity) return copy;
  free(copy);
  jclass type = (*env)->FindClass(env, "java/lang/IllegalArgumentException");
  if (type != NULL) (*env)->ThrowNew(env, type, "offsets of columns descend or leave their buffer");
  return NULL;
}

int input_columns(JNIEnv* env, const hawthorn_columns* columns, hawthorn_columns* out) {
  *out = *columns;
  out->found = NULL;
  out->key_offsets =
      checked_offsets(env, columns->key_offsets, columns->rows, columns->key_bytes_capacity);
  if (out->key_offsets == NULL) return 0;
  out->value_offsets =
      checked_offsets(env, columns->value_offsets, columns->rows, columns->value_bytes_capacity);
  if (out->value_offsets != NULL) return 1;
  free(out->key_offsets);
  return 0;
}

void drop_input_columns(hawthorn_columns* columns) {
  free(columns->key_offsets);
  free(columns->value_offsets);
}

// ---- Calls of Java

void destroy_context(void* context) {
  JNIEnv* env = attached();
  if (env != NULL) (*env)->DeleteGlobalRef(env, context);
}

hawthorn_error* callback_error(JNIEnv* env, jbyteArray answer) {
  Bytes bytes;
  if ((*env)->ExceptionCheck(env)) {
    (*env)->ExceptionClear(env);
    return hawthorn_error_create(HAWTHORN_INTERNAL, "a callback failed", 17);
  }
  if (answer == NULL || !take(env, answer, &bytes)) return NULL;
  int32_t code = HAWTHORN_INTERNAL;
  hawthorn_error* error = NULL;
  if (bytes.size >= sizeof(code)) {
    memcpy(&code, bytes.data, sizeof(code));
    error = hawthorn_error_create(code, (const char*)bytes.data + sizeof(code),
                                  bytes.size - sizeof(code));
  }
  drop(&bytes);
  (*env)->DeleteLocalRef(env, answer);
  return error;
}

int64_t source_callback(void* context, void* buffer, size_t capacity, hawthorn_error** error) {
  JNIEnv* env = attached();
  const jobject object = ((CallContext*)context)->object;
  const jint wanted = capacity > (1 << 20) ? 1 << 20 : (jint)capacity;
  jbyteArray bytes =
      env == NULL ? NULL
                  : (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.source, object,
                                                   wanted);
  if (env != NULL && (*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
  if (bytes == NULL) {
    *error = hawthorn_error_create(HAWTHORN_IO_ERROR, "the source of bytes failed", 26);
    return -1;
  }
  const jsize size = (*env)->GetArrayLength(env, bytes);
  (*env)->GetByteArrayRegion(env, bytes, 0, size, buffer);
  (*env)->DeleteLocalRef(env, bytes);
  return size;
}

hawthorn_error* progress_callback(void* context, uint64_t bytes) {
  JNIEnv* env = attached();
  if (env == NULL) return NULL;
  const jobject object = ((CallContext*)context)->object;
  return callback_error(env, (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.progress,
                                                            object, (jlong)bytes));
}
