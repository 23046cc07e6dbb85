// Values of JavaScript to those of C, and back.

#include "addon.h"

namespace hawthorn_node {

static constexpr napi_type_tag kTag = {0x8f2c4be1d0a94c55, 0x9a60d23f7b1e8c07};
static constexpr uint64_t kSafeMax = (1ull << 53) - 1;

static thread_local bool all_done = true;  // of this thread's JavaScript

bool did(napi_status status) {
  if (status != napi_ok) all_done = false;
  return status == napi_ok;
}
bool take_all_done() { return std::exchange(all_done, true); }

napi_value undefined(napi_env env) {
  napi_value value = nullptr;
  did(napi_get_undefined(env, &value));
  return value;
}
napi_value null(napi_env env) {
  napi_value value = nullptr;
  did(napi_get_null(env, &value));
  return value;
}
napi_value boolean(napi_env env, bool truth) {
  napi_value value = nullptr;
  did(napi_get_boolean(env, truth, &value));
  return value;
}
napi_value number(napi_env env, uint64_t number) {
  if (number > kSafeMax) return big(env, number);
  napi_value value = nullptr;
  did(napi_create_double(env, static_cast<double>(number), &value));
  return value;
}
napi_value big(napi_env env, uint64_t number) {
  napi_value value = nullptr;
  did(napi_create_bigint_uint64(env, number, &value));
  return value;
}
napi_value text(napi_env env, const void* data, size_t size) {
  napi_value value = nullptr;
  did(napi_create_string_utf8(env, static_cast<const char*>(data), size, &value));
  return value;
}
napi_value buffer(napi_env env, const void* data, size_t size) {
  void* to = nullptr;
  napi_value value = new_buffer(env, size, &to);
  if (value != nullptr && size > 0) std::memcpy(to, data, size);
  return value;
}
napi_value new_buffer(napi_env env, size_t size, void** to) {
  napi_value value = nullptr;
  return did(napi_create_buffer(env, size, to, &value)) ? value : nullptr;
}
napi_value new_object(napi_env env) {
  napi_value value = nullptr;
  did(napi_create_object(env, &value));
  return value;
}
napi_value new_array(napi_env env, size_t size) {
  napi_value value = nullptr;
  did(napi_create_array_with_length(env, size, &value));
  return value;
}
napi_value new_typedarray(napi_env env, napi_typedarray_type type, size_t count, size_t element,
                          void** to) {
  napi_value memory = nullptr;
  napi_value value = nullptr;
  if (!did(napi_create_arraybuffer(env, count * element, to, &memory))) return nullptr;
  return did(napi_create_typedarray(env, type, count, memory, 0, &value)) ? value : nullptr;
}
void set(napi_env env, napi_value object, const char* name, napi_value value) {
  did(napi_set_named_property(env, object, name, value));
}
void set_at(napi_env env, napi_value list, uint32_t place, napi_value value) {
  did(napi_set_element(env, list, place, value));
}

napi_value failure(Env* env) {
  bool pending = false;
  napi_value thrown = nullptr;
  if (napi_is_exception_pending(env->env, &pending) == napi_ok && pending) {
    napi_get_and_clear_last_exception(env->env, &thrown);
  }
  napi_value error = make_error(env, HAWTHORN_OUT_OF_MEMORY,
                                "what is to be returned is larger than an array or Buffer may be, "
                                "or the thread of JavaScript ends");
  take_all_done();
  return error;
}

// Names as JavaScript writes them: log_bytes_max becomes logBytesMax.
static std::string camel(const char* name) {
  std::string out;
  for (; *name != '\0'; ++name) {
    if (*name == '_' && name[1] != '\0') {
      ++name;
      out += *name >= 'a' && *name <= 'z' ? static_cast<char>(*name - 'a' + 'A') : *name;
    } else {
      out += *name;
    }
  }
  return out;
}

static bool holds_bytes(const char* name) {
  for (const char* one : {"key", "value", "low_key", "high_key", "data"}) {
    if (std::strcmp(name, one) == 0) return true;
  }
  return false;
}

napi_value rows(napi_env env, const hawthorn_records* records) {
  const size_t count = hawthorn_records_count(records);
  napi_value list = new_array(env, count);
  for (size_t row = 0; row < count; ++row) {
    napi_value object = new_object(env);
    const size_t fields = hawthorn_records_field_count(records, row);
    for (size_t i = 0; i < fields; ++i) {
      hawthorn_field field;
      if (hawthorn_records_field(records, row, i, &field, nullptr) != HAWTHORN_OK) continue;
      napi_value value = nullptr;
      switch (field.type) {
        case HAWTHORN_FIELD_NUMBER:
          value = number(env, field.number);
          break;
        case HAWTHORN_FIELD_FLAG:
          value = boolean(env, field.number != 0);
          break;
        case HAWTHORN_FIELD_RECORDS:
          value = rows(env, field.records);
          break;
        case HAWTHORN_FIELD_BYTES:
          value = holds_bytes(field.name) ? buffer(env, field.data, field.size)
                                          : text(env, field.data, field.size);
          break;
        default:
          value = null(env);
      }
      set(env, object, camel(field.name).c_str(), value);
    }
    set_at(env, list, static_cast<uint32_t>(row), object);
  }
  return list;
}

HandleRef new_handle(Env* env, Kind kind, void* ptr, void (*free)(void*), CoreRef core,
                     StrandRef strand) {
  auto handle = std::make_shared<Handle>();
  handle->env = env;
  handle->kind = kind;
  handle->ptr = ptr;
  handle->free = free;
  handle->core = std::move(core);
  handle->strand = std::move(strand);
  env->handles.insert(handle.get());
  if (handle->core && handle->is_closed_by_force()) {
    std::lock_guard<std::mutex> lock(handle->core->mutex);
    if (handle->core->forced_by == env) {
      handle->closed = true;
      handle->core->late.push_back(handle);
    }
  }
  return handle;
}

napi_value wrap(Env* env, HandleRef handle) {
  napi_value object = new_object(env->env);
  auto kept = std::make_unique<HandleRef>(std::move(handle));
  const bool made = object != nullptr && did(napi_type_tag_object(env->env, object, &kTag)) &&
                    did(napi_wrap(
                        env->env, object, kept.get(),
                        [](napi_env, void* data, void*) { delete static_cast<HandleRef*>(data); },
                        nullptr, nullptr));
  if (!made) return nullptr;  // and nobody has it: it is freed
  static_cast<void>(kept.release());
  return object;
}

Args::Args(napi_env env, napi_callback_info info, bool has_mode) : napi_(env), env_(env_of(env)) {
  if (napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr) != napi_ok) count_ = 0;
  for (size_t i = count_; i < 20; ++i) values_[i] = undefined(env);
  if (has_mode) sync_ = flag();
}

