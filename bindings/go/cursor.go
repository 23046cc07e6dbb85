package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// CursorOptions says what a cursor shows.
type CursorOptions struct {
	Lower    []byte // the first key that it may show; nil: from the first one on
	Upper    []byte // the first key that it may not show; nil: to the last one
	KeysOnly bool   // values are not read, and come empty, but where a key may have several
}

// cursorHandle is a cursor that is open. Its guard is its transaction's, or its own.
type cursorHandle struct {
	guard *exclusive
	h     *C.hawthorn_cursor
	db    *core
	snap  *snapHandle
	txn   *txnHandle
}

func (c *cursorHandle) free() {
	if c.h != nil {
		C.hawthorn_cursor_free(c.h)
		c.h = nil
		c.db.held.Add(-1)
	}
}

// Cursor walks over a tree, in both directions, entry by entry or many at once. Each move tells
// whether it stands on an entry then; the ends of the range are no error. Key and Value are valid
// until the next move. A cursor of a transaction sees that one's writes, also those made after it was
// opened, and nothing once it has ended (ErrInvalidArgument). It never blocks writers, but keeps old
// versions while it is open.
//
// Errors of moves: ErrCorruption; ErrIO; ErrTooOld of followers; ErrClosed; ErrBusy when another call
// for it, or its transaction, runs; the context's.
//
// For plain loops, an Iterator is faster and shorter.
type Cursor struct {
	c     *cursorHandle
	r     reader
	key   []byte
	value []byte
	valid bool
}

// Cursor opens a cursor, which stands nowhere yet. That of a DB sees the present moment.
//
// Errors: ErrInvalidArgument also for bounds that are no keys in the tree's order.
func (r *reader) Cursor(tree *Tree, options ...CursorOptions) (*Cursor, error) {
	var o CursorOptions
	if len(options) > 0 {
		o = options[0]
	}
	a, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	res := C.hw_cursor(a.db, a.txn, a.snap, tree.handle(), ptr(o.Lower), size(o.Lower), ptr(o.Upper),
		size(o.Upper), boolInt(o.KeysOnly))
	if err := outcome(res); err != nil {
		return nil, r.fault(err)
	}
	c := &cursorHandle{h: (*C.hawthorn_cursor)(res.data), db: r.db, snap: r.snap, txn: r.txn}
	if r.txn != nil {
		c.guard = r.txn.guard
	} else {
		c.guard = &exclusive{}
	}
	r.db.held.Add(1)
	runtime.SetFinalizer(c, func(c *cursorHandle) { c.guard.release(c.free) })
	return &Cursor{c: c, r: *r}, nil
}

// begin begins a call for the cursor, which end ends.
func (c *Cursor) begin() error {
	if err := ctxErr(c.r.ctx); err != nil {
		return err
	}
	if !c.c.db.enter() {
		return errDBClosed
	}
	err := c.c.guard.enter()
	if err == nil {
		switch {
		case c.c.h == nil:
			err = errCursorClosed
		case c.c.txn != nil && c.c.txn.h == nil:
			err = errTxnEnded
		default:
			return nil
		}
		c.c.guard.leave()
	}
	c.c.db.leave()
	return err
}

func (c *Cursor) end() {
	c.c.guard.leave()
	c.c.db.leave()
}

// Close lets go of it. To close one twice is no error. A cursor of a transaction may be closed before
// or after that has ended.
func (c *Cursor) Close() error {
	c.c.guard.release(c.c.free)
	return nil
}

func (c *Cursor) move(kind C.int, k, value []byte, count int64) (bool, error) {
	if err := c.begin(); err != nil {
		return false, err
	}
	defer c.end()
	c.valid = false
	c.key, c.value = c.key[:0], c.value[:0]
	r := C.hw_move(c.c.h, kind, key(k), size(k), key(value), size(value), C.int64_t(count))
	if r.code != C.HAWTHORN_OK {
		return false, failure(r.code, r.error)
	}
	if r.key != nil {
		c.valid = true
		c.key = append(c.key, view(unsafe.Pointer(r.key), r.key_size)...)
		c.value = append(c.value, view(unsafe.Pointer(r.value), r.value_size)...)
	}
	return r.found != 0, nil
}

// First goes to the first entry of the range.
func (c *Cursor) First() (bool, error) { return c.move(C.HW_FIRST, nil, nil, 0) }

// Last goes to the last entry of the range.
func (c *Cursor) Last() (bool, error) { return c.move(C.HW_LAST, nil, nil, 0) }

// Next goes to the following entry; a cursor that stands nowhere stays there.
func (c *Cursor) Next() (bool, error) { return c.move(C.HW_NEXT, nil, nil, 0) }

// Prev goes to the entry before; a cursor that stands nowhere stays there.
func (c *Cursor) Prev() (bool, error) { return c.move(C.HW_PREV, nil, nil, 0) }

