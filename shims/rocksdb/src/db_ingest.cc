// Taking in files of entries: by the engine's bulk ingest where they are puts of one family, else
// as one exclusive transaction, which never conflicts.

#include <hawthorn/ingest.h>

#include <algorithm>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/entries_file.h"
#include "shims/rocksdb/src/perf.h"

namespace hawthorn::rocks {

using S = rocksdb::Status;

namespace {

// `fits`: whether records that are no entities are expected.
S check_entry(const EntriesReader& file, const BatchRecord& record, bool fits) {
  rocksdb::WideColumns columns;
  if (record.tag == BatchTag::kPutEntity) {
    fits = (file.index().others & kOthersEntities) != 0 &&
           decode_columns(view(record.value), &columns).ok();
  }
  return fits ? S::OK() : S::Corruption(file.path(), "has other entries than its index says");
}

}  // namespace

struct DBImpl::FilesOfFamily {
  std::shared_ptr<Family> family;
  std::vector<std::unique_ptr<EntriesReader>> files;
  bool applied = false;  // there are others than puts
  bool move = false;
};

S DBImpl::open_files(const rocksdb::IngestExternalFileArg& arg, FilesOfFamily* files) {
  const rocksdb::IngestExternalFileOptions& options = arg.options;
  if (arg.column_family == nullptr) return S::InvalidArgument("no column family");
  if (arg.external_files.empty()) return S::InvalidArgument("external_files is empty");
  if (options.move_files && options.link_files) {
    return S::InvalidArgument("`move_files` and `link_files` can not both be true.");
  }
  if (options.ingest_behind) return S::NotSupported("ingest_behind");
  if (!options.allow_global_seqno) return S::NotSupported("allow_global_seqno = false");
  files->family = family_of(arg.column_family);
  files->move = options.move_files;
  const Family& family = *files->family;
  if (family.dropped) return S::InvalidArgument("the column family is dropped");
  for (const std::string& path : arg.external_files) {
    files->files.push_back(std::make_unique<EntriesReader>());
    EntriesReader& file = *files->files.back();
    if (S s = file.open(path); !s.ok()) return s;
    if (file.index().comparator != family.options.comparator->Name()) {
      return S::InvalidArgument(path, "has the order of " + file.index().comparator);
    }
    if (file.index().family != kAnyFamily && file.index().family != family.id) {
      return S::InvalidArgument(path, "External file column family id don't match");
    }
    files->applied = files->applied || (file.index().others & kOthersApplied) != 0;
    if ((file.index().others & kOthersEntities) != 0) {
      if (S s = mark_entities(*files->family); !s.ok()) return s;
    }
  }
  return S::OK();
}

S DBImpl::ingest_puts(FilesOfFamily& files) {
  const rocksdb::Comparator& comparator = *files.family->options.comparator;
  std::vector<EntriesReader*> order;
  for (const auto& file : files.files) order.push_back(file.get());
  std::sort(order.begin(), order.end(), [&comparator](const auto* a, const auto* b) {
    return comparator.Compare(a->index().smallest, b->index().smallest) < 0;
  });
  hawthorn::IngestOptions options;
  options.durability = hawthorn::Durability::kFull;
  for (size_t i = 1; i < order.size(); ++i) {
    if (comparator.Compare(order[i - 1]->index().largest, order[i]->index().smallest) >= 0) {
      options.sorted = false;
    }
  }
  if (!options.sorted) {
    // The last one of a key counts.
    for (size_t i = 0; i < order.size(); ++i) order[i] = files.files[i].get();
  }
  hawthorn::Result<hawthorn::Ingest> ingest = db_->ingest(files.family->tree, options);
  if (!ingest.ok()) return told(ingest.status());
  for (EntriesReader* const file : order) {
    BatchRecord record;
    for (bool found = true;;) {
      if (S s = file->next(&record, &found); !s.ok()) return s;
      if (!found) break;
      if (S s = check_entry(*file, record, record.tag == BatchTag::kPut); !s.ok()) return s;
      const EntityMark& mark = *files.family->mark;
      std::string kept;
      const std::string_view value = record.tag == BatchTag::kPut
                                         ? mark.plain(view(record.value), &kept)
                                         : std::string_view(kept = mark.entity(view(record.value)));
      const hawthorn::Status status = ingest->add(view(record.key), value);
      if (!status.ok()) return told(status);
    }
  }
  return told(ingest->finish());
}

S DBImpl::apply_file(hawthorn::Transaction& in, EntriesReader& file, const Family& family,
                     bool ranges) {
  file.rewind();
  BatchRecord record;
  for (bool found = true;;) {
    if (S s = file.next(&record, &found); !s.ok() || !found) return s;
    if ((record.tag == BatchTag::kDeleteRange) != ranges) continue;
    if (S s = check_entry(file, record, true); !s.ok()) return s;
    if (record.tag == BatchTag::kMerge && family.merges == nullptr) {
      return S::NotSupported("Provide a merge_operator when opening DB");
    }
    const hawthorn::Status status = apply(in, record, family);
    if (!status.ok()) return told(status);
  }
}

S DBImpl::ingest_by_transaction(std::vector<FilesOfFamily>& all) {
  hawthorn::Result<hawthorn::Transaction> in = begin_alone();
  if (!in.ok()) return told(in.status());
  for (FilesOfFamily& files : all) {
    for (const auto& file : files.files) {
      // Ranges do not delete what their own file has.
      S s = apply_file(*in, *file, *files.family, true);
      if (s.ok()) s = apply_file(*in, *file, *files.family, false);
      if (!s.ok()) return s;
    }
  }
  return told(in->commit(hawthorn::Durability::kFull));
}

void DBImpl::tell_of_ingest(const FilesOfFamily& files) {
  if (options_.listeners.empty()) return;
  const Family& family = *files.family;
  for (const auto& file : files.files) {
    rocksdb::ExternalFileIngestionInfo info;
    info.cf_name = family.name;
    info.external_file_path = file->path();
    info.table_properties.column_family_id = family.id;
    info.table_properties.column_family_name = family.name;
    info.table_properties.comparator_name = file->index().comparator;
    info.table_properties.num_entries = file->index().entries;
    info.table_properties.num_range_deletions = file->index().ranges;
    tell_listeners(options_, [&](rocksdb::EventListener& listener) {
      listener.OnExternalFileIngested(this, info);
    });
  }
}

S DBImpl::IngestExternalFile(Handle* handle, const std::vector<std::string>& files,
                             const rocksdb::IngestExternalFileOptions& options) {
  return IngestExternalFiles({{handle, files, options}});
}

S DBImpl::IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) {
  if (args.empty()) return S::InvalidArgument("ingestion arg list is empty");
  const PerfTimer timer(&rocksdb::PerfContextBase::file_ingestion_nanos);
  std::vector<FilesOfFamily> all(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (S s = open_files(args[i], &all[i]); !s.ok()) return s;
    for (size_t j = 0; j < i; ++j) {
      if (all[j].family == all[i].family) {
        return S::InvalidArgument("ingestion args have duplicate column families");
      }
    }
  }
  S s = all.size() == 1 && !all[0].applied ? ingest_puts(all[0]) : ingest_by_transaction(all);
  if (!s.ok()) return s;
  for (const FilesOfFamily& files : all) {
    tell_of_ingest(files);
    if (!files.move) continue;
    // One that cannot be removed is in the database all the same.
    for (const auto& file : files.files) static_cast<void>(remove_file(file->path()));
  }
  return s;
}

}  // namespace hawthorn::rocks
