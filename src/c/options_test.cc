// Options by function and by name, and the callbacks that they take.

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "c/c_test_fixture.h"
#include "testing/wait.h"

namespace hawthorn::c {

namespace {

// How often a context was given back, and what it saw.
struct Seen {
  std::atomic<int> destroyed = 0;
  std::atomic<int> calls = 0;
  std::mutex mutex;
  std::vector<std::string> texts;
  void add(std::string text) {
    const std::lock_guard lock(mutex);
    texts.push_back(std::move(text));
  }
  bool has(const std::string& text) {
    const std::lock_guard lock(mutex);
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  }
  static void destroy(void* context) { ++static_cast<Seen*>(context)->destroyed; }
};

// What a commit hook was told last.
struct Hook {
  bool refuse = false;
  uint64_t operations = 0;
  uint64_t timestamp = 0;
  hawthorn_code code = -1;
  hawthorn_durability durability = 0;
};

class OptionsCTest : public CTest {
 protected:
  std::string set(const char* name, const char* value) {
    return C_TEXT(hawthorn_options_set(options_.get(), name, value, &e));
  }
  std::string read(const char* name) {
    char* text = nullptr;
    const std::string outcome = C_TEXT(hawthorn_options_get(options_.get(), name, &text, &e));
    if (outcome != "OK") return outcome;
    const std::string read = text;
    hawthorn_free(text);
    return read;
  }
  // As long as options and database, whose callbacks have them.
  Seen seen_;
  Hook hook_;
};

TEST_F(OptionsCTest, DefaultsAreThoseOfTheEngine) {
  options_.reset(hawthorn_options_create());
  const std::map<std::string, std::string> wanted = {{"memory_budget_bytes", "268435456"},
                                                     {"preallocate_memory", "false"},
                                                     {"durability", "full"},
                                                     {"io_mode", "auto"},
                                                     {"space_target", "1.1"},
                                                     {"compression", "none"},
                                                     {"merge_operators", "0"},
                                                     {"devices", "0"},
                                                     {"encryption.key_id", ""},
                                                     {"encryption.key", "false"},
                                                     {"read_only", "false"},
                                                     {"create_if_missing", "true"},
                                                     {"error_if_exists", "false"},
                                                     {"file_mode", "0600"},
                                                     {"lock_timeout_ms", "1000"},
                                                     {"background_io_bytes_per_second", "0"},
                                                     {"scrub_bytes_per_second", "0"}};
  for (const auto& [name, value] : wanted) EXPECT_EQ(read(name.c_str()), value) << name;
}

TEST_F(OptionsCTest, EachIsSetByFunctionAndReadByName) {
  hawthorn_options* const o = options_.get();
  C_OK(hawthorn_options_set_memory_budget_bytes(o, 20 << 20, &e));
  EXPECT_EQ(read("memory_budget_bytes"), "20971520");
  C_OK(hawthorn_options_set_preallocate_memory(o, 2, &e));
  EXPECT_EQ(read("preallocate_memory"), "true");
  C_OK(hawthorn_options_set_durability(o, HAWTHORN_DURABILITY_ASYNC, &e));
  EXPECT_EQ(read("durability"), "async");
  C_OK(hawthorn_options_set_io_mode(o, HAWTHORN_IO_BUFFERED, &e));
  EXPECT_EQ(read("io_mode"), "buffered");
  C_OK(hawthorn_options_set_space_target(o, 1.25, &e));
  EXPECT_EQ(read("space_target"), "1.25");
  C_OK(hawthorn_options_set_compression(o, HAWTHORN_COMPRESSION_ZSTD, &e));
  EXPECT_EQ(read("compression"), "zstd");
  C_OK(hawthorn_options_add_device(o, "/dev/null", &e));
  EXPECT_EQ(read("devices"), "1");
  C_OK(hawthorn_options_set_read_only(o, 1, &e));
  EXPECT_EQ(read("read_only"), "true");
  C_OK(hawthorn_options_set_create_if_missing(o, 0, &e));
  EXPECT_EQ(read("create_if_missing"), "false");
  C_OK(hawthorn_options_set_error_if_exists(o, 1, &e));
  EXPECT_EQ(read("error_if_exists"), "true");
  C_OK(hawthorn_options_set_file_mode(o, 0640, &e));
  EXPECT_EQ(read("file_mode"), "0640");
  C_OK(hawthorn_options_set_lock_timeout_ms(o, 7, &e));
  EXPECT_EQ(read("lock_timeout_ms"), "7");
  C_OK(hawthorn_options_set_background_io_bytes_per_second(o, 8, &e));
  EXPECT_EQ(read("background_io_bytes_per_second"), "8");
  C_OK(hawthorn_options_set_scrub_bytes_per_second(o, 9, &e));
  EXPECT_EQ(read("scrub_bytes_per_second"), "9");
  C_FAILS("InvalidArgument: durability is 4", hawthorn_options_set_durability(o, 4, &e));
  C_FAILS("InvalidArgument: io_mode is 3", hawthorn_options_set_io_mode(o, 3, &e));
  C_FAILS("InvalidArgument: compression is 9", hawthorn_options_set_compression(o, 9, &e));
  C_FAILS("InvalidArgument: path is NULL", hawthorn_options_add_device(o, nullptr, &e));
  C_FAILS("InvalidArgument: the options are NULL", hawthorn_options_set_read_only(nullptr, 1, &e));
}

TEST_F(OptionsCTest, EachIsSetByName) {
  const std::map<std::string, std::string> same = {{"preallocate_memory", "true"},
                                                   {"durability", "none"},
                                                   {"io_mode", "direct"},
                                                   {"space_target", "1.5"},
                                                   {"compression", "lz4"},
                                                   {"encryption.key_id", "mine"},
                                                   {"read_only", "true"},
                                                   {"create_if_missing", "false"},
                                                   {"error_if_exists", "true"},
                                                   {"file_mode", "0644"},
                                                   {"lock_timeout_ms", "250"},
                                                   {"background_io_bytes_per_second", "1000"},
                                                   {"scrub_bytes_per_second", "2000"}};
  for (const auto& [name, value] : same) {
    EXPECT_EQ(set(name.c_str(), value.c_str()), "OK") << name;
    EXPECT_EQ(read(name.c_str()), value) << name;
  }
  EXPECT_EQ(set("memory_budget_bytes", "64M"), "OK");
  EXPECT_EQ(read("memory_budget_bytes"), std::to_string(64 << 20));
  EXPECT_EQ(set("memory_budget_bytes", "3G"), "OK");
  EXPECT_EQ(read("memory_budget_bytes"), std::to_string(uint64_t{3} << 30));
  EXPECT_EQ(set("devices", "/dev/one"), "OK");
  EXPECT_EQ(set("devices", "/dev/two"), "OK");
  EXPECT_EQ(read("devices"), "2");
  for (const char* name : {"uint64_add", "max", "append", "append:;"}) {
    EXPECT_EQ(set("merge_operators", name), "OK");
  }
  EXPECT_EQ(read("merge_operators"), "4");
  EXPECT_EQ(set("encryption.key", std::string(64, 'a').c_str()), "OK");
  EXPECT_EQ(read("encryption.key"), "true");
}

TEST_F(OptionsCTest, WrongNamesAndValuesAreNamed) {
  EXPECT_EQ(set("memory", "1"), "NotFound: there is no option \"memory\"");
  EXPECT_EQ(set("log", "1"),
            "NotSupported: the option \"log\" takes functions: call hawthorn_options_set_log");
  EXPECT_TRUE(read("log").starts_with("NotSupported"));
  const std::map<std::string, std::string> wrong = {
      {"memory_budget_bytes", "64MB"},
      {"lock_timeout_ms", "-1"},
      {"scrub_bytes_per_second", ""},
      {"background_io_bytes_per_second", "99999999999999G"},
      {"read_only", "yes"},
      {"durability", "half"},
      {"io_mode", "Direct"},
      {"compression", "gzip"},
      {"space_target", "1.1x"},
      {"file_mode", "0888"},
      {"devices", ""},
      {"merge_operators", "min"}};
  for (const auto& [name, value] : wrong) {
    const std::string text = set(name.c_str(), value.c_str());
    EXPECT_TRUE(text.starts_with("InvalidArgument: option \"" + name + "\": \"" + value + "\" is"))
        << text;
  }
  // No message holds a key.
  const std::string secret = set("encryption.key", "0123secret");
  EXPECT_TRUE(secret.starts_with("InvalidArgument"));
  EXPECT_EQ(secret.find("secret"), std::string::npos);
  EXPECT_TRUE(C_TEXT(hawthorn_options_set(options_.get(), nullptr, "1", &e))
                  .starts_with("InvalidArgument: name is NULL"));
  EXPECT_TRUE(C_TEXT(hawthorn_options_set(options_.get(), "read_only", nullptr, &e))
                  .starts_with("InvalidArgument: value is NULL"));
}

TEST_F(OptionsCTest, NamesAreListed) {
  size_t count = 0;
  for (const char* name = hawthorn_options_name(0); name != nullptr;
       name = hawthorn_options_name(++count)) {
    // Each is one that set knows, whatever it thinks of the value.
    EXPECT_FALSE(set(name, "\x01").starts_with("NotFound")) << name;
  }
  EXPECT_GT(count, 20U);
  EXPECT_EQ(hawthorn_options_name(SIZE_MAX), nullptr);
}

TEST_F(OptionsCTest, ContextsAreGivenBackWhenTheLastUserHasGone) {
  const auto log = [](void* context, hawthorn_log_level, const char*, size_t) {
    ++static_cast<Seen*>(context)->calls;
  };
  C_OK(hawthorn_options_set_log(options_.get(), log, &seen_, Seen::destroy, &e));
  open();
  options_.reset();
  EXPECT_EQ(seen_.destroyed, 0);
  db_.reset();
  EXPECT_EQ(seen_.destroyed, 1);
  // One that is replaced before it was used.
  options_.reset(hawthorn_options_create());
  C_OK(hawthorn_options_set_log(options_.get(), log, &seen_, Seen::destroy, &e));
  C_OK(hawthorn_options_set_log(options_.get(), nullptr, nullptr, nullptr, &e));
  EXPECT_EQ(seen_.destroyed, 2);
}

TEST_F(OptionsCTest, TheLogIsToldOfRecovery) {
  const auto log = [](void* context, hawthorn_log_level level, const char* message, size_t size) {
    EXPECT_LE(level, static_cast<hawthorn_log_level>(HAWTHORN_LOG_ERROR));
    EXPECT_EQ(std::string_view(message).size(), size);
    ++static_cast<Seen*>(context)->calls;
  };
  C_OK(hawthorn_options_set_log(options_.get(), log, &seen_, nullptr, &e));
  open_with_tree();
  put("k", "v");
  tree_.reset();
  db_.reset();  // without close: the next open replays the log
  open();
  EXPECT_GT(seen_.calls, 0);
}

TEST_F(OptionsCTest, ListenersAreTold) {
  const auto listen = [](void* context, hawthorn_event event, const hawthorn_records* fields) {
    std::string text = hawthorn_event_name(event);
    if (event == HAWTHORN_EVENT_TREE_CHANGED) {
      text += std::string(":") + hawthorn_records_bytes(fields, 0, "change", nullptr) + ":" +
              hawthorn_records_bytes(fields, 0, "name", nullptr);
    } else if (event == HAWTHORN_EVENT_FLUSH_COMPLETED) {
      EXPECT_EQ(hawthorn_records_number(fields, 0, "code", 99), 0U);
      EXPECT_NE(hawthorn_records_bytes(fields, 0, "tree_name", nullptr), nullptr);
    } else if (event == HAWTHORN_EVENT_CLOSED) {
      text += hawthorn_records_number(fields, 0, "clean", 9) == 1 ? ":clean" : ":not clean";
    } else if (event == HAWTHORN_EVENT_SNAPSHOT_CHANGED) {
      text += std::string(":") + hawthorn_records_bytes(fields, 0, "name", nullptr);
    }
    static_cast<Seen*>(context)->add(std::move(text));
  };
  C_OK(hawthorn_options_add_listener(options_.get(), listen, &seen_, Seen::destroy, &e));
  open_with_tree();
  put("k", "v");
  C_OK(hawthorn_db_rename_tree(db_.get(), "tree", 4, "other", 5, &e));
  C_OK(hawthorn_db_create_snapshot(db_.get(), "named", 5, &e));
  C_OK(hawthorn_db_flush(db_.get(), &e));
  C_OK(hawthorn_db_close(db_.get(), &e));
  for (const char* text :
       {"opened", "tree_changed:created:tree", "tree_changed:renamed:other",
        "snapshot_changed:named", "flush_begun", "flush_completed", "closed:clean"}) {
    EXPECT_TRUE(seen_.has(text)) << text;
  }
  EXPECT_STREQ(hawthorn_event_name(HAWTHORN_EVENT_EVENTS_DROPPED), "events_dropped");
  EXPECT_STREQ(hawthorn_event_name(16), "unknown");
  C_FAILS("InvalidArgument: callback is NULL",
          hawthorn_options_add_listener(options_.get(), nullptr, nullptr, nullptr, &e));
}

TEST_F(OptionsCTest, CommitHooksAreAskedAndTold) {
  Hook& hook = hook_;
  const auto before = [](void* context, uint64_t, hawthorn_durability) {
    return static_cast<Hook*>(context)->refuse
               ? hawthorn_error_create(HAWTHORN_NO_SPACE, "over quota", HAWTHORN_STRING)
               : nullptr;
  };
  const auto after = [](void* context, uint64_t operations, hawthorn_durability durability,
                        uint64_t timestamp, hawthorn_code code, const hawthorn_error* outcome) {
    *static_cast<Hook*>(context) = {false, operations, timestamp, code, durability};
    EXPECT_EQ(outcome, nullptr);
  };
  C_OK(hawthorn_options_add_commit_hook(options_.get(), before, after, &hook, nullptr, &e));
  open_with_tree();
  hawthorn_write_options write = HAWTHORN_WRITE_OPTIONS_INIT;
  write.durability = HAWTHORN_DURABILITY_ASYNC;
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, &write, &e));
  EXPECT_EQ(hook.operations, 1U);
  EXPECT_EQ(hook.code, HAWTHORN_OK);
  EXPECT_EQ(hook.durability, static_cast<hawthorn_durability>(HAWTHORN_DURABILITY_ASYNC));
  EXPECT_GT(hook.timestamp, 0U);
  hook.refuse = true;
  C_FAILS("NoSpace: over quota",
          hawthorn_db_put(db_.get(), tree_.get(), "x", 1, "v", 1, nullptr, &e));
  EXPECT_EQ(get("x"), "NotFound");
  db_.reset();
  C_FAILS("InvalidArgument: both functions of the commit hook are NULL",
          hawthorn_options_add_commit_hook(options_.get(), nullptr, nullptr, nullptr, nullptr, &e));
}

