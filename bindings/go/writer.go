package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"time"
)

// WriteOptions says how a write is made. The zero value is the default.
type WriteOptions struct {
	// Durability is of the commit; in transactions and batches it is left out, since their commit
	// says.
	Durability Durability
	// ExpireAt and ExpireAfter end the entry of a put; at most one of them is set. Without them, and
	// without NeverExpire, the tree's TTL holds. Trees without Expires refuse them.
	ExpireAt    time.Time
	ExpireAfter time.Duration
	NeverExpire bool
}

// cOptions are WriteOptions as the library takes them.
type cOptions struct {
	durability C.uint32_t
	expiry     C.uint32_t
	expiryMs   C.uint64_t
}

func firstOption(options []WriteOptions) cOptions {
	if len(options) == 0 {
		return cOptions{}
	}
	o := options[0]
	c := cOptions{durability: C.uint32_t(o.Durability)}
	switch {
	case !o.ExpireAt.IsZero():
		c.expiry, c.expiryMs = C.HAWTHORN_EXPIRY_AT, C.uint64_t(o.ExpireAt.UnixMilli())
	case o.ExpireAfter > 0:
		c.expiry, c.expiryMs = C.HAWTHORN_EXPIRY_AFTER, C.uint64_t(milliseconds(o.ExpireAfter))
	case o.NeverExpire:
		c.expiry = C.HAWTHORN_EXPIRY_NEVER
	}
	return c
}

// Writer is what a DB and a Txn have in common. Each write of a DB is a commit of its own; what a
// Txn writes becomes visible with its commit.
type Writer interface {
	Reader
	Put(tree *Tree, key, value []byte, options ...WriteOptions) error
	Del(tree *Tree, key []byte, options ...WriteOptions) error
	DelValue(tree *Tree, key, value []byte, options ...WriteOptions) error
	DeleteRange(tree *Tree, low, high []byte, options ...WriteOptions) error
	Merge(tree *Tree, key, operand []byte, options ...WriteOptions) error
	PutIfAbsent(tree *Tree, key, value []byte, options ...WriteOptions) (done bool, err error)
	PutIfPresent(tree *Tree, key, value []byte, options ...WriteOptions) (done bool, err error)
	CompareAndSwap(tree *Tree, key, old, new []byte, options ...WriteOptions) (done bool, err error)
	CompareAndDelete(tree *Tree, key, old []byte, options ...WriteOptions) (done bool, err error)
	WritePart(tree *Tree, key []byte, offset uint64, data []byte, options ...WriteOptions) error
	Append(tree *Tree, key, data []byte, options ...WriteOptions) (offset uint64, err error)
	Resize(tree *Tree, key []byte, size uint64, options ...WriteOptions) error
	Tree(name string, options ...TreeOptions) (*Tree, error)
	DropTree(name string) error
	RenameTree(from, to string) error
	CloneTree(from, to string, options ...WriteOptions) (*Tree, error)
}

var (
	_ Writer = (*DB)(nil)
	_ Writer = (*Txn)(nil)
)

// writer writes to a database or a transaction.
type writer struct {
	reader
}

// do runs a function of the library that changes something.
func (w *writer) do(f func(a access, e **C.hawthorn_error) C.hawthorn_code) error {
	a, err := w.begin()
	if err != nil {
		return err
	}
	defer w.end()
	var e *C.hawthorn_error
	return w.fault(failure(f(a, &e), e))
}

// Put writes a value.
//
// Errors of all writes: ErrInvalidArgument for sizes, and of a transaction that has ended;
// ErrNoSpace; ErrReadOnly; ErrUnknownOutcome with DurabilityFull; ErrTimedOut while a transaction
// holds the row; ErrConflict; ErrDeadlock; ErrClosed; ErrNotSupported for what trees of that shape
// have not; the context's. Behind one a transaction can go on with other keys, or abort.
//
// Durable: what a DB writes is, as the options say, when it returns.
func (w *writer) Put(tree *Tree, k, value []byte, options ...WriteOptions) error {
	a, err := w.begin()
	if err != nil {
		return err
	}
	o := firstOption(options)
	r := C.hw_put(a.db, a.txn, a.snap, tree.handle(), key(k), size(k), key(value), size(value),
		o.durability, o.expiry, o.expiryMs)
	w.end()
	runtime.KeepAlive(tree)
	if r.code == C.HAWTHORN_OK {
		return nil
	}
	return w.fault(outcome(r))
}

// change is one of the other writes.
func (w *writer) change(kind C.int, tree *Tree, k []byte, value *C.char, n C.size_t,
	options []WriteOptions) (bool, error) {
	a, err := w.begin()
	if err != nil {
		return false, err
	}
	o := firstOption(options)
	r := C.hw_change(a.db, a.txn, a.snap, kind, tree.handle(), key(k), size(k), value, n,
		o.durability, o.expiry, o.expiryMs)
	w.end()
	runtime.KeepAlive(tree)
	return r.found != 0, w.fault(outcome(r))
}

