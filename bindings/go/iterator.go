package hawthorn

import "errors"

// IterOptions says what an iterator shows, and in which direction.
type IterOptions struct {
	Lower    []byte // the first key that it may show; nil: from the first one on
	Upper    []byte // the first key that it may not show; nil: to the last one
	KeysOnly bool   // values are not read, and come empty, but where a key may have several
	Reverse  bool   // from the last entry to the first one
}

// Prefix is the options for all keys that begin with a prefix, in trees whose order is bytewise.
func Prefix(prefix []byte) IterOptions {
	return IterOptions{Lower: clone(prefix), Upper: PrefixEnd(prefix)}
}

const (
	firstRows = 16 // of the first run that is fetched; each is four times as long as the last one
	firstSize = 4 << 10
	mostRows  = 1024
	mostSize  = 256 << 10
)

// Iterator walks over a tree in one direction:
//
//	it := db.Iter(tree, hawthorn.Prefix([]byte("user/")))
//	defer it.Close()
//	for it.Next() {
//		use(it.Key(), it.Value())
//	}
//	return it.Err()
//
// It shows one moment, but in a transaction, where it shows that one's writes, also those made behind
// it as it goes. Outside of transactions it fetches runs of entries, so that a step costs no call of
// the library. The context is looked at with each run. For one goroutine at a time.
type Iterator struct {
	cursor  *Cursor
	reverse bool
	entries bool // of a transaction: entry by entry
	placed  bool // the cursor stands where the next run begins
	done    bool
	err     error
	columns Columns
	row     int // the one on which it stands
	size    int // of the last run
}

// Iter opens an iterator, which stands before the first entry. What cannot be opened, Err tells.
func (r *reader) Iter(tree *Tree, options ...IterOptions) *Iterator {
	var o IterOptions
	if len(options) > 0 {
		o = options[0]
	}
	cursor, err := r.Cursor(tree, CursorOptions{o.Lower, o.Upper, o.KeysOnly})
	return &Iterator{cursor: cursor, err: err, reverse: o.Reverse, entries: r.txn != nil, row: -1}
}

// Next goes to the next entry; false: there is none, or it failed, which Err tells.
func (it *Iterator) Next() bool {
	if it.row+1 < it.columns.Keys.Len() {
		it.row++
		return true
	}
	return it.advance()
}

// advance fetches a run, or goes one entry further in a transaction.
func (it *Iterator) advance() bool {
	it.row = -1
	it.columns.Keys.Reset()
	it.columns.Values.Reset()
	if it.err != nil || it.done {
		return false
	}
	found := true
	switch {
	case it.entries && it.placed && it.reverse:
		found, it.err = it.cursor.Prev()
	case it.entries && it.placed:
		found, it.err = it.cursor.Next()
	case !it.placed && it.reverse:
		found, it.err = it.cursor.Last()
	case !it.placed:
		found, it.err = it.cursor.First()
	}
	it.placed = true
	if !found || it.err != nil {
		it.done = true
		return false
	}
	if it.entries {
		it.one()
		return true
	}
	return it.fetch()
}

// one shows the entry on which the cursor stands.
func (it *Iterator) one() {
	it.columns.Keys.Append(it.cursor.Key())
	it.columns.Values.Append(it.cursor.Value())
	it.row = 0
}

// fetch shows the first entry of the next run.
func (it *Iterator) fetch() bool {
	rows, bytes := firstRows, firstSize
	if it.size > 0 {
		rows, bytes = min(it.size*4, mostRows), min(cap(it.columns.Values.Bytes)*4, mostSize)
	}
	if rows != it.size {
		it.size = rows
		it.columns.rows(rows)
		for _, c := range []*Column{&it.columns.Keys, &it.columns.Values} {
			if cap(c.Bytes) < bytes {
				c.Bytes = make([]byte, 0, bytes)
			}
		}
	}
	n := 0
	if it.reverse {
		n, it.err = it.cursor.PrevColumns(&it.columns)
	} else {
		n, it.err = it.cursor.NextColumns(&it.columns)
	}
	if n == 0 {
		it.done = true
		return false
	}
	it.row = 0
	return true
}

// Seek goes to the first entry that is not before the key; in reverse to the last one that is not
// behind it. False: there is none, or it failed.
func (it *Iterator) Seek(k []byte) bool {
	it.row = -1
	it.columns.Keys.Reset()
	it.columns.Values.Reset()
	if it.cursor == nil || errors.Is(it.err, ErrClosed) {
		return false
	}
	var found bool
	if it.reverse {
		found, it.err = it.cursor.SeekForPrev(k)
	} else {
		found, it.err = it.cursor.Seek(k)
	}
	it.placed = true
	it.done = !found || it.err != nil
	if it.done {
		return false
	}
	if it.entries {
		it.one()
		return true
	}
	return it.fetch()
}

// Key is that of the entry on which it stands, valid until the next call; nil where there is none.
func (it *Iterator) Key() []byte {
	if it.row < 0 {
		return nil
	}
	return it.columns.Keys.At(it.row)
}

// Value is that of the entry on which it stands, valid until the next call; nil where there is none.
func (it *Iterator) Value() []byte {
	if it.row < 0 {
		return nil
	}
	return it.columns.Values.At(it.row)
}

// Err is what it failed with; nil at the end of the range.
func (it *Iterator) Err() error { return it.err }

// Close lets go of it, and returns what Err does. Afterwards it has no entry, and Next is false.
func (it *Iterator) Close() error {
	err := it.err
	if it.cursor != nil {
		_ = it.cursor.Close()
	}
	it.row, it.done = -1, true
	it.columns.Reset()
	if it.err == nil {
		it.err = errCursorClosed
	}
	if errors.Is(err, errCursorClosed) {
		return nil
	}
	return err
}
