// Errors, values, lists of fields, and what misuse comes to.

#include "c/c_test_fixture.h"
#include "hawthorn/status.h"
#include "hawthorn/version.h"

namespace hawthorn::c {

namespace {

class BaseCTest : public CTest {};

TEST_F(BaseCTest, VersionsAreThoseOfTheLibrary) {
  EXPECT_EQ(std::string(hawthorn_version()), hawthorn::version());
  EXPECT_EQ(hawthorn_format_version(), hawthorn::kFormatVersion);
  EXPECT_EQ(hawthorn_abi_version(), 1U);
  EXPECT_EQ(hawthorn_limit_key_bytes(), 65535U);
  EXPECT_EQ(hawthorn_limit_value_bytes(), uint64_t{64} << 20);
  EXPECT_EQ(hawthorn_limit_stream_value_bytes(), uint64_t{4} << 30);
  EXPECT_EQ(hawthorn_limit_tree_name_bytes(), 255U);
  EXPECT_EQ(hawthorn_limit_memory_budget_bytes_min(), uint64_t{16} << 20);
}

TEST_F(BaseCTest, CodesHaveTheNamesOfTheCppApi) {
  for (int code = HAWTHORN_OK; code <= HAWTHORN_PERMISSION_DENIED; ++code) {
    EXPECT_EQ(hawthorn_code_name(code), status_code_name(static_cast<StatusCode>(code)));
  }
  EXPECT_STREQ(hawthorn_code_name(HAWTHORN_BUFFER_TOO_SMALL), "BufferTooSmall");
  EXPECT_STREQ(hawthorn_code_name(HAWTHORN_INTERNAL), "Internal");
  EXPECT_STREQ(hawthorn_code_name(-1), "Unknown");
  EXPECT_STREQ(hawthorn_code_name(19), "Unknown");
  EXPECT_STREQ(hawthorn_code_name(102), "Unknown");
}

TEST_F(BaseCTest, ErrorsAreMadeAndFreed) {
  EXPECT_EQ(hawthorn_error_code(nullptr), HAWTHORN_OK);
  size_t size = 7;
  EXPECT_STREQ(hawthorn_error_message(nullptr, &size), "");
  EXPECT_EQ(size, 0U);
  hawthorn_error_free(nullptr);

  const ErrorHandle made(hawthorn_error_create(HAWTHORN_CONFLICT, "again", HAWTHORN_STRING));
  EXPECT_EQ(hawthorn_error_code(made.get()), HAWTHORN_CONFLICT);
  EXPECT_STREQ(hawthorn_error_message(made.get(), &size), "again");
  EXPECT_EQ(size, 5U);
  const ErrorHandle no_code(hawthorn_error_create(HAWTHORN_OK, nullptr, 0));
  EXPECT_EQ(hawthorn_error_code(no_code.get()), HAWTHORN_INTERNAL);
  const ErrorHandle strange(hawthorn_error_create(77, "x", 1));
  EXPECT_EQ(hawthorn_error_code(strange.get()), HAWTHORN_INTERNAL);
}

TEST_F(BaseCTest, AKeyThatIsNotThereHasAnErrorThatMayBeFreedTwice) {
  open_with_tree();
  const ValueHandle value(hawthorn_value_create());
  hawthorn_error* first = nullptr;
  hawthorn_error* second = nullptr;
  EXPECT_EQ(hawthorn_db_get(db_.get(), tree_.get(), "k", 1, nullptr, value.get(), &first),
            HAWTHORN_NOT_FOUND);
  EXPECT_EQ(hawthorn_db_get(db_.get(), tree_.get(), "k", 1, nullptr, value.get(), &second),
            HAWTHORN_NOT_FOUND);
  EXPECT_EQ(first, second);  // none is made
  EXPECT_EQ(hawthorn_error_code(first), HAWTHORN_NOT_FOUND);
  EXPECT_STRNE(hawthorn_error_message(first, nullptr), "");
  hawthorn_error_free(first);
  hawthorn_error_free(second);
}

TEST_F(BaseCTest, ValuesAreMovedAndReleased) {
  open_with_tree();
  put("k", "bytes");
  ValueHandle from(hawthorn_value_create());
  const ValueHandle to(hawthorn_value_create());
  C_OK(hawthorn_db_get(db_.get(), tree_.get(), "k", 1, nullptr, from.get(), &e));
  C_OK(hawthorn_value_move(from.get(), to.get(), &e));
  size_t size = 0;
  EXPECT_EQ(bytes_of(hawthorn_value_data(to.get(), &size), 5), "bytes");
  EXPECT_EQ(size, 5U);
  (void)hawthorn_value_data(from.get(), &size);
  EXPECT_EQ(size, 0U);
  C_OK(hawthorn_value_move(to.get(), to.get(), &e));
  EXPECT_EQ(bytes_of(hawthorn_value_data(to.get(), &size), 5), "bytes");
  C_FAILS("InvalidArgument: from is NULL", hawthorn_value_move(nullptr, to.get(), &e));
  C_FAILS("InvalidArgument: to is NULL", hawthorn_value_move(to.get(), nullptr, &e));
  hawthorn_value_release(to.get());
  (void)hawthorn_value_data(to.get(), &size);
  EXPECT_EQ(size, 0U);
  hawthorn_value_release(nullptr);
  EXPECT_EQ(hawthorn_value_data(nullptr, &size), nullptr);
}

TEST_F(BaseCTest, EmptyValuesHaveAnAddress) {
  open_with_tree();
  put("empty", "");
  const ValueHandle value(hawthorn_value_create());
  C_OK(hawthorn_db_get(db_.get(), tree_.get(), "empty", 5, nullptr, value.get(), &e));
  size_t size = 9;
  EXPECT_NE(hawthorn_value_data(value.get(), &size), nullptr);
  EXPECT_EQ(size, 0U);
}

TEST_F(BaseCTest, SizesAndAddressesOfBytesAreLookedAt) {
  open_with_tree();
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "string", HAWTHORN_STRING, "value", HAWTHORN_STRING,
                       nullptr, &e));
  EXPECT_EQ(get("string"), "value");
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), nullptr, 0, nullptr, 0, nullptr, &e));
  EXPECT_EQ(get(""), "");
  C_FAILS("InvalidArgument: key is NULL with a size of 3",
          hawthorn_db_put(db_.get(), tree_.get(), nullptr, 3, "v", 1, nullptr, &e));
  C_FAILS("InvalidArgument: value is NULL with a size of 1",
          hawthorn_db_put(db_.get(), tree_.get(), "k", 1, nullptr, 1, nullptr, &e));
  C_FAILS("InvalidArgument: key has an impossible size",
          hawthorn_db_put(db_.get(), tree_.get(), "k", SIZE_MAX - 1, "v", 1, nullptr, &e));
  const std::string long_key(65536, 'k');
  C_FAILS("InvalidArgument: ", hawthorn_db_put(db_.get(), tree_.get(), long_key.data(),
                                               long_key.size(), "v", 1, nullptr, &e));
  // Nobody has to want an error object.
  EXPECT_EQ(hawthorn_db_put(db_.get(), tree_.get(), nullptr, 3, "v", 1, nullptr, nullptr),
            HAWTHORN_INVALID_ARGUMENT);
}

