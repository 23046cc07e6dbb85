package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"runtime/cgo"
	"unsafe"
)

// What the library calls. No panic leaves these functions, since it could not pass through C++.

//export goDestroy
func goDestroy(context C.uintptr_t) { cgo.Handle(context).Delete() }

//export goLog
func goLog(context C.uintptr_t, level C.uint32_t, message *C.char, n C.size_t) {
	defer func() { _ = recover() }()
	log := cgo.Handle(context).Value().(func(LogLevel, string))
	log(LogLevel(level), string(view(unsafe.Pointer(message), n)))
}

//export goExpiry
func goExpiry(context C.uintptr_t, tree *C.char, treeSize C.size_t, k unsafe.Pointer,
	kSize C.size_t, v unsafe.Pointer, vSize C.size_t) {
	defer func() { _ = recover() }()
	told := cgo.Handle(context).Value().(func(string, []byte, []byte))
	told(string(view(unsafe.Pointer(tree), treeSize)), clone(view(k, kSize)), clone(view(v, vSize)))
}

//export goEvent
func goEvent(context C.uintptr_t, event C.uint32_t, fields *C.hawthorn_records) {
	defer func() { _ = recover() }()
	told := cgo.Handle(context).Value().(func(string, Record))
	var record Record
	if rows := copyRecords(fields); len(rows) > 0 {
		record = rows[0]
	}
	told(C.GoString(C.hawthorn_event_name(event)), record)
}

//export goBeforeCommit
func goBeforeCommit(context C.uintptr_t, operations C.uint64_t,
	durability C.uint32_t) (refused *C.hawthorn_error) {
	defer refusePanic(&refused)
	hook := cgo.Handle(context).Value().(*CommitHook)
	if hook.Before != nil {
		if err := hook.Before(uint64(operations), Durability(durability)); err != nil {
			return libraryError(err)
		}
	}
	return nil
}

//export goAfterCommit
func goAfterCommit(context C.uintptr_t, operations C.uint64_t, durability C.uint32_t,
	timestamp C.uint64_t, code C.int32_t, message *C.char) {
	defer func() { _ = recover() }()
	hook := cgo.Handle(context).Value().(*CommitHook)
	if hook.After == nil {
		return
	}
	var err error
	if code != C.HAWTHORN_OK {
		err = newError(Code(code), C.GoString(message))
	}
	hook.After(uint64(operations), Durability(durability), uint64(timestamp), err)
}

//export goMerge
func goMerge(context C.uintptr_t, k unsafe.Pointer, kSize C.size_t, existing unsafe.Pointer,
	existingSize C.size_t, operands *C.hawthorn_bytes, count C.size_t,
	result *C.hawthorn_buffer) (done C.int) {
	defer func() {
		if recover() != nil {
			done = 0
		}
	}()
	operator := cgo.Handle(context).Value().(*MergeOperator)
	list := make([][]byte, int(count))
	for i, operand := range unsafe.Slice(operands, int(count)) {
		list[i] = view(unsafe.Pointer(operand.data), operand.size)
	}
	var old []byte
	if existing != nil {
		old = view(existing, existingSize)
	}
	made, ok := operator.Merge(view(k, kSize), old, list)
	return fill(result, made, ok)
}

//export goCombine
func goCombine(context C.uintptr_t, k unsafe.Pointer, kSize C.size_t, left unsafe.Pointer,
	leftSize C.size_t, right unsafe.Pointer, rightSize C.size_t,
	result *C.hawthorn_buffer) (done C.int) {
	defer func() {
		if recover() != nil {
			done = 0
		}
	}()
	operator := cgo.Handle(context).Value().(*MergeOperator)
	made, ok := operator.Combine(view(k, kSize), view(left, leftSize), view(right, rightSize))
	return fill(result, made, ok)
}

//export goOrder
func goOrder(context C.uintptr_t, encode C.int, from unsafe.Pointer, n C.size_t,
	to *C.hawthorn_buffer) (done C.int) {
	defer func() {
		if recover() != nil {
			done = 0
		}
	}()
	order := cgo.Handle(context).Value().(*KeyOrder)
	turn := order.Decode
	if encode != 0 {
		turn = order.Encode
	}
	made, ok := turn(view(from, n))
	return fill(to, made, ok)
}

//export goCompare
func goCompare(context C.uintptr_t, a unsafe.Pointer, aSize C.size_t, b unsafe.Pointer,
	bSize C.size_t) (order C.int) {
	defer func() {
		if recover() != nil {
			order = 0
		}
	}()
	compare := cgo.Handle(context).Value().(func(a, b []byte) int)
	switch c := compare(view(a, aSize), view(b, bSize)); {
	case c < 0:
		return -1
	case c > 0:
		return 1
	}
	return 0
}

