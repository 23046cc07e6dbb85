#pragma once
// What clients record of a history while it happens, in a file that is mapped by all processes: it
// holds whatever was recorded when a process is killed, up to the last instruction.
//
// Not here: what the clients do (history_client.h). Threads: create, life_ended and history belong
// to the parent, while no client runs; each track belongs to one thread; the counters to any.
//
// 1. What happens to a transaction is recorded in this order: its number of begin is drawn, begin
//    is called, an append is recorded before it is made and a read after it, "committing" before
//    commit is called, the outcome and the number of the end afterwards.
// 2. A transaction whose process died has ended when the parent knows that it died: aborted where
//    commit was not called yet, of unknown outcome otherwise.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/history/history.h"

namespace hawthorn::history {

class Recording {
 public:
  // nullptr, and *error, when the file cannot be made.
  static std::unique_ptr<Recording> create(const std::string& path, uint32_t tracks,
                                           uint64_t track_bytes, std::string* error);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  uint64_t draw_number() { return header_->clock.fetch_add(1) + 1; }
  Element draw_element() { return header_->elements.fetch_add(1) + 1; }
  Element last_element() const { return header_->elements.load(); }
  uint64_t draw_process() { return header_->processes.fetch_add(1) + 1; }
  // Transactions that have ended, not by the death of their process.
  uint64_t ended() const { return header_->ended.load(); }
  uint32_t tracks() const { return tracks_; }

  // Each returns false, and records nothing, when the track is full.
  class Track {
   public:
    Track(Recording& recording, uint32_t number) : recording_(recording), number_(number) {}
    bool begun(uint64_t process, uint64_t number);
    bool append(Key key, Element element);
    bool read(Key key, const List& list);
    bool range(Key low, std::span<const List> lists);
    bool committing();
    // The last read of the history.
    bool is_last_read();
    // Draws the number of the end; kUnknown has none.
    bool ended(Outcome outcome);

   private:
    Recording& recording_;
    const uint32_t number_;
  };

  // The processes that recorded have died.
  void life_ended();
  // In the order of the beginnings, whose numbers are the ids.
  History history() const;

 private:
  static constexpr uint32_t kTracksMax = 64;
  struct Header {
    std::atomic<uint64_t> clock;
    std::atomic<uint64_t> elements;
    std::atomic<uint64_t> processes;
    std::atomic<uint64_t> ended;
    std::atomic<uint64_t> used[kTracksMax];  // bytes of each track that are whole events
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free);

  Recording(char* memory, size_t bytes, uint32_t tracks, uint64_t track_bytes);
  bool put(uint32_t track, const std::string& event);
  char* track(uint32_t number) const { return memory_ + sizeof(Header) + number * track_bytes_; }
  void decode(uint32_t number, History* history) const;

  char* const memory_;
  const size_t bytes_;
  const uint32_t tracks_;
  const uint64_t track_bytes_;
  Header* const header_;
};

}  // namespace hawthorn::history
