// Entries of the catalog, shapes of trees, stored keys, labels, operands: what the format layer
// decodes from keys and values. The first byte says what the rest is taken for.
#include "format/catalog_entry.h"
#include "format/label.h"
#include "format/operands.h"
#include "format/tree_shape.h"
#include "fuzz/fuzz.h"

namespace format = hawthorn::format;
using hawthorn::StatusCode;
using hawthorn::fuzz::Bytes;

namespace {

void entry(std::string_view bytes) {
  const auto decoded = format::decode_catalog_entry(bytes);
  if (!decoded) return;
  FUZZ_CHECK(decoded->id != format::kCatalogTree && decoded->clone_of < decoded->id);
  const std::string encoded = format::encode_catalog_entry(*decoded);
  FUZZ_CHECK(encoded.size() <= bytes.size());
  FUZZ_CHECK(format::decode_catalog_entry(encoded) == decoded);
}

void note(std::string_view bytes) {
  const auto decoded = format::decode_catalog_note(bytes);
  if (!decoded) return;
  const std::string encoded = format::encode_catalog_note(*decoded);
  const auto again = format::decode_catalog_note(encoded);
  FUZZ_CHECK(again && again->renamed == decoded->renamed && again->entry == decoded->entry &&
             again->name == decoded->name);
}

void places(std::string_view bytes) {
  if (const auto place = format::decode_subtree_key(bytes)) {
    FUZZ_CHECK(format::subtree_key(*place) == bytes);
    FUZZ_CHECK(bytes >= format::subtrees_begin(place->parent));
    FUZZ_CHECK(bytes < format::subtrees_end(place->parent));
  }
  if (const auto tree = format::decode_place_key(bytes)) {
    FUZZ_CHECK(format::place_key(*tree) == bytes);
  }
}

void shape(std::string_view bytes) {
  const auto names = format::decode_tree_shape(bytes);
  if (!names) return;
  FUZZ_CHECK(format::encode_tree_shape(*names) == bytes);
  FUZZ_CHECK(!names->order.empty() && !names->value_order.empty());
}

// As TreeShape wants them: an order of this name, or byte by byte.
format::TreeShape made_shape(Bytes& in) {
  static constexpr const char* kOrders[] = {"bytewise", "reverse", "from_end", "uint32",
                                            "uint64",   "int32",   "int64"};
  format::TreeShapeNames names;
  names.order = kOrders[in.byte() % 7];
  names.value_order = kOrders[in.byte() % 7];
  const uint8_t flags = in.byte();
  names.multi_value = (flags & 1) != 0;
  names.expires = (flags & 2) != 0;
  return {names,
          {.encoded = format::library_order(names.order)},
          {.encoded = format::library_order(names.value_order)}};
}

// Bytes of a tree as a stored key.
void load(Bytes& in) {
  const format::TreeShape shape = made_shape(in);
  const std::string_view stored = in.rest();
  std::string key;
  std::string value;
  const hawthorn::Status status = shape.load(stored, &key, &value);
  if (!status.ok()) {
    FUZZ_CHECK(status.is(StatusCode::kCorruption));
    return;
  }
  std::string again;
  const hawthorn::Status back =
      shape.multi_value() ? shape.store_pair(key, value, &again) : shape.store_key(key, &again);
  if (!back.ok()) return;  // too long, or one that no program could have given
  FUZZ_CHECK(again == stored);
}

// What a program gives as keys and values.
void store(Bytes& in) {
  const format::TreeShape shape = made_shape(in);
  const std::string_view key = in.take(in.byte());
  const std::string_view value = in.rest();
  std::string stored;
  const hawthorn::Status status =
      shape.multi_value() ? shape.store_pair(key, value, &stored) : shape.store_key(key, &stored);
  if (!status.ok()) {
    FUZZ_CHECK(status.is(StatusCode::kInvalidArgument));
    return;
  }
  std::string key_again;
  std::string value_again;
  FUZZ_OK(shape.load(stored, &key_again, &value_again));
  FUZZ_CHECK(key_again == key && (!shape.multi_value() || value_again == value));
  if (!shape.multi_value()) return;
  std::string head;
  FUZZ_OK(shape.store_key(key, &head));
  FUZZ_CHECK(stored.starts_with(head));
  const auto size = shape.head_bytes(stored);
  FUZZ_OK(size.status());
  FUZZ_CHECK(*size == head.size());
  const auto behind = format::TreeShape::behind(head);
  FUZZ_CHECK(!behind || stored < *behind);
}

void expiry(std::string_view bytes) {
  const auto moment = format::TreeShape::moment_of(bytes);
  if (moment.ok()) {
    std::string again;
    format::TreeShape::append_moment(again, *moment);
    FUZZ_CHECK(bytes.starts_with(again));
  }
  std::string stored;
  const auto noted = format::TreeShape::load_note(bytes, &stored);
  if (!noted.ok()) return;
  FUZZ_CHECK(stored.size() <= bytes.size());
  if (*noted % format::TreeShape::kNoteMs != 0) return;
  FUZZ_CHECK(format::TreeShape::note_of(stored, *noted) == bytes);
}

// Labels that are made one between two others, as the input says.
void labels(Bytes& in) {
  std::vector<std::string> made;
  while (!in.empty() && made.size() < 200) {
    const uint8_t byte = in.byte();
    const size_t at = made.empty() ? 0 : in.byte() % (made.size() + 1);
    const std::string before = at == 0 ? "" : made[at - 1];
    const std::string behind = at == made.size() ? "" : made[at];
    const std::string label =
        format::label_between(before, behind, static_cast<format::LabelNear>(byte % 3));
    FUZZ_CHECK(before < label && (behind.empty() || label < behind));
    FUZZ_CHECK(!behind.starts_with(label) && (before.empty() || !label.starts_with(before)));
    FUZZ_CHECK(format::label_bytes(label) == label.size());
    const std::string middle = format::label_middle(before, behind);
    FUZZ_CHECK(middle >= before);
    made.insert(made.begin() + static_cast<ptrdiff_t>(at), label);
  }
}

void label_of(std::string_view bytes) {
  const auto size = format::label_bytes(bytes);
  if (!size) return;
  FUZZ_CHECK(*size > 0 && *size <= bytes.size());
  FUZZ_CHECK(format::label_bytes(bytes.substr(0, *size)) == size);
}

void operands(std::string_view bytes) {
  const bool whole = format::operands_are_whole(bytes);
  std::string again;
  std::string_view rest = bytes;
  std::string_view operand;
  while (!rest.empty()) {
    if (!format::take_operand(&rest, &operand)) {
      FUZZ_CHECK(!whole);
      return;
    }
    format::append_operand(again, operand);
  }
  FUZZ_CHECK(whole == !bytes.empty());
  FUZZ_CHECK(again.size() <= bytes.size() && (again.empty() || format::operands_are_whole(again)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  switch (in.byte() % 10) {
    case 0:
      entry(in.rest());
      break;
    case 1:
      note(in.rest());
      break;
    case 2:
      places(in.rest());
      break;
    case 3:
      shape(in.rest());
      break;
    case 4:
      load(in);
      break;
    case 5:
      store(in);
      break;
    case 6:
      expiry(in.rest());
      break;
    case 7:
      labels(in);
      break;
    case 8:
      label_of(in.rest());
      break;
    default:
      operands(in.rest());
      break;
  }
  return 0;
}
