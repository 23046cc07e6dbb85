package hawthorn

/*
#include "shim.h"
*/
import "C"

import "unsafe"

// Unit is what a number of a Field counts.
type Unit uint32

// The units of fields.
const (
	UnitNumber       Unit = C.HAWTHORN_UNIT_NUMBER
	UnitBytes        Unit = C.HAWTHORN_UNIT_BYTES
	UnitMicroseconds Unit = C.HAWTHORN_UNIT_MICROSECONDS
	UnitMilliseconds Unit = C.HAWTHORN_UNIT_MILLISECONDS
	UnitSeconds      Unit = C.HAWTHORN_UNIT_SECONDS
)

// Field is a part of a Record.
type Field struct {
	Name string
	// Value is a uint64, a bool, a string (which may have any bytes), a []Record, or nil where there
	// is nothing.
	Value any
	Unit  Unit // of a number
}

// Record is a row of named fields: figures, a report, an event. Later versions of the library add
// fields; those that there are keep name, type and unit. Names are those of the C++ structures.
type Record []Field

// Field returns the field of that name, and whether there is one.
func (r Record) Field(name string) (Field, bool) {
	for _, field := range r {
		if field.Name == name {
			return field, true
		}
	}
	return Field{}, false
}

// Number returns the number of that name; 0 where there is none.
func (r Record) Number(name string) uint64 {
	field, _ := r.Field(name)
	number, _ := field.Value.(uint64)
	return number
}

// Flag returns the flag of that name; false where there is none.
func (r Record) Flag(name string) bool {
	field, _ := r.Field(name)
	flag, _ := field.Value.(bool)
	return flag
}

// Text returns the bytes of that name; empty where there are none.
func (r Record) Text(name string) string {
	field, _ := r.Field(name)
	text, _ := field.Value.(string)
	return text
}

// List returns the records of that name; nil where there are none.
func (r Record) List(name string) []Record {
	field, _ := r.Field(name)
	list, _ := field.Value.([]Record)
	return list
}

// copyRecords makes Go values of a list of the library.
func copyRecords(list *C.hawthorn_records) []Record {
	rows := int(C.hawthorn_records_count(list))
	out := make([]Record, rows)
	var f C.hawthorn_field
	for row := range out {
		fields := int(C.hawthorn_records_field_count(list, C.size_t(row)))
		out[row] = make(Record, 0, fields)
		for i := 0; i < fields; i++ {
			if C.hawthorn_records_field(list, C.size_t(row), C.size_t(i), &f, nil) != C.HAWTHORN_OK {
				continue
			}
			field := Field{Name: C.GoString(f.name), Unit: Unit(f.unit)}
			switch f._type {
			case C.HAWTHORN_FIELD_NUMBER:
				field.Value = uint64(f.number)
			case C.HAWTHORN_FIELD_FLAG:
				field.Value = f.number != 0
			case C.HAWTHORN_FIELD_BYTES:
				field.Value = string(view(unsafe.Pointer(f.data), f.size))
			case C.HAWTHORN_FIELD_RECORDS:
				field.Value = copyRecords(f.records)
			}
			out[row] = append(out[row], field)
		}
	}
	return out
}

// takeRecords makes Go values of a list, and frees it.
func takeRecords(list *C.hawthorn_records) []Record {
	defer C.hawthorn_records_free(list)
	return copyRecords(list)
}

// takeRecord is takeRecords for lists of one row.
func takeRecord(list *C.hawthorn_records) Record {
	rows := takeRecords(list)
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}
