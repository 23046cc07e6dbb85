package hawthorn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// No wait lasts as long, but where something hangs: no test says how long anything takes.
const hangLimit = 4 * time.Minute

// until looks again and again, until it is so.
func until(t testing.TB, done func() bool) {
	t.Helper()
	for end := time.Now().Add(hangLimit); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it hangs")
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t testing.TB, err error, code Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("error is %v, not %v", err, code)
	}
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%v, not %v", got, want)
	}
}

// open makes a database that the end of the test closes.
func open(t testing.TB, options ...Option) *DB {
	t.Helper()
	options = append([]Option{Set("memory_budget_bytes", "32M"), Set("durability", "none")}, options...)
	db, err := Open(filepath.Join(t.TempDir(), "db"), options...)
	must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func tree(t testing.TB, db *DB, name string, options ...TreeOptions) *Tree {
	t.Helper()
	made, err := db.Tree(name, options...)
	must(t, err)
	return made
}

func get(t testing.TB, r Reader, tree *Tree, key string) string {
	t.Helper()
	value, found, err := r.Get(tree, []byte(key))
	must(t, err)
	if !found {
		return "-"
	}
	return string(value)
}

func put(t testing.TB, w Writer, tree *Tree, key, value string) {
	t.Helper()
	must(t, w.Put(tree, []byte(key), []byte(value)))
}

func TestPutGetDel(t *testing.T) {
	db := open(t)
	users := tree(t, db, "users")
	put(t, db, users, "ada", "1815")
	put(t, db, users, "empty", "")
	same(t, get(t, db, users, "ada"), "1815")
	same(t, get(t, db, users, "empty"), "")
	same(t, get(t, db, users, "bob"), "-")
	value, found, err := db.Get(users, []byte("empty"))
	if value == nil || !found || err != nil {
		t.Fatal("an empty value is not one")
	}
	there, err := db.Contains(users, []byte("ada"))
	must(t, err)
	same(t, there, true)
	there, err = db.Contains(users, []byte("bob"))
	must(t, err)
	same(t, there, false)
	value, found, err = db.AppendGet([]byte("born "), users, []byte("ada"))
	must(t, err)
	same(t, string(value), "born 1815")
	same(t, found, true)
	must(t, db.Del(users, []byte("ada")))
	must(t, db.Del(users, []byte("ada")))
	same(t, get(t, db, users, "ada"), "-")
	wants(t, db.Put(users, make([]byte, 70000), nil), ErrInvalidArgument)
	wants(t, db.Put(nil, []byte("x"), nil), ErrInvalidArgument)

	// Larger than what a get reads to at first, and as large as that.
	for _, n := range []int{4095, 4096, 4097, 300000} {
		long := strings.Repeat("x", n)
		put(t, db, users, "long", long)
		if get(t, db, users, "long") != long {
			t.Fatalf("a value of %d bytes is another", n)
		}
		value, found, err := db.GetInMemory(users, []byte("long"))
		if err == nil && (!found || string(value) != long) {
			t.Fatalf("a value of %d bytes in memory is another", n)
		}
		if value, _, err = db.AppendGet(make([]byte, 1, 10), users, []byte("long")); err != nil ||
			string(value[1:]) != long {
			t.Fatalf("a value of %d bytes that is appended is another", n)
		}
	}
}

// A key that is a part of something with pointers: cgo would refuse it if it looked.
func TestKeyInsideOfPointers(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	node := &struct {
		next *DB
		key  [8]byte
		data []byte
	}{next: db, data: []byte("v")}
	must(t, db.Put(tr, node.key[:], node.data))
	must(t, db.Update(func(txn *Txn) error { return txn.Put(tr, node.key[:4], node.key[4:]) }))
	_, found, err := db.Get(tr, node.key[:])
	must(t, err)
	same(t, found, true)
	n, err := db.Count(tr, node.key[:1], node.key[:])
	must(t, err)
	same(t, n, 1)
	var batch Batch
	batch.Put(tr, node.key[:5], node.data)
	must(t, db.Write(&batch))
	it := db.Iter(tr, IterOptions{Lower: node.key[:5]})
	defer it.Close()
	rows := 0
	for it.Next() {
		rows++
	}
	must(t, it.Err())
	same(t, rows, 2)
	must(t, db.PutStreamed(tr, node.key[:6], node.data))
}

// PutStreamed is a put by a stream, for tests.
func (db *DB) PutStreamed(tr *Tree, k, value []byte) error {
	return db.Update(func(txn *Txn) error {
		return txn.PutStream(tr, k, uint64(len(value)), bytes.NewReader(value))
	})
}

func TestMultiGet(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	model := map[string]string{}
	var batch Batch
	for i := 0; i < 3000; i++ {
		k, v := fmt.Sprintf("k%05d", i), strings.Repeat(fmt.Sprint(i), i%40)
		model[k] = v
		batch.Put(tr, []byte(k), []byte(v))
	}
	must(t, db.Write(&batch))
	random := rand.New(rand.NewSource(1))
	read := func(r Reader) {
		var keys [][]byte
		var column Column
		for i := 0; i < 1+random.Intn(2500); i++ {
			k := []byte(fmt.Sprintf("k%05d", random.Intn(4000)))
			keys = append(keys, k)
			column.Append(k)
		}
		values, err := r.MultiGet(tr, keys)
		must(t, err)
		out := NewColumns(1, 0, random.Intn(10000))
		must(t, r.MultiGetColumns(tr, &column, out))
		same(t, out.Rows(), len(keys))
		for i, k := range keys {
			want, there := model[string(k)]
			if there != (values[i] != nil) || string(values[i]) != want {
				t.Fatalf("%s is %q, not %q", k, values[i], want)
			}
			if out.Found[i] != there || there && string(out.Values.At(i)) != want {
				t.Fatalf("%s in a column is %q, not %q", k, out.Values.At(i), want)
			}
		}
	}
	for i := 0; i < 20; i++ {
		read(db)
	}
	must(t, db.View(func(snap *Snapshot) error { read(snap); return nil }))
	must(t, db.Update(func(txn *Txn) error { read(txn); return nil }))
	values, err := db.MultiGet(tr, nil)
	must(t, err)
	same(t, len(values), 0)
	for _, bad := range []*Column{nil, {Offsets: []int64{0, 5}}, {[]byte("abc"), []int64{0, 2, 1}},
		{[]byte("abc"), []int64{-1, 2}}} {
		wants(t, db.MultiGetColumns(tr, bad, &Columns{}), ErrInvalidArgument)
	}
	wants(t, db.MultiGetColumns(tr, &Column{}, nil), ErrInvalidArgument)
}

func TestCompareAndSet(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	k := []byte("k")
	each := func(w Writer) {
		steps := []struct {
			do   func() (bool, error)
			done bool
			is   string
		}{
			{func() (bool, error) { return w.PutIfPresent(tr, k, []byte("a")) }, false, "-"},
			{func() (bool, error) { return w.PutIfAbsent(tr, k, []byte("a")) }, true, "a"},
			{func() (bool, error) { return w.PutIfAbsent(tr, k, []byte("b")) }, false, "a"},
			{func() (bool, error) { return w.PutIfPresent(tr, k, []byte("")) }, true, ""},
			{func() (bool, error) { return w.CompareAndSwap(tr, k, nil, []byte("c")) }, false, ""},
			{func() (bool, error) { return w.CompareAndSwap(tr, k, []byte{}, []byte("c")) }, true, "c"},
			{func() (bool, error) { return w.CompareAndDelete(tr, k, []byte("x")) }, false, "c"},
			{func() (bool, error) { return w.CompareAndDelete(tr, k, []byte("c")) }, true, "-"},
			{func() (bool, error) { return w.CompareAndSwap(tr, k, nil, []byte("d")) }, true, "d"},
			{func() (bool, error) { return w.CompareAndDelete(tr, k, []byte("d")) }, true, "-"},
		}
		for i, step := range steps {
			done, err := step.do()
			must(t, err)
			if done != step.done || get(t, w, tr, "k") != step.is {
				t.Fatalf("step %d: %v, %q", i, done, get(t, w, tr, "k"))
			}
		}
	}
	each(db)
	must(t, db.Update(func(txn *Txn) error { each(txn); return nil }))
}

func TestRanges(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	var columns Columns
	for i := 0; i < 1000; i++ {
		columns.Append([]byte(fmt.Sprintf("%04d", i)), []byte("v"))
	}
	var batch Batch
	must(t, batch.PutColumns(tr, &columns))
	same(t, batch.Len(), 1000)
	same(t, batch.Bytes(), 5000)
	must(t, db.Write(&batch))
	count := func(r Reader, low, high []byte) uint64 {
		n, err := r.Count(tr, low, high)
		must(t, err)
		return n
	}
	same(t, count(db, nil, nil), 1000)
	same(t, count(db, []byte("0100"), []byte("0200")), 100)
	same(t, count(db, []byte("0100"), []byte{}), 0)
	must(t, db.DeleteRange(tr, []byte("0100"), []byte("0200")))
	same(t, count(db, nil, nil), 900)
	batch.Reset()
	batch.DeleteRange(tr, []byte("0500"), nil)
	batch.Put(tr, []byte("0900"), []byte("again"))
	batch.Del(tr, []byte("0000"))
	must(t, db.Write(&batch))
	must(t, db.Update(func(txn *Txn) error {
		same(t, count(txn, nil, nil), 400)
		return txn.DeleteRange(tr, nil, []byte("0050"))
	}))
	same(t, count(db, nil, nil), 351)
	entries, _, err := db.Estimate(tr, nil, nil)
	must(t, err)
	if entries > 2000 {
		t.Fatalf("about %d entries", entries)
	}
}

func TestExpiry(t *testing.T) {
	gone := make(chan string, 10)
	db := open(t, WithOnExpiry(func(tree string, key, value []byte) {
		gone <- fmt.Sprintf("%s %s %s", tree, key, value)
	}))
	tr := tree(t, db, "sessions", TreeOptions{Expires: true, TTL: time.Hour})
	before := time.Now().Truncate(time.Millisecond)
	put(t, db, tr, "ttl", "1")
	after := time.Now()
	at := before.Add(time.Hour)
	must(t, db.Put(tr, []byte("at"), []byte("2"), WriteOptions{ExpireAt: at}))
	must(t, db.Put(tr, []byte("never"), []byte("3"), WriteOptions{NeverExpire: true}))
	must(t, db.Put(tr, []byte("soon"), []byte("4"), WriteOptions{ExpireAfter: time.Hour}))
	same(t, get(t, db, tr, "soon"), "4")
	must(t, db.Put(tr, []byte("soon"), []byte("4"), WriteOptions{ExpireAfter: time.Millisecond}))
	ends, found, err := db.ExpiresAt(tr, []byte("at"))
	must(t, err)
	if !found || !ends.Equal(at) {
		t.Fatalf("ends at %v, not %v", ends, at)
	}
	ends, found, err = db.ExpiresAt(tr, []byte("never"))
	must(t, err)
	same(t, ends.IsZero() && found, true)
	_, found, err = db.ExpiresAt(tr, []byte("absent"))
	must(t, err)
	same(t, found, false)
	ends, _, err = db.ExpiresAt(tr, []byte("ttl"))
	must(t, err)
	if ends.Before(before.Add(time.Hour)) || ends.After(after.Add(time.Hour)) {
		t.Fatalf("ends at %v, written between %v and %v", ends, before, after)
	}
	until(t, func() bool { return get(t, db, tr, "soon") == "-" })
	select {
	case what := <-gone:
		same(t, what, "sessions soon 4")
	case <-time.After(hangLimit):
		t.Fatal("nobody was told of the entry that ended")
	}
	snap, err := db.Snapshot()
	must(t, err)
	if now := snap.Now(); now.Before(before) || now.After(time.Now()) {
		t.Fatalf("the snapshot was taken at %v, after %v", now, before)
	}
	must(t, snap.Close())
	plain := tree(t, db, "plain")
	if err := db.Put(plain, []byte("x"), nil, WriteOptions{ExpireAt: at}); err == nil {
		t.Fatal("a tree whose entries do not end took an end")
	}
}

func TestParts(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	k := []byte("k")
	want := make([]byte, 3<<20)
	rand.New(rand.NewSource(7)).Read(want)
	must(t, db.Update(func(txn *Txn) error {
		return txn.PutStream(tr, k, uint64(len(want)), bytes.NewReader(want))
	}))
	n, err := db.SizeOf(tr, k)
	must(t, err)
	same(t, n, len(want))
	part := make([]byte, 1000)
	got, err := db.ReadPart(tr, k, 5000, part)
	must(t, err)
	same(t, bytes.Equal(part[:got], want[5000:6000]), true)
	got, err = db.ReadPart(tr, k, uint64(len(want)-10), part)
	must(t, err)
	same(t, got, 10)
	must(t, db.WritePart(tr, k, 100, []byte("hello")))
	copy(want[100:], "hello")
	offset, err := db.Append(tr, k, []byte("tail"))
	must(t, err)
	same(t, offset, len(want))
	want = append(want, "tail"...)
	check := func(r Reader) {
		var all bytes.Buffer
		must(t, r.ReadStream(tr, k, 0, &all))
		if !bytes.Equal(all.Bytes(), want) {
			t.Fatal("the value is another")
		}
	}
	check(db)
	must(t, db.Update(func(txn *Txn) error {
		at, err := txn.AppendStream(tr, k, 3, strings.NewReader("end"))
		must(t, err)
		same(t, at, len(want))
		must(t, txn.WritePartStream(tr, k, 50, 2, strings.NewReader("xy")))
		want = append(want, "end"...)
		copy(want[50:], "xy")
		check(txn)
		return nil
	}))
	value, err := db.Value(tr, k)
	must(t, err)
	all, err := io.ReadAll(value)
	must(t, err)
	same(t, bytes.Equal(all, want), true)
	_, err = value.Seek(-3, io.SeekEnd)
	must(t, err)
	all, err = io.ReadAll(value)
	must(t, err)
	same(t, string(all), "end")
	must(t, db.Resize(tr, k, 7))
	same(t, get(t, db, tr, "k"), string(want[:7]))

	// What fails on the side of Go comes back as it is.
	broken := errors.New("broken")
	err = db.Update(func(txn *Txn) error {
		return txn.PutStream(tr, k, 100, io.MultiReader(strings.NewReader("abc"), failing{broken}))
	})
	same(t, errors.Is(err, broken), true)
	wants(t, db.Update(func(txn *Txn) error {
		return txn.PutStream(tr, k, 100, strings.NewReader("too short"))
	}), ErrInvalidArgument)
	same(t, errors.Is(db.ReadStream(tr, k, 0, failing{broken}), broken), true)
	err = db.Update(func(txn *Txn) error { return txn.PutStream(tr, k, 5, panicking{}) })
	if err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Fatalf("a reader that panics: %v", err)
	}
	same(t, get(t, db, tr, "k"), string(want[:7]))
	_, err = db.SizeOf(tr, []byte("absent"))
	wants(t, err, ErrNotFound)
	_, err = db.Value(tr, []byte("absent"))
	wants(t, err, ErrNotFound)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("no") }

