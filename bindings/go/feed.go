package hawthorn

/*
#include "callbacks.h"
*/
import "C"

import (
	"context"
	"runtime"
	"time"
	"unsafe"
)

// FeedLogDefault, for CreateFeed, is the library's limit of the log: 4 GB.
const FeedLogDefault = ^uint64(0)

// FeedInfo tells of a feed that has a name.
type FeedInfo struct {
	Name        string
	Position    uint64 // what was acknowledged
	Created     time.Time
	LogBytesMax uint64
	LogBytes    uint64
	Lost        bool // its log was longer than that
	Open        bool
}

// CreateFeed makes a feed behind the present moment, durably. logBytesMax is how much log may be kept
// for it; 0: no limit.
//
// Errors: ErrInvalidArgument for a name that is taken, or not of 1 to 255 bytes; ErrNoSpace;
// ErrReadOnly; ErrNotSupported beside trees that may hang in trees.
func (db *DB) CreateFeed(name string, logBytesMax uint64) error {
	n := []byte(name)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_create_feed(h, key(n), size(n), C.uint64_t(logBytesMax), e)
	})
}

// DropFeed removes a feed. Errors: ErrNotFound; ErrBusy for one that is open.
func (db *DB) DropFeed(name string) error {
	n := []byte(name)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_drop_feed(h, key(n), size(n), e)
	})
}

// Feeds lists the feeds that have names.
func (db *DB) Feeds() ([]FeedInfo, error) {
	rows, err := db.records(func(h *C.hawthorn_db, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_list_feeds(h, out, e)
	})
	var list []FeedInfo
	for _, row := range rows {
		list = append(list, FeedInfo{row.Text("name"), row.Number("position"),
			time.UnixMicro(int64(row.Number("created_us"))), row.Number("log_bytes_max"),
			row.Number("log_bytes"), row.Flag("lost"), row.Flag("open")})
	}
	return list, err
}

// Feed delivers what was committed, commit by commit, when it is durable, and at least once:
//
//	for {
//		found, err := feed.Next(time.Second)
//		...
//		for change, err := feed.NextChange(); change != nil; change, err = feed.NextChange() {
//			...
//		}
//		err = feed.Acknowledge(feed.Timestamp())
//	}
//
// It is for one goroutine at a time. Calls go with the context of the DB that it was opened by.
type Feed struct {
	s   *single
	h   *C.hawthorn_feed
	ctx context.Context
}

func (db *DB) newFeed(f func(d *C.hawthorn_db, out **C.hawthorn_feed,
	e **C.hawthorn_error) C.hawthorn_code) (*Feed, error) {
	var h *C.hawthorn_feed
	err := db.call(func(d *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return f(d, &h, e)
	})
	if err != nil {
		return nil, err
	}
	return &Feed{newSingle(db.db, "the feed", func() { C.hawthorn_feed_free(h) }), h, db.ctx}, nil
}

// OpenFeed reads a feed from its position on. Errors: ErrNotFound; ErrBusy when it is open;
// ErrTooOld where it is lost.
func (db *DB) OpenFeed(name string) (*Feed, error) {
	n := []byte(name)
	return db.newFeed(func(d *C.hawthorn_db, out **C.hawthorn_feed,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_feed_open(d, key(n), size(n), out, e)
	})
}

// OpenFeedAt reads behind any timestamp, for which nothing is kept. Errors: ErrTooOld.
func (db *DB) OpenFeedAt(position uint64) (*Feed, error) {
	return db.newFeed(func(d *C.hawthorn_db, out **C.hawthorn_feed,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_feed_open_at(d, C.uint64_t(position), out, e)
	})
}

// Close lets go of it; its position stays. To close one twice is no error.
func (f *Feed) Close() error {
	f.s.close()
	return nil
}

func (f *Feed) call(do func(e **C.hawthorn_error) C.hawthorn_code) error {
	if err := ctxErr(f.ctx); err != nil {
		return err
	}
	if err := f.s.begin(); err != nil {
		return err
	}
	defer f.s.end()
	var e *C.hawthorn_error
	return failure(do(&e), e)
}

// number is a number of the feed; 0 when it was closed.
func (f *Feed) number(get func(h *C.hawthorn_feed) C.uint64_t) (n uint64) {
	if f.s.begin() == nil {
		n = uint64(get(f.h))
		f.s.end()
	}
	return n
}

