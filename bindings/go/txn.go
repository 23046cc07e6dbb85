package hawthorn

/*
#include "callbacks.h"
*/
import "C"

import (
	"context"
	"errors"
	"io"
	"math/rand"
	"runtime"
	"time"
)

// TxnMode is how a transaction keeps away from others.
type TxnMode uint32

// The modes of transactions.
const (
	Optimistic  TxnMode = C.HAWTHORN_TXN_OPTIMISTIC  // the first committer wins
	Exclusive   TxnMode = C.HAWTHORN_TXN_EXCLUSIVE   // one at a time
	Pessimistic TxnMode = C.HAWTHORN_TXN_PESSIMISTIC // a write locks its key
)

// Isolation is what a transaction sees of others.
type Isolation uint32

// The levels of isolation.
const (
	SnapshotIsolation Isolation = C.HAWTHORN_ISOLATION_SNAPSHOT
	ReadCommitted     Isolation = C.HAWTHORN_ISOLATION_READ_COMMITTED
	Serializable      Isolation = C.HAWTHORN_ISOLATION_SERIALIZABLE
)

// RowLock is how a row is locked.
type RowLock uint32

// The kinds of locks.
const (
	LockShared     RowLock = C.HAWTHORN_ROW_LOCK_SHARED
	LockUpgradable RowLock = C.HAWTHORN_ROW_LOCK_UPGRADABLE
	LockExclusive  RowLock = C.HAWTHORN_ROW_LOCK_EXCLUSIVE
)

// NoWait, in place of a time, is not to wait at all.
const NoWait time.Duration = -1

// DefaultRetries is how often Update begins again unless TxnOptions say otherwise.
const DefaultRetries = 100

// TxnOptions says what a transaction is. The zero value is an optimistic one with snapshot isolation.
type TxnOptions struct {
	Mode      TxnMode
	Isolation Isolation
	ReadOnly  bool
	// LockTimeout is how long a write or lock waits for a row; 0: as lock_timeout_ms says. It is
	// shortened to the deadline of the context.
	LockTimeout time.Duration
	Snapshot    *Snapshot // the moment that it reads; nil: the present one
	// Durability is that of the commit; Txn.Commit may say otherwise.
	Durability Durability
	// Retries is how often Update begins again after a conflict or a deadlock; 0: DefaultRetries;
	// below 0: never.
	Retries int
}

// txnHandle is a transaction that is open; h is nil when it has ended. The guard is that of the
// outermost one, since all that is nested goes with it.
type txnHandle struct {
	guard *exclusive
	h     *C.hawthorn_txn
	db    *core
	outer *txnHandle
	ended func() // lets go of the thread of an exclusive one; may be nil
}

func newTxnHandle(h *C.hawthorn_txn, db *core, outer *txnHandle) *txnHandle {
	t := &txnHandle{h: h, db: db, outer: outer}
	if outer != nil {
		t.guard = outer.guard
	} else {
		t.guard = &exclusive{}
	}
	db.held.Add(1)
	runtime.SetFinalizer(t, func(t *txnHandle) { t.guard.release(t.free) })
	return t
}

// free aborts what is open, unless it is prepared. Under the guard.
func (t *txnHandle) free() {
	if t.h == nil {
		return
	}
	C.hawthorn_txn_free(t.h)
	t.h = nil
	t.db.held.Add(-1)
	if t.ended != nil {
		t.ended()
	}
}

// Txn is a transaction: reads and writes that are committed together. Reads see its own writes. It is
// for one goroutine at a time, with its cursors and nested transactions. It ends with Commit or Abort;
// one that the garbage collector finds is aborted, unless it is prepared.
type Txn struct {
	writer
	durability Durability
}

// Begin begins a transaction; it goes with the context of the DB.
//
// While an exclusive one is open all other commits wait for it: so its goroutine must not write
// but by it, which would wait for ever. Within Update, that gives ErrInvalidArgument.
//
// Errors: ErrReadOnly; ErrBusy when four million are open; ErrTimedOut of exclusive ones; the
// context's.
func (db *DB) Begin(options ...TxnOptions) (*Txn, error) {
	var o TxnOptions
	if len(options) > 0 {
		o = options[0]
	}
	if o.Mode != Exclusive {
		return db.beginHere(o, nil)
	}
	// The library takes it that a thread with an exclusive transaction does nothing else: so one
	// stands by until the end, on which no other goroutine can come to run.
	type result struct {
		txn *Txn
		err error
	}
	begun := make(chan result)
	ended := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		txn, err := db.beginHere(o, func() { close(ended) })
		begun <- result{txn, err}
		if txn = nil; err == nil {
			<-ended
		}
	}()
	r := <-begun
	return r.txn, r.err
}

