package hawthorn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A process of its own, which commits numbers, says so, and is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HAWTHORN_TEST_CHILD"); dir != "" {
		child(dir)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func child(dir string) {
	db, err := Open(dir, Set("memory_budget_bytes", "32M"))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	tr, err := db.Tree("t")
	for i := 0; err == nil; i++ {
		levels := []Durability{DurabilityNone, DurabilityAsync, DurabilityFull}
		k := []byte(fmt.Sprintf("%08d", i))
		if i%2 == 0 {
			err = db.Put(tr, k, k, WriteOptions{Durability: levels[i%3]})
		} else {
			err = db.Update(func(txn *Txn) error {
				if err := txn.Put(tr, []byte("pair-"+string(k)), k); err != nil {
					return err
				}
				return txn.Put(tr, k, k)
			}, TxnOptions{Durability: levels[i%3]})
		}
		if err == nil {
			fmt.Println(i)
		}
	}
	fmt.Println("error", err)
}

// What was acknowledged is there after a kill -9, and nothing is there by half.
func TestKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	last := -1
	for round := 0; round < 3; round++ {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "HAWTHORN_TEST_CHILD="+dir)
		out, err := command.StdoutPipe()
		must(t, err)
		must(t, command.Start())
		lines := bufio.NewScanner(out)
		acknowledged := -1
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(lines.Text())
			}
			acknowledged = n
			if n == 500+round*300 {
				must(t, command.Process.Kill())
			}
		}
		if err := command.Wait(); err == nil || acknowledged < 500 {
			t.Fatalf("the child ended by itself: %v, %d", err, acknowledged)
		}
		if acknowledged > last {
			last = acknowledged
		}
		db, err := Open(dir, Set("create_if_missing", "false"))
		must(t, err)
		tr, err := db.FindTree("t")
		must(t, err)
		for i := 0; i <= last+1; i++ { // the one behind may be there, too
			k := fmt.Sprintf("%08d", i)
			value := get(t, db, tr, k)
			if value != k && (i <= last || value != "-") {
				t.Fatalf("%s of %d is %q", k, last, value)
			}
			if pair := get(t, db, tr, "pair-"+k); i%2 == 1 && pair != value {
				t.Fatalf("half of the commit of %s is there", k)
			}
		}
		report, err := db.Check()
		must(t, err)
		if !report.OK {
			t.Fatal(report.Errors)
		}
		must(t, db.Close())
	}
}

func TestUseAfterClose(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	put(t, db, tr, "k", "v")
	snap, err := db.Snapshot()
	must(t, err)
	cursor, err := snap.Cursor(tr)
	must(t, err)
	it := db.Iter(tr)
	same(t, it.Next(), true)
	txn, err := db.Begin()
	must(t, err)
	inside, err := txn.Cursor(tr)
	must(t, err)
	_, err = inside.First()
	must(t, err)
	k, v := inside.Key(), it.Value()
	loop := txn.Iter(tr)
	same(t, loop.Next(), true)

	wants(t, db.Close(), ErrBusy)
	same(t, get(t, db, tr, "k"), "v") // it has stayed open
	must(t, txn.Commit())
	_, err = inside.Next()
	wants(t, err, ErrInvalidArgument)
	same(t, loop.Next(), false)
	wants(t, loop.Err(), ErrInvalidArgument)
	wants(t, txn.Put(tr, []byte("k"), nil), ErrInvalidArgument)
	wants(t, txn.Commit(), ErrInvalidArgument)
	_, err = txn.BeginNested()
	wants(t, err, ErrInvalidArgument)
	same(t, txn.IsOpen(), false)
	must(t, txn.Abort())
	must(t, inside.Close())
	must(t, inside.Close())
	wants(t, loop.Close(), ErrInvalidArgument)
	_, err = inside.First()
	wants(t, err, ErrClosed)
	must(t, snap.Close()) // the cursor of it stays
	found, err := cursor.First()
	must(t, err)
	same(t, found, true)
	must(t, cursor.Close())
	_, err = cursor.First()
	wants(t, err, ErrClosed)
	same(t, string(k)+string(v), "kv")
	must(t, it.Close())
	same(t, it.Next() || it.Seek([]byte("k")), false)
	wants(t, it.Err(), ErrClosed)
	must(t, db.Close())
	wants(t, db.Close(), ErrClosed)
	same(t, string(v), "v")

	// Everything of a database that was closed.
	_, _, err = db.Get(tr, []byte("k"))
	wants(t, err, ErrClosed)
	wants(t, db.Put(tr, nil, nil), ErrClosed)
	_, err = db.MultiGet(tr, [][]byte{nil})
	wants(t, err, ErrClosed)
	_, err = db.Begin()
	wants(t, err, ErrClosed)
	_, err = db.Begin(TxnOptions{Mode: Exclusive})
	wants(t, err, ErrClosed)
	wants(t, db.Update(func(*Txn) error { return nil }), ErrClosed)
	wants(t, db.View(func(*Snapshot) error { return nil }), ErrClosed)
	_, err = db.Tree("t")
	wants(t, err, ErrClosed)
	wants(t, db.Write(&Batch{}), ErrClosed)
	_, err = db.Stats()
	wants(t, err, ErrClosed)
	wants(t, db.Flush(), ErrClosed)
	_, err = db.ReadQueue(0)
	wants(t, err, ErrClosed)
	_, err = db.OpenFeedAt(1)
	wants(t, err, ErrClosed)
	_, err = db.Ingest(tr)
	wants(t, err, ErrClosed)
	wants(t, db.Iter(tr).Close(), ErrClosed)
	same(t, db.Path(), "")
	if tr.ID() == 0 {
		t.Fatal("a tree without an id")
	}
}

