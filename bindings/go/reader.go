package hawthorn

/*
#include "callbacks.h"
*/
import "C"

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Reader is what a DB, a Snapshot and a Txn have in common, for functions that take any of them. A
// DB reads the newest committed state with each call.
type Reader interface {
	Get(tree *Tree, key []byte) (value []byte, found bool, err error)
	AppendGet(to []byte, tree *Tree, key []byte) (value []byte, found bool, err error)
	GetValue(tree *Tree, key []byte) (*Value, error)
	GetFunc(tree *Tree, key []byte, f func(value []byte) error) (found bool, err error)
	MultiGet(tree *Tree, keys [][]byte) (values [][]byte, err error)
	MultiGetColumns(tree *Tree, keys *Column, out *Columns) error
	Contains(tree *Tree, key []byte) (bool, error)
	Count(tree *Tree, low, high []byte) (uint64, error)
	SizeOf(tree *Tree, key []byte) (uint64, error)
	ReadPart(tree *Tree, key []byte, offset uint64, buffer []byte) (int, error)
	ReadStream(tree *Tree, key []byte, offset uint64, to io.Writer) error
	Cursor(tree *Tree, options ...CursorOptions) (*Cursor, error)
	Iter(tree *Tree, options ...IterOptions) *Iterator
	FindTree(name string) (*Tree, error)
	Trees() ([]string, error)
	Subtree(parent *Tree, key []byte) (*Tree, error)
	Subtrees(parent *Tree) ([][]byte, error)
}

var (
	_ Reader = (*DB)(nil)
	_ Reader = (*Snapshot)(nil)
	_ Reader = (*Txn)(nil)
)

// reader reads from a database, a snapshot of it, or a transaction.
type reader struct {
	db   *core
	snap *snapHandle
	txn  *txnHandle
	ctx  context.Context
}

// access is what the library is told to read from.
type access struct {
	db   *C.hawthorn_db
	txn  *C.hawthorn_txn
	snap *C.hawthorn_snapshot
}

// begin begins a call, which end ends.
func (r *reader) begin() (access, error) {
	if err := ctxErr(r.ctx); err != nil {
		return access{}, err
	}
	if !r.db.enter() {
		return access{}, errDBClosed
	}
	a := access{db: r.db.h}
	switch {
	case r.txn != nil:
		if err := r.txn.guard.enter(); err != nil {
			r.db.leave()
			return access{}, err
		}
		if r.txn.h == nil {
			r.end()
			return access{}, errTxnEnded
		}
		a.txn = r.txn.h
	case r.snap != nil:
		if !r.snap.enter() {
			r.db.leave()
			return access{}, errSnapshotClosed
		}
		a.snap = r.snap.h
	}
	return a, nil
}

func (r *reader) end() {
	switch {
	case r.txn != nil:
		r.txn.guard.leave()
	case r.snap != nil:
		r.snap.leave()
	}
	r.db.leave()
}

// fault is the context's error where a wait has ended because of it.
func (r *reader) fault(err error) error {
	if r.ctx != nil && errors.Is(err, ErrTimedOut) {
		if deadline, ok := r.ctx.Deadline(); ok && !time.Now().Before(deadline) {
			<-r.ctx.Done()
		}
		if done := r.ctx.Err(); done != nil {
			return done
		}
	}
	return err
}

// scratch is where values are read to before their size is known.
var scratch = sync.Pool{New: func() any {
	b := make([]byte, 4096)
	return &b
}}

// Get returns the value of a key, which is the caller's; false, and no error, where there is none.
// Of a key with several values it is the first.
//
// Errors of all reads: ErrCorruption; ErrIO; ErrClosed; ErrInvalidArgument for what cannot be a key,
// and of a transaction that has ended; ErrNotSupported for what trees of that shape have not; the
// context's.
func (r *reader) Get(tree *Tree, k []byte) ([]byte, bool, error) {
	buffer := scratch.Get().(*[]byte)
	defer scratch.Put(buffer)
	value, found, err := r.get(tree, k, *buffer)
	if found && len(value) <= len(*buffer) {
		value = clone(value)
	}
	return value, found, err
}

