package hawthorn

import (
	"bytes"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"
)

// model is a tree as a sorted list.
type model map[string]string

func (m model) sorted(lower, upper string, bounded bool) []string {
	var keys []string
	for k := range m {
		if k >= lower && (!bounded || k < upper) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	return keys
}

// compare walks all ways there are through a range, and compares each with the model.
func (m model) compare(t *testing.T, r Reader, tr *Tree, random *rand.Rand) {
	t.Helper()
	lower, upper := randomKey(random), randomKey(random)
	options := IterOptions{Lower: []byte(lower), Upper: []byte(upper)}
	bounded := true
	switch random.Intn(4) {
	case 0:
		options, lower, bounded = IterOptions{}, "", false
	case 1:
		options.Upper, bounded = nil, false
	}
	keys := m.sorted(lower, upper, bounded)
	n, err := r.Count(tr, options.Lower, options.Upper)
	must(t, err)
	same(t, n, len(keys))
	entries := func(it *Iterator, want []string) {
		t.Helper()
		for i := 0; i < len(want); i++ {
			if !it.Next() || string(it.Key()) != want[i] || string(it.Value()) != m[want[i]] {
				t.Fatalf("entry %d of %d is %q, not %q; %v", i, len(want), it.Key(), want[i], it.Err())
			}
		}
		if it.Next() || it.Next() || it.Key() != nil {
			t.Fatal("an entry behind the last one")
		}
		must(t, it.Close())
		must(t, it.Close())
		if it.Next() {
			t.Fatal("an entry of an iterator that was closed")
		}
	}
	backward := make([]string, len(keys))
	for i, k := range keys {
		backward[len(keys)-1-i] = k
	}
	entries(r.Iter(tr, options), keys)
	seek := randomKey(random)
	at := sort.SearchStrings(keys, seek)
	it := r.Iter(tr, options)
	same(t, it.Seek([]byte(seek)), at < len(keys))
	if at < len(keys) {
		same(t, string(it.Key()), keys[at])
		entries(it, keys[at+1:])
	} else {
		entries(it, nil)
	}
	options.Reverse = true
	entries(r.Iter(tr, options), backward)
	back := 0 // the first of them that is not behind the key
	for back < len(backward) && backward[back] > seek {
		back++
	}
	it = r.Iter(tr, options)
	same(t, it.Seek([]byte(seek)), back < len(backward))
	if back < len(backward) {
		entries(it, backward[back+1:])
	} else {
		entries(it, nil)
	}

	cursor, err := r.Cursor(tr, CursorOptions{Lower: options.Lower, Upper: options.Upper})
	must(t, err)
	defer cursor.Close()
	position := -1 // where it stands; -1: nowhere
	for i := 0; i < 20; i++ {
		var found bool
		switch random.Intn(6) {
		case 0:
			found, err = cursor.First()
			position = 0
		case 1:
			found, err = cursor.Last()
			position = len(keys) - 1
		case 2:
			found, err = cursor.Next()
			if position >= 0 {
				position++
			}
		case 3:
			found, err = cursor.Prev()
			if position >= 0 {
				position--
			}
		case 4:
			seek := randomKey(random)
			found, err = cursor.Seek([]byte(seek))
			position = sort.SearchStrings(keys, seek)
		default:
			seek := randomKey(random)
			found, err = cursor.SeekForPrev([]byte(seek))
			position = sort.Search(len(keys), func(i int) bool { return keys[i] > seek }) - 1
		}
		must(t, err)
		if position >= len(keys) {
			position = -1
		}
		if found != (position >= 0) || found != cursor.Valid() ||
			found && (string(cursor.Key()) != keys[position] || string(cursor.Value()) != m[keys[position]]) {
			t.Fatalf("the cursor stands on %q (%v), not at %d of %q", cursor.Key(), found, position, keys)
		}
	}
	// Columns of a size in which long values do not fit.
	columns := NewColumns(1+random.Intn(20), random.Intn(50), random.Intn(300))
	for _, want := range [][]string{keys, backward} {
		reverse := len(want) > 0 && len(keys) > 1 && want[0] != keys[0]
		if reverse {
			_, err = cursor.Last()
		} else {
			_, err = cursor.First()
		}
		must(t, err)
		row := 0
		for {
			n := 0
			if reverse {
				n, err = cursor.PrevColumns(columns)
			} else {
				n, err = cursor.NextColumns(columns)
			}
			must(t, err)
			if n == 0 {
				break
			}
			for i := 0; i < n; i++ {
				if string(columns.Keys.At(i)) != want[row] || string(columns.Values.At(i)) != m[want[row]] {
					t.Fatalf("row %d is %q", row, columns.Keys.At(i))
				}
				row++
			}
		}
		same(t, row, len(want))
	}
}

func randomKey(random *rand.Rand) string {
	return strings.Repeat("k", random.Intn(3)) + fmt.Sprint(random.Intn(300))
}

func TestModel(t *testing.T) {
	seed := int64(20240607)
	random := rand.New(rand.NewSource(seed))
	db := open(t)
	tr := tree(t, db, "t")
	m := model{}
	type kept struct {
		snap *Snapshot
		m    model
	}
	var snaps []kept
	change := func(w Writer, m model) {
		k := randomKey(random)
		switch random.Intn(10) {
		case 0:
			must(t, w.Del(tr, []byte(k)))
			delete(m, k)
		case 1:
			high := randomKey(random)
			if k < high && random.Intn(4) == 0 {
				must(t, w.DeleteRange(tr, []byte(k), []byte(high)))
				for _, gone := range m.sorted(k, high, true) {
					delete(m, gone)
				}
			}
		default:
			v := strings.Repeat(fmt.Sprint(random.Intn(1000)), random.Intn(60))
			put(t, w, tr, k, v)
			m[k] = v
		}
	}
	copyOf := func(m model) model {
		c := model{}
		for k, v := range m {
			c[k] = v
		}
		return c
	}
	for round := 0; round < 60; round++ {
		for i := 0; i < 30; i++ {
			change(db, m)
		}
		m.compare(t, db, tr, random)
		inside := copyOf(m)
		txn, err := db.Begin()
		must(t, err)
		for i := 0; i < 20; i++ {
			change(txn, inside)
		}
		inside.compare(t, txn, tr, random)
		m.compare(t, db, tr, random)
		if round%2 == 0 {
			must(t, txn.Commit())
			m = inside
		} else {
			must(t, txn.Abort())
		}
		if round%10 == 0 {
			snap, err := db.Snapshot()
			must(t, err)
			snaps = append(snaps, kept{snap, copyOf(m)})
		}
		if round%15 == 7 {
			must(t, db.Flush())
		}
		for _, k := range snaps {
			k.m.compare(t, k.snap, tr, random)
		}
	}
	for _, k := range snaps {
		must(t, k.snap.Close())
	}
	report, err := db.Check()
	must(t, err)
	if !report.OK {
		t.Fatal(report.Errors)
	}
}

// An iterator of a transaction sees what is written while it goes.
func TestIteratorSeesWrites(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	must(t, db.Update(func(txn *Txn) error {
		put(t, txn, tr, "a", "1")
		it := txn.Iter(tr)
		defer it.Close()
		var keys []string
		for it.Next() {
			if len(keys) < 5 {
				put(t, txn, tr, string(it.Key())+"x", "2")
			}
			keys = append(keys, string(it.Key()))
		}
		same(t, keys, []string{"a", "ax", "axx", "axxx", "axxxx", "axxxxx"})
		return it.Err()
	}))
}

func TestMultiValue(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t", TreeOptions{MultiValue: true})
	for _, kv := range []string{"a1", "a2", "a3", "b1", "c1", "c2"} {
		put(t, db, tr, kv[:1], kv[1:])
	}
	same(t, get(t, db, tr, "a"), "1")
	c, err := db.Cursor(tr)
	must(t, err)
	defer c.Close()
	step := func(want string) func(found bool, err error) {
		return func(found bool, err error) {
			t.Helper()
			must(t, err)
			got := "-"
			if found {
				got = string(c.Key()) + string(c.Value())
			}
			same(t, got, want)
		}
	}
	step("a1")(c.First())
	step("a2")(c.NextValue())
	step("a3")(c.LastValue())
	step("-")(c.NextValue())
	same(t, string(c.Key())+string(c.Value()), "a3") // it has stayed
	step("a1")(c.FirstValue())
	step("b1")(c.NextKey())
	step("a3")(c.PrevKey())
	step("a2")(c.PrevValue())
	step("c2")(c.SeekValue([]byte("c"), []byte("1x")))
	step("a2")(c.SeekValue([]byte("a"), []byte("2")))
	step("c1")(c.Skip(3))
	step("a3")(c.Skip(-2))
	n, err := c.CountValues()
	must(t, err)
	same(t, n, 3)
	found, err := c.SeekRandom(1 << 63)
	must(t, err)
	same(t, found, true)
	must(t, db.DelValue(tr, []byte("a"), []byte("2")))
	all, err := db.Count(tr, nil, nil)
	must(t, err)
	same(t, all, 5)
	it := db.Iter(tr, IterOptions{Reverse: true, KeysOnly: true})
	defer it.Close()
	var keys bytes.Buffer
	for it.Next() {
		keys.Write(it.Key())
	}
	must(t, it.Err())
	same(t, keys.String(), "ccbaa")
	must(t, db.Del(tr, []byte("a")))
	same(t, get(t, db, tr, "a"), "-")
	plain := tree(t, db, "plain")
	p, err := db.Cursor(plain)
	must(t, err)
	defer p.Close()
	_, err = p.SeekValue([]byte("a"), []byte("1"))
	wants(t, err, ErrNotSupported)
	fresh, err := db.Cursor(tr)
	must(t, err)
	defer fresh.Close()
	_, err = fresh.CountValues()
	wants(t, err, ErrInvalidArgument)
}

func TestScanAndLargeValues(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	total := 0
	for i := 0; i < 50; i++ {
		v := strings.Repeat("v", i*10000)
		total += len(v)
		put(t, db, tr, fmt.Sprintf("%03d", i), v)
	}
	rows, sum := 0, 0
	must(t, db.Scan(tr, CursorOptions{}, func(c *Columns) bool {
		rows += c.Rows()
		sum += len(c.Values.Bytes)
		return true
	}))
	same(t, fmt.Sprint(rows, sum), fmt.Sprint(50, total))
	runs := 0
	must(t, db.Scan(tr, CursorOptions{}, func(c *Columns) bool { runs++; return false }))
	same(t, runs, 1)
	for _, reverse := range []bool{false, true} {
		it := db.Iter(tr, IterOptions{Reverse: reverse})
		rows, sum = 0, 0
		for it.Next() {
			rows++
			sum += len(it.Value())
		}
		must(t, it.Close())
		same(t, fmt.Sprint(rows, sum), fmt.Sprint(50, total))
	}
}

func TestPrefix(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	for _, k := range []string{"a", "b", "b/1", "b/2", "c", "\xff", "\xff\xff1"} {
		put(t, db, tr, k, "a value")
	}
	for prefix, want := range map[string]int{"b": 3, "b/": 2, "": 7, "\xff": 2, "\xff\xff": 1, "x": 0} {
		o := Prefix([]byte(prefix))
		o.KeysOnly = true
		it := db.Iter(tr, o)
		n := 0
		for it.Next() {
			n++
			same(t, len(it.Value()), 0)
		}
		must(t, it.Close())
		same(t, prefix+fmt.Sprint(n), prefix+fmt.Sprint(want))
	}
}
