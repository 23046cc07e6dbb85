// Command jobqueue is a queue of jobs for several workers: a job that is claimed comes back when its
// worker dies or takes too long, and is set aside when it has failed too often. Two trees: "jobs"
// holds what is to do, "due" the moments from which on a job may be claimed, the earliest first.
//
//	jobqueue DIR add ID WORK...   adds a job
//	jobqueue DIR work [SECONDS]   runs the work of jobs by the shell, until none waits
//	jobqueue DIR list             shows what waits and what was set aside
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"hawthorn"
)

// Claim is a job in the hands of a worker. The lease is its key in "due": while that is there, the
// job is the worker's.
type Claim struct {
	ID      string
	Work    string
	Attempt int
	lease   []byte
}

// Queue is a queue of jobs in a database. Any number of goroutines may use it.
type Queue struct {
	db        *hawthorn.DB
	jobs, due *hawthorn.Tree
}

// NewQueue opens the queue that is in the database, or makes it.
func NewQueue(db *hawthorn.DB) (*Queue, error) {
	jobs, err := db.Tree("jobs")
	if err != nil {
		return nil, err
	}
	due, err := db.Tree("due")
	return &Queue{db, jobs, due}, err
}

// dueKey has the order of the moments; jobs of one moment have that of their ids.
func dueKey(at time.Time, id string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli())), id...)
}

// Add adds a job, which is there when it returns, whatever happens then.
func (q *Queue) Add(id, work string) error {
	return q.db.Update(func(txn *hawthorn.Txn) error {
		done, err := txn.PutIfAbsent(q.jobs, []byte(id), append([]byte{0}, work...))
		if err == nil && !done {
			err = fmt.Errorf("there is a job %q", id)
		}
		if err != nil {
			return err
		}
		return txn.Put(q.due, dueKey(time.Now(), id), nil)
	})
}

// Claim takes the job that has been due for longest, for as long as a worker takes that is not dead;
// nil: none is due. One claims at a time, so two never get the same job, and none waits for a row.
func (q *Queue) Claim(lease time.Duration) (*Claim, error) {
	var claim *Claim
	err := q.db.Update(func(txn *hawthorn.Txn) error {
		claim = nil
		it := txn.Iter(q.due, hawthorn.IterOptions{Upper: dueKey(time.Now().Add(time.Millisecond), "")})
		defer it.Close()
		if !it.Next() {
			return it.Err()
		}
		id := it.Key()[8:]
		job, found, err := txn.Get(q.jobs, id)
		if err == nil && !found {
			err = fmt.Errorf("job %q is due, and not there", id)
		}
		if err != nil {
			return err
		}
		job[0]++
		claim = &Claim{string(id), string(job[1:]), int(job[0]), dueKey(time.Now().Add(lease), string(id))}
		if err := txn.Put(q.jobs, id, job); err != nil {
			return err
		}
		if err := txn.Del(q.due, it.Key()); err != nil {
			return err
		}
		return txn.Put(q.due, claim.lease, nil)
		// Lost with the power, it is claimed again: that needs no sync.
	}, hawthorn.TxnOptions{Mode: hawthorn.Exclusive, Durability: hawthorn.DurabilityNone})
	return claim, err
}

// ErrLeaseOver is what a worker gets that took longer than its lease: somebody else has the job, or
// has done it.
var ErrLeaseOver = errors.New("the lease is over")

// Done removes a job that was done.
func (q *Queue) Done(claim *Claim) error {
	return q.finish(claim, func(txn *hawthorn.Txn) error {
		return txn.Del(q.jobs, []byte(claim.ID))
	})
}

// Failed has a job tried again after a pause, which doubles; after so many attempts it is set aside.
func (q *Queue) Failed(claim *Claim, pause time.Duration, attempts int) error {
	return q.finish(claim, func(txn *hawthorn.Txn) error {
		if claim.Attempt >= attempts {
			return nil
		}
		return txn.Put(q.due, dueKey(time.Now().Add(pause<<(claim.Attempt-1)), claim.ID), nil)
	})
}

func (q *Queue) finish(claim *Claim, f func(*hawthorn.Txn) error) error {
	return q.db.Update(func(txn *hawthorn.Txn) error {
		_, found, err := txn.GetForUpdate(q.due, claim.lease)
		if err == nil && !found {
			err = ErrLeaseOver
		}
		if err != nil {
			return err
		}
		if err := txn.Del(q.due, claim.lease); err != nil {
			return err
		}
		return f(txn)
	})
}

// Sizes tells how many jobs wait or are claimed, and how many were set aside.
func (q *Queue) Sizes() (waiting, aside uint64, err error) {
	err = q.db.View(func(snap *hawthorn.Snapshot) error {
		all, err := snap.Count(q.jobs, nil, nil)
		if err != nil {
			return err
		}
		waiting, err = snap.Count(q.due, nil, nil)
		aside = all - waiting
		return err
	})
	return waiting, aside, err
}

// Work has so many workers do jobs until none waits; what a job returns is whether it failed.
func (q *Queue) Work(workers int, lease, pause time.Duration, attempts int,
	do func(*Claim) error) error {
	var group sync.WaitGroup
	failures := make(chan error, workers)
	for i := 0; i < workers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			failures <- q.work(lease, pause, attempts, do)
		}()
	}
	group.Wait()
	for i := 0; i < workers; i++ {
		if err := <-failures; err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) work(lease, pause time.Duration, attempts int, do func(*Claim) error) error {
	for {
		waiting, _, err := q.Sizes()
		if err != nil || waiting == 0 {
			return err
		}
		claim, err := q.Claim(lease)
		if err != nil {
			return err
		}
		if claim == nil { // all are claimed, or pause
			time.Sleep(time.Millisecond)
			continue
		}
		if do(claim) == nil {
			err = q.Done(claim)
		} else {
			err = q.Failed(claim, pause, attempts)
		}
		if err != nil && !errors.Is(err, ErrLeaseOver) {
			return err
		}
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: jobqueue DIR add ID WORK... | DIR work [SECONDS] | DIR list")
	}
	db, err := hawthorn.Open(args[0], hawthorn.Set("memory_budget_bytes", "32M"))
	if err != nil {
		return err
	}
	defer db.Close()
	q, err := NewQueue(db)
	if err != nil {
		return err
	}
	switch {
	case args[1] == "add" && len(args) > 3:
		return q.Add(args[2], strings.Join(args[3:], " "))
	case args[1] == "work":
		seconds := 60
		if len(args) > 2 {
			if seconds, err = strconv.Atoi(args[2]); err != nil {
				return err
			}
		}
		return q.Work(4, time.Duration(seconds)*time.Second, time.Second, 3, func(c *Claim) error {
			out, err := exec.Command("sh", "-c", c.Work).CombinedOutput()
			fmt.Printf("%s, attempt %d: %v\n%s", c.ID, c.Attempt, err, out)
			return err
		})
	case args[1] == "list":
		it := db.Iter(q.jobs)
		defer it.Close()
		for it.Next() {
			fmt.Printf("%s\tattempts %d\t%s\n", it.Key(), it.Value()[0], it.Value()[1:])
		}
		return it.Err()
	}
	return fmt.Errorf("unknown command %q", args[1])
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
