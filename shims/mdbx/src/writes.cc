#include "shims/mdbx/src/writes.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace hawthorn::mdbx {

int Write::check_sizes(std::string_view key, std::string_view value) {
  const unsigned shape = table_->table->record.flags;
  if (key.size() > key_max(shape) || (txn_->env->lmdb && key.empty())) return MDBX_BAD_VALSIZE;
  if (value.size() > value_max(shape)) return MDBX_BAD_VALSIZE;
  if ((shape & MDBX_INTEGERKEY) && key.size() != 4 && key.size() != 8) return MDBX_BAD_VALSIZE;
  if ((shape & MDBX_INTEGERDUP) && value.size() != 4 && value.size() != 8) return MDBX_BAD_VALSIZE;
  const bool fixed_keys = (shape & MDBX_INTEGERKEY) != 0;
  const bool fixed_values = (shape & MDBX_DUPFIXED) != 0;
  if (!fixed_keys && !fixed_values) return MDBX_SUCCESS;
  // The first entry decides for all.
  TableRecord* record = nullptr;
  if (const int code = txn_->record(table_, &record); code != MDBX_SUCCESS) return code;
  if (fixed_keys && record->key_bytes != 0 && record->key_bytes != key.size()) {
    return MDBX_BAD_VALSIZE;
  }
  if (fixed_values && record->value_bytes != 0 && record->value_bytes != value.size()) {
    return MDBX_BAD_VALSIZE;
  }
  if ((!fixed_keys || record->key_bytes != 0) && (!fixed_values || record->value_bytes != 0)) {
    return MDBX_SUCCESS;
  }
  if (fixed_keys) record->key_bytes = static_cast<uint32_t>(key.size());
  if (fixed_values) record->value_bytes = static_cast<uint32_t>(value.size());
  return txn_->write_record(table_);
}

// Entries of the main table that stand for tables are not a program's to write.
int Write::name_of_a_table(std::string_view key) {
  if (!table_->table->main || txn_->env->named_tables.load(std::memory_order_relaxed) == 0) {
    return MDBX_SUCCESS;
  }
  if (const int code = txn_->open_catalog(); code != MDBX_SUCCESS) return code;
  hawthorn::Value bytes;
  const Status s = txn_->read(txn_->catalog, record_key(key, false), bytes);
  if (s.is_not_found()) return MDBX_SUCCESS;
  return s.ok() ? MDBX_INCOMPATIBLE : txn_->fail(s);
}

// Whether the key is there, where somebody counts entries.
int Write::look_for(std::string_view key) {
  more_ = 0;
  if (!table_->entries) return MDBX_SUCCESS;
  const Status s = txn_->read(table_->tree, key, txn_->value);
  if (s.is_not_found()) more_ = 1;
  // What is too large to be read so is there.
  return s.ok() || s.is_not_found() || s.is(StatusCode::kNotSupported) ? MDBX_SUCCESS
                                                                       : txn_->fail(s);
}

int Write::done(std::string_view key, std::string_view value) {
  txn_->wrote(table_, key.size() + value.size(), more_);
  if (cursor_ != nullptr) cursor_->stand_at(key, multi() ? value : std::string_view());
  return MDBX_SUCCESS;
}

// MDBX_APPEND: behind all keys, or the last one again.
int Write::check_append(std::string_view key) {
  hawthorn::Cursor& cursor = txn_->scratch(table_);
  if (!cursor.last()) return cursor.status().ok() ? MDBX_SUCCESS : txn_->fail(cursor.status());
  const int order = table_->table->order_of_keys(key, cursor.key());
  if (order > 0 || (order == 0 && !txn_->env->lmdb)) return MDBX_SUCCESS;
  if (cursor_ != nullptr) static_cast<void>(cursor_->last(nullptr, nullptr));
  return MDBX_EKEYMISMATCH;
}

int Write::check_append_value(std::string_view key, std::string_view value) {
  hawthorn::Cursor& cursor = txn_->scratch(table_);
  if (!cursor.seek_for_prev(key)) {
    return cursor.status().ok() ? MDBX_SUCCESS : txn_->fail(cursor.status());
  }
  if (table_->table->order_of_keys(key, cursor.key()) != 0) return MDBX_SUCCESS;
  const int order = table_->table->order_of_values(value, cursor.value());
  if (order > 0) return MDBX_SUCCESS;
  // The last one of several again, as with MDBX_APPEND.
  if (order == 0 && !txn_->env->lmdb && cursor.prev_value() && cursor.next_value()) {
    return MDBX_SUCCESS;
  }
  if (cursor_ != nullptr) cursor_->stand_at(cursor.key(), cursor.value());
  return MDBX_EKEYMISMATCH;
}

