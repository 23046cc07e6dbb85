// The log: record headers, operations, prepare records and what they hold. The first byte says what
// the rest is taken for.
#include "format/log_record.h"
#include "format/manifest_record.h"
#include "format/operation.h"
#include "format/prepare_record.h"
#include "format/run_layout.h"
#include "fuzz/fuzz.h"

namespace format = hawthorn::format;
using hawthorn::fuzz::Bytes;

namespace {

void header(Bytes& in) {
  const bool sealed = in.byte() % 2 == 0;
  format::RecordHeader header = {};
  const std::string_view bytes = in.take(sizeof(header));
  if (bytes.size() < sizeof(header)) return;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof(header));
  const uint64_t salt = in.number<uint64_t>();
  const uint64_t lsn = header.lsn;
  if (sealed) format::seal(header, salt);
  if (!format::valid(header, lsn, salt)) return;
  FUZZ_CHECK(header.length % format::kRecordAlign == 0);
  FUZZ_CHECK(header.length == format::record_bytes(header.payload_bytes));
  FUZZ_CHECK(header.durable_lsn <= lsn);
  FUZZ_CHECK(!format::valid(header, lsn + 8, salt));
  FUZZ_CHECK(!format::valid(header, lsn, salt + 1));
}

void operations(std::string_view bytes) {
  const char* from = bytes.data();
  const char* const end = from + bytes.size();
  std::string again;
  while (from < end) {
    format::Operation operation;
    const char* const behind = format::decode_operation(from, end, &operation);
    if (behind == nullptr) return;
    FUZZ_CHECK(behind > from && behind <= end);
    FUZZ_CHECK(operation.key.data() >= from &&
               operation.value.data() + operation.value.size() <= end);
    again.clear();
    format::append_operation(again, operation);
    FUZZ_CHECK(again.size() <= static_cast<size_t>(behind - from));
    format::Operation same;
    FUZZ_CHECK(format::decode_operation(again.data(), again.data() + again.size(), &same) ==
               again.data() + again.size());
    FUZZ_CHECK(same.type == operation.type && same.tree == operation.tree &&
               same.key == operation.key && same.value == operation.value);
    if (operation.type == format::OperationType::kDeleteRange) {
      const auto high = format::range_end(operation.value);
      FUZZ_CHECK(high.has_value() == !operation.value.empty());
    }
    from = behind;
  }
}

void prepare(std::string_view bytes) {
  const auto part = format::decode_prepare(bytes);
  if (!part.ok()) return;
  FUZZ_CHECK(format::encode_prepare(part->header, part->id, part->held) == bytes);
}

void held(std::string_view bytes) {
  const auto decoded = format::decode_prepared_held(bytes);
  if (!decoded.ok()) return;
  FUZZ_CHECK(decoded->locks.size() + decoded->reads.size() <= bytes.size());
  std::string again;
  for (const auto& lock : decoded->locks) {
    format::append_prepared_lock(again, lock.mode, lock.tree, lock.key);
  }
  for (const auto& read : decoded->reads) format::append_prepared_read(again, read);
  const auto same = format::decode_prepared_held(again);
  FUZZ_OK(same.status());
  FUZZ_CHECK(same->locks.size() == decoded->locks.size());
  FUZZ_CHECK(same->reads.size() == decoded->reads.size());
  for (size_t i = 0; i < same->locks.size(); ++i) {
    FUZZ_CHECK(same->locks[i].mode == decoded->locks[i].mode &&
               same->locks[i].tree == decoded->locks[i].tree &&
               same->locks[i].key == decoded->locks[i].key);
  }
  for (size_t i = 0; i < same->reads.size(); ++i) {
    FUZZ_CHECK(same->reads[i].tree == decoded->reads[i].tree &&
               same->reads[i].low == decoded->reads[i].low &&
               same->reads[i].high == decoded->reads[i].high);
  }
}

// Of an operation kAttach.
void container(std::string_view bytes) {
  format::ContainerRecord record;
  if (!format::decode_container(bytes, record).ok()) return;
  FUZZ_OK(format::check(record));
  format::ContainerRecord same;
  FUZZ_OK(format::decode_container(format::encode_container(record), same));
  FUZZ_CHECK(same == record);
  const format::RunFront front = format::run_front(record);
  FUZZ_CHECK(front.header_blocks <= front.blocks && front.blocks <= record.run.blocks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  switch (in.byte() % 5) {
    case 0:
      header(in);
      break;
    case 1:
      operations(in.rest());
      break;
    case 2:
      prepare(in.rest());
      break;
    case 3:
      held(in.rest());
      break;
    default:
      container(in.rest());
      break;
  }
  return 0;
}
