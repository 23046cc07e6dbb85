// Options by functions of their own.

#include "c/options.h"

#include <algorithm>

#include "c/callbacks.h"

using hawthorn::Options;
using hawthorn::Result;
using hawthorn::SecretKey;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Context;
using hawthorn::c::Given;
using hawthorn::c::GivenCall;
using hawthorn::c::need;
using hawthorn::c::OneOf;
using hawthorn::c::OptionsGiven;

namespace hawthorn::c {

namespace {

// An option that is a function: `make` makes it of the shared context, which is the library's when
// nothing throws any more. `given` is NULL: there is none.
template <typename Option, typename Call, typename Make>
hawthorn_code set_callback(hawthorn_options* options, Option Options::* option, Call* given,
                           void* context, hawthorn_destroy destroy, hawthorn_error** error,
                           Make&& make) {
  return call(error, [&]() -> Status {
    if (Status s = need(OptionsGiven(options)); !s.ok()) return s;
    if (given == nullptr) {
      options->options.*option = nullptr;
      return {};
    }
    auto shared = std::make_shared<Context>(context, nullptr);
    options->options.*option = make(shared);
    shared->own(destroy);
    return {};
  });
}

// Adds what `make` makes: room for it comes first, so that nothing throws behind it.
template <typename List, typename Make>
void add_to(List* list, Make&& make) {
  list->emplace_back();
  try {
    list->back() = make();
  } catch (...) {
    list->pop_back();
    throw;
  }
}

// What the setters of plain values do.
template <typename T, typename U>
hawthorn_code set_option(hawthorn_options* options, T Options::* field, U value,
                         hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(OptionsGiven(options)); !s.ok()) return s;
    options->options.*field = static_cast<T>(value);
    return {};
  });
}

template <typename T>
hawthorn_code set_constant(hawthorn_options* options, T Options::* field, uint32_t value,
                           uint32_t last, const char* name, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(OptionsGiven(options), OneOf(value, last, name)); !s.ok()) return s;
    options->options.*field = static_cast<T>(value);
    return {};
  });
}

// A name of 1 to 255 bytes that stays the same.
Status check_callback_name(const char* name, const char* what) {
  if (name == nullptr || *name == '\0') return invalid(std::string(what) + " is empty");
  if (std::strlen(name) > 255) return invalid(std::string(what) + " has more than 255 bytes");
  return {};
}

}  // namespace

}  // namespace hawthorn::c

hawthorn_options* hawthorn_options_create(void) {
  return hawthorn::c::make_or_null<hawthorn_options>();
}
void hawthorn_options_free(hawthorn_options* options) { delete options; }

hawthorn_code hawthorn_options_set_memory_budget_bytes(hawthorn_options* options, uint64_t bytes,
                                                       hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::memory_budget_bytes, bytes, error);
}
hawthorn_code hawthorn_options_set_preallocate_memory(hawthorn_options* options, int preallocate,
                                                      hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::preallocate_memory, preallocate != 0, error);
}
hawthorn_code hawthorn_options_set_durability(hawthorn_options* options,
                                              hawthorn_durability durability,
                                              hawthorn_error** error) {
  return hawthorn::c::set_constant(options, &Options::durability, durability,
                                   HAWTHORN_DURABILITY_FULL, "durability", error);
}
hawthorn_code hawthorn_options_set_io_mode(hawthorn_options* options, hawthorn_io_mode mode,
                                           hawthorn_error** error) {
  return hawthorn::c::set_constant(options, &Options::io_mode, mode, HAWTHORN_IO_BUFFERED,
                                   "io_mode", error);
}
hawthorn_code hawthorn_options_set_space_target(hawthorn_options* options, double space_target,
                                                hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::space_target, space_target, error);
}
hawthorn_code hawthorn_options_set_compression(hawthorn_options* options,
                                               hawthorn_compression compression,
                                               hawthorn_error** error) {
  return hawthorn::c::set_constant(options, &Options::compression, compression,
                                   HAWTHORN_COMPRESSION_ZSTD, "compression", error);
}
hawthorn_code hawthorn_options_add_device(hawthorn_options* options, const char* path,
                                          hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(OptionsGiven(options), Given(path, "path")); !s.ok()) return s;
    options->options.devices.emplace_back(path);
    return {};
  });
}
hawthorn_code hawthorn_options_set_read_only(hawthorn_options* options, int read_only,
                                             hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::read_only, read_only != 0, error);
}
hawthorn_code hawthorn_options_set_create_if_missing(hawthorn_options* options, int create,
                                                     hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::create_if_missing, create != 0, error);
}
hawthorn_code hawthorn_options_set_error_if_exists(hawthorn_options* options, int fail,
                                                   hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::error_if_exists, fail != 0, error);
}
hawthorn_code hawthorn_options_set_file_mode(hawthorn_options* options, uint32_t mode,
                                             hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::file_mode, mode, error);
}
hawthorn_code hawthorn_options_set_lock_timeout_ms(hawthorn_options* options, uint64_t timeout_ms,
                                                   hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::lock_timeout_ms, timeout_ms, error);
}
hawthorn_code hawthorn_options_set_background_io_bytes_per_second(hawthorn_options* options,
                                                                  uint64_t bytes_per_second,
                                                                  hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::background_io_bytes_per_second,
                                 bytes_per_second, error);
}
hawthorn_code hawthorn_options_set_scrub_bytes_per_second(hawthorn_options* options,
                                                          uint64_t bytes_per_second,
                                                          hawthorn_error** error) {
  return hawthorn::c::set_option(options, &Options::scrub_bytes_per_second, bytes_per_second,
                                 error);
}

