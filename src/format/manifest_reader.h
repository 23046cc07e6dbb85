#pragma once
// Walks through the bytes of a manifest file, given piece by piece, and yields its whole batches.
// Tells a torn last batch from damage. Pure: no I/O.
//
//   header ──> between batches ──begin──> in a batch ──commit──> between batches
//                    └────────────┬────────────┘
//                     a record that does not validate
//                                 └──> looking for a later batch ──none──> end (torn batch dropped)
//                                                                └──one───> kCorruption
//
// Not here: applying batches to a state, files (db/manifest.h). Threads: one object from one thread
// at a time.
//
// 1. A batch is yielded only when all its records and its commit record validated.
// 2. A batch is written only after the one before it is durable. So a batch that does not validate
//    is torn if nothing valid begins behind it, and damaged if something does. The snapshot at the
//    front is never torn.
// 3. A record that validates (salt and checksum) but is not the expected one is damage: no crash
//    makes one.
// 4. Any input at all ends in kNeedMore, kBatch, kEnd or an error that names file and offset.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "format/manifest_record.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

class ManifestReader {
 public:
  // An Aead of a manifest's key and salt.
  using Open = std::function<Result<std::unique_ptr<Aead>>(uint32_t key, const Salt& salt)>;
  // `name` is what error messages call the file. `open`: null where there are no keys; then a
  // sealed manifest is kInvalidArgument, and with it one that is not sealed is kCorruption.
  explicit ManifestReader(std::string name, Open open = nullptr)
      : name_(std::move(name)), open_(std::move(open)) {}

  enum class Step { kNeedMore, kBatch, kEnd };

  // Reads on from `bytes`, which continue where the last call stopped, and cuts off what it has
  // consumed. `last`: the file ends behind them. kNeedMore: call again with at least wanted_bytes()
  // bytes, or with all that are left and `last`. Errors: kCorruption, kNotSupported; then the
  // reader is done.
  Result<Step> next(std::string_view& bytes, bool last);

  size_t wanted_bytes() const { return wanted_bytes_; }
  // Of the last kBatch; may be moved from.
  DecodedBatch& batch() { return batch_; }
  // Valid from the first kBatch on.
  const ManifestIdentity& identity() const { return identity_; }
  // Where the batch begins that was dropped because it is torn; 0: none was.
  uint64_t torn_offset() const { return torn_offset_; }
  // Behind the last whole batch.
  uint64_t end_offset() const { return end_offset_; }
  // Where the last batch yielded begins.
  uint64_t batch_offset() const { return batch_offset_; }

  Status corrupt(uint64_t offset, std::string_view why) const;

 private:
  enum class Phase { kHeader, kBetween, kInBatch, kLooking, kEnd };
  enum class Parse { kWhole, kNeedMore, kBroken };
  struct Record {
    uint64_t sequence = 0;
    uint8_t type = 0;
    std::string_view payload;
    std::string_view bytes;  // header, payload and filling
  };

  void consume(std::string_view& bytes, size_t size);
  Parse parse(std::string_view bytes, bool last, Record* record);
  Status take_record(Record& record, bool* batch_done);
  Status begin_batch(const Record& record);
  Status end_batch(const Record& record);
  Status broken(std::string_view bytes);
  // One step of looking; nullopt-like: kBatch is never returned.
  Result<Step> look(std::string_view& bytes, bool last);

  Status begin_file(std::string_view block);
  Status open_payload(Record& record);
  size_t tag_bytes() const { return sealer_ == nullptr ? 0 : kTagBytes; }

  const std::string name_;
  const Open open_;
  std::unique_ptr<ManifestSealer> sealer_;
  std::string opened_;  // the payload of a sealed record
  Phase phase_ = Phase::kHeader;
  uint64_t offset_ = 0;  // of the next byte to consume
  size_t wanted_bytes_ = kManifestBlockBytes;
  ManifestIdentity identity_;
  DecodedBatch batch_;
  const char* broken_why_ = "";
  bool any_batch_ = false;
  uint64_t next_sequence_ = 0;
  uint64_t last_batch_ = 0;
  uint64_t batch_offset_ = 0;
  uint64_t batch_records_ = 0;
  uint64_t batch_checksum_ = 0;
  uint64_t end_offset_ = 0;
  uint64_t torn_offset_ = 0;
};

}  // namespace hawthorn::format
