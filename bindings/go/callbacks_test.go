package hawthorn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMergeOperators(t *testing.T) {
	// Values and operands are lists of words; a word that is there is not added again.
	set := MergeOperator{
		Name: "set",
		Merge: func(key, existing []byte, operands [][]byte) ([]byte, bool) {
			all := append([]byte(nil), existing...)
			for _, operand := range operands {
				if string(operand) == "panic" {
					panic("an operand")
				}
				if string(operand) == "refuse" {
					return nil, false
				}
				if !bytes.Contains(all, operand) {
					all = append(append(all, ' '), operand...)
				}
			}
			return all, true
		},
	}
	db := open(t, Set("merge_operators", "uint64_add"), Set("merge_operators", "append:,"),
		WithMergeOperator(set))
	counters, lists, sets := tree(t, db, "counters"), tree(t, db, "lists"), tree(t, db, "sets")
	must(t, db.SetMergeOperator(counters, "uint64_add"))
	must(t, db.SetMergeOperator(lists, "append:,"))
	must(t, db.SetMergeOperator(sets, "set"))
	wants(t, db.SetMergeOperator(sets, "nobody's"), ErrInvalidArgument)
	var one [8]byte
	binary.LittleEndian.PutUint64(one[:], 1)
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50; i++ {
				if err := db.Merge(counters, []byte("n"), one[:]); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	value, _, err := db.Get(counters, []byte("n"))
	must(t, err)
	same(t, binary.LittleEndian.Uint64(value), 200)
	var batch Batch
	batch.Merge(lists, []byte("l"), []byte("a"))
	batch.Merge(lists, []byte("l"), []byte("b"))
	must(t, db.Write(&batch))
	same(t, get(t, db, lists, "l"), "a,b")
	for _, word := range []string{"x", "y", "x"} {
		must(t, db.Merge(sets, []byte("s"), []byte(word)))
	}
	must(t, db.Flush())
	same(t, get(t, db, sets, "s"), " x y")
	for _, bad := range []string{"panic", "refuse"} {
		must(t, db.Merge(sets, []byte(bad), []byte(bad)))
		_, _, err = db.Get(sets, []byte(bad))
		wants(t, err, ErrCorruption)
		put(t, db, sets, bad, "good")
		same(t, get(t, db, sets, bad), "good")
	}
}

func TestOrders(t *testing.T) {
	invert := func(b []byte) ([]byte, bool) {
		if len(b) != 2 {
			return nil, false
		}
		return []byte{^b[0], ^b[1]}, true
	}
	db := open(t, WithKeyOrder(KeyOrder{"inverted", invert, invert, 2}),
		WithKeyComparator("by size", func(a, b []byte) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return bytes.Compare(a, b)
		}))
	list := func(tr *Tree) string {
		it := db.Iter(tr)
		defer it.Close()
		var all []string
		for it.Next() {
			all = append(all, string(it.Key()))
		}
		must(t, it.Err())
		return strings.Join(all, " ")
	}
	inverted := tree(t, db, "inverted", TreeOptions{Order: "inverted"})
	sized := tree(t, db, "sized", TreeOptions{Order: "by size"})
	for _, k := range []string{"aa", "zz", "mm"} {
		put(t, db, inverted, k, "")
	}
	for _, k := range []string{"ccc", "b", "aa", "bb", "dddd"} {
		put(t, db, sized, k, "")
	}
	wants(t, db.Put(inverted, []byte("three"), nil), ErrInvalidArgument)
	same(t, list(inverted), "zz mm aa")
	same(t, list(sized), "b aa bb ccc dddd")
	must(t, db.Flush())
	same(t, list(inverted), "zz mm aa")
	same(t, list(sized), "b aa bb ccc dddd")
}

func TestHooksEventsFilters(t *testing.T) {
	refused := errors.New("no commits of three")
	var mu sync.Mutex
	var after []string
	events := make(chan string, 1000)
	db := open(t,
		WithCommitHook(CommitHook{
			Before: func(operations uint64, durability Durability) error {
				switch operations {
				case 3:
					return refused
				case 4:
					panic("four")
				}
				return nil
			},
			After: func(operations uint64, durability Durability, timestamp uint64, outcome error) {
				mu.Lock()
				defer mu.Unlock()
				after = append(after, fmt.Sprint(operations, timestamp > 0, outcome == nil))
			},
		}),
		WithListener(func(event string, fields Record) {
			if len(fields) > 0 || event != "" {
				events <- event
			}
		}),
		WithLog(func(LogLevel, string) {}),
		WithFlushFilter("t", FlushFilter{Name: "of tests", Filter: func(k, v []byte) (FilterDecision, []byte) {
			switch string(k) {
			case "remove":
				return FilterRemove, nil
			case "change":
				return FilterChange, []byte("changed")
			case "panic":
				panic("a filter")
			}
			return FilterKeep, nil
		}}))
	tr := tree(t, db, "t")
	commit := func(n int) error {
		var batch Batch
		for i := 0; i < n; i++ {
			batch.Put(tr, []byte(fmt.Sprint(i)), nil)
		}
		return db.Write(&batch)
	}
	must(t, commit(2))
	err := commit(3)
	if err == nil || !strings.Contains(err.Error(), refused.Error()) {
		t.Fatalf("a commit that was refused: %v", err)
	}
	if err = commit(4); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Fatalf("a hook that panicked: %v", err)
	}
	same(t, get(t, db, tr, "2"), "-")
	mu.Lock()
	same(t, after[len(after)-1], "2 true true") // those that were refused are not told
	mu.Unlock()
	for _, k := range []string{"remove", "change", "panic", "stay"} {
		put(t, db, tr, k, "v")
	}
	must(t, db.Compact())
	same(t, get(t, db, tr, "remove"), "-")
	same(t, get(t, db, tr, "change"), "changed")
	same(t, get(t, db, tr, "panic"), "v")
	same(t, get(t, db, tr, "stay"), "v")
	deadline := time.After(hangLimit)
	for found := false; !found; {
		select {
		case event := <-events:
			found = event == "flush_completed"
		case <-deadline:
			t.Fatal("no event of a flush")
		}
	}
}

