package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Value is a value where the library has read it, without a copy for Go. What is written meanwhile
// does not change it, and it may be kept beyond the snapshot or the transaction that it was read by.
//
// It must be released, since it keeps memory and the database open (DB.Close gives ErrBusy); what is
// forgotten stays, as the garbage collector cannot know whether its bytes are still in use.
// Any number of goroutines may read it, and the last one releases it.
type Value struct {
	h    unsafe.Pointer // *C.hawthorn_value; nil: it was released
	db   *core
	data unsafe.Pointer
	size C.size_t
}

// GetValue is Get without a copy, for large values, and for those of which little is looked at. The
// value is nil, with no error, where the key is not there.
func (r *reader) GetValue(tree *Tree, k []byte) (*Value, error) {
	a, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	defer runtime.KeepAlive(tree)
	var h *C.hawthorn_value
	res := C.hw_get_value(a.db, a.txn, a.snap, tree.handle(), key(k), size(k), &h)
	switch res.code {
	case C.HAWTHORN_OK:
		v := &Value{h: unsafe.Pointer(h), db: r.db, data: res.data, size: res.size}
		r.db.held.Add(1)
		return v, nil
	case C.HAWTHORN_NOT_FOUND:
		return nil, nil
	}
	return nil, r.fault(outcome(res))
}

// GetFunc calls a function with the value of a key, in place, and returns what that returned. The
// bytes are for reading, and for as long as the function runs: who keeps some copies them.
func (r *reader) GetFunc(tree *Tree, k []byte, f func(value []byte) error) (bool, error) {
	v, err := r.GetValue(tree, k)
	if v == nil {
		return false, err
	}
	defer v.Release()
	return true, f(v.Bytes())
}

// Bytes are those of the value, for reading, until Release: behind that they are memory that is used
// for something else. It panics behind Release.
func (v *Value) Bytes() []byte {
	if atomic.LoadPointer(&v.h) == nil {
		panic("hawthorn: Bytes of a Value that was released")
	}
	return view(v.data, v.size)
}

// Release lets go of the bytes. To release one twice does nothing.
func (v *Value) Release() {
	if h := atomic.SwapPointer(&v.h, nil); h != nil {
		C.hawthorn_value_free((*C.hawthorn_value)(h))
		v.db.held.Add(-1)
	}
}
