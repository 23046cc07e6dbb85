package hawthorn

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// Tree is a sorted tree of a database: what reads and writes take first. It works with every
// transaction, cursor and queue of its database, and may be used by any number of goroutines. It
// holds nothing open and needs no Close.
type Tree struct {
	h  *C.hawthorn_tree
	db *core
}

func newTree(h *C.hawthorn_tree, db *core) *Tree {
	t := &Tree{h, db}
	runtime.SetFinalizer(t, func(t *Tree) { C.hawthorn_tree_free(t.h) })
	return t
}

// handle is what the library knows it by; NULL for nil, which it refuses.
func (t *Tree) handle() *C.hawthorn_tree {
	if t == nil {
		return nil
	}
	return t.h
}

// ID is a number that no other tree of the database ever has.
func (t *Tree) ID() uint32 {
	defer runtime.KeepAlive(t)
	return uint32(C.hawthorn_tree_id(t.handle()))
}

// TreeOptions is what a tree is made with.
type TreeOptions struct {
	Order      string        // of keys; empty: "bytewise"
	ValueOrder string        // of a key's values; empty: "bytewise"
	MultiValue bool          // a key may have several values
	Expires    bool          // entries may end
	Subtrees   bool          // values may be trees
	TTL        time.Duration // when entries end, unless their put says otherwise; 0: never
}

// c makes the library's structure; free frees its strings.
func (o TreeOptions) c() (made C.hawthorn_tree_options, free func()) {
	made.struct_size = C.sizeof_hawthorn_tree_options
	made.order, made.value_order = C.CString(o.Order), C.CString(o.ValueOrder)
	made.multi_value = boolInt(o.MultiValue)
	made.expires = boolInt(o.Expires)
	made.subtrees = boolInt(o.Subtrees)
	made.ttl_ms = C.uint64_t(milliseconds(o.TTL))
	order, valueOrder := made.order, made.value_order
	return made, func() {
		C.free(unsafe.Pointer(order))
		C.free(unsafe.Pointer(valueOrder))
	}
}

// milliseconds rounds up, so that what is not 0 stays so; below 0 it is 0.
func milliseconds(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64((d + time.Millisecond - 1) / time.Millisecond)
}

// treeCall runs a function that makes or finds a tree by its options.
func (w *writer) treeCall(options []TreeOptions,
	f func(a access, o *C.hawthorn_tree_options, out **C.hawthorn_tree,
		e **C.hawthorn_error) C.hawthorn_code) (*Tree, error) {
	a, err := w.begin()
	if err != nil {
		return nil, err
	}
	defer w.end()
	var h *C.hawthorn_tree
	var e *C.hawthorn_error
	var code C.hawthorn_code
	if len(options) > 0 {
		o, free := options[0].c()
		defer free()
		code = f(a, &o, &h, &e)
	} else {
		code = f(a, nil, &h, &e)
	}
	if err := failure(code, e); err != nil {
		return nil, w.fault(err)
	}
	return newTree(h, w.db), nil
}

// Tree opens a tree, and makes it when it is missing: durably in a DB, with its commit in a Txn.
// Without options it is opened as it is, or made an ordinary one. Names have 1 to 255 bytes.
//
// Errors: ErrInvalidArgument where there is one with other options, or for an order that nobody
// knows; ErrReadOnly; ErrNoSpace.
func (w *writer) Tree(name string, options ...TreeOptions) (*Tree, error) {
	n := []byte(name)
	return w.treeCall(options, func(a access, o *C.hawthorn_tree_options, out **C.hawthorn_tree,
		e **C.hawthorn_error) C.hawthorn_code {
		if a.txn != nil {
			return C.hawthorn_txn_tree(a.txn, key(n), size(n), o, out, e)
		}
		return C.hawthorn_db_tree(a.db, key(n), size(n), o, out, e)
	})
}

// FindTree opens a tree that is there. Errors: ErrNotFound.
func (r *reader) FindTree(name string) (*Tree, error) {
	n := []byte(name)
	a, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	var h *C.hawthorn_tree
	var e *C.hawthorn_error
	var code C.hawthorn_code
	if a.txn != nil {
		code = C.hawthorn_txn_find_tree(a.txn, key(n), size(n), &h, &e)
	} else {
		code = C.hawthorn_db_find_tree(a.db, key(n), size(n), a.snap, &h, &e)
	}
	if err := failure(code, e); err != nil {
		return nil, r.fault(err)
	}
	return newTree(h, r.db), nil
}

