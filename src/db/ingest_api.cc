// The public Ingest: a handle to a session.

#include "base/out_of_memory.h"
#include "db/ingest.h"
#include "hawthorn/db.h"
#include "hawthorn/ingest.h"

namespace hawthorn {

class Ingest::Impl {
 public:
  Impl(Db::Impl* db, tree::TreeState* tree, const IngestOptions& options)
      : session_(db, tree, options) {}
  db::IngestSession session_;
};

Ingest::Ingest() = default;
Ingest::Ingest(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ingest::~Ingest() = default;
Ingest::Ingest(Ingest&&) noexcept = default;
Ingest& Ingest::operator=(Ingest&&) noexcept = default;

namespace {
Status no_ingest() {
  return Status(StatusCode::kInvalidArgument, "the ingest was never begun, or moved away");
}
}  // namespace

Status Ingest::add(std::string_view key, std::string_view value) try {
  return impl_ == nullptr ? no_ingest() : impl_->session_.add(key, value);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Ingest::add_stream(std::string_view key, uint64_t size, const StreamSource& source) try {
  return impl_ == nullptr ? no_ingest() : impl_->session_.add_stream(key, size, source);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Ingest::finish(const IngestProgress& progress) try {
  return impl_ == nullptr ? no_ingest() : impl_->session_.finish(progress);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

void Ingest::abandon() {
  if (impl_ != nullptr) impl_->session_.abandon();
}

bool Ingest::open() const { return impl_ != nullptr && impl_->session_.open(); }

IngestStats Ingest::stats() const {
  return impl_ == nullptr ? IngestStats() : impl_->session_.stats();
}

Result<Ingest> Db::ingest(const Tree& tree, const IngestOptions& options) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  Status status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  if (options.sorted && db::expires(*state) && state->shape()->ttl_ms() != 0) {
    return Status(
        StatusCode::kNotSupported,
        "an ingest of sorted entries into a tree whose entries end: say that they are not");
  }
  if (db::holds_subtrees(*state)) {
    return Status(StatusCode::kNotSupported,
                  "an ingest into a tree whose values may be trees: write batches there");
  }
  return Ingest(std::make_unique<Ingest::Impl>(impl_.get(), state, options));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::ingest(const Tree& tree, const IngestSource& source, const IngestOptions& options) try {
  Result<Ingest> made = ingest(tree, options);
  if (!made.ok()) return made.status();
  for (;;) {
    Entry entry;
    Result<bool> more = source(&entry);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (Status s = made->add(entry.key, entry.value); !s.ok()) return s;
  }
  return made->finish();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