void Args::fail(const std::string& message, hawthorn_code code) {
  if (!ok_) return;
  ok_ = false;
  code_ = code;
  message_ = message;
}

napi_value Args::any() { return next_ < 20 ? values_[next_++] : undefined(napi_); }

static const char* kind_name(uint32_t kind) {
  static const char* const names[] = {"a Database", "a Tree",     "a Snapshot",   "a Transaction",
                                      "a Cursor",   "a Batch",    "an Ingest",    "a Feed",
                                      "a Replica",  "a Follower", "a Repository", "Columns",
                                      "a ReadQueue"};
  return names[kind];
}

HandleRef Args::take(napi_value value, bool null_is_fine, uint32_t kinds) {
  napi_valuetype type = napi_undefined;
  napi_typeof(napi_, value, &type);
  if (null_is_fine && (type == napi_undefined || type == napi_null)) return nullptr;
  bool tagged = false;
  void* data = nullptr;
  if (type == napi_object) napi_check_object_type_tag(napi_, value, &kTag, &tagged);
  if (tagged) napi_unwrap(napi_, value, &data);
  HandleRef handle = data != nullptr ? *static_cast<HandleRef*>(data) : nullptr;
  if (!handle || (kinds & (1u << static_cast<uint32_t>(handle->kind))) == 0) {
    uint32_t kind = 0;
    while ((kinds & (1u << kind)) == 0) ++kind;
    fail(std::string("an argument is not ") + kind_name(kind));
    return nullptr;
  }
  if (handle->closed) {
    fail(std::string(kind_name(static_cast<uint32_t>(handle->kind))) + " was closed",
         HAWTHORN_CLOSED);
    return nullptr;
  }
  if (handle->core && core_ && handle->core != core_) {
    fail(std::string(kind_name(static_cast<uint32_t>(handle->kind))) + " is of another database");
    return nullptr;
  }
  if (handle->core) core_ = handle->core;
  if (handle->strand && strand_ && handle->strand != strand_) {
    fail("two objects that are used by one call at a time each");
    return nullptr;
  }
  if (handle->strand) strand_ = handle->strand;
  handles_.push_back(handle);
  return handle;
}

