#pragma once
// One repair: what is read of the source, what becomes of it, and the report.
//
// Not here: how each part is read or written (the other repair_*.h). Used by db/repair*.cc only.
// Threads: one at a time.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/key_store.h"
#include "db/manifest.h"
#include "db/repair_log.h"
#include "db/repair_manifest.h"
#include "db/repair_run.h"
#include "db/repair_target.h"
#include "db/repair_walk.h"
#include "format/catalog_entry.h"
#include "os/data_keys.h"

namespace hawthorn::db {

class Repair {
 public:
  Repair(const os::Machine& machine, const std::string& source, const std::string& target,
         const RepairOptions& options)
      : machine_(machine),
        target_(target),
        options_(options),
        source_(machine, source),
        memory_max_(std::max(options.database.memory_budget_bytes, kMemoryMin)) {}

  Result<RepairReport> run();

 private:
  // A run that a scan has found.
  struct Found {
    format::ContainerRecord record;
    uint32_t file = 0;
    uint32_t block = 0;
    bool vouched = false;  // by a record of the manifest
    bool whole = false;
    bool any = false;  // it has entries, from `first` to `last`
    std::string first;
    std::string last;
  };
  using Spans = std::map<std::string, std::pair<std::string, format::Lsn>>;  // first: last, cut

  Status begin();
  Status open_keys();
  Status repeat_keys();
  Status open_devices();
  Status take_device(const std::string& path);
  Status make_devices(LoadedManifest* loaded);
  bool is_inside_source() const;
  bool is_outdated();
  Status read_log();
  Status look_at_log();
  // With a manifest.
  Status take_containers();
  bool drop_superseded(uint32_t tree, std::vector<RepairEntry>* entries) const;
  Status take_container(const format::ContainerRecord& record, const std::string* high);
  // Without.
  Status scan();
  Status confirm_manifest();
  bool confirms_manifest() const;
  Status find_runs();
  bool vouched(const Found& found) const;
  bool contradicted(const Found& found) const;
  Status take_found(const Found& found, Spans* spans);
  void fill_ranges(const std::map<uint32_t, Spans>& spans);
  void note_catalog(const std::vector<RepairEntry>& entries);
  void make_trees();

  bool judge(const RepairTransaction& transaction, std::string* why);
  bool judge_large(const RepairOperation& operation, std::string* why);
  bool judge_attached(const RepairOperation& operation, std::string* why);
  bool judge_parts(const RepairTransaction& transaction, std::string* why);
  bool take_logged(const format::ExtentAddress& extent, std::string* why);
  bool has_tree(uint32_t id) const;
  format::Lsn cut_of(uint32_t tree, const std::string& key);
  void name_trees(std::string* operations, uint32_t* count);
  void hang_trees(std::string* operations, uint32_t* count);
  void drop_lost_places(std::string* operations, uint32_t* count);
  std::set<uint32_t> clones_in_log() const;
  void mend_trees();
  void read_catalog();
  // What is lost of a tree is lost of those that show it.
  void pass_on_losses();
  void tell_gaps();
  Status finish();
  Status open_target();
  void look_for_files();
  RepairLoss& lose(RepairLoss::Kind kind, std::string what);
  void lose_range(const format::ContainerRecord& record, const RepairGap& gap,
                  const std::string* high);
  void note_entries(const format::ContainerRecord& record, bool damaged);

  const os::Machine machine_;
  const std::string target_;
  // Of one container, or of the manifest.
  static constexpr size_t kMemoryMin = size_t{64} << 20;
  const RepairOptions& options_;
  RepairSource source_;
  os::DataKeys keys_;                    // of an encrypted source
  std::unique_ptr<KeyStore> key_store_;  // null: it is not encrypted
  uint64_t uuid_low_ = 0;                // of an encrypted target; zeros: one is made up
  uint64_t uuid_high_ = 0;
  bool on_devices_ = false;
  uint32_t devices_ = 0;     // of the source; the target has one more
  bool known_uuid_ = false;  // of the source, by its superblock or the first label
  uint64_t source_uuid_low_ = 0;
  uint64_t source_uuid_high_ = 0;
  const size_t memory_max_;
  std::unique_ptr<os::File> lock_;
  RepairManifest manifest_;
  format::ManifestState state_;  // of the target
  RepairDictionaries dictionaries_;
  std::unique_ptr<RepairTarget> data_;
  std::unique_ptr<RepairLog> log_;
  std::vector<Found> found_;  // runs, of all data files
  bool found_all_ = false;
  bool contradicted_ = false;  // a record of the manifest says that one of them was another
  bool scanned_ = false;       // containers come from what was found, and not from the manifest
  bool confirmed_ = false;     // the manifest was to be ignored, and agrees with what was found
  bool catalog_damaged_ = false;
  std::map<std::string, std::string> catalog_;                // as it is now
  std::map<uint32_t, std::vector<std::string>> logged_keys_;  // sorted
  std::map<uint64_t, format::Lsn> attached_;                  // by container
  std::set<format::Lsn> layers_;                              // commits that have layers
  std::set<format::ExtentAddress> large_;     // of values that containers have, or the log
  std::vector<format::ExtentAddress> fresh_;  // of the transaction that is looked at
  std::map<uint32_t, std::vector<std::pair<std::string, format::Lsn>>> cuts_;
  std::vector<RepairTransaction> catalog_writes_;
  std::map<uint32_t, RepairedTree> trees_;
  Status copied_;
  RepairReport report_;
};

}  // namespace hawthorn::db