// Trees lists the names of all trees.
func (r *reader) Trees() ([]string, error) {
	rows, err := r.list(func(a access, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		if a.txn != nil {
			return C.hawthorn_txn_list_trees(a.txn, out, e)
		}
		return C.hawthorn_db_list_trees(a.db, a.snap, out, e)
	})
	return texts(rows, "name"), err
}

func texts(rows []Record, name string) []string {
	var list []string
	for _, row := range rows {
		list = append(list, row.Text(name))
	}
	return list
}

// list runs a function that returns records.
func (r *reader) list(f func(a access, out **C.hawthorn_records,
	e **C.hawthorn_error) C.hawthorn_code) ([]Record, error) {
	a, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	var out *C.hawthorn_records
	var e *C.hawthorn_error
	if err := failure(f(a, &out, &e), e); err != nil {
		return nil, r.fault(err)
	}
	return takeRecords(out), nil
}

// DropTree removes a tree and all below it: durably in a DB, with its commit in a Txn.
//
// Errors: ErrNotFound; ErrBusy while a prepared transaction uses it.
func (w *writer) DropTree(name string) error {
	n := []byte(name)
	return w.do(func(a access, e **C.hawthorn_error) C.hawthorn_code {
		if a.txn != nil {
			return C.hawthorn_txn_drop_tree(a.txn, key(n), size(n), e)
		}
		return C.hawthorn_db_drop_tree(a.db, key(n), size(n), e)
	})
}

// RenameTree gives a tree another name; its handles stay valid.
//
// Errors: ErrNotFound; ErrInvalidArgument for a name that is taken.
func (w *writer) RenameTree(from, to string) error {
	f, t := []byte(from), []byte(to)
	return w.do(func(a access, e **C.hawthorn_error) C.hawthorn_code {
		if a.txn != nil {
			return C.hawthorn_txn_rename_tree(a.txn, key(f), size(f), key(t), size(t), e)
		}
		return C.hawthorn_db_rename_tree(a.db, key(f), size(f), key(t), size(t), e)
	})
}

// CloneTree makes a tree that begins with all that another one holds, in a time that does not depend
// on how much that is.
//
// Errors: ErrNotFound; ErrInvalidArgument for a name that is taken; ErrNotSupported of trees with
// merge operators.
func (w *writer) CloneTree(from, to string, options ...WriteOptions) (*Tree, error) {
	f, t := []byte(from), []byte(to)
	o := firstOption(options)
	return w.treeCall(nil, func(a access, _ *C.hawthorn_tree_options, out **C.hawthorn_tree,
		e **C.hawthorn_error) C.hawthorn_code {
		if a.txn != nil {
			return C.hawthorn_txn_clone_tree(a.txn, key(f), size(f), key(t), size(t), out, e)
		}
		return C.hawthorn_db_clone_tree(a.db, key(f), size(f), key(t), size(t), o.durability, out, e)
	})
}

// TreeOptions tells what a tree was made with.
func (db *DB) TreeOptions(tree *Tree) (TreeOptions, error) {
	defer runtime.KeepAlive(tree)
	row, err := oneRow(db.records(func(h *C.hawthorn_db, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_tree_options(h, tree.handle(), out, e)
	}))
	return TreeOptions{
		Order:      row.Text("order"),
		ValueOrder: row.Text("value_order"),
		MultiValue: row.Flag("multi_value"),
		Expires:    row.Flag("expires"),
		Subtrees:   row.Flag("subtrees"),
		TTL:        time.Duration(row.Number("ttl_ms")) * time.Millisecond,
	}, err
}

// Compression is how values are stored on disk.
type Compression uint32

// The kinds of compression.
const (
	CompressionNone Compression = C.HAWTHORN_COMPRESSION_NONE
	CompressionLZ4  Compression = C.HAWTHORN_COMPRESSION_LZ4
	CompressionZstd Compression = C.HAWTHORN_COMPRESSION_ZSTD
)

// SetCompression changes how a tree stores what is written from now on. Durable when it returns.
func (db *DB) SetCompression(tree *Tree, compression Compression) error {
	defer runtime.KeepAlive(tree)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_set_compression(h, tree.handle(), C.hawthorn_compression(compression), e)
	})
}

// SetMergeOperator gives a tree the merge operator of the options with this name, for good. Durable
// when it returns.
//
// Errors: ErrInvalidArgument for the name, or where it has another one; ErrBusy; ErrNotSupported of
// clones.
func (db *DB) SetMergeOperator(tree *Tree, name string) error {
	n := []byte(name)
	defer runtime.KeepAlive(tree)
	return db.call(func(h *C.hawthorn_db, e **C.hawthorn_error) C.hawthorn_code {
		return C.hawthorn_db_set_merge_operator(h, tree.handle(), key(n), size(n), e)
	})
}

