package hawthorn

import "runtime"

// single guards a handle that one goroutine uses at a time, and that keeps a database from closing.
type single struct {
	guard  exclusive
	db     *core
	open   bool
	free   func()
	closed error
}

// newSingle counts it as held by the database, and has the garbage collector free it. What it frees
// must not refer to the value that is returned.
func newSingle(db *core, what string, free func()) *single {
	s := &single{db: db, open: true, free: free, closed: newError(ErrClosed, what+" was closed")}
	db.held.Add(1)
	runtime.SetFinalizer(s, func(s *single) { s.close() })
	return s
}

// begin begins a call, which end ends.
func (s *single) begin() error {
	if !s.db.enter() {
		return errDBClosed
	}
	if err := s.guard.enter(); err != nil {
		s.db.leave()
		return err
	}
	if !s.open {
		s.end()
		return s.closed
	}
	return nil
}

func (s *single) end() {
	s.guard.leave()
	s.db.leave()
}

func (s *single) close() {
	s.guard.release(func() {
		if s.open {
			s.open = false
			s.free()
			s.db.held.Add(-1)
		}
	})
}
