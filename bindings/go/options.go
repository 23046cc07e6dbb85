package hawthorn

/*
#include "callbacks.h"
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Option is something that a database is opened with.
type Option func(*optionSet) error

// optionSet is what options are added to.
type optionSet struct{ h *C.hawthorn_options }

// Set sets an option by its name to a value as text: sizes may end with K, M or G, file_mode is
// octal, flags are true or false. Those that are lists (devices, merge_operators) take one more with
// each Set. The builtin merge operators are uint64_add, max, append, and append: with a separator
// behind the colon. OptionNames lists what there is.
//
// Errors, when it is used: ErrNotFound for the name, ErrInvalidArgument for the value,
// ErrNotSupported for an option that takes a function, which has an Option of its own here.
func Set(name, value string) Option {
	return func(s *optionSet) error {
		o := s.h
		n, v := C.CString(name), C.CString(value)
		defer C.free(unsafe.Pointer(n))
		defer C.free(unsafe.Pointer(v))
		var e *C.hawthorn_error
		return failure(C.hawthorn_options_set(o, n, v, &e), e)
	}
}

// OptionNames lists the options that Set knows, and those that take functions.
func OptionNames() []string {
	var names []string
	for i := C.size_t(0); ; i++ {
		name := C.hawthorn_options_name(i)
		if name == nil {
			return names
		}
		names = append(names, C.GoString(name))
	}
}

// OptionValue tells what an option is with these options, or by default: as Set takes it, of lists
// the number of items, of a key whether there is one.
//
// Errors: ErrNotFound for the name, ErrNotSupported for a function; those of the options.
func OptionValue(name string, options ...Option) (string, error) {
	o, err := makeOptions(append([]Option{nil}, options...))
	if err != nil {
		return "", err
	}
	defer C.hawthorn_options_free(o)
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	var value *C.char
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_options_get(o, n, &value, &e), e); err != nil {
		return "", err
	}
	defer C.hawthorn_free(unsafe.Pointer(value))
	return C.GoString(value), nil
}

// makeOptions makes the library's options; nil where there are none.
func makeOptions(options []Option) (*C.hawthorn_options, error) {
	if len(options) == 0 {
		return nil, nil
	}
	o := C.hawthorn_options_create()
	if o == nil {
		return nil, newError(ErrOutOfMemory, "no memory for options")
	}
	for _, option := range options {
		if option == nil {
			continue
		}
		if err := option(&optionSet{o}); err != nil {
			C.hawthorn_options_free(o)
			return nil, err
		}
	}
	return o, nil
}

// give hands a Go value to the library, which gives it back by goDestroy; if it did not take it, it
// ends here.
func give(value any, call func(C.uintptr_t, **C.hawthorn_error) C.hawthorn_code) error {
	handle := cgo.NewHandle(value)
	var e *C.hawthorn_error
	err := failure(call(C.uintptr_t(handle), &e), e)
	if err != nil {
		handle.Delete()
	}
	return err
}

// LogLevel is how much a message matters.
type LogLevel uint32

// The levels of messages.
const (
	LogInfo    LogLevel = C.HAWTHORN_LOG_INFO
	LogWarning LogLevel = C.HAWTHORN_LOG_WARNING
	LogError   LogLevel = C.HAWTHORN_LOG_ERROR
)

// WithLog has messages for an operator told to a function, which any goroutine may run, several at
// a time.
func WithLog(log func(level LogLevel, message string)) Option {
	return func(s *optionSet) error {
		o := s.h
		if log == nil {
			return newError(ErrInvalidArgument, "WithLog: the function is nil")
		}
		return give(log, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_log(o, h, e)
		})
	}
}

// WithOnExpiry has each entry that had ended and was removed told to a function. It may call the
// database, but for Close and Compact.
func WithOnExpiry(told func(tree string, key, value []byte)) Option {
	return func(s *optionSet) error {
		o := s.h
		if told == nil {
			return newError(ErrInvalidArgument, "WithOnExpiry: the function is nil")
		}
		return give(told, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_expiry(o, h, e)
		})
	}
}

// WithListener adds a function that is told of flushes, stalls, errors, damage, changes of trees and
// files: by the event's name, such as "flush_completed", and its fields. One event comes after the
// other. It may read and write; it must not close the database.
func WithListener(told func(event string, fields Record)) Option {
	return func(s *optionSet) error {
		o := s.h
		if told == nil {
			return newError(ErrInvalidArgument, "WithListener: the function is nil")
		}
		return give(told, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_listener(o, h, e)
		})
	}
}

// CommitHook is asked before each commit of the program and told behind it, on the committing
// goroutine. Either function may be nil, but not both.
type CommitHook struct {
	// Before lets the commit go on by nil; an error refuses it, and is part of what the commit
	// returns. It may read, but neither write nor end a transaction.
	Before func(operations uint64, durability Durability) error
	// After gets the timestamp, which is 0 where the commit failed, and what it failed with.
	After func(operations uint64, durability Durability, timestamp uint64, outcome error)
}

// WithCommitHook adds a hook; they are asked in the order in which they were added.
func WithCommitHook(hook CommitHook) Option {
	return func(s *optionSet) error {
		o := s.h
		if hook.Before == nil && hook.After == nil {
			return newError(ErrInvalidArgument, "WithCommitHook: both functions are nil")
		}
		return give(&hook, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_hook(o, h, e)
		})
	}
}

// MergeOperator is what Merge folds operands by. Its functions must depend on nothing but what they
// are given, for as long as the database exists, and folding some operands and then the rest must
// give what folding all at once gives. They run on any goroutine, several at a time, and must not
// call the database. What they are given is valid during the call alone. One that panics has refused.
type MergeOperator struct {
	// Name is what a tree remembers it by: 1 to 255 bytes, always the same.
	Name string
	// Merge folds operands, the oldest first, into a value; existing is nil where the key is absent.
	// False: they do not fit together, and reads of the key are ErrCorruption until something else is
	// put there.
	Merge func(key, existing []byte, operands [][]byte) ([]byte, bool)
	// Combine makes one operand of two neighbours; nil, or false: it cannot.
	Combine func(key, left, right []byte) ([]byte, bool)
}

// WithMergeOperator adds an operator; those of the library are added by Set("merge_operators", name).
func WithMergeOperator(operator MergeOperator) Option {
	return func(s *optionSet) error {
		o := s.h
		if operator.Merge == nil {
			return newError(ErrInvalidArgument, "WithMergeOperator: Merge is nil")
		}
		name := C.CString(operator.Name)
		defer C.free(unsafe.Pointer(name))
		return give(&operator, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_merge(o, name, boolInt(operator.Combine != nil), h, e)
		})
	}
}

// KeyOrder is an order of keys by an encoding: keys are stored as sort keys, which are in order byte
// by byte. Its functions must always give the same, and must not call the database; false is for what
// is no key or no sort key. What they are given is valid during the call alone.
type KeyOrder struct {
	Name       string // 1 to 255 bytes, always the same: TreeOptions name it
	Encode     func(key []byte) ([]byte, bool)
	Decode     func(sortKey []byte) ([]byte, bool)
	FixedBytes int // the size of all sort keys; 0: they differ
}

// WithKeyOrder adds an order that trees may be made with.
func WithKeyOrder(order KeyOrder) Option {
	return func(s *optionSet) error {
		o := s.h
		if order.Encode == nil || order.Decode == nil || order.FixedBytes < 0 {
			return newError(ErrInvalidArgument,
				"WithKeyOrder: Encode or Decode is nil, or FixedBytes negative")
		}
		name := C.CString(order.Name)
		defer C.free(unsafe.Pointer(name))
		return give(&order, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_order(o, name, C.size_t(order.FixedBytes), h, e)
		})
	}
}

// WithKeyComparator adds an order of keys by a comparison as of bytes.Compare, which costs more than
// an encoding: each one is a call from C into Go. It must not panic; if it does, keys count as equal.
func WithKeyComparator(name string, compare func(a, b []byte) int) Option {
	return func(s *optionSet) error {
		o := s.h
		if compare == nil {
			return newError(ErrInvalidArgument, "WithKeyComparator: the function is nil")
		}
		n := C.CString(name)
		defer C.free(unsafe.Pointer(n))
		return give(compare, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_comparator(o, n, h, e)
		})
	}
}

// FilterDecision is what becomes of an entry.
type FilterDecision uint32

// What a flush filter decides.
const (
	FilterKeep   FilterDecision = C.HAWTHORN_FILTER_KEEP
	FilterRemove FilterDecision = C.HAWTHORN_FILTER_REMOVE
	FilterChange FilterDecision = C.HAWTHORN_FILTER_CHANGE // to the value that is returned
)

// FlushFilter looks at the entries of a tree after flushes. One that panics keeps the entry.
type FlushFilter struct {
	Name     string // for messages
	KeysOnly bool   // values are not read, and come empty
	// Filter is given bytes that are valid during the call alone. It may call the database, but for
	// Close and Compact.
	Filter func(key, value []byte) (FilterDecision, []byte)
}

// WithFlushFilter has the tree with this name filtered. The database does not remember it.
func WithFlushFilter(tree string, filter FlushFilter) Option {
	return func(s *optionSet) error {
		o := s.h
		if filter.Filter == nil {
			return newError(ErrInvalidArgument, "WithFlushFilter: Filter is nil")
		}
		name := C.CString(filter.Name)
		defer C.free(unsafe.Pointer(name))
		t := []byte(tree)
		return give(&filter, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_filter(o, key(t), size(t), name, boolInt(filter.KeysOnly), h, e)
		})
	}
}

// WithEncryption gives the keys of a database that is encrypted at rest: keys returns the 32 bytes
// for an id, and must not call the database. keyID is that of a database that is created; empty where
// none is to be created.
func WithEncryption(keyID string, keys func(keyID string) ([32]byte, error)) Option {
	return func(s *optionSet) error {
		o := s.h
		if keys == nil {
			return newError(ErrInvalidArgument, "WithEncryption: the function is nil")
		}
		id := []byte(keyID)
		if len(id) == 0 {
			id = nil
		}
		return give(keys, func(h C.uintptr_t, e **C.hawthorn_error) C.hawthorn_code {
			return C.hw_options_encryption(o, ptr(id), size(id), h, e)
		})
	}
}

// GenerateKey returns 32 bytes of the system's randomness. Errors: ErrIO.
func GenerateKey() ([32]byte, error) {
	var made [32]byte
	var e *C.hawthorn_error
	err := failure(C.hawthorn_generate_key((*C.uint8_t)(&made[0]), &e), e)
	return made, err
}