TEST_F(OptionsCTest, MergeOperatorsFoldAndCombine) {
  // Keeps what is there in front, and everything behind it in the order in which it came.
  hawthorn_merge_operator merge = HAWTHORN_MERGE_OPERATOR_INIT;
  merge.name = "join";
  merge.merge = [](void* context, const void*, size_t, const void* existing, size_t existing_size,
                   const hawthorn_bytes* operands, size_t count, hawthorn_buffer* result) {
    ++static_cast<Seen*>(context)->calls;
    if (existing == nullptr && hawthorn_buffer_append(result, "new", 3) == 0) return 0;
    hawthorn_buffer_append(result, existing, existing_size);
    for (size_t i = 0; i < count; ++i) {
      if (bytes_of(operands[i].data, operands[i].size) == "refuse") return 0;
      hawthorn_buffer_append(result, operands[i].data, operands[i].size);
    }
    size_t size = 0;
    return hawthorn_buffer_data(result, &size) != nullptr && size > 0 ? 1 : 0;
  };
  merge.combine = [](void* context, const void*, size_t, const void* left, size_t left_size,
                     const void* right, size_t right_size, hawthorn_buffer* result) {
    static_cast<Seen*>(context)->add("combined");
    hawthorn_buffer_append(result, left, left_size);
    return hawthorn_buffer_append(result, right, right_size);
  };
  merge.context = &seen_;
  C_OK(hawthorn_options_add_merge_operator(options_.get(), &merge, &e));
  open_with_tree();
  C_OK(hawthorn_db_set_merge_operator(db_.get(), tree_.get(), "join", 4, &e));
  C_OK(hawthorn_db_merge(db_.get(), tree_.get(), "k", 1, "a", 1, nullptr, &e));
  C_OK(hawthorn_db_merge(db_.get(), tree_.get(), "k", 1, "b", 1, nullptr, &e));
  EXPECT_EQ(get("k"), "newab");
  put("empty", "");  // is there, and so has an address
  C_OK(hawthorn_db_merge(db_.get(), tree_.get(), "empty", 5, "x", 1, nullptr, &e));
  EXPECT_EQ(get("empty"), "x");
  EXPECT_GT(seen_.calls, 0);
  C_OK(hawthorn_db_merge(db_.get(), tree_.get(), "bad", 3, "refuse", 6, nullptr, &e));
  EXPECT_EQ(get("bad"), "Corruption");
  EXPECT_EQ(hawthorn_buffer_append(nullptr, "x", 1), 0);
  EXPECT_EQ(hawthorn_buffer_data(nullptr, nullptr), nullptr);

  merge.merge = nullptr;
  C_FAILS("InvalidArgument: merge_operator.merge is NULL",
          hawthorn_options_add_merge_operator(options_.get(), &merge, &e));
  merge.name = "";
  C_FAILS("InvalidArgument: the merge operator's name is empty",
          hawthorn_options_add_merge_operator(options_.get(), &merge, &e));
  const std::string long_name(256, 'n');
  merge.name = long_name.c_str();
  C_FAILS("InvalidArgument: the merge operator's name has more than 255 bytes",
          hawthorn_options_add_merge_operator(options_.get(), &merge, &e));
  C_FAILS("NotFound", hawthorn_options_add_builtin_merge_operator(options_.get(), "min", &e));
}

