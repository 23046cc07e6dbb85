package hawthorn

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestFeed(t *testing.T) {
	db := open(t)
	must(t, db.CreateFeed("f", FeedLogDefault))
	wants(t, db.CreateFeed("f", 0), ErrInvalidArgument)
	feed, err := db.OpenFeed("f")
	must(t, err)
	_, err = db.OpenFeed("f")
	wants(t, err, ErrBusy)
	_, err = db.OpenFeed("g")
	wants(t, err, ErrNotFound)
	found, err := feed.Next(0)
	must(t, err)
	same(t, found, false)
	_, err = feed.NextChange()
	wants(t, err, ErrInvalidArgument)

	tr := tree(t, db, "t")
	put(t, db, tr, "a", "1")
	var batch Batch
	batch.Put(tr, []byte("b"), []byte("2"))
	batch.Del(tr, []byte("a"))
	must(t, db.Write(&batch))
	must(t, db.DeleteRange(tr, []byte("x"), nil))
	long := bytes.Repeat([]byte("long"), 100000)
	must(t, db.Put(tr, []byte("l"), long))
	var seen []string
	for len(seen) < 6 {
		found, err := feed.Next(hangLimit)
		must(t, err)
		if !found || feed.Timestamp() <= feed.Previous() {
			t.Fatalf("no commit behind %v", seen)
		}
		for {
			change, err := feed.NextChange()
			must(t, err)
			if change == nil {
				break
			}
			what := fmt.Sprintf("%d %s %s=%s", change.Type, change.TreeName, change.Key, change.Value)
			if change.Streamed {
				all := make([]byte, change.ValueBytes)
				n, err := feed.ReadValue(0, all)
				must(t, err)
				same(t, n == len(long) && bytes.Equal(all, long), true)
				what += "streamed"
			}
			if change.Type == ChangeDeleteRange && change.High != nil {
				t.Fatal("a range with an end")
			}
			row, err := feed.ChangeTree()
			must(t, err)
			same(t, row.Text("name"), "t")
			seen = append(seen, what)
		}
	}
	same(t, strings.Join(seen, ", "), "6 t =, 1 t a=1, 1 t b=2, 2 t a=, 5 t x=, 1 t l=streamed")
	must(t, feed.Acknowledge(feed.Timestamp()))
	same(t, feed.Position(), feed.Timestamp())
	id, err := db.ID()
	must(t, err)
	same(t, feed.SourceID(), id)
	list, err := db.Feeds()
	must(t, err)
	if len(list) != 1 || list[0].Name != "f" || !list[0].Open || list[0].Position != feed.Position() {
		t.Fatalf("feeds: %+v", list)
	}
	wants(t, db.DropFeed("f"), ErrBusy)
	must(t, feed.Close())
	must(t, feed.Close())
	_, err = feed.Next(0)
	wants(t, err, ErrClosed)

	ctx, cancel := context.WithCancel(context.Background())
	bound, err := db.WithContext(ctx).OpenFeed("f")
	must(t, err)
	go func() {
		time.Sleep(20 * time.Millisecond)
		cancel()
	}()
	_, err = bound.Next(-1)
	same(t, err == context.Canceled, true)
	must(t, bound.Close())
	at, err := db.OpenFeedAt(list[0].Position)
	must(t, err)
	put(t, db, tr, "more", "")
	found, err = at.Next(hangLimit)
	must(t, err)
	same(t, found, true)
	must(t, at.Close())
	must(t, db.DropFeed("f"))
	wants(t, db.DropFeed("f"), ErrNotFound)
}

func TestReplica(t *testing.T) {
	source, direct, pieces := open(t), open(t), open(t)
	tr := tree(t, source, "t")
	put(t, source, tr, "a", "1")
	must(t, source.CreateFeed("f", 0))
	feed, err := source.OpenFeed("f")
	must(t, err)
	defer feed.Close()
	must(t, source.CreateFeed("pieces", 0))
	encoded, err := source.OpenFeed("pieces")
	must(t, err)
	defer encoded.Close()
	one, err := OpenReplica(direct)
	must(t, err)
	defer one.Close()
	two, err := OpenReplica(pieces)
	must(t, err)
	defer two.Close()
	must(t, one.Copy(source))
	must(t, two.Copy(source))
	wants(t, one.Apply(feed, DurabilityDefault), ErrInvalidArgument) // no commit yet
	put(t, source, tr, "b", "2")
	must(t, source.Put(tr, []byte("l"), bytes.Repeat([]byte("x"), 300000)))
	for i := 0; i < 2; i++ {
		found, err := feed.Next(hangLimit)
		must(t, err)
		same(t, found, true)
		must(t, one.Apply(feed, DurabilityDefault))
		_, err = encoded.Next(hangLimit)
		must(t, err)
		must(t, two.ApplyPieces(encoded.Encode, DurabilityDefault))
		same(t, one.Position(), feed.Timestamp())
		same(t, two.Position(), feed.Timestamp())
	}
	id, err := source.ID()
	must(t, err)
	same(t, one.SourceID(), id)
	for _, db := range []*DB{direct, pieces} {
		copied, err := db.FindTree("t")
		must(t, err)
		same(t, get(t, db, copied, "a")+get(t, db, copied, "b"), "12")
		n, err := db.SizeOf(copied, []byte("l"))
		must(t, err)
		same(t, n, 300000)
	}
	wants(t, two.ApplyPieces(func() ([]byte, error) { return []byte("not a piece"), nil }, 0), ErrCorruption)
	_, err = OpenReplica(source)
	wants(t, err, ErrInvalidArgument)
}

func TestFollower(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	put(t, db, tr, "k", "1")
	follower, err := OpenFollower(db.Path(), Set("memory_budget_bytes", "32M"))
	must(t, err)
	view, err := follower.Latest()
	must(t, err)
	there, err := view.FindTree("t")
	must(t, err)
	same(t, get(t, view, there, "k"), "1")
	wants(t, view.Put(there, []byte("k"), nil), ErrReadOnly)
	put(t, db, tr, "k", "2")
	same(t, get(t, view, there, "k"), "1")
	must(t, follower.Refresh())
	must(t, follower.Rebuild())
	newer, err := follower.View()
	must(t, err)
	there, err = newer.FindTree("t")
	must(t, err)
	same(t, get(t, newer, there, "k"), "2")
	must(t, view.Close())
	wants(t, view.Close(), ErrClosed)
	must(t, follower.Close())
	_, err = follower.View()
	wants(t, err, ErrClosed)
	same(t, get(t, newer, there, "k"), "2") // a view stays
	must(t, newer.Close())
	_, err = OpenFollower(t.TempDir())
	wants(t, err, ErrNotFound)
}