// Del deletes a key, with all of its values; one that is not there is no error.
func (w *writer) Del(tree *Tree, k []byte, options ...WriteOptions) error {
	_, err := w.change(C.HW_DEL, tree, k, nil, 0, options)
	return err
}

// DelValue deletes one value of a key that may have several.
func (w *writer) DelValue(tree *Tree, k, value []byte, options ...WriteOptions) error {
	_, err := w.change(C.HW_DEL_VALUE, tree, k, key(value), size(value), options)
	runtime.KeepAlive(value)
	return err
}

// DeleteRange deletes all keys of [low, high), in a time that does not depend on how many there are.
// A high of nil is the end of the tree.
func (w *writer) DeleteRange(tree *Tree, low, high []byte, options ...WriteOptions) error {
	_, err := w.change(C.HW_DELETE_RANGE, tree, low, ptr(high), size(high), options)
	return err
}

// Merge changes a value as the tree's merge operator says, without reading it.
func (w *writer) Merge(tree *Tree, k, operand []byte, options ...WriteOptions) error {
	_, err := w.change(C.HW_MERGE, tree, k, key(operand), size(operand), options)
	return err
}

// PutIfAbsent writes a value where the key is absent; false: it is not, and nothing was written.
func (w *writer) PutIfAbsent(tree *Tree, k, value []byte, options ...WriteOptions) (bool, error) {
	return w.change(C.HW_INSERT, tree, k, key(value), size(value), options)
}

// PutIfPresent writes a value where the key is there; false: it is not, and nothing was written.
func (w *writer) PutIfPresent(tree *Tree, k, value []byte, options ...WriteOptions) (bool, error) {
	return w.change(C.HW_UPDATE, tree, k, key(value), size(value), options)
}

// CompareAndSwap writes a value where the key has the old one; an old of nil is a key that is
// absent. False: it has another, and nothing was written.
func (w *writer) CompareAndSwap(tree *Tree, k, old, new []byte,
	options ...WriteOptions) (bool, error) {
	a, err := w.begin()
	if err != nil {
		return false, err
	}
	defer w.end()
	defer runtime.KeepAlive(tree)
	o := firstOption(options)
	r := C.hw_replace(a.db, a.txn, a.snap, tree.handle(), key(k), size(k), ptr(old), size(old),
		key(new), size(new), o.durability, o.expiry, o.expiryMs)
	return r.found != 0, w.fault(outcome(r))
}

// CompareAndDelete deletes a key that has this value; false: it has not, and nothing was deleted.
func (w *writer) CompareAndDelete(tree *Tree, k, old []byte, options ...WriteOptions) (bool, error) {
	a, err := w.begin()
	if err != nil {
		return false, err
	}
	defer w.end()
	defer runtime.KeepAlive(tree)
	o := firstOption(options)
	r := C.hw_remove_if(a.db, a.txn, a.snap, tree.handle(), key(k), size(k), key(old), size(old),
		o.durability, o.expiry, o.expiryMs)
	return r.found != 0, w.fault(outcome(r))
}

// WritePart overwrites a part of a value, and lets it grow where it ends. Errors: also ErrNotFound.
func (w *writer) WritePart(tree *Tree, k []byte, offset uint64, data []byte,
	options ...WriteOptions) error {
	a, err := w.begin()
	if err != nil {
		return err
	}
	defer w.end()
	defer runtime.KeepAlive(tree)
	o := firstOption(options)
	return w.fault(outcome(C.hw_write_part(a.db, a.txn, a.snap, tree.handle(), key(k), size(k),
		C.uint64_t(offset), key(data), size(data), o.durability, o.expiry, o.expiryMs)))
}

// Append writes at a value's end, and returns where that was.
func (w *writer) Append(tree *Tree, k, data []byte, options ...WriteOptions) (uint64, error) {
	a, err := w.begin()
	if err != nil {
		return 0, err
	}
	defer w.end()
	defer runtime.KeepAlive(tree)
	o := firstOption(options)
	r := C.hw_append(a.db, a.txn, a.snap, tree.handle(), key(k), size(k), key(data), size(data),
		o.durability, o.expiry, o.expiryMs)
	return uint64(r.number), w.fault(outcome(r))
}

// Resize cuts a value off, or lets it grow by zeros. Errors: also ErrNotFound.
func (w *writer) Resize(tree *Tree, k []byte, n uint64, options ...WriteOptions) error {
	a, err := w.begin()
	if err != nil {
		return err
	}
	defer w.end()
	defer runtime.KeepAlive(tree)
	o := firstOption(options)
	return w.fault(outcome(C.hw_resize(a.db, a.txn, a.snap, tree.handle(), key(k), size(k),
		C.uint64_t(n), o.durability, o.expiry, o.expiryMs)))
}