// Seek goes to the first entry that is not before the key.
func (c *Cursor) Seek(k []byte) (bool, error) { return c.move(C.HW_SEEK, k, nil, 0) }

// SeekForPrev goes to the last entry that is not behind the key.
func (c *Cursor) SeekForPrev(k []byte) (bool, error) {
	return c.move(C.HW_SEEK_FOR_PREV, k, nil, 0)
}

// Skip is as so many calls of Next, or of Prev for a negative number, in much less time.
func (c *Cursor) Skip(count int64) (bool, error) { return c.move(C.HW_SKIP, nil, nil, count) }

// SeekRandom goes to an entry of the range, each about as likely as the others where random is.
func (c *Cursor) SeekRandom(random uint64) (bool, error) {
	return c.move(C.HW_SEEK_RANDOM, nil, nil, int64(random))
}

// NextKey goes to the first value of the next key, where keys may have several.
func (c *Cursor) NextKey() (bool, error) { return c.move(C.HW_NEXT_KEY, nil, nil, 0) }

// PrevKey goes to the last value of the key before.
func (c *Cursor) PrevKey() (bool, error) { return c.move(C.HW_PREV_KEY, nil, nil, 0) }

// NextValue goes to the next value of the key; false: there is none, and the cursor stays.
func (c *Cursor) NextValue() (bool, error) { return c.move(C.HW_NEXT_VALUE, nil, nil, 0) }

// PrevValue goes to the value before, of the same key; false: there is none, and the cursor stays.
func (c *Cursor) PrevValue() (bool, error) { return c.move(C.HW_PREV_VALUE, nil, nil, 0) }

// FirstValue goes to the first value of the key.
func (c *Cursor) FirstValue() (bool, error) { return c.move(C.HW_FIRST_VALUE, nil, nil, 0) }

// LastValue goes to the last value of the key.
func (c *Cursor) LastValue() (bool, error) { return c.move(C.HW_LAST_VALUE, nil, nil, 0) }

// SeekValue goes to the first value of this key that is not before the value. Errors: also
// ErrNotSupported in trees of one value to a key.
func (c *Cursor) SeekValue(k, value []byte) (bool, error) {
	return c.move(C.HW_SEEK_VALUE, k, value, 0)
}

// Valid tells whether it stands on an entry.
func (c *Cursor) Valid() bool { return c.valid }

// Key is that of the entry on which it stands; nil where it stands on none.
func (c *Cursor) Key() []byte {
	if !c.valid {
		return nil
	}
	return c.key
}

// Value is that of the entry on which it stands; nil where it stands on none.
func (c *Cursor) Value() []byte {
	if !c.valid {
		return nil
	}
	return c.value
}

// CountValues tells how many values the key has. Errors: ErrInvalidArgument where it stands on none.
func (c *Cursor) CountValues() (uint64, error) {
	if err := c.begin(); err != nil {
		return 0, err
	}
	defer c.end()
	var n C.uint64_t
	var e *C.hawthorn_error
	err := failure(C.hawthorn_cursor_count_values(c.c.h, &n, &e), e)
	return uint64(n), err
}

// IsSubtree tells whether the entry is a tree. Errors: ErrInvalidArgument where it stands on none.
func (c *Cursor) IsSubtree() (bool, error) {
	if err := c.begin(); err != nil {
		return false, err
	}
	defer c.end()
	var is C.int
	var e *C.hawthorn_error
	err := failure(C.hawthorn_cursor_is_subtree(c.c.h, &is, &e), e)
	return is != 0, err
}

// ExpiresAt tells when the entry ends; the zero time: never.
func (c *Cursor) ExpiresAt() (time.Time, error) {
	if err := c.begin(); err != nil {
		return time.Time{}, err
	}
	defer c.end()
	return moment(uint64(C.hawthorn_cursor_expires_at(c.c.h))), nil
}

// NextColumns fills the columns with entries in ascending order, from the one on which the cursor
// stands, or from behind those of the last call, as many as fit, and returns how many: 0 at the end,
// and where the cursor was not moved to an entry before. Where not one fits, it makes them larger.
// Afterwards the cursor stands nowhere: what follows is another such call, or a seek.
//
// Errors: also ErrNotSupported for a value over 64 MB, which the next call leaves out.
func (c *Cursor) NextColumns(columns *Columns) (int, error) { return c.columns(columns, false) }

// PrevColumns is NextColumns in descending order, as fast as so many calls of Prev.
func (c *Cursor) PrevColumns(columns *Columns) (int, error) { return c.columns(columns, true) }

func (c *Cursor) columns(columns *Columns, reverse bool) (int, error) {
	if columns == nil {
		return 0, newError(ErrInvalidArgument, "the columns are nil")
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	defer c.end()
	c.valid = false
	columns.rows(1)
	err := fillColumns(c.c.h, reverse, columns)
	return columns.Rows(), err
}