// AppendGet is Get that appends the value to a buffer, and returns that.
func (r *reader) AppendGet(to []byte, tree *Tree, k []byte) ([]byte, bool, error) {
	value, found, err := r.get(tree, k, to[len(to):cap(to)])
	if !found {
		return to, false, err
	}
	if len(value) <= cap(to)-len(to) {
		return to[:len(to)+len(value)], true, nil
	}
	return append(to, value...), true, nil
}

// get reads into the buffer, or into a larger one.
func (r *reader) get(tree *Tree, k, buffer []byte) ([]byte, bool, error) {
	a, err := r.begin()
	if err != nil {
		return nil, false, err
	}
	for {
		res := C.hw_get(a.db, a.txn, a.snap, tree.handle(), key(k), size(k), ptr(buffer),
			size(buffer))
		switch res.code {
		case C.HAWTHORN_OK:
			r.end()
			runtime.KeepAlive(tree)
			if buffer == nil {
				buffer = []byte{}
			}
			return buffer[:int(res.size)], true, nil
		case C.HAWTHORN_NOT_FOUND:
			r.end()
			runtime.KeepAlive(tree)
			return nil, false, nil
		case C.HAWTHORN_BUFFER_TOO_SMALL:
			buffer = make([]byte, int(res.size))
		default:
			r.end()
			runtime.KeepAlive(tree)
			return nil, false, r.fault(outcome(res))
		}
	}
}

// copied makes the caller's own of a value that the library has put into the buffer or, where that
// was too small, into memory of its own.
func copied(res C.hw_result, buffer []byte) ([]byte, bool, error) {
	switch {
	case res.code == C.HAWTHORN_NOT_FOUND:
		return nil, false, nil
	case res.code != C.HAWTHORN_OK:
		return nil, false, outcome(res)
	case res.data != nil:
		value := clone(view(res.data, res.size))
		C.free(res.data)
		return value, true, nil
	}
	return clone(buffer[:int(res.size)]), true, nil
}

