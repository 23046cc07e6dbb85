package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// Batch is a list of writes that are committed as one. It is written down in Go's memory, and costs
// two or three calls of the library, however long it is. The zero value is an empty one. Keys and
// values are copied. Any number of goroutines may use it.
type Batch struct {
	mu    sync.Mutex
	ops   []C.hw_op
	bytes []byte
	trees []*Tree // keeps their handles
}

func (b *Batch) add(kind C.uint32_t, tree *Tree, k, value []byte, o cOptions) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if tree != nil && (len(b.trees) == 0 || b.trees[len(b.trees)-1] != tree) {
		b.trees = append(b.trees, tree)
	}
	op := C.hw_op{tree: tree.handle(), kind: kind, expiry: o.expiry, expiry_ms: o.expiryMs,
		key: C.size_t(len(b.bytes)), key_size: size(k), value_size: size(value)}
	if value == nil {
		op.open_end = 1
	}
	b.ops = append(b.ops, op)
	b.bytes = append(append(b.bytes, k...), value...)
}

// Put adds a put. What is wrong with it, Write tells.
func (b *Batch) Put(tree *Tree, key, value []byte, options ...WriteOptions) {
	b.add(C.HW_PUT, tree, key, value, firstOption(options))
}

// Del adds the deletion of a key, with all of its values.
func (b *Batch) Del(tree *Tree, key []byte) { b.add(C.HW_DEL, tree, key, nil, cOptions{}) }

// DelValue adds the deletion of one value of a key.
func (b *Batch) DelValue(tree *Tree, key, value []byte) {
	b.add(C.HW_DEL_VALUE, tree, key, value, cOptions{})
}

// DeleteRange adds the deletion of all keys of [low, high); a high of nil is the end of the tree.
func (b *Batch) DeleteRange(tree *Tree, low, high []byte) {
	b.add(C.HW_DELETE_RANGE, tree, low, high, cOptions{})
}

// Merge adds a change by the tree's merge operator.
func (b *Batch) Merge(tree *Tree, key, operand []byte) {
	b.add(C.HW_MERGE, tree, key, operand, cOptions{})
}

// PutColumns adds a put of each row. Errors: ErrInvalidArgument for offsets that are none, and where
// there are not as many values as keys; then nothing was added.
func (b *Batch) PutColumns(tree *Tree, columns *Columns) error {
	if err := checkRows(columns); err != nil {
		return err
	}
	for i := 0; i < columns.Rows(); i++ {
		b.add(C.HW_PUT, tree, columns.Keys.At(i), columns.Values.At(i), cOptions{})
	}
	return nil
}

func checkRows(columns *Columns) error {
	if columns == nil {
		return newError(ErrInvalidArgument, "the columns are nil")
	}
	if err := columns.Keys.check(); err != nil {
		return err
	}
	if err := columns.Values.check(); err != nil {
		return err
	}
	if columns.Keys.Len() != columns.Values.Len() {
		return newError(ErrInvalidArgument, "there are not as many values as keys")
	}
	return nil
}

// Len is how many operations it has.
func (b *Batch) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ops)
}

// Bytes is how many bytes its keys and values have.
func (b *Batch) Bytes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.bytes)
}

// Reset forgets all operations; it keeps the memory.
func (b *Batch) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ops, b.bytes, b.trees = b.ops[:0], b.bytes[:0], nil
}

// Write commits all operations of a batch at one moment; the batch stays as it is, for another Write
// or a Reset. Of the options only the durability counts.
//
// Errors: those of writes, of which nothing was written then; ErrInvalidArgument also for trees of
// different databases.
func (db *DB) Write(b *Batch, options ...WriteOptions) error {
	if b == nil {
		return newError(ErrInvalidArgument, "the batch is nil")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a, err := db.begin()
	if err != nil {
		return err
	}
	defer db.end()
	made := C.hawthorn_batch_create()
	if made == nil {
		return newError(ErrOutOfMemory, "no memory for a batch")
	}
	defer C.hawthorn_batch_free(made)
	var ops *C.hw_op
	if len(b.ops) > 0 {
		ops = (*C.hw_op)(unsafe.Pointer(&b.ops[0]))
	}
	res := C.hw_write(a.db, made, ops, C.size_t(len(b.ops)), key(b.bytes),
		firstOption(options).durability)
	runtime.KeepAlive(b)
	return db.fault(outcome(res))
}
