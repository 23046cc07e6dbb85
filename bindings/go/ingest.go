package hawthorn

/*
#include "callbacks.h"
*/
import "C"

import (
	"io"
	"runtime"
)

// IngestOptions says how entries are loaded.
type IngestOptions struct {
	Unsorted        bool // keys come in any order, and are sorted
	Durability      Durability
	SortMemoryBytes uint64 // out of the budget; 0: an eighth of it
}

// Ingest puts many entries straight into the data files of a tree, in one commit. It is for one
// goroutine at a time. The first error is final: all later calls repeat it.
type Ingest struct {
	s *single
	h *C.hawthorn_ingest
}

// Ingest begins one. Nothing of it is there before Finish.
func (db *DB) Ingest(tree *Tree, options ...IngestOptions) (*Ingest, error) {
	c := C.hawthorn_ingest_options{struct_size: C.sizeof_hawthorn_ingest_options}
	if len(options) > 0 {
		c.unsorted = boolInt(options[0].Unsorted)
		c.durability = C.hawthorn_durability(options[0].Durability)
		c.sort_memory_bytes = C.uint64_t(options[0].SortMemoryBytes)
	}
	defer runtime.KeepAlive(tree)
	var h *C.hawthorn_ingest
	err := db.call(func(d *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_ingest(d, tree.handle(), &c, &h, e)
	})
	if err != nil {
		return nil, err
	}
	return &Ingest{newSingle(db.db, "the ingest", func() { C.hawthorn_ingest_free(h) }), h}, nil
}

// Add adds an entry. Errors: ErrInvalidArgument for a key out of order, for sizes, and behind Finish;
// ErrNoSpace; ErrOutOfMemory.
func (i *Ingest) Add(k, value []byte) error {
	if err := i.s.begin(); err != nil {
		return err
	}
	defer i.s.end()
	return outcome(C.hw_ingest_add(i.h, key(k), size(k), key(value), size(value)))
}

// AddColumns adds an entry for each row, in one call of the library. Errors: as Add.
func (i *Ingest) AddColumns(c *Columns) error {
	if err := checkRows(c); err != nil || c.Rows() == 0 {
		return err
	}
	if err := i.s.begin(); err != nil {
		return err
	}
	defer i.s.end()
	return outcome(C.hw_ingest_columns(i.h, C.size_t(c.Rows()), key(c.Keys.Bytes),
		size(c.Keys.Bytes), offsets(c.Keys.Offsets), key(c.Values.Bytes), size(c.Values.Bytes),
		offsets(c.Values.Offsets)))
}

// AddStream adds an entry of which r gives the size bytes. Errors: as Add, and those of r.
func (i *Ingest) AddStream(k []byte, n uint64, r io.Reader) error {
	if r == nil {
		return newError(ErrInvalidArgument, "the reader is nil")
	}
	if err := i.s.begin(); err != nil {
		return err
	}
	defer i.s.end()
	s := &stream{reader: r}
	var err error
	during(s, func(context C.uintptr_t) {
		err = outcome(C.hw_ingest_stream(i.h, key(k), size(k), C.uint64_t(n), context))
	})
	return s.failed(err)
}

// Finish commits all entries at one moment. Errors: as Add; ErrTimedOut; ErrUnknownOutcome.
func (i *Ingest) Finish() error {
	if err := i.s.begin(); err != nil {
		return err
	}
	defer i.s.end()
	var e *C.hawthorn_error
	return failure(C.hawthorn_ingest_finish(i.h, &e), e)
}

// Stats tells what was done: entries, entries_attached, entries_logged, containers, bytes_written.
func (i *Ingest) Stats() (Record, error) {
	if err := i.s.begin(); err != nil {
		return nil, err
	}
	defer i.s.end()
	var list *C.hawthorn_records
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_ingest_stats(i.h, &list, &e), e); err != nil {
		return nil, err
	}
	return takeRecord(list), nil
}

// Close gives it up, where it is not finished. To close one twice is no error.
func (i *Ingest) Close() error {
	i.s.close()
	return nil
}