// GetInMemory is Get that never reads the disk. Errors: ErrNotInMemory; ErrNotSupported in a
// transaction.
func (r *reader) GetInMemory(tree *Tree, k []byte) ([]byte, bool, error) {
	a, err := r.outside("GetInMemory")
	if err != nil {
		return nil, false, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	buffer := scratch.Get().(*[]byte)
	defer scratch.Put(buffer)
	return copied(C.hw_get_in_memory(a.db, a.txn, a.snap, tree.handle(), key(k), size(k),
		ptr(*buffer), size(*buffer)), *buffer)
}

// outside is begin for what transactions do not have.
func (r *reader) outside(what string) (access, error) {
	if r.txn != nil {
		return access{}, newError(ErrNotSupported, what+": not in a transaction")
	}
	return r.begin()
}

// Contains tells whether a key is there, without reading its value.
func (r *reader) Contains(tree *Tree, k []byte) (bool, error) {
	_, err := r.SizeOf(tree, k)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// SizeOf returns how many bytes a value has. Errors: also ErrNotFound.
func (r *reader) SizeOf(tree *Tree, k []byte) (uint64, error) {
	a, err := r.begin()
	if err != nil {
		return 0, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	res := C.hw_size_of(a.db, a.txn, a.snap, tree.handle(), key(k), size(k))
	return uint64(res.number), r.fault(outcome(res))
}

// ReadPart reads a value from offset on into the buffer, and returns how much that was: less than
// the buffer at the value's end. Errors: also ErrNotFound.
func (r *reader) ReadPart(tree *Tree, k []byte, offset uint64, buffer []byte) (int, error) {
	a, err := r.begin()
	if err != nil {
		return 0, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	res := C.hw_read_part(a.db, a.txn, a.snap, tree.handle(), key(k), size(k), C.uint64_t(offset),
		key(buffer), size(buffer))
	return int(res.size), r.fault(outcome(res))
}

// ReadStream writes a value from offset on to its end to w, in pieces of up to 256 KB. Errors: also
// ErrNotFound; those of w, which must not use the transaction that is read.
func (r *reader) ReadStream(tree *Tree, k []byte, offset uint64, w io.Writer) error {
	if w == nil {
		return newError(ErrInvalidArgument, "the writer is nil")
	}
	a, err := r.begin()
	if err != nil {
		return err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	s := &stream{writer: w}
	during(s, func(context C.uintptr_t) {
		err = outcome(C.hw_read_stream(a.db, a.txn, a.snap, tree.handle(), key(k), size(k),
			C.uint64_t(offset), context))
	})
	if s.err != nil {
		return s.err
	}
	return r.fault(err)
}

// Value returns a view of a value of any size, which is read as it is needed. Of a DB each read is
// of the newest state; a Snapshot's value stays as it is. Errors: also ErrNotFound.
func (r *reader) Value(tree *Tree, k []byte) (*ValueReader, error) {
	n, err := r.SizeOf(tree, k)
	if err != nil {
		return nil, err
	}
	v := &ValueReader{reader: *r, tree: tree, key: clone(k)}
	v.SectionReader = io.NewSectionReader(valueAt{v}, 0, int64(n))
	return v, nil
}

// ValueReader reads a value by parts: an io.Reader, io.ReaderAt and io.Seeker. It holds nothing.
type ValueReader struct {
	*io.SectionReader
	reader reader
	tree   *Tree
	key    []byte
}

type valueAt struct{ v *ValueReader }

func (at valueAt) ReadAt(buffer []byte, offset int64) (int, error) {
	n, err := at.v.reader.ReadPart(at.v.tree, at.v.key, uint64(offset), buffer)
	if err == nil && n < len(buffer) {
		err = io.EOF
	}
	return n, err
}

// ExpiresAt returns when an entry ends; the zero time: never; false: there is no such key. Errors:
// also ErrNotSupported in a transaction, where Cursor.ExpiresAt tells it.
func (r *reader) ExpiresAt(tree *Tree, k []byte) (time.Time, bool, error) {
	a, err := r.outside("ExpiresAt")
	if err != nil {
		return time.Time{}, false, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	res := C.hw_expires_at(a.db, a.txn, a.snap, tree.handle(), key(k), size(k))
	if res.code == C.HAWTHORN_NOT_FOUND {
		return time.Time{}, false, nil
	}
	return moment(uint64(res.number)), res.code == C.HAWTHORN_OK, outcome(res)
}

// moment makes a time of milliseconds since 1970; 0 is no time.
func moment(ms uint64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms))
}

// Count returns how many entries [low, high) has, exactly. A high of nil is the end of the tree.
func (r *reader) Count(tree *Tree, low, high []byte) (uint64, error) {
	a, err := r.begin()
	if err != nil {
		return 0, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	res := C.hw_count(a.db, a.txn, a.snap, tree.handle(), key(low), size(low), ptr(high), size(high))
	return uint64(res.number), r.fault(outcome(res))
}

// Explain tells where a key is, and what a get of it reads from disk, by the names of
// hawthorn::KeyExplanation. A key that is not there is no error. Errors: also ErrNotSupported in a
// transaction.
func (r *reader) Explain(tree *Tree, k []byte) (Record, error) {
	a, err := r.outside("Explain")
	if err != nil {
		return nil, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	res := C.hw_explain(a.db, a.txn, a.snap, tree.handle(), key(k), size(k))
	if err := outcome(res); err != nil {
		return nil, err
	}
	return takeRecord((*C.hawthorn_records)(unsafe.Pointer(res.data))), nil
}