hawthorn_code hawthorn_options_set_log(hawthorn_options* options, hawthorn_log_callback log,
                                       void* context, hawthorn_destroy destroy,
                                       hawthorn_error** error) {
  return hawthorn::c::set_callback(
      options, &Options::log, log, context, destroy, error, [log](std::shared_ptr<Context> shared) {
        return [log, shared](hawthorn::LogLevel level, std::string_view message) {
          const std::string text(message);
          log(shared->get(), static_cast<hawthorn_log_level>(level), text.c_str(), text.size());
        };
      });
}

hawthorn_code hawthorn_options_set_open_progress(hawthorn_options* options,
                                                 hawthorn_open_progress progress, void* context,
                                                 hawthorn_destroy destroy, hawthorn_error** error) {
  return hawthorn::c::set_callback(
      options, &Options::open_progress, progress, context, destroy, error,
      [progress](std::shared_ptr<Context> shared) {
        return [progress, shared](uint64_t done, uint64_t all) {
          return hawthorn::c::take_error(progress(shared->get(), done, all));
        };
      });
}

hawthorn_code hawthorn_options_set_on_expiry(hawthorn_options* options,
                                             hawthorn_expiry_callback on_expiry, void* context,
                                             hawthorn_destroy destroy, hawthorn_error** error) {
  return hawthorn::c::set_callback(
      options, &Options::on_expiry, on_expiry, context, destroy, error,
      [on_expiry](std::shared_ptr<Context> shared) {
        return [on_expiry, shared](std::string_view tree, std::string_view key,
                                   std::string_view value) {
          on_expiry(shared->get(), tree.data(), tree.size(), key.data(), key.size(), value.data(),
                    value.size());
        };
      });
}

hawthorn_code hawthorn_options_add_listener(hawthorn_options* options,
                                            hawthorn_event_callback callback, void* context,
                                            hawthorn_destroy destroy, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(OptionsGiven(options), GivenCall(callback, "callback")); !s.ok()) return s;
    hawthorn::c::add_to(&options->options.listeners,
                        [&] { return hawthorn::c::make_listener(callback, context, destroy); });
    return {};
  });
}

hawthorn_code hawthorn_options_add_commit_hook(hawthorn_options* options,
                                               hawthorn_before_commit before,
                                               hawthorn_after_commit after, void* context,
                                               hawthorn_destroy destroy, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(OptionsGiven(options)); !s.ok()) return s;
    if (before == nullptr && after == nullptr) {
      return hawthorn::c::invalid("both functions of the commit hook are NULL");
    }
    hawthorn::c::add_to(&options->options.commit_hooks, [&] {
      return hawthorn::c::make_commit_hook(before, after, context, destroy);
    });
    return {};
  });
}

hawthorn_code hawthorn_options_add_merge_operator(hawthorn_options* options,
                                                  const hawthorn_merge_operator* merge_operator,
                                                  hawthorn_error** error) {
  return call(error, [&]() -> Status {
    hawthorn_merge_operator taken;
    Status s = need(OptionsGiven(options), Given(merge_operator, "merge_operator"));
    if (s.ok()) s = hawthorn::c::take(merge_operator, "hawthorn_merge_operator", &taken);
    if (!s.ok()) return s;
    s = hawthorn::c::check_callback_name(taken.name, "the merge operator's name");
    if (s.ok()) s = need(GivenCall(taken.merge, "merge_operator.merge"));
    if (!s.ok()) return s;
    hawthorn::c::add_to(&options->options.merge_operators,
                        [&] { return hawthorn::c::make_merge_operator(taken); });
    return {};
  });
}