// Position is what was acknowledged.
func (f *Feed) Position() uint64 {
	return f.number(func(h *C.hawthorn_feed) C.uint64_t { return C.hawthorn_feed_position(h) })
}

// Timestamp is that of the commit on which it stands; 0 where there is none.
func (f *Feed) Timestamp() uint64 {
	return f.number(func(h *C.hawthorn_feed) C.uint64_t { return C.hawthorn_feed_commit_timestamp(h) })
}

// Previous is the timestamp of the commit that was delivered before; 0 where there is none.
func (f *Feed) Previous() uint64 {
	return f.number(func(h *C.hawthorn_feed) C.uint64_t { return C.hawthorn_feed_commit_previous(h) })
}

// SourceID is the database's ID; empty when it was closed.
func (f *Feed) SourceID() (id string) {
	if f.s.begin() == nil {
		id = C.GoString(C.hawthorn_feed_source_id(f.h))
		f.s.end()
	}
	return id
}

// feedSlice is how long a wait goes on before the context is looked at again.
const feedSlice = 50 * time.Millisecond

// Next goes to the next commit; false: none came within the time. Below 0 it waits until there is
// one. Errors: ErrTooOld; ErrNotSupported for a bulk ingest, behind OpenFeedAt alone; the context's.
func (f *Feed) Next(timeout time.Duration) (bool, error) {
	deadline := time.Now().Add(timeout)
	for {
		wait := feedSlice
		left := time.Until(deadline)
		if timeout >= 0 && left < wait {
			wait = left
		}
		var found C.int
		err := f.call(func(e **C.hawthorn_error) C.hawthorn_code {
			return C.hawthorn_feed_next(f.h, C.uint64_t(milliseconds(wait)), &found, e)
		})
		if err != nil || found != 0 {
			return found != 0, err
		}
		if timeout >= 0 && !time.Now().Before(deadline) {
			return false, nil
		}
	}
}

// ChangeType is what a change does.
type ChangeType uint32

// The kinds of changes.
const (
	ChangePut         ChangeType = C.HAWTHORN_CHANGE_PUT          // Key, Value, ExpiresAt
	ChangeDelete      ChangeType = C.HAWTHORN_CHANGE_DELETE       // Key
	ChangeDeleteValue ChangeType = C.HAWTHORN_CHANGE_DELETE_VALUE // Key, Value
	ChangeMerge       ChangeType = C.HAWTHORN_CHANGE_MERGE        // Key, Value: an operand
	ChangeDeleteRange ChangeType = C.HAWTHORN_CHANGE_DELETE_RANGE // Key, High (nil: to the end)
	ChangeCreateTree  ChangeType = C.HAWTHORN_CHANGE_CREATE_TREE
	ChangeDropTree    ChangeType = C.HAWTHORN_CHANGE_DROP_TREE
	ChangeRenameTree  ChangeType = C.HAWTHORN_CHANGE_RENAME_TREE // OtherName: the new one
	ChangeCloneTree   ChangeType = C.HAWTHORN_CHANGE_CLONE_TREE  // OtherName: what it copies
)

// Change is a change of a commit; its bytes are the caller's.
type Change struct {
	Type       ChangeType
	TreeID     uint32
	Streamed   bool // the value is to be read by Feed.ReadValue
	TreeName   string
	Key        []byte
	Value      []byte // empty where it is streamed
	High       []byte
	OtherName  string
	ExpiresAt  time.Time // the zero time: never
	ValueBytes uint64    // also of a value that is streamed
}

// NextChange returns the next change of the commit, in the order in which they were made; nil where
// none is left. Errors: ErrInvalidArgument where there is no commit; ErrTooOld.
func (f *Feed) NextChange() (change *Change, err error) {
	c := C.hawthorn_change{struct_size: C.sizeof_hawthorn_change}
	var found C.int
	err = f.call(func(e **C.hawthorn_error) C.hawthorn_code {
		code := C.hawthorn_feed_next_change(f.h, &c, &found, e)
		if code == C.HAWTHORN_OK && found != 0 { // valid until the next call of the feed
			change = &Change{
				Type: ChangeType(c._type), TreeID: uint32(c.tree_id), Streamed: c.streamed != 0,
				TreeName: string(view(unsafe.Pointer(c.tree_name), c.tree_name_size)),
				Key:      clone(view(c.key, c.key_size)), Value: clone(view(c.value, c.value_size)),
				OtherName: string(view(unsafe.Pointer(c.other_name), c.other_name_size)),
				ExpiresAt: moment(uint64(c.expires_at_ms)), ValueBytes: uint64(c.value_bytes),
			}
			if c.high != nil {
				change.High = clone(view(c.high, c.high_size))
			}
		}
		return code
	})
	return change, err
}

