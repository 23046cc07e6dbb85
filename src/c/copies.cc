// Checkpoints and backups.

#include "hawthorn/c/copies.h"

#include "c/handles.h"
#include "c/options.h"
#include "c/read.h"
#include "c/records.h"

struct hawthorn_repository {
  std::unique_ptr<hawthorn::BackupRepository> repository;
};

namespace hawthorn::c {

namespace {

struct CopyOptions {
  uint64_t bytes_per_second = 0;
  CopyProgress progress = {};
  bool copy_blocks = false;
  bool full = false;
  Encryption encryption = {};
};

Status take_copy_options(const hawthorn_copy_options* given, CopyOptions* out) {
  hawthorn_copy_options taken;
  if (Status s = take(given, "hawthorn_copy_options", &taken); !s.ok()) return s;
  out->bytes_per_second = taken.bytes_per_second;
  if (taken.progress != nullptr) {
    out->progress = [told = taken.progress, context = taken.context](uint64_t bytes) {
      return take_error(told(context, bytes));
    };
  }
  out->copy_blocks = taken.copy_blocks != 0;
  out->full = taken.full != 0;
  out->encryption = encryption_of(taken.encryption);
  return {};
}

BackupOptions backup_options(const CopyOptions& options) {
  return {.bytes_per_second = options.bytes_per_second,
          .progress = options.progress,
          .full = options.full};
}
RestoreOptions restore_options(const CopyOptions& options) {
  return {.bytes_per_second = options.bytes_per_second,
          .progress = options.progress,
          .encryption = options.encryption};
}

VerifyOptions verify_options(const CopyOptions& options) {
  return {.encryption = options.encryption, .progress = options.progress};
}

void show_backup(const BackupInfo& info, hawthorn_records* records) {
  records->add()
      .number("id", info.id)
      .us("created_us", info.created_us)
      .size("bytes", info.bytes)
      .size("bytes_stored", info.bytes_stored)
      .size("bytes_read", info.bytes_read)
      .flag("incremental", info.incremental)
      .flag("encrypted", info.encrypted);
}

Status hand_out_backup(Result<BackupInfo> made, hawthorn_records** out) {
  if (!made.ok()) return made.status();
  hawthorn_records records;
  show_backup(*made, &records);
  hand_out_records(out, std::move(records));
  return {};
}

class CallbackSink final : public BackupSink {
 public:
  CallbackSink(hawthorn_backup_sink sink, void* context) : sink_(sink), context_(context) {}
  Status write(std::string_view bytes) override {
    return take_error(sink_(context_, bytes.data(), bytes.size()));
  }

 private:
  const hawthorn_backup_sink sink_;
  void* const context_;
};

class CallbackSource final : public BackupSource {
 public:
  CallbackSource(hawthorn_stream_source source, void* context)
      : source_(source), context_(context) {}
  Result<size_t> read(std::span<char> bytes) override {
    return ask_source(source_, context_, bytes);
  }

 private:
  const hawthorn_stream_source source_;
  void* const context_;
};

class RepositoryGiven : public Given {
 public:
  explicit RepositoryGiven(const hawthorn_repository* repository)
      : Given(repository, "the repository") {}
};

}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::c::call;
using hawthorn::c::CopyOptions;
using hawthorn::c::DbGiven;
using hawthorn::c::Given;
using hawthorn::c::GivenCall;
using hawthorn::c::need;
using hawthorn::c::RepositoryGiven;
using hawthorn::c::take_copy_options;
using hawthorn::c::verify_options;

hawthorn_code hawthorn_db_checkpoint(hawthorn_db* db, const char* directory,
                                     const hawthorn_copy_options* options, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    CopyOptions taken;
    Status s = need(DbGiven(db), Given(directory, "directory"));
    if (s.ok()) s = take_copy_options(options, &taken);
    if (!s.ok()) return s;
    return db->db->checkpoint(directory, {.bytes_per_second = taken.bytes_per_second,
                                          .progress = taken.progress,
                                          .share_blocks = !taken.copy_blocks});
  });
}

hawthorn_code hawthorn_repository_open(const char* directory, hawthorn_repository** out,
                                       hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(directory, "directory"), Given(out, "out")); !s.ok()) return s;
    auto opened = hawthorn::BackupRepository::open(directory);
    if (!opened.ok()) return opened.status();
    *out = new hawthorn_repository{std::move(*opened)};
    return {};
  });
}