func TestEncryption(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	keys := map[string][32]byte{}
	for _, id := range []string{"one", "two"} {
		made, err := GenerateKey()
		must(t, err)
		keys[id] = made
	}
	unknown := errors.New("no such key")
	option := WithEncryption("one", func(id string) ([32]byte, error) {
		made, ok := keys[id]
		if !ok {
			return made, unknown
		}
		return made, nil
	})
	db, err := Open(dir, option, Set("memory_budget_bytes", "32M"))
	must(t, err)
	tr := tree(t, db, "t")
	put(t, db, tr, "k", "v")
	must(t, db.RotateKey("two"))
	must(t, db.RotateDataKey())
	row, err := db.Encryption()
	must(t, err)
	same(t, fmt.Sprint(row.Flag("encrypted"), row.Text("key_id"), row.Number("data_keys")), "truetwo2")
	if err := db.RotateKey("three"); err == nil {
		t.Fatal("a key that there is not")
	}
	must(t, db.Close())
	_, err = Open(dir)
	wants(t, err, ErrInvalidArgument)
	db, err = Open(dir, option)
	must(t, err)
	same(t, get(t, db, tree(t, db, "t"), "k"), "v")
	must(t, db.Close())
	delete(keys, "two")
	if _, err = Open(dir, option); err == nil || !strings.Contains(err.Error(), unknown.Error()) {
		t.Fatalf("without the key: %v", err)
	}
}

func TestOptions(t *testing.T) {
	names := OptionNames()
	values := map[string]string{"durability": "async", "compression": "zstd", "io_mode": "buffered",
		"file_mode": "0640", "encryption.key_id": "k", "merge_operators": "max",
		"encryption.key": strings.Repeat("ab", 32), "devices": "/dev/null", "space_target": "1.5"}
	functions := 0
	for _, name := range names {
		got, err := OptionValue(name)
		if errors.Is(err, ErrNotSupported) {
			functions++
			_, err = OptionValue("read_only", Set(name, "x"))
			wants(t, err, ErrNotSupported)
			continue
		}
		must(t, err)
		value, ok := values[name]
		if !ok {
			value = got
			if value == "0" || value == "" {
				value = "1"
			}
		}
		_, err = OptionValue(name, Set(name, value))
		if errors.Is(err, ErrNotSupported) {
			functions++
		} else if err != nil {
			t.Fatalf("%s = %s: %v", name, value, err)
		}
	}
	if len(names) < 20 || functions < 6 {
		t.Fatalf("%d options, %d functions: %v", len(names), functions, names)
	}
	got, err := OptionValue("memory_budget_bytes", Set("memory_budget_bytes", "64M"))
	must(t, err)
	same(t, got, 64<<20)
	for _, bad := range [][2]string{{"nobody's", "1"}, {"durability", "wish"}} {
		_, err := Open(filepath.Join(t.TempDir(), "db"), Set(bad[0], bad[1]))
		if bad[0] == "durability" {
			wants(t, err, ErrInvalidArgument)
		} else {
			wants(t, err, ErrNotFound)
		}
	}
	for _, nothing := range []Option{WithLog(nil), WithOnExpiry(nil), WithListener(nil),
		WithCommitHook(CommitHook{}), WithMergeOperator(MergeOperator{}), WithKeyOrder(KeyOrder{}),
		WithKeyComparator("x", nil), WithFlushFilter("t", FlushFilter{}), WithEncryption("k", nil)} {
		_, err := Open(filepath.Join(t.TempDir(), "db"), nothing)
		wants(t, err, ErrInvalidArgument)
	}
	// Named names that are none give the function back.
	_, err = OptionValue("read_only", WithMergeOperator(MergeOperator{"", func([]byte, []byte, [][]byte) ([]byte, bool) {
		return nil, false
	}, nil}))
	wants(t, err, ErrInvalidArgument)
	if Version() == "" || FormatVersion() == 0 || LibraryLimits().Key < 60000 {
		t.Fatal("what the library is")
	}
}
