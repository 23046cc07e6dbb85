package hawthorn

/*
#include "callbacks.h"
*/
import "C"

import (
	"io"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"
)

// CopyOptions says how a database is copied.
type CopyOptions struct {
	BytesPerSecond uint64 // at most; 0: no limit
	// Progress is told after each MB or so, on the goroutine that copies, with the bytes so far; an
	// error ends the copy, and is what it returns. It must not call what is in use.
	Progress   func(bytes uint64) error
	CopyBlocks bool // of checkpoints: blocks are copied also where the file system could share them
	Full       bool // of backups into a repository: all is stored again
	// Encryption is the options whose keys tell, at restores and verifications, whether the bytes are
	// what was written.
	Encryption []Option
}

// Backup is a backup that was made.
type Backup struct {
	ID          uint64
	Created     time.Time
	Bytes       uint64
	BytesStored uint64
	BytesRead   uint64
	Incremental bool
	Encrypted   bool
}

func backups(rows []Record) []Backup {
	var list []Backup
	for _, row := range rows {
		list = append(list, Backup{row.Number("id"), time.UnixMicro(int64(row.Number("created_us"))),
			row.Number("bytes"), row.Number("bytes_stored"), row.Number("bytes_read"),
			row.Flag("incremental"), row.Flag("encrypted")})
	}
	return list
}

func firstBackup(list []Backup) Backup {
	if len(list) == 0 {
		return Backup{}
	}
	return list[0]
}

// copying runs a copy with its options; what Progress fails with goes first.
func copying(options []CopyOptions, f func(c C.hw_copy) C.hw_result) ([]Record, error) {
	var o CopyOptions
	if len(options) > 0 {
		o = options[0]
	}
	encryption, err := makeOptions(o.Encryption)
	if err != nil {
		return nil, err
	}
	defer C.hawthorn_options_free(encryption)
	c := C.hw_copy{bytes_per_second: C.uint64_t(o.BytesPerSecond), copy_blocks: boolInt(o.CopyBlocks),
		full: boolInt(o.Full), encryption: encryption}
	p := &progress{told: o.Progress}
	if p.told != nil {
		handle := cgo.NewHandle(p)
		defer handle.Delete()
		c.progress = C.uintptr_t(handle)
	}
	r := f(c)
	if err := outcome(r); err != nil {
		if p.err != nil {
			return nil, p.err
		}
		return nil, err
	}
	if r.data == nil {
		return nil, nil
	}
	return takeRecords((*C.hawthorn_records)(r.data)), nil
}

// Checkpoint makes a database of its own, of this moment, in a directory that is missing or empty.
//
// Errors of all copies: ErrReadOnly; ErrInvalidArgument for a directory with other contents; ErrBusy
// where somebody else writes into it; ErrCorruption; ErrNoSpace; ErrNotFound for an id; those of
// functions that are called. Durable when it returns, but what is given to a writer.
func (db *DB) Checkpoint(directory string, options ...CopyOptions) error {
	a, err := db.begin()
	if err != nil {
		return err
	}
	defer db.end()
	d := C.CString(directory)
	defer C.free(unsafe.Pointer(d))
	_, err = copying(options, func(c C.hw_copy) C.hw_result { return C.hw_checkpoint(a.db, d, c) })
	return err
}

// Repository is a directory of backups, of which later ones store what has changed. Any number of
// goroutines may use it.
type Repository struct {
	r *repositoryHandle
}

type repositoryHandle struct {
	shared
	h *C.hawthorn_repository
}

var errRepositoryClosed = newError(ErrClosed, "the repository was closed")

// OpenRepository opens the repository in this directory, and makes it when it is missing.
func OpenRepository(directory string) (*Repository, error) {
	d := C.CString(directory)
	defer C.free(unsafe.Pointer(d))
	r := &repositoryHandle{}
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_repository_open(d, &r.h, &e), e); err != nil {
		return nil, err
	}
	h := r.h
	r.free = func() { C.hawthorn_repository_free(h) }
	runtime.SetFinalizer(r, func(r *repositoryHandle) { r.shared.close() })
	return &Repository{r}, nil
}