// CreateSubtree hangs an empty tree at a key that has nothing yet.
//
// Errors of this and the following: ErrNotFound where nothing is at the key, or no tree has the name;
// ErrInvalidArgument where the parent was not made for it, a key or name is taken, or a tree would
// hang below itself. In a DB each is a commit of its own, by default as durable as the options say.
func (w *writer) CreateSubtree(parent *Tree, k []byte, options TreeOptions,
	commit ...WriteOptions) (*Tree, error) {
	defer runtime.KeepAlive(parent)
	co := firstOption(commit)
	return w.treeCall([]TreeOptions{options}, func(a access, o *C.hawthorn_tree_options,
		out **C.hawthorn_tree, e **C.hawthorn_error) C.hawthorn_code {
		r := C.hw_create_subtree(a.db, a.txn, a.snap, parent.handle(), key(k), size(k), o,
			co.durability)
		*out, *e = (*C.hawthorn_tree)(r.data), r.error
		return r.code
	})
}

// Subtree opens the tree at a key.
func (r *reader) Subtree(parent *Tree, k []byte) (*Tree, error) {
	a, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	defer runtime.KeepAlive(parent)
	res := C.hw_subtree(a.db, a.txn, a.snap, parent.handle(), key(k), size(k))
	if err := outcome(res); err != nil {
		return nil, r.fault(err)
	}
	return newTree((*C.hawthorn_tree)(res.data), r.db), nil
}

// Subtrees lists the keys at which trees hang.
func (r *reader) Subtrees(parent *Tree) ([][]byte, error) {
	defer runtime.KeepAlive(parent)
	rows, err := r.list(func(a access, out **C.hawthorn_records,
		e **C.hawthorn_error) C.hawthorn_code {
		if a.txn != nil {
			return C.hawthorn_txn_list_subtrees(a.txn, parent.handle(), out, e)
		}
		return C.hawthorn_db_list_subtrees(a.db, parent.handle(), a.snap, out, e)
	})
	var keys [][]byte
	for _, name := range texts(rows, "key") {
		keys = append(keys, []byte(name))
	}
	return keys, err
}

// Attach hangs a tree that has a name at a key.
func (w *writer) Attach(parent *Tree, k []byte, name string, options ...WriteOptions) error {
	n := []byte(name)
	o := firstOption(options)
	defer runtime.KeepAlive(parent)
	return w.do(func(a access, e **C.hawthorn_error) C.hawthorn_code {
		r := C.hw_attach(a.db, a.txn, a.snap, parent.handle(), key(k), size(k), key(n), size(n),
			o.durability)
		*e = r.error
		return r.code
	})
}

// Detach takes the tree off its key, and gives it a name.
func (w *writer) Detach(parent *Tree, k []byte, name string, options ...WriteOptions) error {
	n := []byte(name)
	o := firstOption(options)
	defer runtime.KeepAlive(parent)
	return w.do(func(a access, e **C.hawthorn_error) C.hawthorn_code {
		r := C.hw_detach(a.db, a.txn, a.snap, parent.handle(), key(k), size(k), key(n), size(n),
			o.durability)
		*e = r.error
		return r.code
	})
}

// MoveSubtree hangs the tree at another key, of the same tree or of another one.
func (w *writer) MoveSubtree(parent *Tree, k []byte, toParent *Tree, toKey []byte,
	options ...WriteOptions) error {
	o := firstOption(options)
	defer runtime.KeepAlive(parent)
	defer runtime.KeepAlive(toParent)
	return w.do(func(a access, e **C.hawthorn_error) C.hawthorn_code {
		r := C.hw_move_subtree(a.db, a.txn, a.snap, parent.handle(), key(k), size(k),
			toParent.handle(), key(toKey), size(toKey), o.durability)
		*e = r.error
		return r.code
	})
}

// CloneSubtree makes a tree with a name that begins with all that the subtree holds.
func (w *writer) CloneSubtree(parent *Tree, k []byte, to string,
	options ...WriteOptions) (*Tree, error) {
	t := []byte(to)
	co := firstOption(options)
	defer runtime.KeepAlive(parent)
	return w.treeCall(nil, func(a access, _ *C.hawthorn_tree_options, out **C.hawthorn_tree,
		e **C.hawthorn_error) C.hawthorn_code {
		r := C.hw_clone_subtree(a.db, a.txn, a.snap, parent.handle(), key(k), size(k), key(t),
			size(t), co.durability)
		*out, *e = (*C.hawthorn_tree)(r.data), r.error
		return r.code
	})
}
