// RocksDB's own ldb, with which hawthorn-ldb is compared.

#include <rocksdb/ldb_tool.h>

int main(int argc, char** argv) { rocksdb::LDBTool().Run(argc, argv); }