HandleRef Args::handle(Kind kind) { return take(any(), false, 1u << static_cast<uint32_t>(kind)); }
HandleRef Args::handle_or_null(Kind kind) {
  return take(any(), true, 1u << static_cast<uint32_t>(kind));
}
hawthorn_snapshot* Args::snapshot() {
  const HandleRef found = handle_or_null(Kind::kSnapshot);
  if (found && in_txn_) fail("a transaction reads a moment of its own, and no snapshot");
  return opt<hawthorn_snapshot>(found);
}
HandleRef Args::other(Kind kind) {
  const CoreRef core = std::exchange(core_, nullptr);
  HandleRef found = handle(kind);
  core_ = core;
  return found;
}
hawthorn_db* Args::db() {
  const HandleRef found = handle(Kind::kDatabase);
  return found ? found->core->db : nullptr;
}

Target Args::target() {
  const HandleRef found = take(any(), false,
                               (1u << static_cast<uint32_t>(Kind::kDatabase)) |
                                   (1u << static_cast<uint32_t>(Kind::kTransaction)));
  Target target;
  if (!found) return target;
  target.db = found->core->db;
  if (found->kind == Kind::kTransaction) {
    target.txn = found->as<hawthorn_txn>();
    in_txn_ = true;
  }
  return target;
}

bool Args::read_bytes(napi_value value, std::string* out) {
  napi_valuetype type = napi_undefined;
  napi_typeof(napi_, value, &type);
  if (type == napi_string) {
    size_t size = 0;
    napi_get_value_string_utf8(napi_, value, nullptr, 0, &size);
    out->resize(size);
    napi_get_value_string_utf8(napi_, value, out->data(), size + 1, &size);
    return true;
  }
  if (type != napi_object) return false;
  void* data = nullptr;
  size_t size = 0;
  bool is = false;
  napi_value memory = nullptr;
  size_t offset = 0;
  if (napi_is_typedarray(napi_, value, &is) == napi_ok && is) {
    napi_typedarray_type element = napi_int8_array;
    napi_get_typedarray_info(napi_, value, &element, &size, &data, &memory, &offset);
    if (element != napi_uint8_array && element != napi_uint8_clamped_array) return false;
  } else if (napi_is_dataview(napi_, value, &is) == napi_ok && is) {
    napi_get_dataview_info(napi_, value, &size, &data, &memory, &offset);
  } else if (napi_is_arraybuffer(napi_, value, &is) == napi_ok && is) {
    napi_get_arraybuffer_info(napi_, value, &data, &size);
  } else {
    return false;
  }
  if (size > 0 && data != nullptr) out->assign(static_cast<const char*>(data), size);
  return true;
}

std::string Args::bytes() {
  std::string out;
  if (!read_bytes(any(), &out)) fail("a key, value or name is neither a string nor bytes");
  return out;
}

Bytes Args::bytes_or_null() {
  Bytes out;
  napi_value value = any();
  napi_valuetype type = napi_undefined;
  napi_typeof(napi_, value, &type);
  if (type == napi_undefined || type == napi_null) return out;
  out.there = true;
  if (!read_bytes(value, &out.data)) fail("a key, bound or value is neither a string nor bytes");
  return out;
}

std::string Args::string() {
  napi_value value = any();
  napi_valuetype type = napi_undefined;
  napi_typeof(napi_, value, &type);
  std::string out;
  if (type != napi_string || !read_bytes(value, &out)) fail("an argument is not a string");
  if (out.find('\0') != std::string::npos) fail("a string has a zero byte");
  return out;
}

uint64_t Args::u64() {
  napi_value value = any();
  napi_valuetype type = napi_undefined;
  napi_typeof(napi_, value, &type);
  if (type == napi_number) {
    double real = 0;
    napi_get_value_double(napi_, value, &real);
    if (real >= 0 && real <= static_cast<double>(kSafeMax)) {
      const uint64_t whole = static_cast<uint64_t>(real);
      if (static_cast<double>(whole) == real) return whole;
    }
  } else if (type == napi_bigint) {
    uint64_t whole = 0;
    bool lossless = false;
    napi_get_value_bigint_uint64(napi_, value, &whole, &lossless);
    if (lossless) return whole;
  }
  fail("a number is not a whole one from 0 on");
  return 0;
}

