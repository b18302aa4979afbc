package main

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The binary log, as far as tables of numbers and texts need it.

const (
	eventQuery, eventRotate, eventXid = 2, 4, 16
	eventTableMap                     = 19
	eventGtid, eventMariaGtid         = 33, 162
	writeV1, updateV1, deleteV1       = 23, 24, 25
	writeV2, updateV2, deleteV2       = 30, 31, 32
)

// transaction is a group of the log with the statements for the new table.
type transaction struct {
	file       int
	lc, sn     int64
	group      uint64 // MariaDB's commit id; 0 without one
	statements []string
}

// table is what statements need to know of the old table and the new one.
type table struct {
	database, old, new string
	columns            []string
	key                []int
}

type reader struct {
	table       *table
	hasChecksum bool
	file        int
	fileName    string
	maps        map[uint64]tableMap
	current     *transaction
}

type tableMap struct {
	isOurs bool
	types  []byte
	metas  []int
}

// read takes an event and returns the transaction that it ends, if any.
func (r *reader) read(event []byte) (*transaction, error) {
	code, body := event[4], event[19:]
	if r.hasChecksum {
		body = body[:len(body)-4]
	}
	switch code {
	case eventRotate:
		if name := string(body[8:]); name != r.fileName {
			r.fileName = name
			r.file++
		}
	case eventGtid:
		r.current = &transaction{file: r.file}
		if body[25] == 2 {
			r.current.lc = int64(binary.LittleEndian.Uint64(body[26:]))
			r.current.sn = int64(binary.LittleEndian.Uint64(body[34:]))
		}
	case eventMariaGtid:
		r.current = &transaction{}
		if body[12]&2 != 0 {
			r.current.group = binary.LittleEndian.Uint64(body[13:])
		}
	case eventTableMap:
		r.learn(body)
	case writeV1, updateV1, deleteV1, writeV2, updateV2, deleteV2:
		return nil, r.rows(code, body)
	case eventXid:
		done := r.current
		r.current = nil
		return done, nil
	}
	return nil, nil
}

func tableID(body []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(body)) | uint64(binary.LittleEndian.Uint16(body[4:]))<<32
}

func (r *reader) learn(body []byte) {
	at := 8
	name := func() string {
		size := int(body[at])
		found := string(body[at+1 : at+1+size])
		at += size + 2
		return found
	}
	database, old := name(), name()
	count, at := lengthEncoded(body, at)
	found := tableMap{isOurs: database == r.table.database && old == r.table.old}
	found.types = body[at : at+count]
	_, at = lengthEncoded(body, at+count)
	for _, kind := range found.types {
		meta := 0
		switch kind {
		case 15:
			meta = int(binary.LittleEndian.Uint16(body[at:]))
			at += 2
		case 254, 246:
			meta = int(body[at])<<8 | int(body[at+1])
			at += 2
		case 252, 4, 5, 17, 18, 19:
			meta = int(body[at])
			at++
		}
		found.metas = append(found.metas, meta)
	}
	r.maps[tableID(body)] = found
}

func (r *reader) rows(code byte, body []byte) error {
	source := r.maps[tableID(body)]
	if !source.isOurs || r.current == nil {
		return nil
	}
	at := 8
	if code >= writeV2 {
		at += int(binary.LittleEndian.Uint16(body[at:]))
	}
	count, at := lengthEncoded(body, at)
	bitmap := (count + 7) / 8
	at += bitmap
	isUpdate := code == updateV1 || code == updateV2
	if isUpdate {
		at += bitmap
	}
	for at < len(body) {
		first, next, err := image(source, body, at)
		if err != nil {
			return err
		}
		second := first
		if isUpdate {
			if second, next, err = image(source, body, next); err != nil {
				return err
			}
		}
		at = next
		r.current.statements = append(r.current.statements, r.table.change(code, first, second)...)
	}
	return nil
}

// image returns the literals of a row and the place after it.
func image(source tableMap, body []byte, at int) ([]string, int, error) {
	nulls := body[at : at+(len(source.types)+7)/8]
	at += len(nulls)
	values := make([]string, len(source.types))
	for n, kind := range source.types {
		if nulls[n/8]>>(n%8)&1 == 1 {
			values[n] = "NULL"
			continue
		}
		size := map[byte]int{1: 1, 2: 2, 9: 3, 3: 4, 8: 8}[kind]
		if size > 0 {
			var number int64
			for place := size - 1; place >= 0; place-- {
				number = number<<8 | int64(body[at+place])
			}
			shift := 64 - 8*uint(size)
			values[n], at = fmt.Sprint(number<<shift>>shift), at+size
			continue
		}
		wide := 0
		switch {
		case kind == 15 && source.metas[n] < 256, kind == 254 && source.metas[n]>>8 == 254:
			wide = 1
		case kind == 15:
			wide = 2
		case kind == 252:
			wide = source.metas[n]
		default:
			return nil, 0, fmt.Errorf("columns of type %d are not supported", kind)
		}
		length := 0
		for place := wide - 1; place >= 0; place-- {
			length = length<<8 | int(body[at+place])
		}
		at += wide
		values[n], at = fmt.Sprintf("x'%x'", body[at:at+length]), at+length
	}
	return values, at, nil
}

// change returns the statements that gh-ost would send: they may be repeated.
func (t *table) change(code byte, before, after []string) []string {
	name := fmt.Sprintf("`%s`.`%s`", t.database, t.new)
	remove := fmt.Sprintf("DELETE FROM %s WHERE %s", name, t.condition(before))
	replace := fmt.Sprintf("REPLACE INTO %s VALUES (%s)", name, strings.Join(after, ", "))
	switch code {
	case writeV1, writeV2:
		return []string{replace}
	case deleteV1, deleteV2:
		return []string{remove}
	}
	if t.condition(before) != t.condition(after) {
		return []string{remove, replace}
	}
	sets := make([]string, len(after))
	for n, value := range after {
		sets[n] = fmt.Sprintf("`%s` = %s", t.columns[n], value)
	}
	return []string{
		fmt.Sprintf("UPDATE %s SET %s WHERE %s", name, strings.Join(sets, ", "), t.condition(before)),
	}
}

func (t *table) condition(row []string) string {
	parts := make([]string, len(t.key))
	for n, place := range t.key {
		parts[n] = fmt.Sprintf("`%s` = %s", t.columns[place], row[place])
	}
	return strings.Join(parts, " AND ")
}