TEST_F(BaseCTest, HandlesThatAreNullAreNamed) {
  open_with_tree();
  const ValueHandle value(hawthorn_value_create());
  C_FAILS("InvalidArgument: the database is NULL",
          hawthorn_db_get(nullptr, tree_.get(), "k", 1, nullptr, value.get(), &e));
  C_FAILS("InvalidArgument: the tree is NULL",
          hawthorn_db_get(db_.get(), nullptr, "k", 1, nullptr, value.get(), &e));
  C_FAILS("InvalidArgument: value is NULL",
          hawthorn_db_get(db_.get(), tree_.get(), "k", 1, nullptr, nullptr, &e));
  C_FAILS("InvalidArgument: path is NULL", hawthorn_db_open(nullptr, nullptr, nullptr, &e));
  C_FAILS("InvalidArgument: out is NULL", hawthorn_db_open("/tmp", nullptr, nullptr, &e));
  C_FAILS("InvalidArgument: the transaction is NULL", hawthorn_txn_commit(nullptr, 0, &e));
  C_FAILS("InvalidArgument: the cursor is NULL", hawthorn_cursor_next(nullptr, nullptr, &e));
}

TEST_F(BaseCTest, NumbersThatAreNoConstantsAreNamed) {
  open_with_tree();
  hawthorn_write_options write = HAWTHORN_WRITE_OPTIONS_INIT;
  write.durability = 4;
  C_FAILS("InvalidArgument: durability is 4",
          hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, &write, &e));
  write.durability = HAWTHORN_DURABILITY_DEFAULT;
  write.expiry = 9;
  C_FAILS("InvalidArgument: expiry is 9",
          hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, &write, &e));
  C_FAILS("InvalidArgument: compression is 3",
          hawthorn_db_set_compression(db_.get(), tree_.get(), 3, &e));
}

