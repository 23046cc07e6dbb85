#pragma once
// What TATP asks of a database that understands SQL: the statements of its transactions, the rows
// of its load, and all rows at its end.
//
// Not here: which transactions there are, and whether an answer is right (tatp_runner.h,
// tatp_check.h). Implemented by tatp_sqlite.cc, and by doubles of tests. Errors: EngineError; of
// kind kBusy where a lock was waited for as long as busy_timeout says: what is open then is to be
// rolled back. Threads: connect() from any; a connection in one at a time.
//
// 1. A transaction that writes excludes others that do from begin() to the end of commit() or
//    rollback(). One that reads sees one moment, and what was committed before its begin().
// 2. CALL_FORWARDING refers to SPECIAL_FACILITY, which refers to SUBSCRIBER, as ACCESS_INFO does.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/engine.h"
#include "bench/tatp_rows.h"

namespace hawthorn::bench {

struct TatpConfig {
  std::string path;  // a directory for this database alone
  SyncMode sync = SyncMode::kNone;
  size_t cache_bytes = 0;  // of each connection
};

enum class TatpAccess { kRead, kWrite };

// What an INSERT of a row of call forwarding gave.
enum class TatpInsert {
  kDone,
  kDuplicate,   // there is one with that key
  kNoFacility,  // there is no such special facility
};

// A connection with the statements of the seven transactions, prepared.
class TatpClient {
 public:
  virtual ~TatpClient() = default;

  virtual void begin(TatpAccess access) = 0;
  virtual void commit() = 0;
  // Nothing where no transaction is open.
  virtual void rollback() = 0;

  // False: there is no such row.
  virtual bool get_subscriber(uint64_t s_id, SubscriberRow& row) = 0;
  virtual bool get_access(uint64_t s_id, unsigned ai_type, AccessRow& row) = 0;
  // In any order.
  virtual void get_destinations(uint64_t s_id, unsigned sf_type, unsigned start_time,
                                unsigned end_time, std::vector<Digits>& numbers) = 0;
  virtual std::optional<uint64_t> find_subscriber(const Digits& sub_nbr) = 0;
  // As TatpPopulation::facility_types has them.
  virtual unsigned get_facility_types(uint64_t s_id) = 0;

  // How many rows were changed.
  virtual int set_bit_1(uint64_t s_id, int64_t bit) = 0;
  virtual int set_data_a(uint64_t s_id, unsigned sf_type, int64_t data_a) = 0;
  virtual int set_location(const Digits& sub_nbr, int64_t location) = 0;
  virtual TatpInsert insert_forwarding(const ForwardingRow& row) = 0;
  virtual int delete_forwarding(uint64_t s_id, unsigned sf_type, unsigned start_time) = 0;
};

// A connection that fills the tables, which it makes, by transactions of many rows.
class TatpLoader {
 public:
  virtual ~TatpLoader() = default;

  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void insert(const SubscriberRow& row) = 0;
  virtual void insert(const AccessRow& row) = 0;
  virtual void insert(const FacilityRow& row) = 0;
  virtual void insert(const ForwardingRow& row) = 0;
};

// Rows of a table, and the sum of those of its numbers that table says.
struct TatpSum {
  int64_t rows = 0;
  int64_t sum = 0;
  bool operator==(const TatpSum&) const = default;
};

// What is summed up of each row.
inline int64_t tatp_summand(const SubscriberRow& row) {
  return row.bits[0] + row.msc_location + row.vlr_location;
}
inline int64_t tatp_summand(const AccessRow& row) { return row.data1 + row.data2; }
inline int64_t tatp_summand(const FacilityRow& row) {
  return row.is_active + row.error_cntrl + row.data_a;
}
inline int64_t tatp_summand(const ForwardingRow& row) { return row.start_time + row.end_time; }

// In the order SUBSCRIBER, ACCESS_INFO, SPECIAL_FACILITY, CALL_FORWARDING.
using TatpSums = std::array<TatpSum, 4>;
inline constexpr std::array<const char*, 4> kTatpTables = {"SUBSCRIBER", "ACCESS_INFO",
                                                           "SPECIAL_FACILITY", "CALL_FORWARDING"};

// A connection that looks at everything.
class TatpInspector {
 public:
  virtual ~TatpInspector() = default;

  // All rows of a table in the order of its key.
  virtual void walk(const std::function<void(const SubscriberRow&)>& row) = 0;
  virtual void walk(const std::function<void(const AccessRow&)>& row) = 0;
  virtual void walk(const std::function<void(const FacilityRow&)>& row) = 0;
  virtual void walk(const std::function<void(const ForwardingRow&)>& row) = 0;
  // By the index of sub_nbr, in its order.
  virtual void walk_numbers(
      const std::function<void(const Digits& sub_nbr, int64_t s_id)>& row) = 0;
  // As the database adds them up.
  virtual TatpSums sums() = 0;
  // "ok", or what the database finds wrong with itself.
  virtual std::string integrity() = 0;
};

class TatpDatabase {
 public:
  virtual ~TatpDatabase() = default;

  virtual std::string version() const = 0;
  // What was set, in one line; after open.
  virtual std::string settings() const = 0;

  virtual void open(const TatpConfig& config) = 0;
  // Every connection is destroyed before.
  virtual void close() = 0;
  // Waits until background work has nothing left to do, and what the log holds is where it belongs.
  virtual void drain() = 0;

  virtual std::unique_ptr<TatpLoader> loader() = 0;
  virtual std::unique_ptr<TatpClient> connect() = 0;
  virtual std::unique_ptr<TatpInspector> inspect() = 0;
};

}  // namespace hawthorn::bench