TEST_F(OptionsCTest, OrdersAreEncodingsOrComparisons) {
  hawthorn_key_order order = HAWTHORN_KEY_ORDER_INIT;
  order.name = "by size";
  // The size in front, as one byte; longer keys are none.
  order.encode = [](void*, const void* key, size_t size, hawthorn_buffer* sort_key) {
    const auto first = static_cast<char>(size);
    if (size > 100 || hawthorn_buffer_append(sort_key, &first, 1) == 0) return 0;
    return hawthorn_buffer_append(sort_key, key, size);
  };
  order.decode = [](void*, const void* sort_key, size_t size, hawthorn_buffer* key) {
    if (size == 0) return 0;
    return hawthorn_buffer_append(key, static_cast<const char*>(sort_key) + 1, size - 1);
  };
  C_OK(hawthorn_options_add_key_order(options_.get(), &order, &e));
  const auto backwards = [](void*, const void* a, size_t a_size, const void* b, size_t b_size) {
    return bytes_of(b, b_size).compare(bytes_of(a, a_size));
  };
  C_OK(hawthorn_options_add_key_comparator(options_.get(), "backwards", backwards, nullptr, nullptr,
                                           &e));
  hawthorn_tree_options by_size = HAWTHORN_TREE_OPTIONS_INIT;
  by_size.order = "by size";
  open_with_tree(&by_size);
  for (const char* key : {"ccc", "z", "bb", "a"}) put(key, "");
  EXPECT_EQ(walk(cursor().get()), "a=,z=,bb=,ccc=");
  const std::string no_key(101, 'k');
  C_FAILS("InvalidArgument", hawthorn_db_put(db_.get(), tree_.get(), no_key.data(), no_key.size(),
                                             "", 0, nullptr, &e));
  hawthorn_tree_options compared = HAWTHORN_TREE_OPTIONS_INIT;
  compared.order = "backwards";
  tree_ = tree("compared", &compared);
  for (const char* key : {"a", "c", "b"}) put(key, "");
  EXPECT_EQ(walk(cursor().get()), "c=,b=,a=");
  order.decode = nullptr;
  C_FAILS("InvalidArgument: order.decode is NULL",
          hawthorn_options_add_key_order(options_.get(), &order, &e));
  C_FAILS("InvalidArgument: compare is NULL",
          hawthorn_options_add_key_comparator(options_.get(), "x", nullptr, nullptr, nullptr, &e));
  C_FAILS("InvalidArgument: the comparator's name is empty",
          hawthorn_options_add_key_comparator(options_.get(), nullptr, backwards, nullptr, nullptr,
                                              &e));
}