//export goFilter
func goFilter(context C.uintptr_t, k unsafe.Pointer, kSize C.size_t, v unsafe.Pointer,
	vSize C.size_t, changed *C.hawthorn_buffer) (decision C.uint32_t) {
	defer func() {
		if recover() != nil {
			decision = C.HAWTHORN_FILTER_KEEP
		}
	}()
	filter := cgo.Handle(context).Value().(*FlushFilter)
	what, made := filter.Filter(view(k, kSize), view(v, vSize))
	if what == FilterChange && fill(changed, made, true) == 0 {
		return C.HAWTHORN_FILTER_KEEP
	}
	return C.uint32_t(what)
}

//export goKey
func goKey(context C.uintptr_t, id *C.char, n C.size_t, out *C.uint8_t) (refused *C.hawthorn_error) {
	defer refusePanic(&refused)
	keys := cgo.Handle(context).Value().(func(string) ([32]byte, error))
	made, err := keys(string(view(unsafe.Pointer(id), n)))
	if err != nil {
		return libraryError(err)
	}
	copy(unsafe.Slice((*byte)(out), 32), made[:])
	return nil
}

// stream is what a call of the library reads from or writes to. What that failed with is returned to
// who began the call.
type stream struct {
	reader io.Reader
	writer io.Writer
	err    error
}

func (s *stream) fail(err error) *C.hawthorn_error {
	s.err = err
	return libraryError(err)
}

// failed is what a call has come to: what the Go side failed with goes first.
func (s *stream) failed(err error) error {
	if err != nil && s.err != nil {
		return s.err
	}
	return err
}

// during runs a call with a context for as long as it takes.
func during(context any, call func(C.uintptr_t)) {
	handle := cgo.NewHandle(context)
	defer handle.Delete()
	call(C.uintptr_t(handle))
}

//export goSource
func goSource(context C.uintptr_t, buffer unsafe.Pointer, capacity C.size_t,
	out **C.hawthorn_error) (n C.int64_t) {
	s := cgo.Handle(context).Value().(*stream)
	defer func() {
		if p := recover(); p != nil {
			*out = s.fail(fmt.Errorf("hawthorn: the reader panicked: %v", p))
			n = -1
		}
	}()
	for {
		got, err := s.reader.Read(view(buffer, capacity))
		if got > 0 {
			return C.int64_t(got)
		}
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			*out = s.fail(err)
			return -1
		}
	}
}

//export goSink
func goSink(context C.uintptr_t, data unsafe.Pointer, n C.size_t) C.int {
	s := cgo.Handle(context).Value().(*stream)
	if s.write(view(data, n)) != nil {
		return 0
	}
	return 1
}

//export goBackupSink
func goBackupSink(context C.uintptr_t, data unsafe.Pointer, n C.size_t) *C.hawthorn_error {
	s := cgo.Handle(context).Value().(*stream)
	if err := s.write(view(data, n)); err != nil {
		return libraryError(err)
	}
	return nil
}

func (s *stream) write(data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("hawthorn: the writer panicked: %v", p)
		}
		s.err = err
	}()
	n, err := s.writer.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// progress is who is told how far a copy is.
type progress struct {
	told func(bytes uint64) error
	err  error
}

//export goProgress
func goProgress(context C.uintptr_t, bytes C.uint64_t) (refused *C.hawthorn_error) {
	defer refusePanic(&refused)
	p := cgo.Handle(context).Value().(*progress)
	if p.err = p.told(uint64(bytes)); p.err != nil {
		return libraryError(p.err)
	}
	return nil
}

//export goSteps
func goSteps(context C.uintptr_t, done, all C.uint64_t) {
	defer func() { _ = recover() }()
	cgo.Handle(context).Value().(func(uint64, uint64))(uint64(done), uint64(all))
}

// pieceSource is where the pieces of a commit come from; what it gave last is in C's memory.
type pieceSource struct {
	next func() ([]byte, error)
	last unsafe.Pointer
	err  error
}

//export goPiece
func goPiece(context C.uintptr_t, data *unsafe.Pointer, n *C.size_t) (refused *C.hawthorn_error) {
	defer refusePanic(&refused)
	s := cgo.Handle(context).Value().(*pieceSource)
	piece, err := s.next()
	if err != nil {
		s.err = err
		return libraryError(err)
	}
	C.free(s.last)
	s.last = C.CBytes(piece)
	*data, *n = s.last, size(piece)
	return nil
}

// refusePanic makes an error for the library of a panic.
func refusePanic(out **C.hawthorn_error) {
	if p := recover(); p != nil {
		*out = libraryError(fmt.Errorf("a callback panicked: %v", p))
	}
}

// fill appends what a callback has made.
func fill(buffer *C.hawthorn_buffer, made []byte, ok bool) C.int {
	if !ok {
		return 0
	}
	if len(made) == 0 {
		return 1
	}
	return C.hawthorn_buffer_append(buffer, unsafe.Pointer(&made[0]), size(made))
}

func clone(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }
