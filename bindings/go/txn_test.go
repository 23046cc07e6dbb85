package hawthorn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestConflict(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	put(t, db, tr, "k", "0")
	one, err := db.Begin()
	must(t, err)
	two, err := db.Begin()
	must(t, err)
	same(t, get(t, one, tr, "k"), "0")
	put(t, one, tr, "k", "1")
	same(t, get(t, one, tr, "k"), "1")
	same(t, get(t, two, tr, "k"), "0")
	same(t, get(t, db, tr, "k"), "0")
	must(t, one.Commit())
	err = two.Put(tr, []byte("k"), []byte("2"))
	if err == nil {
		err = two.Commit()
	}
	wants(t, err, ErrConflict)
	same(t, IsRetryable(err), true)
	var own *Error
	same(t, errors.As(err, &own) && own.Code == ErrConflict && own.Message != "", true)
	must(t, two.Abort())
	must(t, two.Abort())
	same(t, get(t, db, tr, "k"), "1")

	// Serializable: what was read counts; with snapshot isolation it does not.
	for _, isolation := range []Isolation{SnapshotIsolation, Serializable} {
		txn, err := db.Begin(TxnOptions{Isolation: isolation})
		must(t, err)
		get(t, txn, tr, "read")
		put(t, db, tr, "read", "x")
		put(t, txn, tr, "other", "y")
		if err = txn.Commit(); isolation == Serializable {
			wants(t, err, ErrConflict)
		} else {
			must(t, err)
		}
	}
	txn, err := db.Begin(TxnOptions{Isolation: ReadCommitted})
	must(t, err)
	defer txn.Abort()
	put(t, db, tr, "k", "new")
	same(t, get(t, txn, tr, "k"), "new")
}

// Many goroutines add to counters: no addition is lost, whatever the mode.
func TestUpdate(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	add := func(txn *Txn, k []byte) error {
		value, found, err := txn.GetForUpdate(tr, k)
		if err != nil {
			return err
		}
		n := uint64(0)
		if found {
			n = binary.LittleEndian.Uint64(value)
		}
		return txn.Put(tr, k, binary.LittleEndian.AppendUint64(nil, n+1))
	}
	for _, mode := range []TxnMode{Optimistic, Exclusive, Pessimistic} {
		k := []byte(fmt.Sprint("counter", mode))
		var rounds atomic.Int64
		var group sync.WaitGroup
		for i := 0; i < 8; i++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := 0; i < 50; i++ {
					err := db.Update(func(txn *Txn) error {
						rounds.Add(1)
						return add(txn, k)
					}, TxnOptions{Mode: mode, LockTimeout: hangLimit, Retries: 100000})
					if err != nil {
						t.Error(err)
					}
				}
			}()
		}
		group.Wait()
		value, _, err := db.Get(tr, k)
		must(t, err)
		same(t, binary.LittleEndian.Uint64(value), 400)
		if rounds.Load() < 400 {
			t.Fatalf("%d rounds", rounds.Load())
		}
	}

	broken := errors.New("broken")
	err := db.Update(func(txn *Txn) error {
		put(t, txn, tr, "x", "1")
		return broken
	})
	same(t, err == broken, true)
	func() {
		defer func() { same(t, recover(), "stop") }()
		_ = db.Update(func(txn *Txn) error {
			put(t, txn, tr, "x", "1")
			panic("stop")
		})
	}()
	same(t, get(t, db, tr, "x"), "-")
	rounds := 0
	err = db.Update(func(txn *Txn) error {
		rounds++
		get(t, txn, tr, "y")
		put(t, db, tr, "y", fmt.Sprint(rounds))
		return txn.Put(tr, []byte("y"), nil)
	}, TxnOptions{Retries: 3})
	wants(t, err, ErrConflict)
	same(t, rounds, 4)
}

// The goroutines of a program share threads, which the library must not take for themselves.
func TestExclusive(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	txn, err := db.Begin(TxnOptions{Mode: Exclusive})
	must(t, err)
	var group sync.WaitGroup
	for i := 0; i < 20; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			if err := db.Put(tr, []byte(fmt.Sprint(i)), nil); err != nil {
				t.Error(err)
			}
		}(i)
	}
	time.Sleep(20 * time.Millisecond)
	n, err := txn.Count(tr, nil, nil)
	must(t, err)
	same(t, n, 0)
	go func() { // another goroutine may end it
		if err := txn.Commit(); err != nil {
			t.Error(err)
		}
	}()
	group.Wait()
	n, err = db.Count(tr, nil, nil)
	must(t, err)
	same(t, n, 20)
	// Who waits for himself is told so.
	err = db.Update(func(*Txn) error { return db.Put(tr, []byte("x"), nil) }, TxnOptions{Mode: Exclusive})
	wants(t, err, ErrInvalidArgument)
}

func TestSavepointsAndNested(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	must(t, db.Update(func(txn *Txn) error {
		put(t, txn, tr, "a", "1")
		s, err := txn.Savepoint()
		must(t, err)
		put(t, txn, tr, "b", "2")
		must(t, txn.RollbackTo(s))
		same(t, get(t, txn, tr, "b"), "-")
		put(t, txn, tr, "c", "3")
		must(t, txn.Release(s))
		wants(t, txn.RollbackTo(s), ErrInvalidArgument)

		undo := errors.New("undo")
		same(t, txn.Nested(func(inner *Txn) error {
			put(t, inner, tr, "d", "4")
			wants(t, txn.Put(tr, []byte("e"), nil), ErrInvalidArgument) // while one is nested
			return undo
		}) == undo, true)
		return txn.Nested(func(inner *Txn) error {
			same(t, get(t, inner, tr, "a"), "1")
			put(t, inner, tr, "f", "6")
			return nil
		})
	}))
	for k, v := range map[string]string{"a": "1", "b": "-", "c": "3", "d": "-", "e": "-", "f": "6"} {
		same(t, k+get(t, db, tr, k), k+v)
	}
}

func TestLocks(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	pessimistic := TxnOptions{Mode: Pessimistic, LockTimeout: NoWait}
	one, err := db.Begin(pessimistic)
	must(t, err)
	defer one.Abort()
	two, err := db.Begin(pessimistic)
	must(t, err)
	defer two.Abort()
	k := []byte("k")
	must(t, one.Lock(tr, k, LockShared, 0))
	must(t, two.Lock(tr, k, LockShared, 0))
	wants(t, two.Lock(tr, k, LockExclusive, NoWait), ErrTimedOut)
	began := time.Now()
	wants(t, two.Lock(tr, k, LockExclusive, 30*time.Millisecond), ErrTimedOut)
	if time.Since(began) < 30*time.Millisecond {
		t.Fatal("it did not wait")
	}
	must(t, one.Abort())
	must(t, two.Lock(tr, k, LockExclusive, 0))
	optimistic, err := db.Begin()
	must(t, err)
	defer optimistic.Abort()
	wants(t, optimistic.Lock(tr, k, LockExclusive, 0), ErrInvalidArgument)

	// Two that wait for each other: one is told so, and the other goes on.
	results := make(chan error, 2)
	var ready sync.WaitGroup
	ready.Add(2)
	cross := func(first, second string) {
		txn, err := db.Begin(TxnOptions{Mode: Pessimistic, LockTimeout: hangLimit})
		if err == nil {
			defer txn.Abort()
			err = txn.Put(tr, []byte(first), nil)
		}
		ready.Done()
		ready.Wait()
		if err == nil {
			err = txn.Put(tr, []byte(second), nil)
		}
		if err == nil {
			err = txn.Commit()
		}
		results <- err
	}
	go cross("left", "right")
	go cross("right", "left")
	a, b := <-results, <-results
	if a == nil {
		a, b = b, a
	}
	wants(t, a, ErrDeadlock)
	same(t, IsRetryable(a), true)
	must(t, b)
}

func TestPrepared(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	for i, commit := range []bool{true, false} {
		txn, err := db.Begin()
		must(t, err)
		k := fmt.Sprint("k", i)
		put(t, txn, tr, k, "v")
		must(t, txn.Prepare("tx-"+k))
		wants(t, txn.Put(tr, []byte("more"), nil), ErrInvalidArgument)
		list, err := db.Prepared()
		must(t, err)
		if len(list) != 1 || list[0].ID != "tx-"+k || list[0].Operations == 0 ||
			time.Since(list[0].At) > time.Hour {
			t.Fatalf("prepared: %v", list)
		}
		same(t, get(t, db, tr, k), "-")
		if commit {
			must(t, db.CommitPrepared("tx-"+k, DurabilityDefault))
			same(t, get(t, db, tr, k), "v")
		} else {
			must(t, db.RollbackPrepared("tx-"+k))
			same(t, get(t, db, tr, k), "-")
		}
		_ = txn.Abort()
	}
	wants(t, db.CommitPrepared("nobody", DurabilityDefault), ErrNotFound)
	txn, err := db.Begin()
	must(t, err)
	put(t, txn, tr, "here", "v")
	must(t, txn.Prepare("here"))
	must(t, txn.Commit())
	same(t, get(t, db, tr, "here"), "v")
}

func TestSnapshots(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	put(t, db, tr, "k", "old")
	snap, err := db.Snapshot()
	must(t, err)
	must(t, db.CreateSnapshot("monday"))
	changed, err := db.ChangedSince(tr, []byte("k"), snap)
	must(t, err)
	same(t, changed, false)
	put(t, db, tr, "k", "new")
	tree(t, db, "later")
	changed, err = db.ChangedSince(tr, []byte("k"), snap)
	must(t, err)
	same(t, changed, true)
	same(t, get(t, snap, tr, "k"), "old")
	names, err := snap.Trees()
	must(t, err)
	same(t, names, []string{"t"})
	_, err = snap.FindTree("later")
	wants(t, err, ErrNotFound)
	if snap.Timestamp() == 0 {
		t.Fatal("a snapshot without a moment")
	}
	txn, err := db.Begin(TxnOptions{Snapshot: snap})
	must(t, err)
	same(t, get(t, txn, tr, "k"), "old")
	must(t, txn.Abort())

	wants(t, db.Close(), ErrBusy)
	same(t, get(t, db, tr, "k"), "new")
	must(t, snap.Close())
	must(t, snap.Close())
	_, _, err = snap.Get(tr, []byte("k"))
	wants(t, err, ErrClosed)
	_, err = db.Begin(TxnOptions{Snapshot: snap})
	wants(t, err, ErrClosed)

	list, err := db.Snapshots()
	must(t, err)
	if len(list) != 1 || list[0].Name != "monday" || list[0].Timestamp == 0 {
		t.Fatalf("named snapshots: %v", list)
	}
	monday, err := db.OpenSnapshot("monday")
	must(t, err)
	same(t, get(t, monday, tr, "k"), "old")
	must(t, monday.Close())
	must(t, db.DropSnapshot("monday"))
	_, err = db.OpenSnapshot("monday")
	wants(t, err, ErrNotFound)
}

func TestTrees(t *testing.T) {
	db := open(t)
	a := tree(t, db, "a", TreeOptions{Order: "bytewise", MultiValue: true})
	o, err := db.TreeOptions(a)
	must(t, err)
	same(t, o, TreeOptions{Order: "bytewise", ValueOrder: "bytewise", MultiValue: true})
	_, err = db.Tree("a", TreeOptions{})
	wants(t, err, ErrInvalidArgument)
	_, err = db.Tree("x", TreeOptions{Order: "nobody's"})
	wants(t, err, ErrInvalidArgument)
	_, err = db.Tree("")
	wants(t, err, ErrInvalidArgument)
	b := tree(t, db, "b")
	if a.ID() == b.ID() || b.ID() == 0 {
		t.Fatal("ids of trees")
	}
	put(t, db, b, "k", "v")
	must(t, db.SetCompression(b, CompressionLZ4))
	must(t, db.RenameTree("b", "c"))
	clone, err := db.CloneTree("c", "d")
	must(t, err)
	put(t, db, b, "k", "w")
	same(t, get(t, db, clone, "k"), "v")
	must(t, db.Update(func(txn *Txn) error {
		e, err := txn.Tree("e")
		must(t, err)
		put(t, txn, e, "k", "v")
		_, err = db.FindTree("e")
		wants(t, err, ErrNotFound)
		return txn.DropTree("a")
	}))
	names, err := db.Trees()
	must(t, err)
	same(t, names, []string{"c", "d", "e"})
	must(t, db.DropTree("c"))
	wants(t, db.DropTree("c"), ErrNotFound)

	top := tree(t, db, "top", TreeOptions{Subtrees: true})
	below, err := db.CreateSubtree(top, []byte("ada"), TreeOptions{})
	must(t, err)
	put(t, db, below, "k", "v")
	found, err := db.Subtree(top, []byte("ada"))
	must(t, err)
	same(t, found.ID(), below.ID())
	cursor, err := db.Cursor(top)
	must(t, err)
	there, err := cursor.First()
	must(t, err)
	is, err := cursor.IsSubtree()
	must(t, err)
	same(t, there && is, true)
	must(t, cursor.Close())
	must(t, db.MoveSubtree(top, []byte("ada"), top, []byte("bob")))
	copied, err := db.CloneSubtree(top, []byte("bob"), "copy")
	must(t, err)
	same(t, get(t, db, copied, "k"), "v")
	must(t, db.Update(func(txn *Txn) error {
		must(t, txn.Detach(top, []byte("bob"), "free"))
		return txn.Attach(top, []byte("eve"), "free")
	}))
	keys, err := db.Subtrees(top)
	must(t, err)
	same(t, fmt.Sprintf("%s", keys), "[eve]")
	_, err = db.Subtree(top, []byte("bob"))
	wants(t, err, ErrNotFound)
}
