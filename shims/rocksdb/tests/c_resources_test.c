// Caches, write buffers, rate limits, environments and options of tables in the C API.

#include "shims/rocksdb/tests/c_api_test.h"

static void test_tables(void) {
  Database of = new_database();
  rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_checksum(table, 1);
  rocksdb_block_based_options_set_block_size(table, 8192);
  rocksdb_block_based_options_set_block_size_deviation(table, 5);
  rocksdb_block_based_options_set_block_restart_interval(table, 8);
  rocksdb_block_based_options_set_index_block_restart_interval(table, 2);
  rocksdb_block_based_options_set_metadata_block_size(table, 8192);
  rocksdb_block_based_options_set_partition_filters(table, 1);
  rocksdb_block_based_options_set_optimize_filters_for_memory(table, 0);
  rocksdb_block_based_options_set_use_delta_encoding(table, 0);
  rocksdb_block_based_options_set_whole_key_filtering(table, 0);
  rocksdb_block_based_options_set_format_version(table, 5);
  rocksdb_block_based_options_set_index_type(table, 2);
  rocksdb_block_based_options_set_data_block_index_type(table, 1);
  rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.5);
  rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
  rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 0);
  rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
  rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 0);
  rocksdb_block_based_options_set_top_level_index_pinning_tier(table, 1);
  rocksdb_block_based_options_set_partition_pinning_tier(table, 2);
  rocksdb_block_based_options_set_unpartitioned_pinning_tier(table, 3);
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_ribbon(10));
  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_ribbon_hybrid(10, 2));

  rocksdb_cache_t* const cache = rocksdb_cache_create_lru((size_t)40 << 20);
  rocksdb_block_based_options_set_block_cache(table, cache);
  rocksdb_block_based_options_set_block_cache(table, NULL);
  rocksdb_block_based_options_set_block_cache_compressed(table, cache);
  rocksdb_options_set_block_based_table_factory(of.options, table);
  rocksdb_options_set_db_write_buffer_size(of.options, (size_t)8 << 20);
  open_database(&of);
  put(&of, "a", "1");
  uint64_t budget = 0;
  CHECK(rocksdb_property_int(of.db, "rocksdb.block-cache-capacity", &budget) == 0);
  CHECK(budget == (uint64_t)48 << 20);
  rocksdb_cache_set_capacity(cache, (size_t)30 << 20);
  CHECK(rocksdb_cache_get_capacity(cache) == (size_t)30 << 20);
  CHECK(rocksdb_property_int(of.db, "rocksdb.block-cache-capacity", &budget) == 0);
  CHECK(budget == (uint64_t)38 << 20);
  CHECK(rocksdb_cache_get_usage(cache) > 0);
  CHECK(rocksdb_cache_get_pinned_usage(cache) <= rocksdb_cache_get_usage(cache));
  CHECK(rocksdb_cache_get_table_address_count(cache) == 0);
  CHECK(rocksdb_cache_get_occupancy_count(cache) == 0);
  rocksdb_cache_disown_data(cache);
  close_database(&of);

  // Without a block cache, with others, and a write buffer manager that counts in one.
  rocksdb_block_based_options_set_no_block_cache(table, 1);
  rocksdb_options_set_block_based_table_factory(of.options, table);
  rocksdb_options_set_block_based_table_factory(of.options, NULL);
  rocksdb_options_set_row_cache(of.options, cache);
  rocksdb_options_set_blob_cache(of.options, cache);
  rocksdb_write_buffer_manager_t* const manager =
      rocksdb_write_buffer_manager_create_with_cache((size_t)8 << 20, cache, true);
  CHECK(rocksdb_write_buffer_manager_cost_to_cache(manager));
  rocksdb_options_set_write_buffer_manager(of.options, manager);
  open_database(&of);
  CHECK(rocksdb_property_int(of.db, "rocksdb.block-cache-capacity", &budget) == 0);
  CHECK(budget == (uint64_t)30 << 20);
  rocksdb_write_buffer_manager_destroy(manager);
  rocksdb_block_based_options_destroy(table);
  rocksdb_cache_destroy(cache);
  end_database(&of);
}