TEST_F(BaseCTest, StructuresOfOtherVersionsAreToldApart) {
  open_with_tree();
  hawthorn_write_options unset = {};
  C_FAILS("InvalidArgument: hawthorn_write_options.struct_size is 0",
          hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, &unset, &e));
  // One of a later version: what it has beyond may be there where it says nothing.
  struct Later {
    hawthorn_write_options known;
    uint64_t unknown;
  };
  Later later = {HAWTHORN_WRITE_OPTIONS_INIT, 0};
  later.known.struct_size = sizeof(later);
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, &later.known, &e));
  later.unknown = 1;
  C_FAILS("NotSupported: hawthorn_write_options has fields",
          hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, &later.known, &e));
}

TEST_F(BaseCTest, TreesAndSnapshotsOfOtherDatabasesAreRefused) {
  open_with_tree();
  hawthorn_db* made = nullptr;
  C_OK(hawthorn_db_open(path("other").c_str(), options_.get(), &made, &e));
  const DbHandle other(made);
  const ValueHandle value(hawthorn_value_create());
  C_FAILS("InvalidArgument: the tree is one of another database",
          hawthorn_db_get(other.get(), tree_.get(), "k", 1, nullptr, value.get(), &e));
  hawthorn_snapshot* taken = nullptr;
  C_OK(hawthorn_db_snapshot(other.get(), &taken, &e));
  const SnapshotHandle snapshot(taken);
  C_FAILS("InvalidArgument: the snapshot is one of another database",
          hawthorn_db_get(db_.get(), tree_.get(), "k", 1, snapshot.get(), value.get(), &e));
}

TEST_F(BaseCTest, FieldsAreFoundByPlaceAndName) {
  open_with_tree();
  hawthorn_records* listed = nullptr;
  C_OK(hawthorn_db_list_trees(db_.get(), nullptr, &listed, &e));
  const RecordsHandle records(listed);
  ASSERT_EQ(hawthorn_records_count(records.get()), 1U);
  EXPECT_EQ(hawthorn_records_field_count(records.get(), 0), 1U);
  EXPECT_EQ(hawthorn_records_field_count(records.get(), 1), 0U);
  hawthorn_field field;
  C_OK(hawthorn_records_field(records.get(), 0, 0, &field, &e));
  EXPECT_STREQ(field.name, "name");
  EXPECT_EQ(field.type, static_cast<hawthorn_field_type>(HAWTHORN_FIELD_BYTES));
  EXPECT_EQ(bytes_of(field.data, field.size), "tree");
  C_FAILS("NotFound", hawthorn_records_field(records.get(), 0, 1, &field, &e));
  C_FAILS("NotFound", hawthorn_records_field(records.get(), 1, 0, &field, &e));
  C_OK(hawthorn_records_find(records.get(), 0, "name", &field, &e));
  C_FAILS("NotFound", hawthorn_records_find(records.get(), 0, "names", &field, &e));
  C_FAILS("InvalidArgument: records is NULL",
          hawthorn_records_find(nullptr, 0, "name", &field, &e));
  size_t size = 0;
  EXPECT_STREQ(hawthorn_records_bytes(records.get(), 0, "name", &size), "tree");
  EXPECT_EQ(size, 4U);
  EXPECT_EQ(hawthorn_records_bytes(records.get(), 0, "other", nullptr), nullptr);
  EXPECT_EQ(hawthorn_records_number(records.get(), 0, "name", 42), 42U);
  EXPECT_EQ(hawthorn_records_count(nullptr), 0U);
  hawthorn_records_free(nullptr);
}

}  // namespace

}  // namespace hawthorn::c
