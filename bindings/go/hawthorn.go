// Package hawthorn is the Go binding of Hawthorn: an embedded, ordered, transactional key-value
// engine that keeps sorted trees of bytes in a directory, for one process and all of its
// goroutines.
//
//	db, err := hawthorn.Open("/var/lib/app/db", hawthorn.Set("memory_budget_bytes", "64M"))
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	users, err := db.Tree("users")
//	if err != nil {
//		return err
//	}
//	err = db.Update(func(txn *hawthorn.Txn) error {
//		return txn.Put(users, []byte("ada"), []byte("1815"))
//	})
//
// # Reads and writes
//
// A [DB], a [Snapshot] and a [Txn] have the same reads, and a DB and a Txn the same writes: they
// take the tree first. A key that is not there is no error of a get.
//
// # Bytes
//
// Bytes that are given are copied where they are needed beyond the call. Bytes that are returned
// are the caller's, but for those of a [Cursor], an [Iterator] and a [Feed], which are valid until
// its next move: they are Go memory all the same, so that to keep them for longer is a mistake that
// shows other bytes, and never a crash.
//
// # Errors
//
// Errors of the library are of type [*Error], and match a [Code] with errors.Is. Where a context is
// done, its Err is returned as it is. Use after Close gives ErrClosed, use of a transaction that
// has ended ErrInvalidArgument.
//
// # Goroutines
//
// DB, Tree, Snapshot, ReadQueue, Repository, Follower and Batch may be used by any number of
// goroutines. A Txn with its cursors, and each Cursor, Ingest, Feed and Replica, is for one at a
// time: a second call beside one that runs gets ErrBusy. Iterators and Columns are for one
// goroutine at a time as Go's own data structures are. A call may wait for the disk: it does so
// outside of Go's scheduler, and holds up no other goroutine.
//
// # Closing
//
// What has a Close should be closed, since it keeps old versions or locks, and DB.Close returns
// ErrBusy while it is open. What was forgotten is closed when the garbage collector finds it.
package hawthorn

/*
#cgo LDFLAGS: -lhawthorn
#include "shim.h"
*/
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Version is the version of the library, such as "0.1.0".
func Version() string { return C.GoString(C.hawthorn_version()) }

// FormatVersion is the newest version of databases that the library opens; it opens older ones, too.
func FormatVersion() uint32 { return uint32(C.hawthorn_format_version()) }

// Limits are the sizes that the library allows, in bytes.
type Limits struct {
	Key             uint64 // of a key
	Value           uint64 // of a value in one call
	StreamValue     uint64 // of a value by stream or parts
	TreeName        uint64 // of the name of a tree
	MemoryBudgetMin uint64 // of the option memory_budget_bytes
}

// LibraryLimits returns the limits of the library.
func LibraryLimits() Limits {
	return Limits{
		Key:             uint64(C.hawthorn_limit_key_bytes()),
		Value:           uint64(C.hawthorn_limit_value_bytes()),
		StreamValue:     uint64(C.hawthorn_limit_stream_value_bytes()),
		TreeName:        uint64(C.hawthorn_limit_tree_name_bytes()),
		MemoryBudgetMin: uint64(C.hawthorn_limit_memory_budget_bytes_min()),
	}
}

// emptyBytes stands for bytes that are there and empty, which nil is not.
var emptyBytes [1]byte

// ptr is the address of bytes: NULL for nil alone. The type tells cgo that there is nothing behind
// them to be looked at.
func ptr(b []byte) *C.char {
	if len(b) > 0 {
		return (*C.char)(unsafe.Pointer(&b[0]))
	}
	if b == nil {
		return nil
	}
	return (*C.char)(unsafe.Pointer(&emptyBytes[0]))
}

// key is ptr for what must be there: nil counts as empty.
func key(b []byte) *C.char {
	if b == nil {
		return (*C.char)(unsafe.Pointer(&emptyBytes[0]))
	}
	return ptr(b)
}

func size(b []byte) C.size_t { return C.size_t(len(b)) }

// view shows bytes of the library, for as long as they stay.
func view(p unsafe.Pointer, n C.size_t) []byte {
	if n == 0 {
		return emptyBytes[:0:0]
	}
	return unsafe.Slice((*byte)(p), int(n))
}

func boolInt(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

const (
	stateClosed = int64(1) << 40 // nobody may begin
	stateFreed  = int64(1) << 41 // what it guards is gone
)

// shared guards a handle that many may use at a time: it is freed when it was closed and the last
// call has ended. What frees it must not refer to what it is a part of, or that is never collected.
type shared struct {
	state atomic.Int64
	free  func()
}

// enter begins a call; false: it was closed.
func (s *shared) enter() bool {
	if s.state.Add(1) < stateClosed {
		return true
	}
	s.leave()
	return false
}

func (s *shared) leave() {
	if s.state.Add(-1) == stateClosed && s.state.CompareAndSwap(stateClosed, stateFreed) {
		s.free()
	}
}

// close lets nobody begin any more; false: it was closed before.
func (s *shared) close() bool {
	for {
		state := s.state.Load()
		if state >= stateClosed {
			return false
		}
		if s.state.CompareAndSwap(state, state+1+stateClosed) {
			s.leave()
			return true
		}
	}
}

func (s *shared) closed() bool { return s.state.Load() >= stateClosed }

// exclusive guards handles of which one is used at a time, as a transaction and its cursors. What
// is freed meanwhile waits for the call that runs.
type exclusive struct {
	mu   sync.Mutex
	busy bool
	dead []func()
}

func (e *exclusive) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy {
		return newError(ErrBusy, "another call for the same object is running")
	}
	e.busy = true
	return nil
}

func (e *exclusive) leave() {
	e.mu.Lock()
	for _, free := range e.dead {
		free()
	}
	e.dead = nil
	e.busy = false
	e.mu.Unlock()
}

// release calls free when no call runs: now or at the end of the one that does.
func (e *exclusive) release(free func()) {
	e.mu.Lock()
	if e.busy {
		e.dead = append(e.dead, free)
	} else {
		free()
	}
	e.mu.Unlock()
}