TEST_F(OptionsCTest, FlushFiltersRemoveAndChange) {
  hawthorn_flush_filter filter = HAWTHORN_FLUSH_FILTER_INIT;
  filter.name = "tidy";
  filter.filter = [](void*, const void*, size_t, const void* value, size_t size,
                     hawthorn_buffer* changed) -> hawthorn_filter_decision {
    const std::string_view is = bytes_of(value, size);
    if (is == "remove") return HAWTHORN_FILTER_REMOVE;
    if (is == "strange") return 77;
    if (is != "change") return HAWTHORN_FILTER_KEEP;
    hawthorn_buffer_append(changed, "changed", 7);
    return HAWTHORN_FILTER_CHANGE;
  };
  C_OK(hawthorn_options_set_flush_filter(options_.get(), "tree", HAWTHORN_STRING, &filter, &e));
  open_with_tree();
  for (const char* value : {"keep", "remove", "change", "strange"}) put(value, value);
  C_OK(hawthorn_db_compact(db_.get(), &e));
  EXPECT_EQ(walk(cursor().get()), "change=changed,keep=keep,strange=strange");
  filter.filter = nullptr;
  C_FAILS("InvalidArgument: filter.filter is NULL",
          hawthorn_options_set_flush_filter(options_.get(), "tree", 4, &filter, &e));
}

