package hawthorn

/*
#include "callbacks.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// Durability is what a commit survives; each level includes those before it.
type Durability uint32

// The levels of durability.
const (
	DurabilityDefault Durability = C.HAWTHORN_DURABILITY_DEFAULT // as the options say, which is Full
	DurabilityNone    Durability = C.HAWTHORN_DURABILITY_NONE    // the death of the process
	DurabilityAsync   Durability = C.HAWTHORN_DURABILITY_ASYNC   // and a power loss, but for milliseconds
	DurabilityFull    Durability = C.HAWTHORN_DURABILITY_FULL    // all that the hardware survives
)

// closeWait is how long DB.Close waits for calls that run.
const closeWait = 5 * time.Second

// core is an open database. Whatever belongs to it points here, so that it is collected last.
type core struct {
	shared
	h    *C.hawthorn_db
	view bool         // of a follower
	held atomic.Int64 // snapshots, cursors, transactions and so on that are open
}

func newCore(h *C.hawthorn_db, view bool) *core {
	c := &core{h: h, view: view}
	c.free = func() { C.hawthorn_db_free(h) }
	runtime.SetFinalizer(c, func(c *core) { c.shared.close() })
	return c
}

// DB is a database that is open. Any number of goroutines may use it.
//
// A DB that the garbage collector finds is closed without flushing: nothing that was committed is
// lost, the next Open replays the log.
type DB struct {
	writer
}

func newDB(c *core, ctx context.Context) *DB {
	return &DB{writer{reader{db: c, ctx: ctx}}}
}

// Open opens the database in a directory, and creates or recovers it as needed.
//
// Errors: ErrNotFound where create_if_missing is false; ErrBusy when another process has it open;
// ErrNotSupported for a newer format; ErrCorruption; ErrPermissionDenied; ErrReadOnly for a read-only
// medium; ErrInvalidArgument for options; those of Set.
func Open(path string, options ...Option) (*DB, error) {
	o, err := makeOptions(options)
	if err != nil {
		return nil, err
	}
	defer C.hawthorn_options_free(o)
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var h *C.hawthorn_db
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_db_open(p, o, &h, &e), e); err != nil {
		return nil, err
	}
	return newDB(newCore(h, false), nil), nil
}

// Destroy removes the files of a database. The options are looked at for encryption alone.
//
// Errors: ErrNotFound; ErrBusy when it is open; ErrCorruption while a copy is being made there.
func Destroy(path string, options ...Option) error {
	o, err := makeOptions(options)
	if err != nil {
		return err
	}
	defer C.hawthorn_options_free(o)
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var e *C.hawthorn_error
	return failure(C.hawthorn_destroy_database(p, o, &e), e)
}

// Close flushes everything and closes the database; all that is asked afterwards is ErrClosed. It
// waits for calls of other goroutines, which are refused from now on, for up to five seconds.
//
// Errors: ErrBusy when snapshots, cursors, iterators, transactions, values, read queues, feeds or
// ingests are open, or calls go on for longer: then the database stays open. ErrClosed when it was closed. A view
// of a follower has nothing to flush, and is closed when what was made of it is.
func (db *DB) Close() error {
	c := db.db
	if c.view {
		if !c.shared.close() {
			return errDBClosed
		}
		return nil
	}
	for i := 0; i < 4 && c.held.Load() > 0; i++ {
		runtime.GC() // what holds it may be garbage that nobody has closed
		time.Sleep(5 * time.Millisecond)
	}
	if n := c.held.Load(); n > 0 && !c.closed() {
		return newError(ErrBusy, fmt.Sprintf(
			"%d snapshots, cursors, transactions, values, queues, feeds or ingests are open", n))
	}
	if !c.stop() {
		return errDBClosed
	}
	for deadline := time.Now().Add(closeWait); c.state.Load() != stateClosed+1; {
		if time.Now().After(deadline) {
			c.resume()
			return newError(ErrBusy, "calls of other goroutines go on")
		}
		time.Sleep(50 * time.Microsecond)
	}
	var e *C.hawthorn_error
	err := failure(C.hawthorn_db_close(c.h, &e), e)
	if errors.Is(err, ErrBusy) {
		c.resume()
	} else {
		c.leave()
	}
	return err
}

// stop lets no call begin and counts as one itself; false: it was closed.
func (c *core) stop() bool {
	for {
		state := c.state.Load()
		if state >= stateClosed {
			return false
		}
		if c.state.CompareAndSwap(state, state+stateClosed+1) {
			return true
		}
	}
}

func (c *core) resume() { c.state.Add(-stateClosed - 1) }

// WithContext returns the same database for calls that go with a context: where it is done, they
// return its Err and do nothing, and waits for locks end by its deadline at the latest. What is made
// of it (snapshots, transactions, cursors) goes with the context, too. To close one closes both.
func (db *DB) WithContext(ctx context.Context) *DB { return newDB(db.db, ctx) }

// ctxErr is the context's error, where there is one that is done.
func ctxErr(ctx context.Context) error {
	if ctx == nil {
		return nil
	}
	return ctx.Err()
}

// call runs a function of the library for the database.
func (db *DB) call(f func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code) error {
	if err := ctxErr(db.ctx); err != nil {
		return err
	}
	if !db.db.enter() {
		return errDBClosed
	}
	defer db.db.leave()
	var e *C.hawthorn_error
	return failure(f(db.db.h, &e), e)
}

// records is call for functions that return lists.
func (db *DB) records(f func(h *C.hawthorn_db, out **C.hawthorn_records,
	e **C.hawthorn_error) C.hawthorn_code) ([]Record, error) {
	var list *C.hawthorn_records
	err := db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return f(h, &list, e)
	})
	if err != nil {
		return nil, err
	}
	return takeRecords(list), nil
}

// Path is the directory, as it was given; empty when it was closed.
func (db *DB) Path() string {
	if !db.db.enter() {
		return ""
	}
	defer db.db.leave()
	return C.GoString(C.hawthorn_db_path(db.db.h))
}

// ID is what the database has been called since it was made: 32 hexadecimal digits.
func (db *DB) ID() (string, error) {
	var id [33]C.char
	err := db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_id(h, &id[0], e)
	})
	if err != nil {
		return "", err
	}
	return C.GoString(&id[0]), nil
}

// Sync makes every commit so far durable as DurabilityFull would. Errors: ErrReadOnly.
func (db *DB) Sync() error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_sync(h, e)
	})
}

// Flush writes all unflushed data to its containers. It is durable when it returns. Errors:
// ErrReadOnly.
func (db *DB) Flush() error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_flush(h, e)
	})
}

// Compact flushes, shows all entries to the flush filters, and rewrites what carries garbage.
func (db *DB) Compact() error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_compact(h, e)
	})
}

// Drain waits until background work has nothing left to do.
func (db *DB) Drain() error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_drain(h, e)
	})
}

// WarmUp reads the indexes of all trees into memory.
func (db *DB) WarmUp() error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_warm_up(h, e)
	})
}

// SetMemoryBudget changes the option memory_budget_bytes. Errors: ErrInvalidArgument below the
// minimum; ErrOutOfMemory.
func (db *DB) SetMemoryBudget(bytes uint64) error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_set_memory_budget(h, C.uint64_t(bytes), e)
	})
}

// SetBackgroundIOLimit changes the option background_io_bytes_per_second; 0: no limit.
func (db *DB) SetBackgroundIOLimit(bytesPerSecond uint64) error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_set_background_io_limit(h, C.uint64_t(bytesPerSecond), e)
	})
}

// Encryption tells of encryption at rest: encrypted, key_id, generation, data_keys, data_key.
func (db *DB) Encryption() (Record, error) {
	return oneRow(db.records(func(h *C.hawthorn_db, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_encryption(h, out, e)
	}))
}

// RotateKey has the key with this id open the database from now on. Durable when it returns.
// Errors: ErrInvalidArgument where it is not encrypted, for the id, and for a wrong key; ErrReadOnly.
func (db *DB) RotateKey(keyID string) error {
	id := []byte(keyID)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_rotate_key(h, key(id), size(id), e)
	})
}

// RotateDataKey makes a new data key for what is written from now on. Errors: as RotateKey, and
// ErrNotSupported beyond 64.
func (db *DB) RotateDataKey() error {
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_rotate_data_key(h, e)
	})
}

// Stats returns all figures of this moment, by the names of hawthorn::Stats; trees, feeds,
// named_snapshots and followers are lists.
func (db *DB) Stats() (Record, error) {
	return oneRow(db.records(func(h *C.hawthorn_db, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_stats(h, out, e)
	}))
}

// Stat returns one of these figures, such as "commits". Errors: ErrNotFound for the name.
func (db *DB) Stat(name string) (uint64, error) {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	var out C.uint64_t
	err := db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_stat(h, n, &out, e)
	})
	return uint64(out), err
}

// ReadCounters returns the figures of a database that any process has open, or had, by the file that
// it writes each second: uuid_low, uuid_high, pid, process_start, opened_us, updated_us, closed,
// alive, and entries, a list with name, value and grows.
//
// Errors: ErrNotFound; ErrCorruption; ErrNotSupported.
func ReadCounters(directory string) (Record, error) {
	d := C.CString(directory)
	defer C.free(unsafe.Pointer(d))
	var list *C.hawthorn_records
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_read_counters(d, &list, &e), e); err != nil {
		return nil, err
	}
	return takeRecord(list), nil
}

// ChangedSince tells whether anybody has committed to the key since the snapshot.
func (db *DB) ChangedSince(tree *Tree, k []byte, since *Snapshot) (bool, error) {
	if since == nil {
		return false, newError(ErrInvalidArgument, "the snapshot is nil")
	}
	if !since.s.enter() {
		return false, errSnapshotClosed
	}
	defer since.s.leave()
	defer runtime.KeepAlive(tree)
	var r C.hw_result
	err := db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		r = C.hw_changed_since(h, tree.handle(), key(k), size(k), since.s.h)
		*e = r.error
		return r.code
	})
	return r.found != 0, err
}

// Estimate tells about how many entries [low, high) has, and the bytes on disk, without a look at
// the disk. A high of nil is the end of the tree.
func (db *DB) Estimate(tree *Tree, low, high []byte) (entries, bytes uint64, err error) {
	defer runtime.KeepAlive(tree)
	var r C.hw_result
	err = db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		r = C.hw_estimate(h, tree.handle(), key(low), size(low), ptr(high), size(high))
		*e = r.error
		return r.code
	})
	return uint64(r.number), uint64(r.size), err
}

func oneRow(rows []Record, err error) (Record, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// PrefixEnd returns the first key behind all that begin with the prefix, for an upper bound; nil
// where there is none, which is no bound.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			end := clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}