int Write::put(const MDBX_val* key, MDBX_val* value, unsigned flags) {
  if (table_->table->garbage) return MDBX_EACCESS;
  if (flags & MDBX_MULTIPLE) {
    if (flags & MDBX_RESERVE) return MDBX_EINVAL;
    if (!(table_->table->record.flags & MDBX_DUPFIXED)) return MDBX_INCOMPATIBLE;
  }
  if ((flags & MDBX_RESERVE) && multi()) return MDBX_INCOMPATIBLE;
  const std::string_view bytes = flags & MDBX_RESERVE ? std::string_view() : view(*value);
  if ((flags & MDBX_RESERVE) && value->iov_len > value_max(table_->table->record.flags)) {
    return MDBX_BAD_VALSIZE;
  }
  if (const int code = check_sizes(view(*key), bytes); code != MDBX_SUCCESS) return code;
  if (const int code = name_of_a_table(view(*key)); code != MDBX_SUCCESS) return code;
  if (const int code = txn_->has_room(key->iov_len + value->iov_len); code != MDBX_SUCCESS) {
    return code;
  }
  settle_gaps();
  if ((flags & MDBX_CURRENT) && cursor_ != nullptr) return replace_current(key, value, flags);
  if (flags & MDBX_MULTIPLE) return put_several(key, value, flags);
  return multi() ? put_multi(key, bytes, value, flags) : put_single(key, value, flags);
}

int Write::replace_current(const MDBX_val* key, MDBX_val* value, unsigned flags) {
  if (flags & (MDBX_APPEND | MDBX_NOOVERWRITE)) return MDBX_EINVAL;
  if (!multi() && cursor_->place == Place::kAt) {
    // It is there, or it would be a gap by now.
    if (!cursor_->same_key(view(*key), cursor_->current_key())) return MDBX_EKEYMISMATCH;
    return put_single(key, value, flags & ~unsigned{MDBX_CURRENT});
  }
  MDBX_val current_key;
  MDBX_val current_value;
  if (const int code = cursor_->current(&current_key, &current_value); code != MDBX_SUCCESS) {
    return code;
  }
  if (table_->table->compare_keys(key, &current_key) != 0) return MDBX_EKEYMISMATCH;
  if (!multi()) return put_single(key, value, flags & ~unsigned{MDBX_CURRENT});
  const bool several = (flags & MDBX_MULTIPLE) != 0;
  if (!several && !(flags & MDBX_ALLDUPS) && view(current_value) == view(*value)) {
    return MDBX_SUCCESS;
  }
  const std::string own_key(view(*key));
  const MDBX_val same_key = val(own_key);
  size_t count = 0;
  if (const int code = cursor_->count(&count); code != MDBX_SUCCESS) return code;
  if (count == 1 && !several && !txn_->env->lmdb) return replace_only(own_key, view(*value));
  if (const int code = del_current(flags & MDBX_ALLDUPS); code != MDBX_SUCCESS) return code;
  settle_gaps();
  flags &= ~unsigned{MDBX_CURRENT};
  return several ? put_several(&same_key, value, flags)
                 : put_multi(&same_key, view(*value), value, flags);
}

void Write::settle_gaps() {
  txn_->each_cursor(table_, [](MDBX_cursor& cursor) { cursor.settle_gaps(); });
}

// Another value for a key that has one; cursors that stand on it stay there.
int Write::replace_only(std::string_view key, std::string_view value) {
  const std::string own_value(value);
  Status s = txn_->engine.del(table_->tree, key);
  if (s.ok()) s = txn_->engine.put(table_->tree, key, own_value);
  if (!s.ok()) return txn_->fail(s);
  more_ = 0;
  txn_->each_cursor(table_, [&](MDBX_cursor& cursor) { cursor.value_replaced(key, own_value); });
  return done(key, own_value);
}