TEST_F(OptionsCTest, KeysAloneAreFiltered) {
  hawthorn_flush_filter filter = HAWTHORN_FLUSH_FILTER_INIT;
  filter.name = "keys";
  filter.keys_only = 1;
  filter.filter = [](void*, const void* key, size_t, const void*, size_t value_size,
                     hawthorn_buffer*) -> hawthorn_filter_decision {
    EXPECT_EQ(value_size, 0U);
    return *static_cast<const char*>(key) == 'x' ? HAWTHORN_FILTER_REMOVE : HAWTHORN_FILTER_KEEP;
  };
  C_OK(hawthorn_options_set_flush_filter(options_.get(), "tree", 4, &filter, &e));
  open_with_tree();
  put("a", "1");
  put("x", "2");
  C_OK(hawthorn_db_compact(db_.get(), &e));
  EXPECT_EQ(walk(cursor().get()), "a=1");
}

TEST_F(OptionsCTest, EntriesThatHaveEndedAreTold) {
  const auto expired = [](void* context, const char* tree, size_t tree_size, const void* key,
                          size_t key_size, const void* value, size_t value_size) {
    static_cast<Seen*>(context)->add(std::string(bytes_of(tree, tree_size)) + ":" +
                                     std::string(bytes_of(key, key_size)) + "=" +
                                     std::string(bytes_of(value, value_size)));
  };
  C_OK(hawthorn_options_set_on_expiry(options_.get(), expired, &seen_, Seen::destroy, &e));
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.expires = 1;
  open_with_tree(&options);
  hawthorn_write_options write = HAWTHORN_WRITE_OPTIONS_INIT;
  write.expiry = HAWTHORN_EXPIRY_AT;
  write.expiry_ms = 1;
  C_OK(hawthorn_db_put(db_.get(), tree_.get(), "k", 1, "v", 1, &write, &e));
  C_OK(hawthorn_db_compact(db_.get(), &e));
  EXPECT_TRUE(testing::wait_until([&] { return seen_.has("tree:k=v"); }));
}