func (db *DB) beginHere(o TxnOptions, ended func()) (*Txn, error) {
	c := C.hawthorn_txn_options{
		struct_size: C.sizeof_hawthorn_txn_options,
		mode:        C.hawthorn_txn_mode(o.Mode),
		isolation:   C.hawthorn_isolation(o.Isolation),
		read_only:   boolInt(o.ReadOnly),
	}
	if timeout, ok := db.lockTimeout(o.LockTimeout); ok {
		c.has_lock_timeout, c.lock_timeout_ms = 1, C.uint64_t(timeout)
	}
	if o.Snapshot != nil {
		if !o.Snapshot.s.enter() {
			return nil, errSnapshotClosed
		}
		defer o.Snapshot.s.leave()
		c.snapshot = o.Snapshot.s.h
	}
	var h *C.hawthorn_txn
	err := db.call(func(d *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_txn_begin(d, &c, &h, e)
	})
	if err != nil {
		return nil, db.fault(err)
	}
	t := newTxnHandle(h, db.db, nil)
	t.ended = ended
	return &Txn{writer{reader{db: db.db, txn: t, ctx: db.ctx}}, o.Durability}, nil
}

// lockTimeout is how long a lock may be waited for, in milliseconds; false: as the options say. A
// deadline that comes earlier than an unknown time of the options may is taken instead.
func (r *reader) lockTimeout(asked time.Duration) (uint64, bool) {
	if r.ctx != nil {
		if deadline, ok := r.ctx.Deadline(); ok {
			left := time.Until(deadline)
			if asked == 0 && left < time.Second || asked > left {
				return milliseconds(left), true
			}
		}
	}
	return milliseconds(asked), asked != 0
}

// Update runs a function with a transaction and commits it, if the function returned nil; else it
// aborts, and returns what that returned. Where the function or the commit meets a conflict or a
// deadlock, it aborts and begins again after a moment, so the function must not change what is
// outside. A panic aborts, and goes on.
//
// Errors: those of the function, of Begin and Commit; ErrConflict after too many retries.
func (db *DB) Update(f func(txn *Txn) error, options ...TxnOptions) error {
	retries := DefaultRetries
	if len(options) > 0 && options[0].Retries != 0 {
		retries = options[0].Retries
	}
	for round := 0; ; round++ {
		err := db.try(f, options)
		if !IsRetryable(err) || round >= retries {
			return err
		}
		if err := db.pause(round); err != nil {
			return err
		}
	}
}

