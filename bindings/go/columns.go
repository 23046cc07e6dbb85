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

// Column is many byte strings in one buffer: string i is Bytes[Offsets[i]:Offsets[i+1]]. This is the
// layout of Arrow's LargeBinary. The zero value is an empty one. For one goroutine at a time.
type Column struct {
	Bytes   []byte
	Offsets []int64 // one more than there are strings, or none where there are none
}

// Len is how many strings it has.
func (c *Column) Len() int {
	if len(c.Offsets) == 0 {
		return 0
	}
	return len(c.Offsets) - 1
}

// At is string i: a part of Bytes.
func (c *Column) At(i int) []byte {
	return c.Bytes[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]]
}

// Append adds a string.
func (c *Column) Append(b []byte) {
	if len(c.Offsets) == 0 {
		c.Offsets = append(c.Offsets, 0)
		c.Bytes = c.Bytes[:0]
	}
	c.Bytes = append(c.Bytes, b...)
	c.Offsets = append(c.Offsets, int64(len(c.Bytes)))
}

// Reset makes it empty, and keeps its memory.
func (c *Column) Reset() {
	c.Bytes = c.Bytes[:0]
	c.Offsets = c.Offsets[:0]
}

// check tells whether all offsets are within the bytes.
func (c *Column) check() error {
	if c == nil {
		return newError(ErrInvalidArgument, "a column is nil")
	}
	if len(c.Offsets) == 0 {
		return nil
	}
	last := c.Offsets[0]
	if last < 0 {
		return newError(ErrInvalidArgument, "an offset of a column is negative")
	}
	for _, offset := range c.Offsets[1:] {
		if offset < last {
			return newError(ErrInvalidArgument, "offsets of a column go down")
		}
		last = offset
	}
	if last > int64(len(c.Bytes)) {
		return newError(ErrInvalidArgument, "offsets of a column go beyond its bytes")
	}
	return nil
}

// offsets is the address of what the library fills or reads.
func offsets(o []int64) *C.int64_t {
	if len(o) == 0 {
		return nil
	}
	return (*C.int64_t)(unsafe.Pointer(&o[0]))
}

// Columns is many entries: what MultiGetColumns and Cursor.NextColumns fill. How much they fill in
// one call is what the slices have as capacity; the memory is used again by the next call.
type Columns struct {
	Keys   Column
	Values Column
	Found  []bool // of answers to keys: whether there is such a key
}

// NewColumns makes columns with room for so many rows, bytes of keys and bytes of values.
func NewColumns(rows, keyBytes, valueBytes int) *Columns {
	return &Columns{
		Keys:   Column{make([]byte, 0, keyBytes), make([]int64, 0, rows+1)},
		Values: Column{make([]byte, 0, valueBytes), make([]int64, 0, rows+1)},
	}
}

// Rows is how many entries there are: of values, since answers to keys have no keys.
func (c *Columns) Rows() int { return c.Values.Len() }

// Append adds an entry.
func (c *Columns) Append(key, value []byte) {
	c.Keys.Append(key)
	c.Values.Append(value)
}

// Reset makes them empty, and keeps the memory.
func (c *Columns) Reset() {
	c.Keys.Reset()
	c.Values.Reset()
	c.Found = c.Found[:0]
}

// rows makes room for at least this many.
func (c *Columns) rows(n int) {
	if cap(c.Keys.Offsets) < n+1 {
		c.Keys.Offsets = make([]int64, 0, n+1)
	}
	if cap(c.Values.Offsets) < n+1 {
		c.Values.Offsets = make([]int64, 0, n+1)
	}
}

// fill shows what the library has written.
func (c *Column) fill(rows int) {
	if rows == 0 {
		c.Reset()
		return
	}
	c.Offsets = c.Offsets[:rows+1]
	c.Bytes = c.Bytes[:c.Offsets[rows]]
}

// whole is all of a slice's memory.
func whole(b []byte) []byte { return b[:cap(b)] }

