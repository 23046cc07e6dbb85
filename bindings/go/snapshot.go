package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"runtime"
	"time"
)

// snapHandle is a snapshot that is open.
type snapHandle struct {
	shared
	h  *C.hawthorn_snapshot
	db *core
}

// Snapshot is a fixed view of all trees. Any number of goroutines may read it. It blocks nobody, but
// keeps old versions until it is closed.
type Snapshot struct {
	reader
	s *snapHandle
}

func newSnapshot(h *C.hawthorn_snapshot, db *core, ctx context.Context) *Snapshot {
	s := &snapHandle{h: h, db: db}
	s.free = func() {
		C.hawthorn_snapshot_free(h)
		db.held.Add(-1)
	}
	db.held.Add(1)
	runtime.SetFinalizer(s, func(s *snapHandle) { s.shared.close() })
	return &Snapshot{reader{db: db, snap: s, ctx: ctx}, s}
}

// Snapshot takes one of the newest commit.
func (db *DB) Snapshot() (*Snapshot, error) {
	var h *C.hawthorn_snapshot
	err := db.call(func(d *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_snapshot(d, &h, e)
	})
	if err != nil {
		return nil, err
	}
	return newSnapshot(h, db.db, db.ctx), nil
}

// View runs a function with a snapshot, which it closes afterwards, and returns what that returned.
func (db *DB) View(f func(snap *Snapshot) error) error {
	snap, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	return f(snap)
}

// Close lets go of the view, when the reads that run and the cursors that were opened in it have
// ended. To close one twice is no error.
func (s *Snapshot) Close() error {
	s.s.shared.close()
	return nil
}

// WithContext returns the same snapshot for calls that go with a context, as DB.WithContext.
func (s *Snapshot) WithContext(ctx context.Context) *Snapshot {
	return &Snapshot{reader{db: s.db, snap: s.s, ctx: ctx}, s.s}
}

// Timestamp is that of the commit that it shows; 0 when it was closed.
func (s *Snapshot) Timestamp() uint64 {
	if !s.s.enter() {
		return 0
	}
	defer s.s.leave()
	return uint64(C.hawthorn_snapshot_timestamp(s.s.h))
}

// Now is the moment for it: entries that end up to here have ended. The zero time where no tree has
// entries that end, and when it was closed.
func (s *Snapshot) Now() time.Time {
	if !s.s.enter() {
		return time.Time{}
	}
	defer s.s.leave()
	return moment(uint64(C.hawthorn_snapshot_now_ms(s.s.h)))
}

// NamedSnapshot is a snapshot that stays over restarts until it is dropped.
type NamedSnapshot struct {
	Name      string
	Timestamp uint64
	Created   time.Time
}

// CreateSnapshot gives the newest commit a name. Durable when it returns.
//
// Errors: ErrInvalidArgument for a name that is taken or not of 1 to 255 bytes; ErrNoSpace;
// ErrReadOnly.
func (db *DB) CreateSnapshot(name string) error {
	n := []byte(name)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_create_snapshot(h, key(n), size(n), e)
	})
}

// OpenSnapshot opens one by its name. Errors: ErrNotFound.
func (db *DB) OpenSnapshot(name string) (*Snapshot, error) {
	n := []byte(name)
	var h *C.hawthorn_snapshot
	err := db.call(func(d *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_open_snapshot(d, key(n), size(n), &h, e)
	})
	if err != nil {
		return nil, err
	}
	return newSnapshot(h, db.db, db.ctx), nil
}

// DropSnapshot takes the name away. Durable when it returns. Errors: ErrNotFound; ErrReadOnly.
func (db *DB) DropSnapshot(name string) error {
	n := []byte(name)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_drop_snapshot(h, key(n), size(n), e)
	})
}

// Snapshots lists those that have names.
func (db *DB) Snapshots() ([]NamedSnapshot, error) {
	rows, err := db.records(func(h *C.hawthorn_db, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_list_snapshots(h, out, e)
	})
	var list []NamedSnapshot
	for _, row := range rows {
		list = append(list, NamedSnapshot{row.Text("name"), row.Number("timestamp"),
			time.UnixMicro(int64(row.Number("created_us")))})
	}
	return list, err
}
