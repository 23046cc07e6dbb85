// Options, and what a database calls in Java: merge operators, orders, filters, listeners, hooks.
//
// Contexts are global references, which the library gives back by destroy_context when the last
// database with them has gone. Callbacks come on any thread; dev.hawthorn.Callbacks lets no
// exception out.

#include "binding.h"

JNI(jlong, optionsCreate)(JNIEnv* env, jclass type) {
  (void)type;
  hawthorn_options* options = hawthorn_options_create();
  if (options == NULL) throw_out_of_memory(env);
  return (jlong)(intptr_t)options;
}

JNI(void, optionsFree)(JNIEnv* env, jclass type, jlong options) {
  (void)env, (void)type;
  hawthorn_options_free(P(options, options));
}

// Names and values are given with a zero byte at their end.
JNI(void, optionsSet)(JNIEnv* env, jclass type, jlong options, jbyteArray name, jbyteArray value) {
  (void)type;
  Bytes n, v;
  hawthorn_error* error = NULL;
  if (!take2(env, name, &n, value, &v)) return;
  const hawthorn_code code = hawthorn_options_set(P(options, options), n.data, v.data, &error);
  drop(&n);
  drop(&v);
  failed(env, code, error);
}

JNI(jbyteArray, optionsGet)(JNIEnv* env, jclass type, jlong options, jbyteArray name) {
  (void)type;
  Bytes n;
  char* out = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return NULL;
  const hawthorn_code code = hawthorn_options_get(P(options, options), n.data, &out, &error);
  drop(&n);
  if (failed(env, code, error)) return NULL;
  jbyteArray array = array_of_string(env, out);
  hawthorn_free(out);
  return array;
}

JNI(jbyteArray, optionsName)(JNIEnv* env, jclass type, jint index) {
  (void)type;
  return array_of_string(env, hawthorn_options_name((size_t)index));
}

// ---- What runs in Java

// Locals of a callback: a thread of the engine never returns to Java, which would drop them.
#define BEGIN_CALLBACK(otherwise)                                     \
  JNIEnv* env = attached();                                           \
  if (env == NULL || (*env)->PushLocalFrame(env, 16) != 0) {          \
    if (env != NULL) (*env)->ExceptionClear(env);                     \
    return otherwise;                                                 \
  }
#define END_CALLBACK                                                  \
  if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);       \
  (*env)->PopLocalFrame(env, NULL)

// Appends what a callback has made; 0 where it made nothing.
static int append_array(JNIEnv* env, jbyteArray made, hawthorn_buffer* out) {
  Bytes bytes;
  if (made == NULL || (*env)->ExceptionCheck(env) || !take(env, made, &bytes)) return 0;
  const int done = hawthorn_buffer_append(out, bytes.data, bytes.size);
  drop(&bytes);
  return done;
}

static int merge_callback(void* context, const void* key, size_t key_size, const void* existing,
                          size_t existing_size, const hawthorn_bytes* operands,
                          size_t operand_count, hawthorn_buffer* result) {
  BEGIN_CALLBACK(0);
  int done = 0;
  jclass bytes_class = (*env)->FindClass(env, "[B");
  jobjectArray list =
      bytes_class == NULL ? NULL
                          : (*env)->NewObjectArray(env, (jsize)operand_count, bytes_class, NULL);
  size_t i = 0;
  for (; list != NULL && i < operand_count; ++i) {
    jbyteArray operand = array_of(env, operands[i].data, operands[i].size);
    if (operand == NULL) break;
    (*env)->SetObjectArrayElement(env, list, (jsize)i, operand);
    (*env)->DeleteLocalRef(env, operand);
  }
  if (list != NULL && i == operand_count) {
    jbyteArray key_array = array_of(env, key, key_size);
    jbyteArray old = existing == NULL || key_array == NULL ? NULL
                                                           : array_of(env, existing, existing_size);
    if (key_array != NULL && (existing == NULL || old != NULL)) {
      done = append_array(env,
                          (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.merge,
                                                         context, key_array, old, list),
                          result);
    }
  }
  END_CALLBACK;
  return done;
}

