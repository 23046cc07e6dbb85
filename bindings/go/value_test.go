package hawthorn

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestValuesInPlace(t *testing.T) {
	db := open(t)
	tr, err := db.Tree("t")
	must(t, err)
	large := bytes.Repeat([]byte("0123456789"), 30_000)
	for k, v := range map[string][]byte{"small": []byte("old"), "large": large, "empty": {}} {
		must(t, db.Put(tr, []byte(k), v))
	}
	must(t, db.Flush())
	snap, err := db.Snapshot()
	must(t, err)
	txn, err := db.Begin()
	must(t, err)
	must(t, txn.Put(tr, []byte("own"), []byte("mine")))
	var kept []*Value
	for i, r := range []Reader{db, snap, txn} {
		for k, want := range map[string][]byte{"small": []byte("old"), "large": large, "empty": {}} {
			v, err := r.GetValue(tr, []byte(k))
			must(t, err)
			if v == nil || !bytes.Equal(v.Bytes(), want) {
				t.Fatalf("%s by reader %d", k, i)
			}
			kept = append(kept, v)
		}
		v, err := r.GetValue(tr, []byte("none"))
		if v != nil || err != nil {
			t.Fatalf("%v %v for no key", v, err)
		}
		found, err := r.GetFunc(tr, []byte("own"), func(value []byte) error {
			same(t, string(value), "mine")
			return errors.New("from within")
		})
		same(t, found, i == 2)
		same(t, err, map[bool]string{true: "from within", false: "<nil>"}[i == 2])
	}
	// They stay as they are, whatever is written, and whatever they were read by ends.
	must(t, txn.Abort())
	must(t, snap.Close())
	must(t, db.Put(tr, []byte("small"), []byte("new")))
	for i := 0; i < 2000; i++ {
		must(t, db.Put(tr, []byte(fmt.Sprint("more", i)), large[:1000]))
	}
	must(t, db.Del(tr, []byte("large")))
	must(t, db.Flush())
	must(t, db.Compact())
	for _, v := range kept {
		if b := v.Bytes(); string(b) != "old" && len(b) != 0 && !bytes.Equal(b, large) {
			t.Fatalf("a value has become %.20q", b)
		}
	}
	wants(t, db.Close(), ErrBusy)
	for _, v := range kept {
		v.Release()
		v.Release()
	}
	func() {
		defer func() { same(t, recover(), "hawthorn: Bytes of a Value that was released") }()
		kept[0].Bytes()
		t.Fatal("bytes of what was released")
	}()
	must(t, db.Close())
	_, err = db.GetValue(tr, []byte("small"))
	wants(t, err, ErrClosed)
}

func BenchmarkGetValue(b *testing.B) {
	db := open(b)
	tr, err := db.Tree("t")
	must(b, err)
	must(b, db.Put(tr, []byte("k"), make([]byte, 64<<10)))
	b.Run("Get", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			_, _, err := db.Get(tr, []byte("k"))
			must(b, err)
		}
	})
	b.Run("GetFunc", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			_, err := db.GetFunc(tr, []byte("k"), func([]byte) error { return nil })
			must(b, err)
		}
	})
}