func (db *DB) try(f func(txn *Txn) error, options []TxnOptions) error {
	var o TxnOptions
	if len(options) > 0 {
		o = options[0]
	}
	if o.Mode == Exclusive { // see Begin: here its own goroutine stands by
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	txn, err := db.beginHere(o, nil)
	if err != nil {
		return err
	}
	defer txn.Abort() // does nothing behind a commit
	if err := f(txn); err != nil {
		return err
	}
	return txn.Commit()
}

// pause waits before a transaction is tried again: the longer the more often it was, up to 20 ms.
func (db *DB) pause(round int) error {
	if round > 10 {
		round = 10
	}
	longest := 20 * time.Microsecond << round
	timer := time.NewTimer(time.Duration(rand.Int63n(int64(longest)) + 1))
	defer timer.Stop()
	var done <-chan struct{}
	if db.ctx != nil {
		done = db.ctx.Done()
	}
	select {
	case <-timer.C:
		return nil
	case <-done:
		return db.ctx.Err()
	}
}

// Commit commits, with the durability of its options or the one that is given here. The transaction
// has ended in every case, but a prepared one, which stays with ErrNoSpace, ErrReadOnly and ErrIO.
// Where its context is done it is aborted, unless it is prepared.
//
// Errors: ErrConflict: nothing was written; ErrUnknownOutcome when the sync failed; the context's.
func (t *Txn) Commit(durability ...Durability) error {
	level := t.durability
	if len(durability) > 0 {
		level = durability[0]
	}
	a, err := t.begin()
	if err != nil {
		if t.ctx != nil && t.ctx.Err() != nil {
			_ = t.Abort()
		}
		return err
	}
	defer t.end()
	var e *C.hawthorn_error
	err = failure(C.hawthorn_txn_commit(a.txn, C.hawthorn_durability(level), &e), e)
	t.ended(a)
	return t.fault(err)
}

// ended frees the handle of a transaction that is not open any more.
func (t *Txn) ended(a access) {
	if C.hawthorn_txn_is_open(a.txn) == 0 {
		t.txn.free()
	}
}

// Abort ends the transaction; nothing of it remains. One that has ended is left alone: so it may be
// deferred. It does not ask the context.
func (t *Txn) Abort() error {
	r := t.reader
	r.ctx = nil
	a, err := r.begin()
	if errors.Is(err, errTxnEnded) || errors.Is(err, ErrClosed) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.end()
	var e *C.hawthorn_error
	err = failure(C.hawthorn_txn_abort(a.txn, &e), e)
	t.ended(a)
	return err
}

// IsOpen tells whether neither Commit nor Abort has ended it.
func (t *Txn) IsOpen() bool {
	r := t.reader
	r.ctx = nil
	a, err := r.begin()
	if err != nil {
		return errors.Is(err, ErrBusy)
	}
	defer r.end()
	return C.hawthorn_txn_is_open(a.txn) != 0
}

// BeginNested begins a transaction inside of this one, which can be used again when that has ended.
// Its commit leaves its writes to the outer one, its abort undoes them.
func (t *Txn) BeginNested() (*Txn, error) {
	a, err := t.begin()
	if err != nil {
		return nil, err
	}
	defer t.end()
	var h *C.hawthorn_txn
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_txn_begin_nested(a.txn, &h, &e), e); err != nil {
		return nil, err
	}
	inner := newTxnHandle(h, t.db, t.txn)
	return &Txn{writer{reader{db: t.db, txn: inner, ctx: t.ctx}}, DurabilityDefault}, nil
}

// Nested runs a function with a nested transaction, which is committed if that returns nil, and else
// aborted: then all that it wrote is undone, and its error returned.
func (t *Txn) Nested(f func(inner *Txn) error) error {
	inner, err := t.BeginNested()
	if err != nil {
		return err
	}
	defer inner.Abort()
	if err := f(inner); err != nil {
		return err
	}
	return inner.Commit()
}

// Savepoint is a moment of a transaction to roll back to.
type Savepoint struct {
	made C.hawthorn_savepoint
}

func (t *Txn) savepointCall(f func(h *C.hawthorn_txn, e **C.hawthorn_error) C.hawthorn_code) error {
	return t.do(func(a access, e **C.hawthorn_error) C.hawthorn_code { return f(a.txn, e) })
}

// Savepoint marks this moment.
func (t *Txn) Savepoint() (Savepoint, error) {
	var s Savepoint
	err := t.savepointCall(func(h *C.hawthorn_txn, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_txn_savepoint(h, &s.made, e)
	})
	return s, err
}

// RollbackTo undoes all writes and locks since; the savepoint stays, later ones are gone.
//
// Errors: ErrInvalidArgument for one that is gone, or of another transaction.
func (t *Txn) RollbackTo(s Savepoint) error {
	return t.savepointCall(func(h *C.hawthorn_txn, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_txn_rollback_to(h, &s.made, e)
	})
}

// Release forgets a savepoint, and later ones; what was written stays. Errors: as RollbackTo.
func (t *Txn) Release(s Savepoint) error {
	return t.savepointCall(func(h *C.hawthorn_txn, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_txn_release(h, &s.made, e)
	})
}

// Prepare makes what was written durable under an id of 1 to 200 bytes: the first half of a commit in
// two phases. The transaction stays prepared, over restarts, until it is committed or aborted, here
// or by its id.
//
// Errors: ErrConflict, ErrTimedOut, ErrDeadlock, ErrNotSupported: it is open as before; ErrNoSpace,
// ErrReadOnly, ErrIO: only Abort is left; ErrUnknownOutcome.
func (t *Txn) Prepare(id string) error {
	n := []byte(id)
	return t.savepointCall(func(h *C.hawthorn_txn, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_txn_prepare(h, key(n), size(n), e)
	})
}

// Prepared is a transaction that was prepared.
type Prepared struct {
	ID         string
	Operations uint64
	Timestamp  uint64
	At         time.Time
}