uint32_t Args::u32() {
  const uint64_t whole = u64();
  if (whole > UINT32_MAX) fail("a number is too large");
  return static_cast<uint32_t>(whole);
}

double Args::real() {
  double value = 0;
  if (napi_get_value_double(napi_, any(), &value) != napi_ok) fail("an argument is not a number");
  return value;
}

bool Args::flag() {
  bool value = false;
  if (napi_get_value_bool(napi_, any(), &value) != napi_ok) fail("an argument is not a boolean");
  return value;
}

std::vector<int64_t> Args::offsets(size_t bytes) {
  std::vector<int64_t> out;
  napi_value value = any();
  bool is = false;
  napi_is_typedarray(napi_, value, &is);
  napi_typedarray_type type = napi_int8_array;
  size_t count = 0;
  void* data = nullptr;
  napi_value memory = nullptr;
  size_t offset = 0;
  if (is) napi_get_typedarray_info(napi_, value, &type, &count, &data, &memory, &offset);
  if (!is || type != napi_bigint64_array || count == 0 || data == nullptr) {
    fail("offsets are no BigInt64Array with at least one element");
    return {0};
  }
  out.resize(count);
  std::memcpy(out.data(), data, count * sizeof(int64_t));
  for (size_t i = 0; i < count; ++i) {
    if (out[i] < (i > 0 ? out[i - 1] : 0) || static_cast<uint64_t>(out[i]) > bytes) {
      fail("offsets go down, or beyond the bytes");
      return {0};
    }
  }
  return out;
}

hawthorn_write_options Args::write_options() {
  hawthorn_write_options options = HAWTHORN_WRITE_OPTIONS_INIT;
  options.durability = u32();
  options.expiry = u32();
  options.expiry_ms = u64();
  return options;
}

napi_ref Args::function_or_null() {
  napi_value value = any();
  napi_valuetype type = napi_undefined;
  napi_typeof(napi_, value, &type);
  if (type == napi_undefined || type == napi_null) return nullptr;
  napi_ref ref = nullptr;
  if (type != napi_function || napi_create_reference(napi_, value, 1, &ref) != napi_ok) {
    fail("an argument is not a function");
  }
  return ref;
}

napi_value Args::refuse() {
  napi_value error = make_error(env_, code_, message_);
  if (asked_ != nullptr) napi_delete_reference(napi_, asked_);
  if (sync_) {
    napi_throw(napi_, error);
    return nullptr;
  }
  napi_deferred deferred = nullptr;
  napi_value promise = nullptr;
  if (!did(napi_create_promise(napi_, &deferred, &promise))) return nullptr;
  napi_reject_deferred(napi_, deferred, error);
  return promise;
}

napi_value Args::submit_job(Lane lane, Job* job) {
  job->env = env_;
  job->lane = in_txn_ && lane == Lane::kWrite ? Lane::kOwn : lane;
  job->handles = std::move(handles_);
  job->strand = strand_;
  if (core_ && !core_->enter()) {
    fail("the database was closed", HAWTHORN_CLOSED);
  } else if (sync_ && strand_ && strand_->running) {
    fail("another call for this object is under way", HAWTHORN_BUSY);
    if (core_) core_->leave();
  } else {
    job->core = core_;
  }
  if (!ok_) {
    delete job;
    return refuse();
  }
  job->asked = std::exchange(asked_, nullptr);
  if (sync_) {
    job->execute();
    const CoreRef core = job->core;
    napi_value result = nullptr;
    if (job->code == HAWTHORN_OK) {
      take_all_done();
      result = job->done(napi_);
      if (!take_all_done()) napi_throw(napi_, failure(env_)), result = nullptr;
    } else {
      code_ = job->code;
      message_ = std::move(job->message);
      ok_ = false;
    }
    delete job;
    if (core) core->leave();
    return ok_ ? result : refuse();
  }
  napi_value promise = nullptr;
  if (!did(napi_create_promise(napi_, &job->deferred, &promise))) {
    if (job->core) job->core->leave();
    delete job;
    return nullptr;
  }
  if (job->strand && job->strand->running) {
    job->strand->waiting.push_back(job);
  } else {
    if (job->strand) job->strand->running = true;
    env_->start(job);
  }
  return promise;
}

}  // namespace hawthorn_node
