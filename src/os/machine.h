#pragma once
// The machine that an engine runs on: its file system, its I/O, its clock and its randomness. Tests
// put a simulated one in its place.

#include <cstdint>
#include <memory>

#include "os/file.h"
#include "os/io.h"
#include "os/io_queue.h"

namespace hawthorn::os {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual uint64_t monotonic_us() = 0;
  virtual uint64_t wall_us() = 0;  // since 1970
  virtual void sleep_us(uint64_t us) = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;  // unpredictable on the real machine: salts and uuids come from it
};

class DataKeys;
class EventSink;
class IoLimit;

struct Machine {
  FileSystem* files = nullptr;
  Io* io = nullptr;
  IoQueues* queues = nullptr;
  Clock* clock = nullptr;
  Random* random = nullptr;
  // False: the engine starts no threads of its own; its background work runs only when a call asks
  // for it (flush, drain, close, a commit that needs space). For deterministic tests.
  bool background_threads = true;
  // Of one database, in its own copy. Null: nobody listens (event_sink.h).
  EventSink* events = nullptr;
  // Null: background work does not count what it reads and writes (io_limit.h).
  IoLimit* background_io = nullptr;
  // Null: the database is not encrypted (data_keys.h).
  DataKeys* keys = nullptr;
};

// The real one, shared by all databases of the process.
const Machine& real_machine();

// How many threads run at once here: the processors that this process may use, at least 1.
uint32_t processors();

}  // namespace hawthorn::os