// ChangeTree tells of the change's tree as it was then: id, name, order, value_order, multi_value,
// expires, ttl_ms, subtrees, compression, merge_operator.
func (f *Feed) ChangeTree() (Record, error) {
	var list *C.hawthorn_records
	err := f.call(func(e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_feed_change_tree(f.h, &list, e)
	})
	if err != nil {
		return nil, err
	}
	return takeRecord(list), nil
}

// ReadValue reads a part of the value of a change that is streamed, and returns how much that was.
func (f *Feed) ReadValue(offset uint64, buffer []byte) (int, error) {
	var r C.hw_result
	err := f.call(func(e **C.hawthorn_error) C.hawthorn_code {
		r = C.hw_feed_read_value(f.h, C.uint64_t(offset), key(buffer), size(buffer))
		*e = r.error
		return r.code
	})
	return int(r.size), err
}

// Encode returns, in place of NextChange, the next piece of the commit as bytes, for
// Replica.ApplyPieces elsewhere; nil behind the last.
func (f *Feed) Encode() (piece []byte, err error) {
	var data unsafe.Pointer
	var n C.size_t
	var found C.int
	err = f.call(func(e **C.hawthorn_error) C.hawthorn_code {
		code := C.hawthorn_feed_encode(f.h, &data, &n, &found, e)
		if code == C.HAWTHORN_OK && found != 0 {
			piece = clone(view(data, n))
		}
		return code
	})
	return piece, err
}

// Acknowledge says that commits up to this timestamp are not needed any more, durably.
//
// Errors: ErrInvalidArgument for one that was not delivered, and of feeds without a name; ErrTooOld.
func (f *Feed) Acknowledge(timestamp uint64) error {
	return f.call(func(e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_feed_acknowledge(f.h, C.uint64_t(timestamp), e)
	})
}

// Replica keeps a database equal to another one by a feed of that. It is for one goroutine at a time.
type Replica struct {
	s *single
	h *C.hawthorn_replica
}

// OpenReplica makes a database that is one already, or holds no tree, a replica.
// Errors: ErrInvalidArgument; ErrReadOnly.
func OpenReplica(target *DB) (*Replica, error) {
	if target == nil {
		return nil, newError(ErrInvalidArgument, "the target is nil")
	}
	var h *C.hawthorn_replica
	err := target.call(func(d *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_replica_open(d, &h, e)
	})
	if err != nil {
		return nil, err
	}
	return &Replica{newSingle(target.db, "the replica", func() { C.hawthorn_replica_free(h) }), h}, nil
}

// Close lets go of it. To close one twice is no error.
func (r *Replica) Close() error {
	r.s.close()
	return nil
}

func (r *Replica) call(do func(e **C.hawthorn_error) C.hawthorn_code) error {
	if err := r.s.begin(); err != nil {
		return err
	}
	defer r.s.end()
	var e *C.hawthorn_error
	return failure(do(&e), e)
}

// Copy makes the first copy, after the feed was made.
func (r *Replica) Copy(source *DB) error {
	if source == nil {
		return newError(ErrInvalidArgument, "the source is nil")
	}
	a, err := source.begin()
	if err != nil {
		return err
	}
	defer source.end()
	return r.call(func(e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_replica_copy(r.h, a.db, e)
	})
}

// BeginAt is in place of Copy, where the program has brought a copy here by other means.
func (r *Replica) BeginAt(sourceID string, timestamp uint64) error {
	id := []byte(sourceID)
	return r.call(func(e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_replica_begin_at(r.h, key(id), size(id), C.uint64_t(timestamp), e)
	})
}

// Position is up to where it holds all commits of the source; 0: no copy yet.
func (r *Replica) Position() (n uint64) {
	_ = r.call(func(**C.hawthorn_error) C.hawthorn_code {
		n = uint64(C.hawthorn_replica_position(r.h))
		return C.HAWTHORN_OK
	})
	return n
}

// SourceID is the source's ID; empty: no copy yet.
func (r *Replica) SourceID() (id string) {
	_ = r.call(func(**C.hawthorn_error) C.hawthorn_code {
		id = C.GoString(C.hawthorn_replica_source_id(r.h))
		return C.HAWTHORN_OK
	})
	return id
}