void hawthorn_repository_free(hawthorn_repository* repository) { delete repository; }

hawthorn_code hawthorn_db_backup(hawthorn_db* db, hawthorn_repository* repository,
                                 const hawthorn_copy_options* options, hawthorn_records** out,
                                 hawthorn_error** error) {
  return call(error, [&]() -> Status {
    CopyOptions taken;
    Status s = need(DbGiven(db), RepositoryGiven(repository));
    if (s.ok()) s = take_copy_options(options, &taken);
    if (!s.ok()) return s;
    return hawthorn::c::hand_out_backup(
        db->db->backup(*repository->repository, hawthorn::c::backup_options(taken)), out);
  });
}

hawthorn_code hawthorn_repository_list(hawthorn_repository* repository, hawthorn_records** out,
                                       hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(RepositoryGiven(repository), Given(out, "out")); !s.ok()) return s;
    const auto backups = repository->repository->list();
    if (!backups.ok()) return backups.status();
    hawthorn_records records;
    for (const hawthorn::BackupInfo& info : *backups) hawthorn::c::show_backup(info, &records);
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}

hawthorn_code hawthorn_repository_verify(hawthorn_repository* repository, uint64_t id,
                                         const hawthorn_copy_options* options,
                                         hawthorn_error** error) {
  return call(error, [&]() -> Status {
    CopyOptions taken;
    Status s = need(RepositoryGiven(repository));
    if (s.ok()) s = take_copy_options(options, &taken);
    if (!s.ok()) return s;
    return repository->repository->verify(id, verify_options(taken));
  });
}

hawthorn_code hawthorn_repository_restore(hawthorn_repository* repository, uint64_t id,
                                          const char* target, const hawthorn_copy_options* options,
                                          hawthorn_error** error) {
  return call(error, [&]() -> Status {
    CopyOptions taken;
    Status s = need(RepositoryGiven(repository), Given(target, "target"));
    if (s.ok()) s = take_copy_options(options, &taken);
    if (!s.ok()) return s;
    return repository->repository->restore(id, target, hawthorn::c::restore_options(taken));
  });
}

hawthorn_code hawthorn_repository_remove(hawthorn_repository* repository, uint64_t id,
                                         hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(RepositoryGiven(repository)); !s.ok()) return s;
    return repository->repository->remove(id);
  });
}

hawthorn_code hawthorn_db_backup_to(hawthorn_db* db, hawthorn_backup_sink sink, void* context,
                                    const hawthorn_copy_options* options, hawthorn_records** out,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    CopyOptions taken;
    Status s = need(DbGiven(db), GivenCall(sink, "sink"));
    if (s.ok()) s = take_copy_options(options, &taken);
    if (!s.ok()) return s;
    hawthorn::c::CallbackSink to(sink, context);
    return hawthorn::c::hand_out_backup(db->db->backup_to(to, hawthorn::c::backup_options(taken)),
                                        out);
  });
}

hawthorn_code hawthorn_verify_backup(hawthorn_stream_source source, void* context,
                                     const hawthorn_copy_options* options, hawthorn_records** out,
                                     hawthorn_error** error) {
  return call(error, [&]() -> Status {
    CopyOptions taken;
    Status s = need(GivenCall(source, "source"));
    if (s.ok()) s = take_copy_options(options, &taken);
    if (!s.ok()) return s;
    hawthorn::c::CallbackSource from(source, context);
    return hawthorn::c::hand_out_backup(hawthorn::verify_backup(from, verify_options(taken)), out);
  });
}

hawthorn_code hawthorn_restore_backup(hawthorn_stream_source source, void* context,
                                      const char* target, const hawthorn_copy_options* options,
                                      hawthorn_records** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    CopyOptions taken;
    Status s = need(GivenCall(source, "source"), Given(target, "target"));
    if (s.ok()) s = take_copy_options(options, &taken);
    if (!s.ok()) return s;
    hawthorn::c::CallbackSource from(source, context);
    return hawthorn::c::hand_out_backup(
        hawthorn::restore_backup(from, target, hawthorn::c::restore_options(taken)), out);
  });
}
