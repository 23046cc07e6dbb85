#pragma once
// Block devices that hold a database's data instead of data files (R29): opened, recognised by
// their labels, and refused when they are not what they should be.
//
// Not here: which blocks of them are free (space.h). Used by db (open, destroy) and data_files.cc.
// Threads: file, mark_written and sync from any thread; everything else by one, before those.
//
// 1. A device is opened exclusively and locked before anything is written to it; the lock is kept.
// 2. Nothing is written to a device that carries a label of another database, or bytes in its first
//    megabyte or last 64 KB.
// 3. The manifest names a generation g; a label has g, or g + 1 when an open was cut short between
//    the two (and 0 for g = 1, when the creation was). Any other is a copy of another time.

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/device_label.h"
#include "format/manifest_state.h"
#include "hawthorn/status.h"
#include "os/machine.h"
#include "space/data_file.h"

namespace hawthorn::space {

inline constexpr uint64_t kDeviceBytesMin = uint64_t{16} << 20;

struct DeviceOptions {
  std::string directory;                      // of the database, where images are (device_image.h)
  std::vector<std::string> paths;             // in any order; empty: where the records say
  std::vector<format::DeviceRecord> records;  // what the manifest says; empty for a new database
  uint64_t uuid_low = 0;
  uint64_t uuid_high = 0;
  bool direct = true;
  bool read_only = false;
};

class Devices {
 public:
  // Opens and checks them; writes nothing. A device without a label is one to be added. Errors:
  // kInvalidArgument (missing, too small, with a file system or other data, of another database,
  // twice); kCorruption (a label that is damaged, or of another time; smaller than it was); kBusy;
  // kPermissionDenied; kReadOnly; kNotSupported.
  static Result<std::unique_ptr<Devices>> open(const os::Machine& machine,
                                               const DeviceOptions& options);

  // For the manifest: all devices, with this generation.
  std::vector<format::DeviceRecord> records(uint64_t generation) const;
  // Writes and syncs the labels. For a new database 0, before the manifest, then 1; for others one
  // more than the manifest has, before that says so. Files that stand for devices have their space
  // then: what is sparse, as those of a copy, or has grown, gets it. Errors: kNoSpace, too.
  Status label(uint64_t uuid_low, uint64_t uuid_high, uint64_t generation);

  uint32_t count() const { return static_cast<uint32_t>(devices_.size()); }
  os::File* file(uint32_t index) const { return devices_[index].file.get(); }
  // Of 4 KB, the label's and the last 16 among them.
  uint64_t blocks(uint32_t index) const { return devices_[index].blocks; }
  bool direct() const { return direct_; }
  void mark_written(uint32_t index) {
    devices_[index].written->store(true, std::memory_order_release);
  }
  // Syncs those that were written since their last sync.
  Status sync();
  std::string paths() const;  // for messages
  // Closes and so unlocks them, for others to open: nobody reads or writes any more.
  void close();

 private:
  struct Device {
    std::string path;
    std::unique_ptr<DataFile> file;
    uint64_t blocks = 0;
    bool labelled = false;
    format::DeviceLabel label;
    std::unique_ptr<std::atomic<bool>> written;
  };
  Devices(const os::Machine& machine, std::string directory)
      : machine_(machine), directory_(std::move(directory)) {}
  Result<Device> open_one(const std::string& path, const DeviceOptions& options);
  Status open_file(const std::string& path, const DeviceOptions& options, Device& device);
  static Status check_label(const Device& device, const DeviceOptions& options);
  Status order(std::vector<Device> found, const DeviceOptions& options);

  const os::Machine machine_;
  const std::string directory_;
  bool direct_ = true;
  std::vector<Device> devices_;  // by index
};

// Takes the database's label off a device; does nothing where it carries none, or another's.
// Errors: as open; of the I/O.
Status clear_label(const os::Machine& machine, const std::string& path, uint64_t uuid_low,
                   uint64_t uuid_high);

}  // namespace hawthorn::space