static int combine_callback(void* context, const void* key, size_t key_size, const void* left,
                            size_t left_size, const void* right, size_t right_size,
                            hawthorn_buffer* result) {
  BEGIN_CALLBACK(0);
  int done = 0;
  jbyteArray k = array_of(env, key, key_size);
  jbyteArray a = k == NULL ? NULL : array_of(env, left, left_size);
  jbyteArray b = a == NULL ? NULL : array_of(env, right, right_size);
  if (b != NULL) {
    done = append_array(env,
                        (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.combine,
                                                       context, k, a, b),
                        result);
  }
  END_CALLBACK;
  return done;
}

JNI(void, optionsAddMergeOperator)
(JNIEnv* env, jclass type, jlong options, jbyteArray name, jobject object) {
  (void)type;
  Bytes n;
  hawthorn_error* error = NULL;
  hawthorn_merge_operator merge = HAWTHORN_MERGE_OPERATOR_INIT;
  if (!take(env, name, &n)) return;
  merge.name = n.data;
  merge.context = (*env)->NewGlobalRef(env, object);
  merge.destroy = destroy_context;
  merge.merge = merge_callback;
  merge.combine = combine_callback;
  const hawthorn_code code =
      hawthorn_options_add_merge_operator(P(options, options), &merge, &error);
  if (code != HAWTHORN_OK) destroy_context(merge.context);
  drop(&n);
  failed(env, code, error);
}

static int encode_callback(void* context, const void* key, size_t key_size,
                           hawthorn_buffer* sort_key) {
  BEGIN_CALLBACK(0);
  int done = 0;
  jbyteArray k = array_of(env, key, key_size);
  if (k != NULL) {
    done = append_array(
        env, (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.encode, context, k),
        sort_key);
  }
  END_CALLBACK;
  return done;
}

static int decode_callback(void* context, const void* sort_key, size_t sort_key_size,
                           hawthorn_buffer* key) {
  BEGIN_CALLBACK(0);
  int done = 0;
  jbyteArray k = array_of(env, sort_key, sort_key_size);
  if (k != NULL) {
    done = append_array(
        env, (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.decode, context, k),
        key);
  }
  END_CALLBACK;
  return done;
}

JNI(void, optionsAddKeyOrder)
(JNIEnv* env, jclass type, jlong options, jbyteArray name, jint fixed_bytes, jobject object) {
  (void)type;
  Bytes n;
  hawthorn_error* error = NULL;
  hawthorn_key_order order = HAWTHORN_KEY_ORDER_INIT;
  if (!take(env, name, &n)) return;
  order.name = n.data;
  order.context = (*env)->NewGlobalRef(env, object);
  order.destroy = destroy_context;
  order.encode = encode_callback;
  order.decode = decode_callback;
  order.fixed_bytes = (size_t)fixed_bytes;
  const hawthorn_code code = hawthorn_options_add_key_order(P(options, options), &order, &error);
  if (code != HAWTHORN_OK) destroy_context(order.context);
  drop(&n);
  failed(env, code, error);
}

static int compare_callback(void* context, const void* a, size_t a_size, const void* b,
                            size_t b_size) {
  const size_t common = a_size < b_size ? a_size : b_size;
  int result = common == 0 ? 0 : memcmp(a, b, common);  // what is left where Java cannot answer
  if (result == 0) result = a_size < b_size ? -1 : a_size > b_size;
  BEGIN_CALLBACK(result);
  jbyteArray left = array_of(env, a, a_size);
  jbyteArray right = left == NULL ? NULL : array_of(env, b, b_size);
  if (right != NULL) {
    result = (*env)->CallStaticIntMethod(env, callbacks.type, callbacks.compare, context, left,
                                         right);
  }
  END_CALLBACK;
  return result;
}

JNI(void, optionsAddKeyComparator)
(JNIEnv* env, jclass type, jlong options, jbyteArray name, jobject object) {
  (void)type;
  Bytes n;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return;
  jobject context = (*env)->NewGlobalRef(env, object);
  const hawthorn_code code = hawthorn_options_add_key_comparator(
      P(options, options), n.data, compare_callback, context, destroy_context, &error);
  if (code != HAWTHORN_OK) destroy_context(context);
  drop(&n);
  failed(env, code, error);
}

