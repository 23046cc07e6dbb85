#include "bench/tatp_runner.h"

#include <algorithm>
#include <utility>

#include "bench/clock.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

const char* words_of(TatpInsert answer) {
  return answer == TatpInsert::kDone        ? "done"
         : answer == TatpInsert::kDuplicate ? "duplicate"
                                            : "no such facility";
}

// Whether one of the versions fits.
template <class Fits>
bool any_version(uint16_t first, uint16_t last, Fits&& fits) {
  for (uint16_t version = first;; ++version) {
    if (fits(version)) return true;
    if (version == last) return false;
  }
}

}  // namespace

void TatpTally::merge(const TatpTally& other) {
  latencies.merge(other.latencies);
  done += other.done;
  failed += other.failed;
  busy += other.busy;
}

TatpRunner::TatpRunner(const TatpPopulation& population, TatpModel& model,
                       std::unique_ptr<TatpClient> client)
    : population_(population), model_(model), client_(std::move(client)) {}

void TatpRunner::run(const TatpCall& call) {
  call_ = call;
  TatpTally& tally = tallies_[static_cast<size_t>(call.kind)];
  const uint64_t start = Ticks::now();
  try {
    ++(run_kind() ? tally.done : tally.failed);
  } catch (const EngineError& error) {
    if (!error.busy()) throw;
    roll_back();
    ++tally.busy;
  }
  tally.latencies.record(Ticks::ns(end_ - start));
}

bool TatpRunner::run_kind() {
  switch (call_.kind) {
    case TatpKind::kGetSubscriberData:
      return get_subscriber_data();
    case TatpKind::kGetNewDestination:
      return get_new_destination();
    case TatpKind::kGetAccessData:
      return get_access_data();
    case TatpKind::kUpdateSubscriberData:
      return update_subscriber_data();
    case TatpKind::kUpdateLocation:
      return update_location();
    case TatpKind::kInsertCallForwarding:
      return insert_call_forwarding();
    case TatpKind::kDeleteCallForwarding:
      return delete_call_forwarding();
  }
  return false;
}

bool TatpRunner::get_subscriber_data() {
  const size_t bit = TatpModel::bit_1(call_.s_id);
  const size_t location = TatpModel::location(call_.s_id);
  const uint16_t first_bit = model_.committed(bit);
  const uint16_t first_location = model_.committed(location);
  client_->begin(TatpAccess::kRead);
  const bool found = client_->get_subscriber(call_.s_id, subscriber_);
  commit_read();
  if (!found) {
    wrong("is missing");
    return false;
  }

  const SubscriberRow right = population_.subscriber(call_.s_id, first_bit, first_location);
  if (subscriber_ == right) return true;
  // Only what another connection changed meanwhile may differ.
  const bool bit_fits = any_version(first_bit, model_.begun(bit), [&](uint16_t version) {
    return subscriber_.bits[0] == population_.bit_1(call_.s_id, version);
  });
  const bool location_fits =
      any_version(first_location, model_.begun(location), [&](uint16_t version) {
        return subscriber_.vlr_location == population_.vlr_location(call_.s_id, version);
      });
  subscriber_.bits[0] = right.bits[0];
  subscriber_.vlr_location = right.vlr_location;
  if (!bit_fits || !location_fits || subscriber_ != right) {
    wrong(!bit_fits        ? "has a bit_1 that it did not have then"
          : !location_fits ? "has a vlr_location that it did not have then"
                           : "has another row than the one that was loaded");
  }
  return true;
}

bool TatpRunner::get_new_destination() {
  std::array<uint16_t, kStartTimes> first{};
  for (unsigned i = 0; i < kStartTimes; ++i) {
    first[i] =
        model_.committed(TatpModel::forwarding(call_.s_id, call_.sf_type, i * kHoursOfStart));
  }
  client_->begin(TatpAccess::kRead);
  client_->get_destinations(call_.s_id, call_.sf_type, call_.start_time, call_.end_time,
                            destinations_);
  commit_read();
  const bool found = !destinations_.empty();
  check_destinations(first);
  return found;
}

void TatpRunner::check_destinations(const std::array<uint16_t, kStartTimes>& first) {
  const bool active = population_.has_facility(call_.s_id, call_.sf_type) &&
                      population_.is_active(call_.s_id, call_.sf_type);
  for (unsigned i = 0; active && i < kStartTimes; ++i) {
    const unsigned start_time = i * kHoursOfStart;
    if (start_time > call_.start_time) break;
    const size_t item = TatpModel::forwarding(call_.s_id, call_.sf_type, start_time);
    bool fits_missing = false;
    const bool seen = any_version(first[i], model_.begun(item), [&](uint16_t version) {
      const ForwardingRow row =
          population_.forwarding(call_.s_id, call_.sf_type, start_time, version);
      if (!TatpModel::is_there(version) || row.end_time <= call_.end_time) {
        fits_missing = true;
        return false;
      }
      // One of them: a row that came twice leaves one behind.
      const auto at = std::find(destinations_.begin(), destinations_.end(), row.numberx);
      if (at == destinations_.end()) return false;
      destinations_.erase(at);
      return true;
    });
    if (!seen && !fits_missing) wrong("lacks the destination of a start time");
  }
  if (!destinations_.empty()) wrong("has a destination that it did not have then");
}