// fillColumns fills them by a cursor; it makes them larger where not one entry fits.
func fillColumns(h *C.hawthorn_cursor, reverse bool, c *Columns) error {
	for {
		rows := min(cap(c.Keys.Offsets), cap(c.Values.Offsets)) - 1
		keys, values := whole(c.Keys.Bytes), whole(c.Values.Bytes)
		r := C.hw_cursor_columns(h, boolInt(reverse), C.size_t(rows), ptr(keys), size(keys),
			offsets(c.Keys.Offsets[:rows+1]), ptr(values), size(values),
			offsets(c.Values.Offsets[:rows+1]))
		if r.code == C.HAWTHORN_BUFFER_TOO_SMALL {
			C.hawthorn_error_free(r.error)
			if int(r.key_bytes) > len(keys) {
				c.Keys.Bytes = make([]byte, 0, int(r.key_bytes))
			}
			if int(r.value_bytes) > len(values) {
				c.Values.Bytes = make([]byte, 0, int(r.value_bytes))
			}
			continue
		}
		n := int(r.rows)
		if r.code != C.HAWTHORN_OK {
			n = 0
		}
		c.Keys.fill(n)
		c.Values.fill(n)
		c.Found = c.Found[:0]
		return failure(r.code, r.error)
	}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// answers are what multi-gets are read by: they are used again, as that is faster.
type answers struct {
	batch   *C.hawthorn_read_batch
	keys    Column
	columns Columns
}

var answerPool = sync.Pool{New: func() any {
	a := &answers{batch: C.hawthorn_read_batch_create()}
	a.columns.Values.Bytes = make([]byte, 0, 64<<10)
	runtime.SetFinalizer(a, func(a *answers) { C.hawthorn_read_batch_free(a.batch) })
	return a
}}

// MultiGetColumns reads many keys of one moment, in the order that they have: out.Values and
// out.Found get an answer to each. Much faster than one by one. A key that is not there is no error.
// out.Values.Bytes is made larger where the answers do not fit.
//
// Errors: as Get; ErrInvalidArgument for offsets that are none.
func (r *reader) MultiGetColumns(tree *Tree, keys *Column, out *Columns) error {
	pooled := answerPool.Get().(*answers)
	defer answerPool.Put(pooled)
	return r.multiGet(tree, keys, out, pooled.batch)
}

func (r *reader) multiGet(tree *Tree, keys *Column, out *Columns,
	batch *C.hawthorn_read_batch) error {
	if err := keys.check(); err != nil {
		return err
	}
	if out == nil {
		return newError(ErrInvalidArgument, "the columns are nil")
	}
	a, err := r.begin()
	if err != nil {
		return err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	n := keys.Len()
	out.Keys.Reset()
	if n == 0 {
		out.Reset()
		return nil
	}
	if cap(out.Values.Offsets) < n+1 {
		out.Values.Offsets = make([]int64, 0, n+1)
	}
	if cap(out.Found) < n {
		out.Found = make([]bool, 0, n)
	}
	out.Values.Offsets, out.Found = out.Values.Offsets[:n+1], out.Found[:n]
	found := (*C.uint8_t)(unsafe.Pointer(&out.Found[0]))
	values := whole(out.Values.Bytes)
	res := C.hw_multi_get(a.db, a.txn, a.snap, tree.handle(), key(keys.Bytes),
		offsets(keys.Offsets), C.size_t(n), batch, ptr(values), size(values),
		offsets(out.Values.Offsets), found)
	if res.more != 0 {
		values = make([]byte, int(res.value_bytes))
		out.Values.Bytes = values
		res = C.hw_batch_answers(batch, C.size_t(n), key(values), size(values),
			offsets(out.Values.Offsets), found)
	}
	if res.code == C.HAWTHORN_OK && int(res.rows) == n {
		out.Values.fill(n)
		return nil
	}
	out.Reset()
	if res.code == C.HAWTHORN_OK {
		return newError(ErrInternal, "answers are missing")
	}
	return r.fault(failure(res.code, res.error))
}

// MultiGet reads many keys of one moment: value i is that of key i, nil where it was not found. The
// values share one piece of memory, which is the caller's. Errors: as Get.
func (r *reader) MultiGet(tree *Tree, keys [][]byte) ([][]byte, error) {
	pooled := answerPool.Get().(*answers)
	defer answerPool.Put(pooled)
	pooled.keys.Reset()
	for _, k := range keys {
		pooled.keys.Append(k)
	}
	out := &pooled.columns
	if err := r.multiGet(tree, &pooled.keys, out, pooled.batch); err != nil {
		return nil, err
	}
	list := make([][]byte, len(keys))
	all := clone(out.Values.Bytes)
	if cap(out.Values.Bytes) > 16<<20 {
		out.Values.Bytes = nil
	}
	for i, found := range out.Found {
		if found {
			from, to := out.Values.Offsets[i], out.Values.Offsets[i+1]
			list[i] = all[from:to:to]
		}
	}
	return list, nil
}

// Scan hands out the entries of a range in runs of columns, which are valid during the call of f, and
// ends where f returns false. It reads one moment. The fastest way through many entries.
func (r *reader) Scan(tree *Tree, options CursorOptions, f func(columns *Columns) bool) error {
	cursor, err := r.Cursor(tree, options)
	if err != nil {
		return err
	}
	defer cursor.Close()
	columns := NewColumns(4096, 256<<10, 1<<20)
	if _, err := cursor.First(); err != nil {
		return err
	}
	for {
		n, err := cursor.NextColumns(columns)
		if err != nil || n == 0 || !f(columns) {
			return err
		}
	}
}