int Write::put_single(const MDBX_val* key, MDBX_val* value, unsigned flags) {
  const std::string_view wanted = view(*key);
  if ((flags & MDBX_APPEND) && !(flags & MDBX_CURRENT)) {
    if (const int code = check_append(wanted); code != MDBX_SUCCESS) return code;
  }
  if (flags & (MDBX_NOOVERWRITE | MDBX_CURRENT)) {
    MDBX_val there{};
    const int code = txn_->get(table_, wanted, &there);
    if (code != MDBX_SUCCESS && code != MDBX_NOTFOUND) return code;
    if (code == MDBX_NOTFOUND && (flags & MDBX_CURRENT)) return code;
    if ((flags & MDBX_CURRENT) && (flags & (MDBX_APPEND | MDBX_NOOVERWRITE))) return MDBX_EINVAL;
    if (code == MDBX_SUCCESS && (flags & MDBX_NOOVERWRITE)) {
      *value = there;
      hands_out_ = true;
      if (cursor_ != nullptr) cursor_->stand_at(wanted, {});
      return MDBX_KEYEXIST;
    }
  }
  if (const int code = look_for(wanted); code != MDBX_SUCCESS) return code;
  if (flags & MDBX_RESERVE) {
    const Result<std::span<std::byte>> place =
        txn_->engine.put_reserve(table_->tree, wanted, value->iov_len);
    if (!place.ok()) return txn_->fail(place.status());
    done(wanted, {reinterpret_cast<const char*>(place->data()), place->size()});
    txn_->reserved = true;
    value->iov_base = place->data();
    return MDBX_SUCCESS;
  }
  std::string_view rest = view(*value);
  const auto give = [&rest](std::span<char> buffer) {
    const size_t size = std::min(buffer.size(), rest.size());
    memcpy(buffer.data(), rest.data(), size);
    rest.remove_prefix(size);
    return Result<size_t>(size);
  };
  const Status s = rest.size() <= kPlainValueMax
                       ? txn_->engine.put(table_->tree, wanted, rest)
                       : txn_->engine.put_stream(table_->tree, wanted, rest.size(), give);
  return s.ok() ? done(wanted, view(*value)) : txn_->fail(s);
}

int Write::put_multi(const MDBX_val* key, std::string_view value, MDBX_val* value_io,
                     unsigned flags) {
  const bool several = (flags & MDBX_MULTIPLE) != 0;
  const std::string_view wanted = view(*key);
  if ((flags & MDBX_APPEND) && !(flags & MDBX_CURRENT)) {
    if (const int code = check_append(wanted); code != MDBX_SUCCESS) return code;
  }
  if (flags & (MDBX_NOOVERWRITE | MDBX_CURRENT | MDBX_ALLDUPS)) {
    hawthorn::Cursor& cursor = txn_->scratch(table_);
    const bool met = cursor.seek(wanted);
    if (!met && !cursor.status().ok()) return txn_->fail(cursor.status());
    const bool found = met && table_->table->order_of_keys(wanted, cursor.key()) == 0;
    if (!found && (flags & MDBX_CURRENT)) return MDBX_NOTFOUND;
    if (found && (flags & MDBX_CURRENT)) {
      const Result<uint64_t> count = cursor.count_values();
      if (!count.ok()) return txn_->fail(count.status());
      const bool all = (flags & MDBX_ALLDUPS) != 0;
      if (*count > 1 && !all && (flags & MDBX_NOOVERWRITE)) return MDBX_EMULTIVAL;
      if ((*count == 1 || all) && (flags & (MDBX_APPEND | MDBX_NOOVERWRITE))) return MDBX_EINVAL;
      if (*count == 1 && !several) {
        return cursor.value() == value ? MDBX_SUCCESS : replace_only(wanted, value);
      }
      flags = (flags & ~unsigned{MDBX_NOOVERWRITE}) | MDBX_ALLDUPS;
    }
    if (found && (flags & MDBX_NOOVERWRITE)) {
      const int code = txn_->keep(cursor, nullptr, value_io);
      hands_out_ = true;
      if (cursor_ != nullptr) cursor_->stand_at(wanted, cursor.value());
      return code == MDBX_SUCCESS ? MDBX_KEYEXIST : code;
    }
    if (found && (flags & MDBX_ALLDUPS)) {
      if (const int code = del(wanted, nullptr); code != MDBX_SUCCESS) return code;
      settle_gaps();
    }
  }
  if (flags & MDBX_APPENDDUP) {
    if (const int code = check_append_value(wanted, value); code != MDBX_SUCCESS) return code;
  }
  if ((flags & MDBX_NODUPDATA) || table_->entries) {
    const Result<bool> missing = txn_->engine.insert(table_->tree, wanted, value);
    if (!missing.ok()) return txn_->fail(missing.status());
    more_ = *missing ? 1 : 0;
    if (!*missing && (flags & MDBX_NODUPDATA)) {
      if (cursor_ != nullptr) cursor_->stand_at(wanted, value);
      return MDBX_KEYEXIST;
    }
  } else if (const Status s = txn_->engine.put(table_->tree, wanted, value); !s.ok()) {
    return txn_->fail(s);
  }
  return done(wanted, value);
}

