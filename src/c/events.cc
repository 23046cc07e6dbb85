// Events of the engine as rows of named fields.

#include <array>

#include "c/callbacks.h"
#include "c/records.h"

namespace hawthorn::c {

namespace {

constexpr std::array<const char*, 16> kEventNames = {"flush_begun",
                                                     "flush_completed",
                                                     "log_segment_begun",
                                                     "log_waited",
                                                     "write_stall_begun",
                                                     "write_stall_ended",
                                                     "background_error",
                                                     "damage_found",
                                                     "data_file_created",
                                                     "data_file_removed",
                                                     "tree_changed",
                                                     "snapshot_changed",
                                                     "manifest_rewritten",
                                                     "opened",
                                                     "closed",
                                                     "events_dropped"};

class CallbackListener final : public EventListener {
 public:
  CallbackListener(hawthorn_event_callback callback, void* context, hawthorn_destroy destroy)
      : context_(context, destroy), callback_(callback) {}

  void on_flush_begun(const FlushBegun& e) override {
    hawthorn_records records;
    tree(records.add(), e.tree, e.tree_name)
        .bytes("low_key", std::string_view(e.low_key))
        .size("delta_bytes", e.delta_bytes)
        .flag("rewrite", e.rewrite);
    tell(HAWTHORN_EVENT_FLUSH_BEGUN, records);
  }
  void on_flush_completed(const FlushCompleted& e) override {
    hawthorn_records records;
    tree(records.add(), e.tree, e.tree_name)
        .bytes("low_key", std::string_view(e.low_key))
        .status(e.status)
        .size("delta_bytes", e.delta_bytes)
        .size("bytes_written", e.bytes_written)
        .number("containers_in", e.containers_in)
        .number("containers", e.containers)
        .flag("reclustered", e.reclustered)
        .us("duration_us", e.duration_us);
    tell(HAWTHORN_EVENT_FLUSH_COMPLETED, records);
  }
  void on_log_segment_begun(const LogSegmentBegun& e) override {
    hawthorn_records records;
    records.add().number("number", e.number).number("position", e.position);
    tell(HAWTHORN_EVENT_LOG_SEGMENT_BEGUN, records);
  }
  void on_log_waited(const LogWaited& e) override {
    hawthorn_records records;
    records.add().us("waited_us", e.waited_us).status(e.status);
    tell(HAWTHORN_EVENT_LOG_WAITED, records);
  }
  void on_write_stall_begun(const WriteStallBegun& e) override {
    hawthorn_records records;
    records.add().size("delta_bytes", e.delta_bytes).size("delta_quota_bytes", e.delta_quota_bytes);
    tell(HAWTHORN_EVENT_WRITE_STALL_BEGUN, records);
  }
  void on_write_stall_ended(const WriteStallEnded& e) override {
    hawthorn_records records;
    records.add().us("duration_us", e.duration_us).number("writers", e.writers);
    tell(HAWTHORN_EVENT_WRITE_STALL_ENDED, records);
  }
  void on_background_error(const BackgroundError& e) override {
    hawthorn_records records;
    records.add().status(e.status).flag("read_only", e.read_only);
    tell(HAWTHORN_EVENT_BACKGROUND_ERROR, records);
  }
  void on_damage_found(const DamageFound& e) override {
    hawthorn_records records;
    tree(records.add(), e.tree, e.tree_name)
        .bytes("low_key", std::string_view(e.low_key))
        .bytes("high_key", e.high_key)
        .status(e.status);
    tell(HAWTHORN_EVENT_DAMAGE_FOUND, records);
  }
  void on_data_file_created(const DataFileCreated& e) override {
    hawthorn_records records;
    records.add().number("number", e.number).size("bytes", e.bytes);
    tell(HAWTHORN_EVENT_DATA_FILE_CREATED, records);
  }
  void on_data_file_removed(const DataFileRemoved& e) override {
    hawthorn_records records;
    records.add().number("number", e.number).size("bytes", e.bytes);
    tell(HAWTHORN_EVENT_DATA_FILE_REMOVED, records);
  }
  void on_tree_changed(const TreeChanged& e) override {
    constexpr std::array<const char*, 6> kChanges = {"created", "renamed",  "dropped",
                                                     "cloned",  "attached", "detached"};
    hawthorn_records records;
    records.add()
        .bytes("change", std::string_view(kChanges.at(static_cast<size_t>(e.change))))
        .number("tree", e.tree)
        .bytes("name", std::string_view(e.name))
        .bytes("former_name", std::string_view(e.former_name))
        .number("parent", e.parent)
        .bytes("key", std::string_view(e.key));
    tell(HAWTHORN_EVENT_TREE_CHANGED, records);
  }
  void on_snapshot_changed(const SnapshotChanged& e) override {
    hawthorn_records records;
    records.add()
        .flag("created", e.created)
        .bytes("name", std::string_view(e.name))
        .number("timestamp", e.timestamp);
    tell(HAWTHORN_EVENT_SNAPSHOT_CHANGED, records);
  }
  void on_manifest_rewritten(const ManifestRewritten& e) override {
    hawthorn_records records;
    records.add().number("number", e.number).size("bytes", e.bytes);
    tell(HAWTHORN_EVENT_MANIFEST_REWRITTEN, records);
  }
  void on_opened(const Opened& e) override {
    hawthorn_records records;
    records.add()
        .flag("created", e.created)
        .flag("read_only", e.read_only)
        .size("log_bytes_replayed", e.log_bytes_replayed)
        .number("prepared_transactions", e.prepared_transactions)
        .us("duration_us", e.duration_us);
    tell(HAWTHORN_EVENT_OPENED, records);
  }
  void on_closed(const Closed& e) override {
    hawthorn_records records;
    records.add().flag("clean", e.clean);
    tell(HAWTHORN_EVENT_CLOSED, records);
  }
  void on_events_dropped(uint64_t count) override {
    hawthorn_records records;
    records.add().number("count", count);
    tell(HAWTHORN_EVENT_EVENTS_DROPPED, records);
  }

 private:
  static Row& tree(Row& row, uint32_t id, const std::string& name) {
    return row.number("tree", id).bytes("tree_name", std::string_view(name));
  }
  void tell(hawthorn_event event, const hawthorn_records& records) const {
    callback_(context_.get(), event, &records);
  }

  const Context context_;
  const hawthorn_event_callback callback_;
};

}  // namespace

std::shared_ptr<EventListener> make_listener(hawthorn_event_callback callback, void* context,
                                             hawthorn_destroy destroy) {
  return std::make_shared<CallbackListener>(callback, context, destroy);
}

}  // namespace hawthorn::c

const char* hawthorn_event_name(hawthorn_event event) {
  const auto& names = hawthorn::c::kEventNames;
  return event < names.size() ? names[event] : "unknown";
}
