#pragma once
// The namespace of everything in these headers: programs that set the macro have their own name.

#if !defined(ROCKSDB_NAMESPACE)
#define ROCKSDB_NAMESPACE rocksdb
#endif
