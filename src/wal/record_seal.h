#pragma once
// How records of an encrypted log are sealed: payloads are, and headers are bound to them.
//
//   | header | payload, encrypted | tag |      payload_bytes counts the tag
//
// Not here: keys (os/data_keys.h), what payloads mean, records of logs that are not encrypted.
// Used by Log, which seals, and by RecordFinder, which opens. Threads: one object, one at a time.
//
// 1. The key is derived for the epoch from its salt, and the nonce is the record's lsn. No lsn is
//    issued twice in an epoch: an open begins a new one, with a new salt, before it appends, and
//    appends go on from one another (Log::head). So no nonce is used twice, whatever a crash lost.
// 2. The checksum of a payload is that of the sealed one, so that a torn record is told from one
//    that was changed without keys: only what its checksums call whole is opened, and then has to.
// 3. Pads are sealed, too: their tag stands at the begin of their zeros, and behind it of which
//    epoch they are (format::EpochMark).

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/aead.h"
#include "format/epoch_mark.h"
#include "format/log_epoch.h"
#include "format/log_record.h"
#include "os/machine.h"

namespace hawthorn::wal {

class RecordSeal {
 public:
  // Errors: as DataKeys::make; kCorruption where an epoch has no key, though the database has keys,
  // or has one, though there are none. Null in a log that is not encrypted.
  static Result<std::unique_ptr<RecordSeal>> make(const os::Machine& machine,
                                                  const format::LogEpoch& epoch);

  // Of a payload, to where it will stand in the record; the tag follows. False: libcrypto failed.
  bool seal(const format::RecordHeader& header, std::span<const std::string_view> payload,
            char* to) {
    return seal_to(header, payload, to, to + header.payload_bytes - kTagBytes);
  }
  // `to`: where the pad's zeros are.
  bool seal_pad(const format::RecordHeader& header, char* to);
  // Of which epoch a pad says that it is, with the key that this takes; an epoch of number 0 where
  // it says nothing. Whether that is true its tag tells, and the header's checksum.
  static format::LogEpoch epoch_of_pad(const format::RecordHeader& header,
                                       std::string_view payload);
  // `payload`: as it stands in the record. False: the record is not what was written there.
  bool open(const format::RecordHeader& header, std::string_view payload, std::string* to);

 private:
  RecordSeal(const format::LogEpoch& epoch, std::unique_ptr<Aead> aead)
      : mark_{epoch.salt, epoch.number, epoch.key, 0}, aead_(std::move(aead)) {}
  bool seal_to(const format::RecordHeader& header, std::span<const std::string_view> payload,
               char* to, char* tag);
  const format::EpochMark mark_;
  const std::unique_ptr<Aead> aead_;
};

}  // namespace hawthorn::wal