int Write::put_several(const MDBX_val* key, MDBX_val* values, unsigned flags) {
  const size_t count = values[1].iov_len;
  const size_t bytes = values[0].iov_len;
  const auto* const begin = static_cast<const char*>(values[0].iov_base);
  values[1].iov_len = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view value(begin + i * bytes, bytes);
    const int code = put_multi(key, value, values, flags);
    if (code != MDBX_SUCCESS) return code;
    flags &= ~unsigned{MDBX_ALLDUPS | MDBX_NOOVERWRITE | MDBX_CURRENT};
    values[1].iov_len = i + 1;
  }
  return MDBX_SUCCESS;
}

int Write::del(std::string_view key, const std::string_view* value) {
  if (table_->table->garbage) return MDBX_EACCESS;
  if (const int code = check_key(*txn_, *table_, val(key)); code != MDBX_SUCCESS) return code;
  if (const int code = name_of_a_table(key); code != MDBX_SUCCESS) return code;
  Status s;
  std::optional<int64_t> more = -1;
  if (multi() && value != nullptr) {
    if (const int code = check_value(*txn_, *table_, val(*value)); code != MDBX_SUCCESS) {
      s = txn_->read(table_->tree, key, txn_->value);
      return s.ok() ? code : txn_->fail(s);
    }
    const Result<bool> was_there = txn_->engine.remove_if(table_->tree, key, *value);
    if (!was_there.ok()) return txn_->fail(was_there.status());
    if (!*was_there) return MDBX_NOTFOUND;
  } else {
    if (value != nullptr && !txn_->env->lmdb) {
      MDBX_val there{};
      const int code = txn_->get(table_, key, &there);
      if (code != MDBX_SUCCESS) return code;
      if (table_->table->order_of_values(*value, view(there)) != 0) return MDBX_NOTFOUND;
    } else if (s = txn_->read(table_->tree, key, txn_->value);
               !s.ok() && !s.is(StatusCode::kNotSupported)) {  // which says: it is large
      return txn_->fail(s);
    }
    if (multi() && table_->entries) {
      hawthorn::Cursor& cursor = txn_->scratch(table_);
      if (cursor.seek(key)) {
        if (const Result<uint64_t> gone = cursor.count_values(); gone.ok()) {
          more = -static_cast<int64_t>(*gone);
        }
      }
      if (!cursor.status().ok()) return txn_->fail(cursor.status());
    } else if (multi()) {
      more.reset();
    }
    s = txn_->engine.del(table_->tree, key);
    if (!s.ok()) return txn_->fail(s);
  }
  txn_->each_cursor(table_, [&](MDBX_cursor& cursor) { cursor.entry_deleted(key, value); });
  txn_->wrote(table_, key.size(), more);
  return MDBX_SUCCESS;
}

int Write::del_current(unsigned flags) {
  if (table_->table->garbage) return MDBX_EACCESS;
  const bool all = !multi() || (flags & (MDBX_ALLDUPS | MDBX_NODUPDATA)) != 0;
  MDBX_cursor& at = *cursor_;
  bool there = false;
  if (at.place == Place::kAt) {
    if (at.among == Among::kOn) {
      there = at.settle();
    } else if (at.settle_key() && (at.among == Among::kOutside || all)) {
      there = true;
      bool one = true;
      if (!all) {
        if (const int code = at.has_one_value(&one); code != MDBX_SUCCESS) return code;
      }
      if (!one) return MDBX_ENODATA;
    }
    if (!there && !at.failed() && at.place == Place::kAt && at.among == Among::kGap) {
      there = at.settle_value_gap();
    }
  }
  // The next entry is the current one.
  if (at.place == Place::kGap && !at.failed()) there = at.settle_gap();
  if (at.failed()) return txn_->fail(at.engine->status());
  if (!there) return MDBX_ENODATA;
  const std::string key(at.engine->key());
  if (all) return del(key, nullptr);
  const std::string value(at.engine->value());
  const std::string_view the_value = value;
  return del(key, &the_value);
}

}  // namespace hawthorn::mdbx

int MDBX_cursor::put(const MDBX_val* key_in, MDBX_val* value_io, unsigned put_flags) {
  return hawthorn::mdbx::Write(txn, table, this).put(key_in, value_io, put_flags);
}

int MDBX_cursor::del(unsigned put_flags) {
  return hawthorn::mdbx::Write(txn, table, this).del_current(put_flags);
}