hawthorn_code hawthorn_options_add_builtin_merge_operator(hawthorn_options* options,
                                                          const char* name,
                                                          hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(OptionsGiven(options), Given(name, "name")); !s.ok()) return s;
    auto made = hawthorn::c::builtin_merge_operator(name);
    if (made == nullptr) {
      return Status(StatusCode::kNotFound,
                    "the library has no merge operator \"" + std::string(name) + "\"");
    }
    options->options.merge_operators.push_back(std::move(made));
    return {};
  });
}

hawthorn_code hawthorn_options_add_key_order(hawthorn_options* options,
                                             const hawthorn_key_order* order,
                                             hawthorn_error** error) {
  return call(error, [&]() -> Status {
    hawthorn_key_order taken;
    Status s = need(OptionsGiven(options), Given(order, "order"));
    if (s.ok()) s = hawthorn::c::take(order, "hawthorn_key_order", &taken);
    if (!s.ok()) return s;
    s = hawthorn::c::check_callback_name(taken.name, "the order's name");
    if (s.ok()) {
      s = need(GivenCall(taken.encode, "order.encode"), GivenCall(taken.decode, "order.decode"));
    }
    if (!s.ok()) return s;
    hawthorn::c::add_to(&options->options.key_orders,
                        [&] { return hawthorn::c::make_key_order(taken); });
    return {};
  });
}

hawthorn_code hawthorn_options_add_key_comparator(hawthorn_options* options, const char* name,
                                                  hawthorn_compare compare, void* context,
                                                  hawthorn_destroy destroy,
                                                  hawthorn_error** error) {
  return call(error, [&]() -> Status {
    Status s = need(OptionsGiven(options), GivenCall(compare, "compare"));
    if (s.ok()) s = hawthorn::c::check_callback_name(name, "the comparator's name");
    if (!s.ok()) return s;
    hawthorn::c::add_to(&options->options.key_comparators, [&] {
      return hawthorn::c::make_comparator(name, compare, context, destroy);
    });
    return {};
  });
}

hawthorn_code hawthorn_options_set_flush_filter(hawthorn_options* options, const char* tree,
                                                size_t tree_size,
                                                const hawthorn_flush_filter* filter,
                                                hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes name(tree, tree_size, "tree");
    hawthorn_flush_filter taken;
    Status s = need(OptionsGiven(options), name, Given(filter, "filter"));
    if (s.ok()) s = hawthorn::c::take(filter, "hawthorn_flush_filter", &taken);
    if (!s.ok()) return s;
    s = hawthorn::c::check_callback_name(taken.name, "the filter's name");
    if (s.ok()) s = need(GivenCall(taken.filter, "filter.filter"));
    if (!s.ok()) return s;
    auto& filters = options->options.flush_filters;
    const auto [place, added] = filters.try_emplace(std::string(name));
    try {
      place->second = hawthorn::c::make_flush_filter(taken);
    } catch (...) {
      if (added) filters.erase(place);
      throw;
    }
    return {};
  });
}

hawthorn_code hawthorn_options_set_encryption(hawthorn_options* options, const char* key_id,
                                              size_t key_id_size, hawthorn_key_callback key,
                                              void* context, hawthorn_destroy destroy,
                                              hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes id(key_id, key_id_size, "key_id");
    if (Status s = need(OptionsGiven(options), id); !s.ok()) return s;
    options->options.encryption = {};
    if (key == nullptr) return {};
    options->options.encryption.key_id = id.view();
    auto shared = std::make_shared<Context>(context, nullptr);
    options->options.encryption.key = [key, shared](std::string_view asked) -> Result<SecretKey> {
      const std::string text(asked);
      uint8_t bytes[SecretKey::kBytes] = {};
      Status told = hawthorn::c::take_error(key(shared->get(), text.c_str(), text.size(), bytes));
      Result<SecretKey> made =
          told.ok() ? SecretKey::from_bytes({reinterpret_cast<const char*>(bytes), sizeof(bytes)})
                    : Result<SecretKey>(std::move(told));
      for (volatile uint8_t& byte : bytes) byte = 0;
      return made;
    };
    shared->own(destroy);
    return {};
  });
}

hawthorn_code hawthorn_generate_key(uint8_t key[32], hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(key, "key")); !s.ok()) return s;
    const auto made = SecretKey::generate();
    if (!made.ok()) return made.status();
    std::copy_n(reinterpret_cast<const uint8_t*>(made->bytes().data()), SecretKey::kBytes, key);
    return {};
  });
}