// Apply applies the commit on which the feed stands, or passes over it where it is there already.
//
// Errors: ErrInvalidArgument where there is none, for one of another source, or behind a gap; those
// of writes.
func (r *Replica) Apply(feed *Feed, durability Durability) error {
	if feed == nil {
		return newError(ErrInvalidArgument, "the feed is nil")
	}
	return feed.call(func(fe **C.hawthorn_error) C.hawthorn_code {
		if err := r.s.begin(); err != nil {
			*fe = libraryError(err)
			return C.hawthorn_error_code(*fe)
		}
		defer r.s.end()
		return C.hawthorn_replica_apply(r.h, feed.h, C.hawthorn_durability(durability), fe)
	})
}

// ApplyPieces is Apply of a commit whose pieces, those of Feed.Encode, a function returns one by one.
// Errors: also ErrCorruption; those of the function.
func (r *Replica) ApplyPieces(next func() ([]byte, error), durability Durability) error {
	if next == nil {
		return newError(ErrInvalidArgument, "the function is nil")
	}
	if err := r.s.begin(); err != nil {
		return err
	}
	defer r.s.end()
	s := &pieceSource{next: next}
	defer func() { C.free(s.last) }()
	var err error
	during(s, func(context C.uintptr_t) {
		err = outcome(C.hw_apply_pieces(r.h, context, C.uint32_t(durability)))
	})
	if err != nil && s.err != nil {
		return s.err
	}
	return err
}

// Follower reads a database beside the process that writes it. Any number of goroutines may use it.
type Follower struct {
	f *followerHandle
}

type followerHandle struct {
	shared
	h *C.hawthorn_follower
}

var errFollowerClosed = newError(ErrClosed, "the follower was closed")

// OpenFollower opens one. Of the options these count: memory_budget_bytes, io_mode, merge operators,
// orders, encryption, log.
//
// Errors: ErrNotFound; ErrPermissionDenied; ErrReadOnly; ErrBusy when 128 views are there;
// ErrNotSupported; ErrOutOfMemory; those of Open.
func OpenFollower(path string, options ...Option) (*Follower, error) {
	o, err := makeOptions(options)
	if err != nil {
		return nil, err
	}
	defer C.hawthorn_options_free(o)
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	f := &followerHandle{}
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_follower_open(p, o, &f.h, &e), e); err != nil {
		return nil, err
	}
	h := f.h
	f.free = func() { C.hawthorn_follower_free(h) }
	runtime.SetFinalizer(f, func(f *followerHandle) { f.shared.close() })
	return &Follower{f}, nil
}

// Close lets go of it; views stay until they are closed. To close one twice is no error.
func (f *Follower) Close() error {
	f.f.shared.close()
	return nil
}

func (f *Follower) call(do func(h *C.hawthorn_follower, e **C.hawthorn_error) C.hawthorn_code) error {
	if !f.f.enter() {
		return errFollowerClosed
	}
	defer f.f.leave()
	var e *C.hawthorn_error
	return failure(do(f.f.h, &e), e)
}

// Refresh has views show, when it returns, at least all that was committed before the call.
func (f *Follower) Refresh() error {
	return f.call(func(h *C.hawthorn_follower, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_follower_refresh(h, e)
	})
}

// Rebuild is Refresh by a new view in any case.
func (f *Follower) Rebuild() error {
	return f.call(func(h *C.hawthorn_follower, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_follower_rebuild(h, e)
	})
}

// View returns the newest view: a database that is read-only. It stays as it is until it is closed.
func (f *Follower) View() (*DB, error) {
	return f.view(func(h *C.hawthorn_follower, out **C.hawthorn_db,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_follower_view(h, out, e)
	})
}

// Latest is a Refresh, and the view then.
func (f *Follower) Latest() (*DB, error) {
	return f.view(func(h *C.hawthorn_follower, out **C.hawthorn_db,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_follower_latest(h, out, e)
	})
}

func (f *Follower) view(do func(h *C.hawthorn_follower, out **C.hawthorn_db,
	e **C.hawthorn_error) C.hawthorn_code) (*DB, error) {
	var d *C.hawthorn_db
	err := f.call(func(h *C.hawthorn_follower, e **C.hawthorn_error) C.hawthorn_code {
		return do(h, &d, e)
	})
	if err != nil {
		return nil, err
	}
	return newDB(newCore(d, true), nil), nil
}
