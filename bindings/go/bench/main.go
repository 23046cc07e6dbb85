// Command bench measures reads of many entries, into columns and into Go's own values: it makes a
// database of a million entries in the directory that it is given, or uses the one that is there, and
// prints how many entries a second are read in each way. Each result is checked by its number of
// entries and bytes.
package main

import (
	"fmt"
	"os"
	"time"

	"hawthorn"
)

const (
	entries    = 1000000
	keySize    = 16
	valueSize  = 100
	batchSize  = 1000
	columnRows = 4096
	columnSize = 1 << 20
)

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

// makeKey writes 16 hexadecimal digits of mix(i).
func makeKey(i uint64, key []byte) {
	const digits = "0123456789abcdef"
	m := mix(i)
	for d := 0; d < keySize; d++ {
		key[d] = digits[(m>>(60-4*d))&15]
	}
}

func load(db *hawthorn.DB, tree *hawthorn.Tree) error {
	there, err := db.Count(tree, nil, nil)
	if err != nil || there == entries {
		return err
	}
	if there != 0 {
		return fmt.Errorf("there are %d entries", there)
	}
	value := make([]byte, valueSize)
	for i := range value {
		value[i] = 'v'
	}
	for i := uint64(0); i < entries; i++ {
		makeKey(i, value[:keySize])
		err := db.Put(tree, value[:keySize], value, hawthorn.WriteOptions{Durability: hawthorn.DurabilityNone})
		if err != nil {
			return err
		}
	}
	return db.Flush()
}

// sum is what a way of reading has come to.
type sum struct{ rows, bytes int }

type bench struct {
	db     *hawthorn.DB
	tree   *hawthorn.Tree
	random uint64
}

func (b *bench) multiGetColumns() (s sum, err error) {
	wanted := hawthorn.Column{Bytes: make([]byte, batchSize*keySize), Offsets: make([]int64, batchSize+1)}
	for i := range wanted.Offsets {
		wanted.Offsets[i] = int64(i * keySize)
	}
	columns := hawthorn.NewColumns(columnRows, 0, columnSize)
	for n := 0; n < entries/batchSize; n++ {
		for i := 0; i < batchSize; i++ {
			makeKey(mix(b.random)%entries, wanted.Bytes[i*keySize:])
			b.random++
		}
		if err := b.db.MultiGetColumns(b.tree, &wanted, columns); err != nil {
			return s, err
		}
		s.rows += columns.Rows()
		s.bytes += len(columns.Values.Bytes)
	}
	return s, nil
}

func (b *bench) multiGetObjects() (s sum, err error) {
	memory := make([]byte, batchSize*keySize)
	keys := make([][]byte, batchSize)
	for n := 0; n < entries/batchSize; n++ {
		for i := range keys {
			keys[i] = memory[i*keySize : (i+1)*keySize]
			makeKey(mix(b.random)%entries, keys[i])
			b.random++
		}
		values, err := b.db.MultiGet(b.tree, keys)
		if err != nil {
			return s, err
		}
		for _, value := range values {
			if value != nil {
				s.rows++
				s.bytes += len(value)
			}
		}
	}
	return s, nil
}

func (b *bench) scanColumns() (s sum, err error) {
	columns := hawthorn.NewColumns(columnRows, columnSize, columnSize)
	cursor, err := b.db.Cursor(b.tree)
	if err != nil {
		return s, err
	}
	defer cursor.Close()
	if _, err := cursor.First(); err != nil {
		return s, err
	}
	for {
		n, err := cursor.NextColumns(columns)
		if err != nil || n == 0 {
			return s, err
		}
		s.rows += n
		s.bytes += len(columns.Keys.Bytes) + len(columns.Values.Bytes)
	}
}

func (b *bench) scanObjects() (s sum, err error) {
	it := b.db.Iter(b.tree)
	defer it.Close()
	for it.Next() {
		s.rows++
		s.bytes += len(it.Key()) + len(it.Value())
	}
	return s, it.Err()
}

func run(dir string) error {
	db, err := hawthorn.Open(dir, hawthorn.Set("memory_budget_bytes", "512M"))
	if err != nil {
		return err
	}
	defer db.Close()
	tree, err := db.Tree("bench")
	if err != nil {
		return err
	}
	if err := load(db, tree); err != nil {
		return err
	}
	b := &bench{db, tree, 1}
	for _, way := range []struct {
		name  string
		read  func() (sum, error)
		bytes int
	}{
		{"multi_get_columns", b.multiGetColumns, valueSize},
		{"multi_get_objects", b.multiGetObjects, valueSize},
		{"scan_columns", b.scanColumns, keySize + valueSize},
		{"scan_objects", b.scanObjects, keySize + valueSize},
	} {
		for round := 0; round < 2; round++ { // the first one warms up
			began := time.Now()
			s, err := way.read()
			if err != nil {
				return err
			}
			took := time.Since(began)
			if s.rows != entries || s.bytes != entries*way.bytes {
				return fmt.Errorf("%s: %d rows, %d bytes", way.name, s.rows, s.bytes)
			}
			if round == 1 {
				fmt.Printf("%s %.0f\n", way.name, entries/took.Seconds())
			}
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bench DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
