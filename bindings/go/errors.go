package hawthorn

/*
#include "shim.h"
*/
import "C"

import "errors"

// Code is what kind of error it is: errors.Is(err, hawthorn.ErrConflict). New ones may come.
type Code int32

// The codes of the library.
const (
	ErrNotFound         Code = C.HAWTHORN_NOT_FOUND         // no such key, tree or database
	ErrInvalidArgument  Code = C.HAWTHORN_INVALID_ARGUMENT  // sizes, handles, order of calls
	ErrNotSupported     Code = C.HAWTHORN_NOT_SUPPORTED     // a wish that this version does not fulfil
	ErrCorruption       Code = C.HAWTHORN_CORRUPTION        // what is on disk is not what was written
	ErrIO               Code = C.HAWTHORN_IO_ERROR          // the system refused a read or write
	ErrNoSpace          Code = C.HAWTHORN_NO_SPACE          // the disk is full
	ErrBusy             Code = C.HAWTHORN_BUSY              // somebody else holds it
	ErrConflict         Code = C.HAWTHORN_CONFLICT          // another commit came first: try again
	ErrReadOnly         Code = C.HAWTHORN_READ_ONLY         // opened so, a failed sync, or the medium
	ErrOutOfMemory      Code = C.HAWTHORN_OUT_OF_MEMORY     // the budget does not allow it
	ErrForked           Code = C.HAWTHORN_FORKED            // opened by the parent process
	ErrUnknownOutcome   Code = C.HAWTHORN_UNKNOWN_OUTCOME   // the commit may or may not survive
	ErrClosed           Code = C.HAWTHORN_CLOSED            // it was closed
	ErrTimedOut         Code = C.HAWTHORN_TIMED_OUT         // others held a lock for too long
	ErrDeadlock         Code = C.HAWTHORN_DEADLOCK          // transactions wait for each other: try again
	ErrTooOld           Code = C.HAWTHORN_TOO_OLD           // not kept any more: begin anew
	ErrNotInMemory      Code = C.HAWTHORN_NOT_IN_MEMORY     // the disk would have to be read
	ErrPermissionDenied Code = C.HAWTHORN_PERMISSION_DENIED // permissions or a sandbox forbid it
	ErrInternal         Code = C.HAWTHORN_INTERNAL          // a callback broke its rules
	errTooSmall         Code = C.HAWTHORN_BUFFER_TOO_SMALL  // never leaves this package
)

// Error makes a Code something that errors.Is takes: it is the code's name.
func (c Code) Error() string { return C.GoString(C.hawthorn_code_name(C.hawthorn_code(c))) }

// Error is an error of the library.
type Error struct {
	Code    Code   // what kind
	Message string // what and where, in words
}

// Error is the code's name and the message.
func (e *Error) Error() string { return "hawthorn: " + e.Code.Error() + ": " + e.Message }

// Unwrap makes errors.Is compare the code.
func (e *Error) Unwrap() error { return e.Code }

// IsRetryable tells whether the transaction that got this error is to be begun again: after
// ErrConflict and ErrDeadlock, of which nothing was written.
func IsRetryable(err error) bool {
	return errors.Is(err, ErrConflict) || errors.Is(err, ErrDeadlock)
}

func newError(code Code, message string) error { return &Error{Code: code, Message: message} }

var (
	errDBClosed       = newError(ErrClosed, "the database was closed")
	errSnapshotClosed = newError(ErrClosed, "the snapshot was closed")
	errCursorClosed   = newError(ErrClosed, "the cursor was closed")
	errTxnEnded       = newError(ErrInvalidArgument, "the transaction has ended")
)

// failure makes a Go error of what a function of the library returned, and frees the library's.
func failure(code C.hawthorn_code, e *C.hawthorn_error) error {
	if code == C.HAWTHORN_OK {
		return nil
	}
	message := C.GoString(C.hawthorn_error_message(e, nil))
	C.hawthorn_error_free(e)
	return &Error{Code: Code(code), Message: message}
}

func outcome(r C.hw_result) error { return failure(r.code, r.error) }

// libraryError makes an error for the library of one that a callback returned.
func libraryError(err error) *C.hawthorn_error {
	code := ErrInternal
	var own *Error
	if errors.As(err, &own) {
		code = own.Code
	}
	message := []byte(err.Error())
	return C.hawthorn_error_create(C.hawthorn_code(code), key(message), size(message))
}