TEST_F(OptionsCTest, AnOpenThatReplaysTellsAndEnds) {
  open_with_tree();
  for (int i = 0; i < 3000; ++i) put("key" + std::to_string(i), std::string(1000, 'v'));
  const std::string copy = path("copy");  // of what a process leaves that dies
  std::filesystem::copy(path(), copy);

  struct Told {
    uint64_t calls = 0;
    uint64_t done = 0;
    uint64_t all = 0;
    bool ends = true;
    bool destroyed = false;
  } told;
  C_OK(hawthorn_options_set_open_progress(
      options_.get(),
      [](void* context, uint64_t done, uint64_t all) -> hawthorn_error* {
        Told& to = *static_cast<Told*>(context);
        ++to.calls;
        to.done = done;
        to.all = all;
        return to.ends ? hawthorn_error_create(HAWTHORN_BUSY, "that is enough", HAWTHORN_STRING)
                       : nullptr;
      },
      &told, [](void* context) { static_cast<Told*>(context)->destroyed = true; }, &e));
  hawthorn_db* opened = nullptr;
  C_FAILS("Busy: that is enough", hawthorn_db_open(copy.c_str(), options_.get(), &opened, &e));
  EXPECT_EQ(told.calls, 1U);
  EXPECT_GT(told.all, told.done);
  told.ends = false;
  C_OK(hawthorn_db_open(copy.c_str(), options_.get(), &opened, &e));
  EXPECT_GT(told.calls, 3U);
  EXPECT_EQ(told.done, told.all);
  db_.reset(opened);
  db_.reset();
  EXPECT_FALSE(told.destroyed);
  C_OK(hawthorn_options_set_open_progress(options_.get(), nullptr, nullptr, nullptr, &e));
  EXPECT_TRUE(told.destroyed);
}

}  // namespace

}  // namespace hawthorn::c