bool TatpRunner::get_access_data() {
  client_->begin(TatpAccess::kRead);
  const bool found = client_->get_access(call_.s_id, call_.ai_type, access_);
  commit_read();
  if (found != population_.has_access(call_.s_id, call_.ai_type)) {
    wrong(found ? "has access data that were not loaded" : "lacks its access data");
  } else if (found && access_ != population_.access(call_.s_id, call_.ai_type)) {
    wrong("has other access data than those that were loaded");
  }
  return found;
}

bool TatpRunner::update_subscriber_data() {
  const size_t bit = TatpModel::bit_1(call_.s_id);
  const size_t data = TatpModel::data_a(call_.s_id, call_.sf_type);
  begin_write();
  if (client_->set_bit_1(call_.s_id, population_.bit_1(call_.s_id, next_version(bit))) != 1) {
    wrong("is missing to an update");
    return roll_back();
  }
  const int64_t data_a = population_.data_a(call_.s_id, call_.sf_type, next_version(data));
  const int changed = client_->set_data_a(call_.s_id, call_.sf_type, data_a);
  if (changed != (population_.has_facility(call_.s_id, call_.sf_type) ? 1 : 0)) {
    wrong(print_text("had %d special facilities of a type updated", changed));
  }
  if (changed == 0) return roll_back();
  change(bit);
  change(data);
  return commit_write();
}

bool TatpRunner::update_location() {
  const size_t location = TatpModel::location(call_.s_id);
  begin_write();
  const int64_t next = population_.vlr_location(call_.s_id, next_version(location));
  if (client_->set_location(number_of(call_.s_id), next) != 1) {
    wrong("is missing to an update by its number");
    return roll_back();
  }
  change(location);
  return commit_write();
}

bool TatpRunner::insert_call_forwarding() {
  const size_t item = TatpModel::forwarding(call_.s_id, call_.sf_type, call_.start_time);
  begin_write();
  find_subscriber();
  if (client_->get_facility_types(call_.s_id) != population_.facility_types(call_.s_id)) {
    wrong("has other special facilities than those that were loaded");
  }
  const TatpInsert answer = client_->insert_forwarding(
      population_.forwarding(call_.s_id, call_.sf_type, call_.start_time, next_version(item)));
  const TatpInsert right = !population_.has_facility(call_.s_id, call_.sf_type)
                               ? TatpInsert::kNoFacility
                           : TatpModel::is_there(model_.begun(item)) ? TatpInsert::kDuplicate
                                                                     : TatpInsert::kDone;
  if (answer != right) {
    wrong(print_text("had an insert of call forwarding answered by %s, not by %s", words_of(answer),
                     words_of(right)));
  }
  if (answer != TatpInsert::kDone) return roll_back();
  change(item);
  return commit_write();
}

bool TatpRunner::delete_call_forwarding() {
  const size_t item = TatpModel::forwarding(call_.s_id, call_.sf_type, call_.start_time);
  begin_write();
  find_subscriber();
  const int removed = client_->delete_forwarding(call_.s_id, call_.sf_type, call_.start_time);
  const int right = TatpModel::is_there(model_.begun(item)) ? 1 : 0;
  if (removed != right) {
    wrong(print_text("had %d rows of call forwarding deleted in place of %d", removed, right));
  }
  if (removed == 0) return roll_back();
  change(item);
  return commit_write();
}

void TatpRunner::find_subscriber() {
  if (client_->find_subscriber(number_of(call_.s_id)) != call_.s_id) {
    wrong("is not the one that its number leads to");
  }
}

void TatpRunner::commit_read() {
  client_->commit();
  end_ = Ticks::now();
}

void TatpRunner::begin_write() {
  client_->begin(TatpAccess::kWrite);
  inside_ = model_.enter();
  if (!inside_) wrong("was written to by two transactions at once");
}

uint16_t TatpRunner::next_version(size_t item) const {
  return static_cast<uint16_t>(model_.begun(item) + 1);
}

void TatpRunner::change(size_t item) { pending_.push_back({item, model_.begin(item)}); }

bool TatpRunner::commit_write() {
  if (std::exchange(inside_, false)) model_.leave();
  client_->commit();
  end_ = Ticks::now();
  for (const Pending& pending : pending_) model_.commit(pending.item, pending.version);
  pending_.clear();
  return true;
}

bool TatpRunner::roll_back() {
  for (const Pending& pending : pending_) model_.give_back(pending.item);
  pending_.clear();
  if (std::exchange(inside_, false)) model_.leave();
  client_->rollback();
  end_ = Ticks::now();
  return false;
}

void TatpRunner::wrong(const std::string& text) {
  if (wrong_++ != 0) return;
  first_wrong_ = print_text("%s: subscriber %lu %s",
                            std::string(kTatpKinds[static_cast<size_t>(call_.kind)].phase).c_str(),
                            call_.s_id, text.c_str());
}

}  // namespace hawthorn::bench