// The answer is a byte with the decision, and the new value behind it.
static hawthorn_filter_decision filter_callback(void* context, const void* key, size_t key_size,
                                                const void* value, size_t value_size,
                                                hawthorn_buffer* changed) {
  BEGIN_CALLBACK(HAWTHORN_FILTER_KEEP);
  hawthorn_filter_decision decision = HAWTHORN_FILTER_KEEP;
  jbyteArray k = array_of(env, key, key_size);
  jbyteArray v = k == NULL ? NULL : array_of(env, value, value_size);
  Bytes answer;
  jbyteArray made =
      v == NULL
          ? NULL
          : (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.filter, context, k, v);
  if (!(*env)->ExceptionCheck(env) && made != NULL && take(env, made, &answer)) {
    if (answer.size > 0) decision = *(unsigned char*)answer.data;
    if (decision == HAWTHORN_FILTER_CHANGE &&
        !hawthorn_buffer_append(changed, (char*)answer.data + 1, answer.size - 1)) {
      decision = HAWTHORN_FILTER_KEEP;
    }
    drop(&answer);
  }
  END_CALLBACK;
  return decision;
}

JNI(void, optionsSetFlushFilter)
(JNIEnv* env, jclass type, jlong options, jbyteArray tree, jbyteArray name, jboolean keys_only,
 jobject object) {
  (void)type;
  Bytes t, n;
  hawthorn_error* error = NULL;
  hawthorn_flush_filter filter = HAWTHORN_FLUSH_FILTER_INIT;
  if (!take2(env, tree, &t, name, &n)) return;
  filter.name = n.data;
  filter.context = (*env)->NewGlobalRef(env, object);
  filter.destroy = destroy_context;
  filter.keys_only = keys_only;
  filter.filter = filter_callback;
  const hawthorn_code code =
      hawthorn_options_set_flush_filter(P(options, options), t.data, t.size, &filter, &error);
  if (code != HAWTHORN_OK) destroy_context(filter.context);
  drop(&t);
  drop(&n);
  failed(env, code, error);
}

static void log_callback(void* context, hawthorn_log_level level, const char* message,
                         size_t size) {
  BEGIN_CALLBACK();
  jbyteArray text = array_of(env, message, size);
  if (text != NULL) {
    (*env)->CallStaticVoidMethod(env, callbacks.type, callbacks.log, context, (jint)level, text);
  }
  END_CALLBACK;
}

JNI(void, optionsSetLog)(JNIEnv* env, jclass type, jlong options, jobject object) {
  (void)type;
  hawthorn_error* error = NULL;
  jobject context = (*env)->NewGlobalRef(env, object);
  const hawthorn_code code = hawthorn_options_set_log(P(options, options), log_callback, context,
                                                      destroy_context, &error);
  if (code != HAWTHORN_OK) destroy_context(context);
  failed(env, code, error);
}

static void expiry_callback(void* context, const char* tree, size_t tree_size, const void* key,
                            size_t key_size, const void* value, size_t value_size) {
  BEGIN_CALLBACK();
  jbyteArray t = array_of(env, tree, tree_size);
  jbyteArray k = t == NULL ? NULL : array_of(env, key, key_size);
  jbyteArray v = k == NULL ? NULL : array_of(env, value, value_size);
  if (v != NULL) {
    (*env)->CallStaticVoidMethod(env, callbacks.type, callbacks.expired, context, t, k, v);
  }
  END_CALLBACK;
}

JNI(void, optionsSetOnExpiry)(JNIEnv* env, jclass type, jlong options, jobject object) {
  (void)type;
  hawthorn_error* error = NULL;
  jobject context = (*env)->NewGlobalRef(env, object);
  const hawthorn_code code = hawthorn_options_set_on_expiry(P(options, options), expiry_callback,
                                                            context, destroy_context, &error);
  if (code != HAWTHORN_OK) destroy_context(context);
  failed(env, code, error);
}

static void event_callback(void* context, hawthorn_event event, const hawthorn_records* fields) {
  BEGIN_CALLBACK();
  jbyteArray name = array_of_string(env, hawthorn_event_name(event));
  jbyteArray rows = name == NULL ? NULL : encode_records(env, fields);
  if (rows != NULL) {
    (*env)->CallStaticVoidMethod(env, callbacks.type, callbacks.event, context, name, rows);
  }
  END_CALLBACK;
}