func TestContext(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	put(t, db, tr, "k", "v")
	ctx, cancel := context.WithCancel(context.Background())
	bound := db.WithContext(ctx)
	same(t, get(t, bound, tr, "k"), "v")
	txn, err := bound.Begin()
	must(t, err)
	must(t, txn.Put(tr, []byte("k"), []byte("w")))
	snap, err := bound.Snapshot()
	must(t, err)
	defer snap.Close()
	it := bound.Iter(tr)
	defer it.Close()
	cancel()
	_, _, err = bound.Get(tr, []byte("k"))
	same(t, err == context.Canceled, true)
	_, _, err = snap.Get(tr, []byte("k"))
	same(t, err == context.Canceled, true)
	same(t, it.Next(), false)
	same(t, it.Err() == context.Canceled, true)
	same(t, bound.Put(tr, []byte("k"), nil) == context.Canceled, true)
	same(t, txn.Put(tr, []byte("k"), nil) == context.Canceled, true)
	same(t, txn.Commit() == context.Canceled, true)
	same(t, txn.IsOpen(), false)
	_, err = bound.Begin()
	same(t, err == context.Canceled, true)
	same(t, bound.Update(func(*Txn) error { return nil }) == context.Canceled, true)
	same(t, get(t, db, tr, "k"), "v")

	// A wait for a row ends with the deadline.
	holder, err := db.Begin(TxnOptions{Mode: Pessimistic})
	must(t, err)
	defer holder.Abort()
	must(t, holder.Put(tr, []byte("k"), []byte("held")))
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		soon, stop := context.WithTimeout(context.Background(), wait)
		defer stop()
		waiter, err := db.WithContext(soon).Begin(TxnOptions{Mode: Pessimistic, LockTimeout: time.Hour})
		if err == context.DeadlineExceeded {
			continue // no processor for so long: it was over before the wait
		}
		must(t, err)
		defer waiter.Abort()
		err = waiter.Put(tr, []byte("k"), []byte("x"))
		same(t, err == context.DeadlineExceeded, true)
		break
	}
}