// Close lets go of it when the calls that run have ended. To close one twice is no error.
func (r *Repository) Close() error {
	r.r.shared.close()
	return nil
}

// Backup makes a backup of the database's present state in a repository.
func (db *DB) Backup(r *Repository, options ...CopyOptions) (Backup, error) {
	if r == nil {
		return Backup{}, newError(ErrInvalidArgument, "the repository is nil")
	}
	a, err := db.begin()
	if err != nil {
		return Backup{}, err
	}
	defer db.end()
	rows, err := r.copy(options, func(h *C.hawthorn_repository, c C.hw_copy) C.hw_result {
		return C.hw_backup(a.db, h, c)
	})
	return firstBackup(backups(rows)), err
}

func (r *Repository) copy(options []CopyOptions,
	f func(h *C.hawthorn_repository, c C.hw_copy) C.hw_result) ([]Record, error) {
	if !r.r.enter() {
		return nil, errRepositoryClosed
	}
	defer r.r.leave()
	return copying(options, func(c C.hw_copy) C.hw_result { return f(r.r.h, c) })
}

// List lists all backups, the oldest first.
func (r *Repository) List() ([]Backup, error) {
	if !r.r.enter() {
		return nil, errRepositoryClosed
	}
	defer r.r.leave()
	var list *C.hawthorn_records
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_repository_list(r.r.h, &list, &e), e); err != nil {
		return nil, err
	}
	return backups(takeRecords(list)), nil
}

// Verify reads a backup, and tells whether it is what was written.
func (r *Repository) Verify(id uint64, options ...CopyOptions) error {
	_, err := r.copy(options, func(h *C.hawthorn_repository, c C.hw_copy) C.hw_result {
		return C.hw_verify(h, C.uint64_t(id), c)
	})
	return err
}

// Restore makes a database of a backup in a directory that is missing or empty.
func (r *Repository) Restore(id uint64, target string, options ...CopyOptions) error {
	t := C.CString(target)
	defer C.free(unsafe.Pointer(t))
	_, err := r.copy(options, func(h *C.hawthorn_repository, c C.hw_copy) C.hw_result {
		return C.hw_restore(h, C.uint64_t(id), t, c)
	})
	return err
}

// Remove removes a backup; the others stay whole.
func (r *Repository) Remove(id uint64) error {
	if !r.r.enter() {
		return errRepositoryClosed
	}
	defer r.r.leave()
	var e *C.hawthorn_error
	return failure(C.hawthorn_repository_remove(r.r.h, C.uint64_t(id), &e), e)
}

// BackupTo writes a backup to w, about 1 MB at a time. Errors: also those of w.
func (db *DB) BackupTo(w io.Writer, options ...CopyOptions) (Backup, error) {
	if w == nil {
		return Backup{}, newError(ErrInvalidArgument, "the writer is nil")
	}
	a, err := db.begin()
	if err != nil {
		return Backup{}, err
	}
	defer db.end()
	s := &stream{writer: w}
	var rows []Record
	during(s, func(context C.uintptr_t) {
		rows, err = copying(options, func(c C.hw_copy) C.hw_result {
			return C.hw_backup_to(a.db, context, c)
		})
	})
	return firstBackup(backups(rows)), s.failed(err)
}

// VerifyBackup reads what BackupTo has written, and tells whether it is that. Errors: also those of
// the reader.
func VerifyBackup(from io.Reader, options ...CopyOptions) (Backup, error) {
	return restoreFrom(from, nil, options)
}

// RestoreBackup makes a database of what BackupTo has written, in a directory that is missing or
// empty. Errors: also those of the reader.
func RestoreBackup(from io.Reader, target string, options ...CopyOptions) (Backup, error) {
	t := C.CString(target)
	defer C.free(unsafe.Pointer(t))
	return restoreFrom(from, t, options)
}