JNI(void, optionsAddListener)(JNIEnv* env, jclass type, jlong options, jobject object) {
  (void)type;
  hawthorn_error* error = NULL;
  jobject context = (*env)->NewGlobalRef(env, object);
  const hawthorn_code code = hawthorn_options_add_listener(P(options, options), event_callback,
                                                           context, destroy_context, &error);
  if (code != HAWTHORN_OK) destroy_context(context);
  failed(env, code, error);
}

static hawthorn_error* before_commit(void* context, uint64_t operations,
                                     hawthorn_durability durability) {
  BEGIN_CALLBACK(hawthorn_error_create(HAWTHORN_INTERNAL, "no thread of Java", 17));
  jbyteArray answer =
      (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.before_commit, context,
                                     (jlong)operations, (jint)durability);
  hawthorn_error* error = callback_error(env, answer);
  END_CALLBACK;
  return error;
}

static void after_commit(void* context, uint64_t operations, hawthorn_durability durability,
                         uint64_t timestamp, hawthorn_code code, const hawthorn_error* outcome) {
  BEGIN_CALLBACK();
  size_t size = 0;
  const char* const message = hawthorn_error_message(outcome, &size);
  jbyteArray text = array_of(env, message, size);
  if (text != NULL) {
    (*env)->CallStaticVoidMethod(env, callbacks.type, callbacks.after_commit, context,
                                 (jlong)operations, (jint)durability, (jlong)timestamp, (jint)code,
                                 text);
  }
  END_CALLBACK;
}

JNI(void, optionsAddCommitHook)(JNIEnv* env, jclass type, jlong options, jobject object) {
  (void)type;
  hawthorn_error* error = NULL;
  jobject context = (*env)->NewGlobalRef(env, object);
  const hawthorn_code code = hawthorn_options_add_commit_hook(
      P(options, options), before_commit, after_commit, context, destroy_context, &error);
  if (code != HAWTHORN_OK) destroy_context(context);
  failed(env, code, error);
}

// The answer is a zero byte and the key's 32, or a byte of 1 and an error.
static hawthorn_error* key_callback(void* context, const char* key_id, size_t key_id_size,
                                    uint8_t key[32]) {
  BEGIN_CALLBACK(hawthorn_error_create(HAWTHORN_INTERNAL, "no thread of Java", 17));
  hawthorn_error* error = NULL;
  jbyteArray id = array_of(env, key_id, key_id_size);
  jbyteArray answer =
      id == NULL ? NULL
                 : (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.key, context, id);
  Bytes bytes;
  if (!(*env)->ExceptionCheck(env) && answer != NULL && take(env, answer, &bytes)) {
    char* const data = bytes.data;
    if (bytes.size == 33 && data[0] == 0) {
      memcpy(key, data + 1, 32);
    } else {
      error = hawthorn_error_create(HAWTHORN_INVALID_ARGUMENT, data + 1, bytes.size - 1);
    }
    memset(data, 0, bytes.size);
    __asm__ __volatile__("" : : "r"(data) : "memory");  // the key does not stay on the stack
    drop(&bytes);
  } else {
    error = hawthorn_error_create(HAWTHORN_OUT_OF_MEMORY, "no memory for a key", 19);
  }
  END_CALLBACK;
  return error;
}

JNI(void, optionsSetEncryption)
(JNIEnv* env, jclass type, jlong options, jbyteArray key_id, jobject object) {
  (void)type;
  Bytes id;
  hawthorn_error* error = NULL;
  if (!take(env, key_id, &id)) return;
  jobject context = (*env)->NewGlobalRef(env, object);
  const hawthorn_code code =
      hawthorn_options_set_encryption(P(options, options), id.data, id.size, key_callback, context,
                                      destroy_context, &error);
  if (code != HAWTHORN_OK) destroy_context(context);
  drop(&id);
  failed(env, code, error);
}

JNI(jbyteArray, generateKey)(JNIEnv* env, jclass type) {
  (void)type;
  uint8_t key[32];
  hawthorn_error* error = NULL;
  if (failed(env, hawthorn_generate_key(key, &error), error)) return NULL;
  return array_of(env, key, sizeof(key));
}