func TestStrangers(t *testing.T) {
	one, two := open(t), open(t)
	tr := tree(t, one, "t")
	wants(t, two.Put(tr, []byte("k"), nil), ErrInvalidArgument)
	_, _, err := two.Get(tr, []byte("k"))
	wants(t, err, ErrInvalidArgument)
	snap, err := one.Snapshot()
	must(t, err)
	defer snap.Close()
	_, err = two.Begin(TxnOptions{Snapshot: snap})
	wants(t, err, ErrInvalidArgument)
	var batch Batch
	batch.Put(tr, []byte("k"), nil)
	wants(t, two.Write(&batch), ErrInvalidArgument)
	batch.Put(tree(t, two, "t"), []byte("k"), nil)
	wants(t, one.Write(&batch), ErrInvalidArgument)
	batch.Reset()
	batch.Put(nil, []byte("k"), nil)
	wants(t, one.Write(&batch), ErrInvalidArgument)
	wants(t, one.Write(nil), ErrInvalidArgument)
	_, err = one.Cursor(nil)
	wants(t, err, ErrInvalidArgument)
	_, err = one.Count(nil, nil, nil)
	wants(t, err, ErrInvalidArgument)
	_, err = Open(one.Path())
	wants(t, err, ErrBusy)
	_, err = Open(filepath.Join(t.TempDir(), "none"), Set("create_if_missing", "false"))
	wants(t, err, ErrNotFound)
	a, err := one.Begin()
	must(t, err)
	defer a.Abort()
	b, err := one.Begin()
	must(t, err)
	defer b.Abort()
	s, err := a.Savepoint()
	must(t, err)
	wants(t, b.RollbackTo(s), ErrInvalidArgument)
	wants(t, b.RollbackTo(Savepoint{}), ErrInvalidArgument)
}

// Misuse from several goroutines gives errors, and a transaction from inside of its own stream.
func TestBusy(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	txn, err := db.Begin()
	must(t, err)
	defer txn.Abort()
	var inner error
	must(t, txn.PutStream(tr, []byte("k"), 3, readFunc(func(b []byte) (int, error) {
		inner = txn.Put(tr, []byte("x"), nil)
		return copy(b, "abc"), nil
	})))
	wants(t, inner, ErrBusy)
	same(t, get(t, txn, tr, "k"), "abc")
	cursor, err := db.Cursor(tr)
	must(t, err)
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for j := 0; j < 300; j++ {
				err := txn.Put(tr, []byte(fmt.Sprint(i, j)), []byte("v"))
				if err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
				if i == 0 && j == 200 {
					must(t, cursor.Close())
				}
			}
		}(i)
	}
	group.Wait()
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// Readers, writers and one who closes: errors, no crash.
func TestCloseWhileUsed(t *testing.T) {
	for round := 0; round < 5; round++ {
		db := open(t)
		tr := tree(t, db, "t")
		var stop atomic.Bool
		var group sync.WaitGroup
		var rounds [6]atomic.Int64
		for i := range rounds {
			group.Add(1)
			go func(i int) {
				defer group.Done()
				for j := 0; !stop.Load(); j++ {
					rounds[i].Store(int64(j))
					k := []byte(fmt.Sprint(i, j%50))
					var err error
					switch i {
					case 0, 1:
						_, _, err = db.Get(tr, k)
					case 2:
						err = db.View(func(snap *Snapshot) error {
							it := snap.Iter(tr)
							for it.Next() {
								_ = it.Key()
							}
							return it.Close()
						})
					case 3:
						err = db.Update(func(txn *Txn) error { return txn.Put(tr, k, k) })
					default:
						err = db.Put(tr, k, k)
					}
					if errors.Is(err, ErrClosed) {
						if db.Path() == "" {
							return
						}
					} else if err != nil {
						t.Error(err)
						return
					}
				}
			}(i)
		}
		for i := range rounds { // all are in the middle of it
			until(t, func() bool { return rounds[i].Load() >= 20 || t.Failed() })
		}
		err := db.Close()
		for i := 0; i < 5 && errors.Is(err, ErrBusy); i++ {
			err = db.Close()
		}
		stop.Store(true)
		group.Wait()
		if errors.Is(err, ErrBusy) {
			err = db.Close()
		}
		must(t, err)
	}
}

