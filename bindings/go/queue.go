package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"runtime"
	"sync"
)

// ReadQueue reads many keys at once that may have to come from the disk, without a thread for each:
//
//	queue, err := db.ReadQueue(64)
//	defer queue.Close()
//	one, two := queue.Get(ctx, tree, k1, nil), queue.Get(ctx, tree, k2, nil)
//	value, found, err := one.Wait()
//
// Any number of goroutines may use it.
type ReadQueue struct {
	w *queueWorker
}

// queueWorker is what the goroutine of a queue knows; it does not refer to the ReadQueue, so that one
// which is garbage is found.
type queueWorker struct {
	h       *C.hawthorn_read_queue
	db      *core
	mu      sync.Mutex
	waiting []*Future // not yet begun
	closed  bool
	wake    chan struct{}
	ended   chan struct{}
}

// Future is a get that is on its way.
type Future struct {
	ctx   context.Context
	tree  *Tree
	key   []byte
	snap  *Snapshot
	done  chan struct{}
	value []byte
	found bool
	err   error
}

// ReadQueue makes a queue with so many reads of the disk under way at once, 1 to 4096; 0: the
// default, 16.
func (db *DB) ReadQueue(depth int) (*ReadQueue, error) {
	if depth < 0 {
		return nil, newError(ErrInvalidArgument, "the depth is negative")
	}
	w := &queueWorker{db: db.db, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	err := db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_read_queue_open(h, C.uint32_t(depth), &w.h, e)
	})
	if err != nil {
		return nil, err
	}
	db.db.held.Add(1)
	go w.run()
	q := &ReadQueue{w}
	runtime.SetFinalizer(q, func(q *ReadQueue) { q.w.close() })
	return q, nil
}

// Get begins a get of the newest state, or of a snapshot. The context may be nil; where it is done,
// the get comes to its error at once. What is wrong, Wait tells.
func (q *ReadQueue) Get(ctx context.Context, tree *Tree, key []byte, snap *Snapshot) *Future {
	f := &Future{ctx: ctx, tree: tree, key: clone(key), done: make(chan struct{})}
	if err := ctxErr(ctx); err != nil {
		return f.fail(err)
	}
	if snap != nil {
		if !snap.s.enter() {
			return f.fail(errSnapshotClosed)
		}
		f.snap = snap
	}
	w := q.w
	w.mu.Lock()
	closed := w.closed
	if !closed {
		w.waiting = append(w.waiting, f)
	}
	w.mu.Unlock()
	if closed {
		f.release()
		return f.fail(newError(ErrClosed, "the queue was closed"))
	}
	w.notify()
	runtime.KeepAlive(q)
	return f
}

// Close waits for the gets that are on their way, and lets go of the queue. To close one twice is no
// error.
func (q *ReadQueue) Close() error {
	q.w.close()
	<-q.w.ended
	return nil
}

// Done is closed when the get has come to something.
func (f *Future) Done() <-chan struct{} { return f.done }

// Wait waits for what the get comes to, which is as of DB.Get, or for the context's end. Any number
// of goroutines may wait, any number of times.
func (f *Future) Wait() ([]byte, bool, error) {
	if f.ctx == nil {
		<-f.done
		return f.value, f.found, f.err
	}
	select {
	case <-f.done:
		return f.value, f.found, f.err
	case <-f.ctx.Done():
		return nil, false, f.ctx.Err()
	}
}

func (f *Future) fail(err error) *Future {
	f.err = err
	close(f.done)
	return f
}

func (f *Future) release() {
	if f.snap != nil {
		f.snap.s.leave()
		f.snap = nil
	}
}

func (w *queueWorker) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *queueWorker) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.notify()
}

// run begins gets and completes them, until the queue is closed and nothing is on its way.
func (w *queueWorker) run() {
	under := map[uint64]*Future{} // by their tags
	buffer := make([]byte, 64<<10)
	next := uint64(0)
	for {
		w.mu.Lock()
		begin := w.waiting
		w.waiting = nil
		closed := w.closed
		w.mu.Unlock()
		for _, f := range begin {
			next++
			if w.begin(f, next) {
				under[next] = f
			}
		}
		if len(under) > 0 {
			w.complete(under, buffer)
			continue
		}
		if len(begin) == 0 && closed {
			break
		}
		if len(begin) == 0 {
			<-w.wake
		}
	}
	C.hawthorn_read_queue_free(w.h)
	w.db.held.Add(-1)
	close(w.ended)
}

// begin hands a get to the library; false: it has come to something already.
func (w *queueWorker) begin(f *Future, tag uint64) bool {
	defer f.release()
	if err := ctxErr(f.ctx); err != nil {
		f.fail(err)
		return false
	}
	var snap *C.hawthorn_snapshot
	if f.snap != nil {
		snap = f.snap.s.h
	}
	r := C.hw_queue_get(w.h, f.tree.handle(), key(f.key), size(f.key), snap, C.uint64_t(tag))
	runtime.KeepAlive(f.tree)
	if err := outcome(r); err != nil {
		f.fail(err)
		return false
	}
	return true
}

// complete waits until at least one get is done, and takes all that are.
func (w *queueWorker) complete(under map[uint64]*Future, buffer []byte) {
	var e *C.hawthorn_error
	if err := failure(C.hawthorn_read_queue_wait(w.h, nil, &e), e); err != nil {
		for tag, f := range under {
			f.fail(err)
			delete(under, tag)
		}
		return
	}
	for {
		r := C.hw_queue_take(w.h, ptr(buffer), size(buffer))
		if r.found == 0 {
			C.hawthorn_error_free(r.error)
			return
		}
		f := under[uint64(r.number)]
		delete(under, uint64(r.number))
		value, found, err := copied(r, buffer)
		if f != nil {
			f.value, f.found, f.err = value, found, err
			close(f.done)
		}
	}
}
