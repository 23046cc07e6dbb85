package hawthorn

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// filled is a database with many entries.
func filled(t *testing.T) (*DB, *Tree) {
	t.Helper()
	db := open(t)
	tr := tree(t, db, "t")
	var batch Batch
	for i := 0; i < 5000; i++ {
		batch.Put(tr, []byte(fmt.Sprintf("%05d", i)), bytes.Repeat([]byte{byte(i)}, 500))
	}
	must(t, db.Write(&batch))
	return db, tr
}

// holds checks a copy.
func holds(t *testing.T, dir string, entries int) {
	t.Helper()
	db, err := Open(dir, Set("create_if_missing", "false"))
	must(t, err)
	n, err := db.Count(tree(t, db, "t"), nil, nil)
	must(t, err)
	same(t, n, entries)
	must(t, db.Close())
}

func TestCopies(t *testing.T) {
	db, tr := filled(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	told := uint64(0)
	must(t, db.Checkpoint(path("checkpoint"), CopyOptions{CopyBlocks: true,
		Progress: func(n uint64) error { told = n; return nil }}))
	holds(t, path("checkpoint"), 5000)
	if told == 0 {
		t.Fatal("nobody was told how far it is")
	}
	stop := errors.New("stop")
	err := db.Checkpoint(path("stopped"), CopyOptions{CopyBlocks: true, Progress: func(uint64) error { return stop }})
	same(t, err == stop, true)
	if err := db.Checkpoint(path("checkpoint")); err == nil {
		t.Fatal("a checkpoint over another")
	}

	repository, err := OpenRepository(path("repository"))
	must(t, err)
	first, err := db.Backup(repository)
	must(t, err)
	put(t, db, tr, "more", "v")
	second, err := db.Backup(repository)
	must(t, err)
	if first.Incremental || !second.Incremental || first.Bytes == 0 || first.ID == second.ID ||
		time.Since(second.Created) > time.Hour {
		t.Fatalf("backups: %+v, %+v", first, second)
	}
	list, err := repository.List()
	must(t, err)
	same(t, len(list), 2)
	must(t, repository.Verify(second.ID))
	must(t, repository.Restore(second.ID, path("restored")))
	holds(t, path("restored"), 5001)
	must(t, repository.Remove(first.ID))
	wants(t, repository.Verify(first.ID), ErrNotFound)
	must(t, repository.Close())
	must(t, repository.Close())
	_, err = repository.List()
	wants(t, err, ErrClosed)
	_, err = db.Backup(repository)
	wants(t, err, ErrClosed)
	_, err = db.Backup(nil)
	wants(t, err, ErrInvalidArgument)

	var stream bytes.Buffer
	made, err := db.BackupTo(&stream)
	must(t, err)
	if made.Bytes == 0 || stream.Len() == 0 {
		t.Fatalf("a backup without bytes: %+v", made)
	}
	_, err = VerifyBackup(bytes.NewReader(stream.Bytes()))
	must(t, err)
	_, err = RestoreBackup(bytes.NewReader(stream.Bytes()), path("streamed"))
	must(t, err)
	holds(t, path("streamed"), 5001)
	damaged := clone(stream.Bytes())
	damaged[len(damaged)/2] ^= 1
	_, err = VerifyBackup(bytes.NewReader(damaged))
	wants(t, err, ErrCorruption)
	_, err = db.BackupTo(failing{stop})
	same(t, err == stop, true)
	_, err = RestoreBackup(failing{stop}, path("never"))
	same(t, err == stop, true)

	wants(t, Destroy(path("nothing")), ErrNotFound)
	must(t, Destroy(path("streamed")))
	wants(t, Destroy(path("streamed")), ErrNotFound)
}

func TestIngest(t *testing.T) {
	db := open(t)
	tr := tree(t, db, "t")
	ingest, err := db.Ingest(tr)
	must(t, err)
	must(t, ingest.Add([]byte("a"), []byte("1")))
	var columns Columns
	for i := 0; i < 3000; i++ {
		columns.Append([]byte(fmt.Sprintf("b%05d", i)), []byte("v"))
	}
	must(t, ingest.AddColumns(&columns))
	must(t, ingest.AddStream([]byte("c"), 5, strings.NewReader("hello")))
	n, err := db.Count(tr, nil, nil)
	must(t, err)
	same(t, n, 0)
	must(t, ingest.Finish())
	row, err := ingest.Stats()
	must(t, err)
	same(t, row.Number("entries"), 3002)
	wants(t, ingest.Add([]byte("d"), nil), ErrInvalidArgument)
	must(t, ingest.Close())
	wants(t, ingest.Finish(), ErrClosed)
	n, err = db.Count(tr, nil, nil)
	must(t, err)
	same(t, n, 3002)
	same(t, get(t, db, tr, "c"), "hello")

	order, err := db.Ingest(tr)
	must(t, err)
	must(t, order.Add([]byte("z"), nil))
	wants(t, order.Add([]byte("y"), nil), ErrInvalidArgument)
	must(t, order.Close())
	unsorted, err := db.Ingest(tr, IngestOptions{Unsorted: true, Durability: DurabilityFull})
	must(t, err)
	must(t, unsorted.Add([]byte("z"), []byte("1")))
	must(t, unsorted.Add([]byte("y"), []byte("2")))
	wants(t, unsorted.AddColumns(&Columns{Keys: Column{Offsets: []int64{0, 1}}}), ErrInvalidArgument)
	must(t, unsorted.Finish())
	must(t, unsorted.Close())
	same(t, get(t, db, tr, "y")+get(t, db, tr, "z"), "21")
	given, err := db.Ingest(tr)
	must(t, err)
	must(t, given.Add([]byte("given up"), nil))
	must(t, given.Close())
	same(t, get(t, db, tr, "given up"), "-")
}

func TestCheckAndRepair(t *testing.T) {
	db, _ := filled(t)
	must(t, db.Flush())
	steps := uint64(0)
	report, err := db.Check(CheckOptions{Threads: 2, Progress: func(done, all uint64) { steps = done }})
	must(t, err)
	if !report.OK || len(report.Errors) != 0 || len(report.Record) < 5 || steps == 0 {
		t.Fatalf("%+v", report)
	}
	_, err = db.Check(CheckOptions{Threads: 1000})
	wants(t, err, ErrInvalidArgument)
	target := filepath.Join(t.TempDir(), "repaired")
	path := db.Path()
	_, err = Repair(path, target)
	wants(t, err, ErrBusy)
	must(t, db.Close())
	row, err := Repair(path, target, RepairOptions{Database: []Option{Set("memory_budget_bytes", "32M")}})
	must(t, err)
	same(t, row.Flag("ok"), true)
	holds(t, target, 5000)

	// Damage is found, and told.
	files, err := filepath.Glob(filepath.Join(path, "data*"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no data files")
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		must(t, err)
		for i := range b {
			if b[i] == 77 { // in the values of one key of 256
				b[i] = 78
			}
		}
		must(t, os.WriteFile(file, b, 0o600))
	}
	again, err := Open(path)
	must(t, err)
	defer again.Close()
	report, err = again.Check()
	must(t, err)
	if report.OK || len(report.Errors) == 0 || report.Errors[0] == "" {
		t.Fatalf("damage that nobody sees: %+v", report)
	}
}

func TestFiguresAndMaintenance(t *testing.T) {
	db, tr := filled(t)
	must(t, db.Sync())
	must(t, db.Flush())
	must(t, db.Compact())
	must(t, db.Drain())
	must(t, db.WarmUp())
	must(t, db.SetMemoryBudget(48<<20))
	wants(t, db.SetMemoryBudget(1), ErrInvalidArgument)
	must(t, db.SetBackgroundIOLimit(0))
	row, err := db.Stats()
	must(t, err)
	one, err := db.Stat("commits")
	must(t, err)
	if row.Number("commits") == 0 || one < row.Number("commits") || len(row.List("trees")) == 0 {
		t.Fatalf("figures: %v", row)
	}
	_, err = db.Stat("nobody's")
	wants(t, err, ErrNotFound)
	id, err := db.ID()
	must(t, err)
	same(t, len(id), 32)
	where, err := db.Explain(tr, []byte("00001"))
	must(t, err)
	same(t, where.Flag("found"), true)
	row, err = ReadCounters(db.Path())
	must(t, err)
	same(t, row.Number("pid"), os.Getpid())
	if len(row.List("entries")) < 5 {
		t.Fatalf("counters: %v", row)
	}
	_, err = ReadCounters(t.TempDir())
	wants(t, err, ErrNotFound)
	field, found := row.Field("nobody's")
	same(t, fmt.Sprint(field.Value, found, row.Text("pid"), row.List("pid"), row.Flag("pid")), "<nil> false[] false")
}
