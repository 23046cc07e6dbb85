package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"hawthorn"
)

func open(t *testing.T, dir string) (*hawthorn.DB, *Queue) {
	t.Helper()
	db, err := hawthorn.Open(dir, hawthorn.Set("memory_budget_bytes", "32M"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQueue(db)
	if err != nil {
		t.Fatal(err)
	}
	return db, q
}

// A worker that is killed with a job in its hands: run as a process of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv("JOBQUEUE_DIES"); dir != "" {
		db, err := hawthorn.Open(dir)
		if err != nil {
			os.Exit(1)
		}
		q, _ := NewQueue(db)
		if q.Add("orphan", "ok") == nil {
			if claim, err := q.Claim(time.Millisecond); err == nil && claim != nil {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestJobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "JOBQUEUE_DIES="+dir)
	var exit *exec.ExitError
	if err := child.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the worker did not die: %v", err)
	}

	db, q := open(t, dir)
	for i := 0; i < 100; i++ {
		work := "ok"
		if i == 7 {
			work = "never works"
		} else if i%10 == 0 {
			work = "later"
		}
		if err := q.Add(fmt.Sprintf("job%d", i), work); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Add("job3", "twice"); err == nil {
		t.Fatal("two jobs of one name")
	}
	var mu sync.Mutex
	done := map[string]int{}
	err := q.Work(4, time.Minute, 5*time.Millisecond, 3, func(c *Claim) error {
		if c.Work == "ok" || c.Work == "later" && c.Attempt == 2 {
			mu.Lock()
			done[c.ID]++
			mu.Unlock()
			return nil
		}
		return errors.New("not yet")
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting, aside, err := q.Sizes()
	if err != nil || waiting != 0 || aside != 1 || len(done) != 100 || done["orphan"] != 1 {
		t.Fatalf("%v: %d wait, %d are set aside, %d are done", err, waiting, aside, len(done))
	}
	for id, times := range done {
		if times != 1 {
			t.Fatalf("%s was done %d times", id, times)
		}
	}

	// Who is too slow is told so.
	if err := q.Add("slow", "ok"); err != nil {
		t.Fatal(err)
	}
	slow, err := q.Claim(0)
	if err != nil || slow == nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond)
	second, err := q.Claim(time.Minute)
	if err != nil || second == nil || second.ID != "slow" || second.Attempt != 2 {
		t.Fatalf("%v, %v", second, err)
	}
	if err := q.Done(second); err != nil {
		t.Fatal(err)
	}
	if err := q.Done(slow); !errors.Is(err, ErrLeaseOver) {
		t.Fatalf("a lease that is over: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		{dir, "add", "one", "echo one >>" + out},
		{dir, "add", "two", "echo two >>" + out},
		{dir, "list"},
		{dir, "work"},
	} {
		if err := run(args); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	if b, err := os.ReadFile(out); err != nil || len(b) != 8 {
		t.Fatalf("%q, %v", b, err)
	}
	for _, args := range [][]string{nil, {dir, "dance"}, {dir, "add", "x"}, {dir, "work", "soon"}} {
		if run(args) == nil {
			t.Fatalf("%v did something", args)
		}
	}
}
