#include "bench/tatp_check.h"

#include <optional>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// All rows that a subscriber may have of a table, one after another: those that are there. `make`
// gives the row of a subscriber and a place, or nothing.
template <class Row, class Make>
class Expected {
 public:
  Expected(uint64_t subscribers, unsigned places, Make make)
      : end_(subscribers * places), places_(places), make_(std::move(make)) {}

  std::optional<Row> next() {
    while (at_ != end_) {
      const uint64_t at = at_++;
      std::optional<Row> row = make_(1 + at / places_, static_cast<unsigned>(at % places_));
      if (row) return row;
    }
    return std::nullopt;
  }

 private:
  uint64_t at_ = 0;
  const uint64_t end_;
  const unsigned places_;
  const Make make_;
};

// Compares a walk with them. The first row that differs decides: behind it all may be shifted.
template <class Row, class Make>
TatpSum compare_table(const char* table, TatpInspector& inspector, uint64_t subscribers,
                      unsigned places, Make make, TatpErrors& errors) {
  Expected<Row, Make> expected(subscribers, places, std::move(make));
  TatpSum right;
  bool differs = false;
  const auto tell = [&](const std::string& text) {
    if (!differs) errors.push_back(std::string(table) + text);
    differs = true;
  };
  const auto next = [&] {
    const std::optional<Row> row = expected.next();
    if (row) {
      ++right.rows;
      right.sum += tatp_summand(*row);
    }
    return row;
  };
  inspector.walk([&](const Row& row) {
    const std::optional<Row> should = next();
    if (!should) {
      tell(print_text(": a row of subscriber %ld behind the last one", row.s_id));
    } else if (row != *should) {
      tell(row.s_id == should->s_id
               ? print_text(": row %ld is another one of subscriber %ld than it should be",
                            right.rows, row.s_id)
               : print_text(": row %ld is of subscriber %ld and not of %ld", right.rows, row.s_id,
                            should->s_id));
    }
  });
  while (const std::optional<Row> missing = next()) {
    tell(print_text(": a row of subscriber %ld is missing", missing->s_id));
  }
  return right;
}

void check_numbers(uint64_t subscribers, TatpInspector& inspector, TatpErrors& errors) {
  uint64_t rows = 0;
  uint64_t wrong = 0;
  inspector.walk_numbers([&](const Digits& sub_nbr, int64_t s_id) {
    ++rows;
    if (static_cast<uint64_t>(s_id) != rows || sub_nbr != number_of(rows)) ++wrong;
  });
  if (rows == subscribers && wrong == 0) return;
  errors.push_back(print_text("the index of sub_nbr has %s rows of %s, %s of them wrong",
                              with_commas(rows).c_str(), with_commas(subscribers).c_str(),
                              with_commas(wrong).c_str()));
}

}  // namespace

TatpErrors check_tatp(const TatpPopulation& population, const TatpModel& model,
                      TatpInspector& inspector, TatpSums& sums) {
  TatpErrors errors;
  const uint64_t count = population.subscribers();
  const auto subscriber = [&](uint64_t s_id, unsigned) -> std::optional<SubscriberRow> {
    return population.subscriber(s_id, model.committed(TatpModel::bit_1(s_id)),
                                 model.committed(TatpModel::location(s_id)));
  };
  const auto access = [&](uint64_t s_id, unsigned place) -> std::optional<AccessRow> {
    if (!population.has_access(s_id, place + 1)) return std::nullopt;
    return population.access(s_id, place + 1);
  };
  const auto facility = [&](uint64_t s_id, unsigned place) -> std::optional<FacilityRow> {
    if (!population.has_facility(s_id, place + 1)) return std::nullopt;
    return population.facility(s_id, place + 1,
                               model.committed(TatpModel::data_a(s_id, place + 1)));
  };
  const auto forwarding = [&](uint64_t s_id, unsigned place) -> std::optional<ForwardingRow> {
    const unsigned sf_type = 1 + place / kStartTimes;
    const unsigned start_time = place % kStartTimes * kHoursOfStart;
    const uint16_t version = model.committed(TatpModel::forwarding(s_id, sf_type, start_time));
    if (!TatpModel::is_there(version)) return std::nullopt;
    return population.forwarding(s_id, sf_type, start_time, version);
  };
  sums = {compare_table<SubscriberRow>(kTatpTables[0], inspector, count, 1, subscriber, errors),
          compare_table<AccessRow>(kTatpTables[1], inspector, count, kAccessTypes, access, errors),
          compare_table<FacilityRow>(kTatpTables[2], inspector, count, kFacilityTypes, facility,
                                     errors),
          compare_table<ForwardingRow>(kTatpTables[3], inspector, count,
                                       kFacilityTypes * kStartTimes, forwarding, errors)};
  check_numbers(count, inspector, errors);
  for (const std::string& error : check_tatp_sums(sums, inspector)) errors.push_back(error);
  if (const std::string found = inspector.integrity(); found != "ok") {
    errors.push_back("integrity: " + found);
  }
  return errors;
}

TatpErrors check_tatp_sums(const TatpSums& right, TatpInspector& inspector) {
  TatpErrors errors;
  const TatpSums found = inspector.sums();
  for (size_t table = 0; table < right.size(); ++table) {
    if (found[table] == right[table]) continue;
    errors.push_back(print_text("%s: %ld rows that sum up to %ld, not %ld and %ld",
                                kTatpTables[table], found[table].rows, found[table].sum,
                                right[table].rows, right[table].sum));
  }
  return errors;
}

}  // namespace hawthorn::bench
