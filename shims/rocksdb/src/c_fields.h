#pragma once
// Functions of the C API that only set a field of an options object, or show it.
//
// Not here: what the field means. Used by c_*.cc, within extern "C".

// Sets and shows a field of `rep`, which may be of another type there.
#define SET(object, type, name, field)                                            \
  void rocksdb_##object##_set_##name(rocksdb_##object##_t* options, type value) { \
    options->rep.field = static_cast<decltype(options->rep.field)>(value);        \
  }
#define GET(object, type, name, field)                                \
  type rocksdb_##object##_get_##name(rocksdb_##object##_t* options) { \
    return static_cast<type>(options->rep.field);                     \
  }
#define FIELD(object, type, name, field) \
  SET(object, type, name, field)         \
  GET(object, type, name, field)