func restoreFrom(from io.Reader, target *C.char, options []CopyOptions) (Backup, error) {
	if from == nil {
		return Backup{}, newError(ErrInvalidArgument, "the reader is nil")
	}
	s := &stream{reader: from}
	var rows []Record
	var err error
	during(s, func(context C.uintptr_t) {
		rows, err = copying(options, func(c C.hw_copy) C.hw_result {
			return C.hw_restore_from(context, target, c)
		})
	})
	return firstBackup(backups(rows)), s.failed(err)
}

// CheckOptions says what is verified, and how fast.
type CheckOptions struct {
	SkipValues     bool   // indexes only
	SkipFiles      bool   // containers only, without superblock, manifest and log
	Threads        int    // 1 to 64; 0: one
	BytesPerSecond uint64 // 0: no limit
	ErrorsMax      uint64 // told; the rest is counted. 0: 1000
	// Progress is told by the threads of the check, one at a time.
	Progress func(containersDone, containers uint64)
}

// CheckReport is what a check has found.
type CheckReport struct {
	OK     bool     // nothing
	Record Record   // the figures, and items with what was found
	Errors []string // the same in words
}

// steps is the handle of a function that is told of steps; 0 where there is none.
func steps(told func(done, all uint64)) (C.uintptr_t, func()) {
	if told == nil {
		return 0, func() {}
	}
	handle := cgo.NewHandle(told)
	return C.uintptr_t(handle), handle.Delete
}

// Check reads all that is on disk and verifies it, while the database is in use. Damage is no error
// of the call. Errors: ErrInvalidArgument; ErrTooOld.
func (db *DB) Check(options ...CheckOptions) (CheckReport, error) {
	var o CheckOptions
	if len(options) > 0 {
		o = options[0]
	}
	if o.Threads < 0 {
		return CheckReport{}, newError(ErrInvalidArgument, "the number of threads is negative")
	}
	a, err := db.begin()
	if err != nil {
		return CheckReport{}, err
	}
	defer db.end()
	told, forget := steps(o.Progress)
	defer forget()
	r := C.hw_check(a.db, boolInt(o.SkipValues), boolInt(o.SkipFiles), C.uint32_t(o.Threads),
		C.uint64_t(o.BytesPerSecond), C.uint64_t(o.ErrorsMax), told)
	if err := outcome(r); err != nil {
		return CheckReport{}, err
	}
	row := takeRecord((*C.hawthorn_records)(r.data))
	return CheckReport{row.Flag("ok"), row, texts(row.List("errors"), "text")}, nil
}

// RepairOptions says how a damaged database is read.
type RepairOptions struct {
	Database       []Option // with which the target is opened
	IgnoreManifest bool     // looks for containers in the data files
	Progress       func(done, all uint64)
}

// Repair makes a new database at target, which must not exist, of what is readable of the one at
// source: ok, the fields of hawthorn::RepairReport, and the lists trees and losses.
//
// Errors: ErrInvalidArgument where the target exists, or for a wrong key; ErrNotFound; ErrBusy when
// it is open; ErrIO; ErrCorruption where its file of keys is lost; ErrNoSpace.
func Repair(source, target string, options ...RepairOptions) (Record, error) {
	var o RepairOptions
	if len(options) > 0 {
		o = options[0]
	}
	made, err := makeOptions(o.Database)
	if err != nil {
		return nil, err
	}
	defer C.hawthorn_options_free(made)
	s, t := C.CString(source), C.CString(target)
	defer C.free(unsafe.Pointer(s))
	defer C.free(unsafe.Pointer(t))
	told, forget := steps(o.Progress)
	defer forget()
	r := C.hw_repair(s, t, made, boolInt(o.IgnoreManifest), told)
	if err := outcome(r); err != nil {
		return nil, err
	}
	return takeRecord((*C.hawthorn_records)(r.data)), nil
}