// Prepared lists the transactions that are prepared.
func (db *DB) Prepared() ([]Prepared, error) {
	rows, err := db.records(func(h *C.hawthorn_db, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_prepared(h, out, e)
	})
	var list []Prepared
	for _, row := range rows {
		list = append(list, Prepared{row.Text("id"), row.Number("operations"),
			row.Number("timestamp"), time.UnixMicro(int64(row.Number("prepared_at_us")))})
	}
	return list, err
}

// CommitPrepared commits one by its id. Errors: ErrNotFound; as Txn.Commit.
func (db *DB) CommitPrepared(id string, durability Durability) error {
	n := []byte(id)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_commit_prepared(h, key(n), size(n), C.hawthorn_durability(durability), e)
	})
}

// RollbackPrepared aborts one by its id. Durable when it returns. Errors: ErrNotFound.
func (db *DB) RollbackPrepared(id string) error {
	n := []byte(id)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_rollback_prepared(h, key(n), size(n), e)
	})
}

// GetForUpdate reads a key that is to be written: nobody else writes it before this transaction ends,
// or its commit conflicts.
func (t *Txn) GetForUpdate(tree *Tree, k []byte) ([]byte, bool, error) {
	a, err := t.begin()
	if err != nil {
		return nil, false, err
	}
	defer t.end()
	defer runtime.KeepAlive(tree)
	buffer := scratch.Get().(*[]byte)
	defer scratch.Put(buffer)
	value, found, err := copied(C.hw_get_for_update(a.txn, tree.handle(), key(k), size(k),
		ptr(*buffer), size(*buffer)), *buffer)
	return value, found, t.fault(err)
}

// Lock locks a row, there or not, until a pessimistic transaction ends. A timeout of 0 is that of the
// transaction; it is shortened to the deadline of the context.
//
// Errors: ErrTimedOut; ErrDeadlock; ErrConflict; ErrInvalidArgument in other modes.
func (t *Txn) Lock(tree *Tree, k []byte, lock RowLock, timeout time.Duration) error {
	defer runtime.KeepAlive(tree)
	ms, ok := t.lockTimeout(timeout)
	if !ok {
		ms = ^uint64(0) // HAWTHORN_TIMEOUT_DEFAULT
	}
	return t.do(func(a access, e **C.hawthorn_error) C.hawthorn_code {
		r := C.hw_lock(a.txn, tree.handle(), key(k), size(k), C.uint32_t(lock), C.uint64_t(ms))
		*e = r.error
		return r.code
	})
}

// writeStream has the library read size bytes of a value from r, during the call.
func (t *Txn) writeStream(kind C.int, tree *Tree, k []byte, offset, n uint64,
	r io.Reader) (uint64, error) {
	if r == nil {
		return 0, newError(ErrInvalidArgument, "the reader is nil")
	}
	a, err := t.begin()
	if err != nil {
		return 0, err
	}
	defer t.end()
	defer runtime.KeepAlive(tree)
	s := &stream{reader: r}
	var res C.hw_result
	during(s, func(context C.uintptr_t) {
		res = C.hw_write_stream(a.txn, kind, tree.handle(), key(k), size(k), C.uint64_t(offset),
			C.uint64_t(n), context)
	})
	return uint64(res.number), t.fault(s.failed(outcome(res)))
}

// PutStream writes a value of up to 4 GB, of which r gives the size bytes. Errors: also those of r,
// which must not use the transaction, and ErrInvalidArgument where it ends early.
func (t *Txn) PutStream(tree *Tree, k []byte, size uint64, r io.Reader) error {
	_, err := t.writeStream(C.HW_STREAM_PUT, tree, k, 0, size, r)
	return err
}

// WritePartStream is WritePart of size bytes that r gives.
func (t *Txn) WritePartStream(tree *Tree, k []byte, offset, size uint64, r io.Reader) error {
	_, err := t.writeStream(C.HW_STREAM_PART, tree, k, offset, size, r)
	return err
}

// AppendStream is Append of size bytes that r gives.
func (t *Txn) AppendStream(tree *Tree, k []byte, size uint64, r io.Reader) (uint64, error) {
	return t.writeStream(C.HW_STREAM_APPEND, tree, k, 0, size, r)
}

// WithContext returns the same transaction for calls that go with another context.
func (t *Txn) WithContext(ctx context.Context) *Txn {
	return &Txn{writer{reader{db: t.db, txn: t.txn, ctx: ctx}}, t.durability}
}
