// Compression of trees as the manifest knows it: codecs, and dictionaries trained on the way.

#include "db/impl.h"
#include "format/packing.h"

namespace hawthorn {

Status Db::Impl::set_compression(tree::TreeState* tree, Compression compression) {
  if (compression > Compression::kZstd) {
    return Status(StatusCode::kInvalidArgument, "there is no such compression");
  }
  if (Status s = writable(); !s.ok()) return s;
  os::MutexLock changing(settings_mutex_);
  const auto codec = static_cast<format::Codec>(compression);
  if (residency_->compression().plan(tree->id()).codec == codec) return {};
  const Status s = catalog_->change_record(
      tree->id(), [&](format::TreeRecord& record) { record.flags = static_cast<uint32_t>(codec); });
  if (!s.ok()) return s;
  residency_->compression().set_codec(tree->id(), codec);
  return {};
}

void Db::Impl::train_dictionary() {
  os::MutexLock training(training_mutex_);
  tree::Compression& compression = residency_->compression();
  tree::Compression::Samples samples;
  if (!compression.take_samples(&samples)) return;
  format::DictionaryRecord record{
      samples.dictionary, samples.tree,
      format::train_dictionary(samples.bytes, tree::Compression::kDictionaryBytes)};
  if (record.bytes.empty()) return;
  // Should it be dropped meanwhile, its object takes the dictionary along.
  const os::epoch::Call call;
  os::MutexLock changing(settings_mutex_);
  if (catalog_->find(record.tree) == nullptr) return;
  // Without one the tree is compressed all the same.
  if (!publisher_->keep_manifest_room(record.bytes.size()).ok()) return;
  format::ManifestBatch batch;
  batch.dictionaries_added.push_back(record);
  if (!publisher_->publish_now(std::move(batch)).ok()) return;
  compression.add_dictionary(record.tree, record.id, record.bytes);
  log(LogLevel::kInfo, "tree " + std::to_string(record.tree) + ": a dictionary of " +
                           std::to_string(record.bytes.size()) + " bytes was trained");
}

}  // namespace hawthorn
