package hawthorn_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"hawthorn"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "hawthorn")
	must(err)
	defer os.RemoveAll(dir)
	db, err := hawthorn.Open(filepath.Join(dir, "users.db"))
	must(err)
	defer db.Close()
	users, err := db.Tree("users")
	must(err)
	must(db.Put(users, []byte("ada"), []byte("1815"))) // on disk when it returns
	must(db.Update(func(txn *hawthorn.Txn) error {
		return txn.Put(users, []byte("grace"), []byte("1906"))
	}))
	it := db.Iter(users, hawthorn.IterOptions{Reverse: true})
	defer it.Close()
	for it.Next() {
		fmt.Printf("%s %s\n", it.Key(), it.Value())
	}
	must(it.Err())
	_, found, err := db.Get(users, []byte("bob"))
	fmt.Println(found, err)
	// Output:
	// grace 1906
	// ada 1815
	// false <nil>
}