// What was forgotten is freed by the garbage collector, and holds nothing up.
func TestGarbage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	db, err := Open(dir, Set("memory_budget_bytes", "32M"))
	must(t, err)
	tr := tree(t, db, "t")
	put(t, db, tr, "k", "v")
	forget := func() {
		for i := 0; i < 20; i++ {
			snap, err := db.Snapshot()
			must(t, err)
			snap.Iter(tr).Next()
			txn, err := db.Begin(TxnOptions{Mode: []TxnMode{Optimistic, Pessimistic}[i%2]})
			must(t, err)
			txn.Iter(tr).Next()
			put(t, txn, tr, fmt.Sprint(i), "never committed")
			inner, err := txn.BeginNested()
			must(t, err)
			_, err = inner.Cursor(tr)
			must(t, err)
			_, err = db.ReadQueue(0)
			must(t, err)
			_, err = db.Ingest(tree(t, db, "ingest"))
			must(t, err)
		}
	}
	forget()
	until(t, func() bool {
		runtime.GC()
		return db.db.held.Load() == 0
	})
	func() {
		_, err := db.Begin(TxnOptions{Mode: Exclusive})
		must(t, err)
	}()
	done := make(chan error)
	go func() { // the exclusive one holds all commits up until it is found
		done <- db.Put(tr, []byte("after"), nil)
	}()
	for waiting := true; waiting; {
		runtime.GC()
		select {
		case err := <-done:
			must(t, err)
			waiting = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	until(t, func() bool {
		runtime.GC()
		err = db.Close()
		return !errors.Is(err, ErrBusy)
	})
	must(t, err)
	same(t, db.db.held.Load(), 0)

	// A database itself.
	func() {
		db, err := Open(dir)
		must(t, err)
		put(t, db, tree(t, db, "t"), "forgotten", "v")
	}()
	until(t, func() bool {
		runtime.GC()
		db, err = Open(dir)
		return err == nil
	})
	same(t, get(t, db, tree(t, db, "t"), "forgotten"), "v")
	n, err := db.Count(tree(t, db, "t"), nil, nil)
	must(t, err)
	same(t, n, 3)
	must(t, db.Close())
}

func TestReadQueue(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	var batch Batch
	for i := 0; i < 2000; i++ {
		batch.Put(tr, []byte(fmt.Sprint(i)), make([]byte, i*50%10000))
	}
	must(t, db.Write(&batch))
	must(t, db.Flush())
	snap, err := db.Snapshot()
	must(t, err)
	defer snap.Close()
	put(t, db, tr, "7", "new")
	queue, err := db.ReadQueue(32)
	must(t, err)
	var group sync.WaitGroup
	for g := 0; g < 4; g++ {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			var futures []*Future
			for i := g; i < 2400; i += 4 {
				futures = append(futures, queue.Get(context.Background(), tr, []byte(fmt.Sprint(i)), snap))
			}
			for j, f := range futures {
				i := g + 4*j
				value, found, err := f.Wait()
				if err != nil || found != (i < 2000) || found && len(value) != i*50%10000 {
					t.Errorf("%d: %d bytes, %v, %v", i, len(value), found, err)
				}
			}
		}(g)
	}
	group.Wait()
	f := queue.Get(nil, tr, []byte("7"), nil) //nolint:staticcheck // nil is for no context
	<-f.Done()
	value, _, err := f.Wait()
	must(t, err)
	same(t, string(value), "new")
	ctx, cancel := context.WithCancel(context.Background())
	f = queue.Get(ctx, tr, []byte("7"), nil)
	cancel()
	if _, _, err = f.Wait(); err != nil && err != context.Canceled {
		t.Fatal(err)
	}
	_, _, err = queue.Get(ctx, tr, []byte("7"), nil).Wait()
	same(t, err == context.Canceled, true)
	_, _, err = queue.Get(nil, nil, []byte("7"), nil).Wait() //nolint:staticcheck
	wants(t, err, ErrInvalidArgument)
	wants(t, db.Close(), ErrBusy)
	pending := queue.Get(nil, tr, []byte("8"), nil) //nolint:staticcheck
	must(t, queue.Close())
	must(t, queue.Close())
	_, found, err := pending.Wait()
	must(t, err)
	same(t, found, true)
	_, _, err = queue.Get(nil, tr, []byte("8"), snap).Wait() //nolint:staticcheck
	wants(t, err, ErrClosed)
	_, err = db.ReadQueue(-1)
	wants(t, err, ErrInvalidArgument)
	_, err = db.ReadQueue(100000)
	wants(t, err, ErrInvalidArgument)
}

// A reader that is slow holds up nobody.
func TestSlowStream(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	reader, writer := io.Pipe()
	done := make(chan error)
	go func() {
		done <- db.Update(func(txn *Txn) error { return txn.PutStream(tr, []byte("k"), 5, reader) })
	}()
	for i := 0; i < 100; i++ {
		put(t, db, tr, fmt.Sprint(i), "v")
	}
	_, err := writer.Write([]byte("hello"))
	must(t, err)
	must(t, <-done)
	same(t, get(t, db, tr, "k"), "hello")
}