static void test_caches(void) {
  rocksdb_cache_t* cache = rocksdb_cache_create_lru_with_strict_capacity_limit(1000);
  CHECK(rocksdb_cache_get_capacity(cache) == 1000);
  rocksdb_cache_destroy(cache);
  rocksdb_lru_cache_options_t* const lru = rocksdb_lru_cache_options_create();
  rocksdb_lru_cache_options_set_capacity(lru, 2000);
  rocksdb_lru_cache_options_set_num_shard_bits(lru, 2);
  rocksdb_lru_cache_options_set_memory_allocator(lru, NULL);
  cache = rocksdb_cache_create_lru_opts(lru);
  CHECK(rocksdb_cache_get_capacity(cache) == 2000);
  rocksdb_cache_destroy(cache);
  rocksdb_lru_cache_options_destroy(lru);
  rocksdb_hyper_clock_cache_options_t* const clock = rocksdb_hyper_clock_cache_options_create(1, 2);
  rocksdb_hyper_clock_cache_options_set_capacity(clock, 3000);
  rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(clock, 10);
  rocksdb_hyper_clock_cache_options_set_num_shard_bits(clock, 2);
  rocksdb_hyper_clock_cache_options_set_memory_allocator(clock, NULL);
  cache = rocksdb_cache_create_hyper_clock_opts(clock);
  CHECK(rocksdb_cache_get_capacity(cache) == 3000);
  rocksdb_cache_destroy(cache);
  rocksdb_hyper_clock_cache_options_destroy(clock);
  cache = rocksdb_cache_create_hyper_clock(4000, 10);
  CHECK(rocksdb_cache_get_capacity(cache) == 4000);
  rocksdb_cache_destroy(cache);

  rocksdb_write_buffer_manager_t* const manager = rocksdb_write_buffer_manager_create(0, false);
  CHECK(!rocksdb_write_buffer_manager_enabled(manager));
  CHECK(!rocksdb_write_buffer_manager_cost_to_cache(manager));
  rocksdb_write_buffer_manager_set_buffer_size(manager, (size_t)100 << 20);
  rocksdb_write_buffer_manager_set_allow_stall(manager, true);
  CHECK(rocksdb_write_buffer_manager_enabled(manager));
  CHECK(rocksdb_write_buffer_manager_buffer_size(manager) == (size_t)100 << 20);
  CHECK(rocksdb_write_buffer_manager_memory_usage(manager) == 0);
  CHECK(rocksdb_write_buffer_manager_mutable_memtable_memory_usage(manager) == 0);
  CHECK(rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(manager) == 0);
  Database of = new_database();
  rocksdb_options_set_write_buffer_manager(of.options, manager);
  open_database(&of);
  uint64_t budget = 0;
  CHECK(rocksdb_property_int(of.db, "rocksdb.block-cache-capacity", &budget) == 0);
  CHECK(budget == (uint64_t)132 << 20);  // with the default cache of 32 MB
  end_database(&of);
  rocksdb_write_buffer_manager_destroy(manager);
}

static void test_environments(void) {
  Database of = new_database();
  char* error = NULL;
  rocksdb_env_t* const env = rocksdb_create_default_env();
  rocksdb_env_set_background_threads(env, 3);
  CHECK(rocksdb_env_get_background_threads(env) == 3);
  rocksdb_env_set_high_priority_background_threads(env, 4);
  CHECK(rocksdb_env_get_high_priority_background_threads(env) == 4);
  rocksdb_env_set_low_priority_background_threads(env, 5);
  CHECK(rocksdb_env_get_low_priority_background_threads(env) == 5);
  rocksdb_env_set_bottom_priority_background_threads(env, 6);
  CHECK(rocksdb_env_get_bottom_priority_background_threads(env) == 6);
  rocksdb_env_lower_thread_pool_io_priority(env);
  rocksdb_env_lower_high_priority_thread_pool_io_priority(env);
  rocksdb_env_lower_thread_pool_cpu_priority(env);
  rocksdb_env_lower_high_priority_thread_pool_cpu_priority(env);
  rocksdb_env_join_all_threads(env);
  rocksdb_create_dir_if_missing(env, new_path(), &error);
  CHECK_OK(error);
  rocksdb_create_dir_if_missing(env, "/proc/nowhere/a", &error);
  CHECK_FAILED(error, "IO error: ");
  rocksdb_options_set_env(of.options, env);
  rocksdb_env_destroy(env);

  rocksdb_ratelimiter_t* limiters[] = {
      rocksdb_ratelimiter_create(1 << 20, 100000, 10),
      rocksdb_ratelimiter_create_auto_tuned(1 << 20, 100000, 10),
      rocksdb_ratelimiter_create_with_mode(1 << 20, 100000, 10, 2, true),
  };
  for (int i = 0; i < 3; ++i) {
    rocksdb_options_set_ratelimiter(of.options, limiters[i]);
    rocksdb_ratelimiter_destroy(limiters[i]);
    open_database(&of);
    put(&of, "a", "1");
    close_database(&of);
  }
  rocksdb_options_set_ratelimiter(of.options, NULL);
  rocksdb_env_t* const memory = rocksdb_create_mem_env();
  CHECK(memory == NULL);
  rocksdb_options_set_env(of.options, memory);
  CHECK(rocksdb_open(of.options, of.path, &error) == NULL);
  CHECK_REFUSED(error);
  end_database(&of);
}

void test_resources(void) {
  test_tables();
  test_caches();
  test_environments();
}
