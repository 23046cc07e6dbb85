#include "db/external_sort.h"

#include <algorithm>

#include "base/bytes.h"

namespace hawthorn::db {

namespace {
constexpr size_t kFanInMin = 4;
constexpr size_t kFanInMax = 128;
}  // namespace

ExternalSort::ExternalSort(const os::Machine& machine, size_t memory_bytes, MakePath make_path,
                           Replaced replaced)
    : machine_(machine),
      memory_bytes_(std::max(memory_bytes, kMemoryBytesMin)),
      make_path_(std::move(make_path)),
      replaced_(std::move(replaced)) {}

ExternalSort::~ExternalSort() = default;

std::string_view ExternalSort::key_of(const Item& item) const { return entry_of(item).key; }

IngestEntry ExternalSort::entry_of(const Item& item) const {
  IngestEntry entry;
  decode_entry(buffer_.data() + item.at, buffer_.data() + buffer_.size(), &entry);
  return entry;
}

Status ExternalSort::add(const IngestEntry& entry) {
  const size_t bytes = encoded_bytes(entry) + sizeof(Item);
  if (!items_.empty() && buffer_.size() + items_.size() * sizeof(Item) + bytes > memory_bytes_) {
    if (Status s = spill(); !s.ok()) return s;
  }
  // At once, so that growing never takes twice as much for a moment.
  if (buffer_.capacity() < memory_bytes_) buffer_.reserve(memory_bytes_);
  items_.push_back({key_head(entry.key, 0), buffer_.size()});
  append_entry(buffer_, entry);
  return {};
}

// Of equal keys only the last one stays.
void ExternalSort::sort_buffer() {
  std::sort(items_.begin(), items_.end(), [this](const Item& a, const Item& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = key_of(a).compare(key_of(b));
    return order != 0 ? order < 0 : a.at < b.at;
  });
  size_t kept = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    const bool again = i + 1 < items_.size() && items_[i].head == items_[i + 1].head &&
                       key_of(items_[i]) == key_of(items_[i + 1]);
    if (!again) {
      items_[kept++] = items_[i];
    } else if (const IngestEntry entry = entry_of(items_[i]); entry.large) {
      replaced_(entry.value);
    }
  }
  items_.resize(kept);
}

std::unique_ptr<EntryFile> ExternalSort::make_run() const {
  return std::make_unique<EntryFile>(machine_, make_path_(), 0);
}

Status ExternalSort::spill() {
  sort_buffer();
  std::unique_ptr<EntryFile> run = make_run();
  for (const Item& item : items_) {
    if (Status s = run->add(entry_of(item)); !s.ok()) return s;
  }
  if (Status s = run->finish(); !s.ok()) return s;
  runs_.push_back(std::move(run));
  buffer_.clear();
  items_.clear();
  return {};
}

size_t ExternalSort::fan_in() const {
  return std::clamp(memory_bytes_ / (2 * EntryFile::kBlockBytes), kFanInMin, kFanInMax);
}

Status ExternalSort::finish() {
  if (runs_.empty()) {
    sort_buffer();
    return {};
  }
  if (!items_.empty()) {
    if (Status s = spill(); !s.ok()) return s;
  }
  std::string().swap(buffer_);
  items_ = {};
  while (runs_.size() > fan_in()) {
    if (Status s = merge_all_once(); !s.ok()) return s;
  }
  return open_heads(0, runs_.size());
}

// Neighbours become one, so that what is later stays later.
Status ExternalSort::merge_all_once() {
  std::vector<std::unique_ptr<EntryFile>> merged;
  for (size_t from = 0; from < runs_.size(); from += fan_in()) {
    const size_t count = std::min(fan_in(), runs_.size() - from);
    merged.push_back(make_run());
    if (Status s = open_heads(from, count); !s.ok()) return s;
    for (;;) {
      IngestEntry entry;
      bool more = false;
      if (Status s = next_merged(&entry, &more); !s.ok()) return s;
      if (!more) break;
      if (Status s = merged.back()->add(entry); !s.ok()) return s;
    }
    if (Status s = merged.back()->finish(); !s.ok()) return s;
    for (size_t i = 0; i < count; ++i) runs_[from + i].reset();  // with their files
  }
  runs_ = std::move(merged);
  return {};
}

// For a heap whose first is the smallest key, of the last run.
bool ExternalSort::after(const Head& a, const Head& b) const {
  const int order = a.entry.key.compare(b.entry.key);
  return order != 0 ? order > 0 : a.run < b.run;
}

Status ExternalSort::advance(Head head) {
  bool more = false;
  if (Status s = runs_[head.run]->next(&head.entry, &more); !s.ok()) return s;
  if (!more) return {};
  heads_.push_back(head);
  std::push_heap(heads_.begin(), heads_.end(),
                 [this](const Head& a, const Head& b) { return after(a, b); });
  return {};
}

Status ExternalSort::open_heads(size_t from, size_t count) {
  heads_.clear();
  for (size_t run = from; run < from + count; ++run) {
    runs_[run]->rewind();
    if (Status s = advance({run, {}}); !s.ok()) return s;
  }
  return {};
}

Status ExternalSort::next_merged(IngestEntry* entry, bool* more) {
  *more = !heads_.empty();
  if (!*more) return {};
  const auto pop = [this] {
    std::pop_heap(heads_.begin(), heads_.end(),
                  [this](const Head& a, const Head& b) { return after(a, b); });
    const Head head = heads_.back();
    heads_.pop_back();
    return head;
  };
  const Head first = pop();
  key_.assign(first.entry.key);
  value_.assign(first.entry.value);
  const bool large = first.entry.large;
  if (Status s = advance(first); !s.ok()) return s;
  while (!heads_.empty() && heads_.front().entry.key == key_) {
    const Head older = pop();
    if (older.entry.large) replaced_(older.entry.value);
    if (Status s = advance(older); !s.ok()) return s;
  }
  *entry = {key_, value_, large};
  return {};
}

Status ExternalSort::next(IngestEntry* entry, bool* more) {
  if (!runs_.empty()) return next_merged(entry, more);
  *more = item_ < items_.size();
  if (*more) *entry = entry_of(items_[item_++]);
  return {};
}

}  // namespace hawthorn::db
