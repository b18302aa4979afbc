// A sample with gh-ost's structure: it copies a table within one server while clients change it.
//
// It reads the server's own log from its present position, copies the rows to _TABLE_gho, beats in
// _TABLE_ghc, and applies what the log says of the table by several workers: BEGIN, all statements
// of a transaction in one packet, COMMIT. It never swaps the tables. -fault makes it wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	attemptsMax   = 60
	pause         = 10 * time.Millisecond
	beatEvery     = 200 * time.Millisecond
	deadlock      = 1213
	lockTimeout   = 1205
	replicaNumber = 7777
)

var faults = map[string]string{
	"":                    "none",
	"ignore-stamps":       "starts every transaction at once",
	"forget-rotation":     "compares numbers of two files",
	"skip-after-deadlock": "reports an error 1213, and goes on with the next transaction",
	"skip-after-loss":     "goes on with the next transaction after a lost connection",
}

type migrator struct {
	address, user, fault string
	table                *table
	lock                 sync.Mutex
	ended                *sync.Cond
	running              map[*transaction]bool
	work                 chan *transaction
}

func main() {
	host := flag.String("host", "127.0.0.1", "")
	port := flag.Int("port", 3306, "")
	user := flag.String("user", "root", "")
	database := flag.String("database", "", "")
	name := flag.String("table", "", "")
	workers := flag.Int("workers", 4, "")
	fault := flag.String("fault", "", fmt.Sprint(faults))
	flag.Parse()
	if _, known := faults[*fault]; !known {
		log.Fatalf("no fault %q", *fault)
	}
	m := &migrator{
		address: fmt.Sprintf("%s:%d", *host, *port), user: *user, fault: *fault,
		table:   &table{database: *database, old: *name, new: "_" + *name + "_gho"},
		running: map[*transaction]bool{},
		work:    make(chan *transaction, *workers),
	}
	m.ended = sync.NewCond(&m.lock)
	if err := m.migrate(*workers); err != nil {
		log.Fatal(err)
	}
}

func (m *migrator) migrate(workers int) error {
	inspector, err := connect(m.address, m.user)
	if err != nil {
		return err
	}
	changelog := fmt.Sprintf("`%s`.`_%s_ghc`", m.table.database, m.table.old)
	ghost := fmt.Sprintf("`%s`.`%s`", m.table.database, m.table.new)
	original := fmt.Sprintf("`%s`.`%s`", m.table.database, m.table.old)
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS " + changelog + " (id INT PRIMARY KEY, beat VARCHAR(64))",
		"CREATE TABLE IF NOT EXISTS " + ghost + " LIKE " + original,
	} {
		if _, err = inspector.query(statement); err != nil {
			return err
		}
	}
	if err = m.inspect(inspector); err != nil {
		return err
	}
	stream, read, err := m.stream()
	if err != nil {
		return err
	}
	for n := 0; n < workers; n++ {
		go m.apply()
	}
	go m.beat(changelog)
	copyRows := fmt.Sprintf("INSERT IGNORE INTO %s SELECT * FROM %s", ghost, original)
	if _, err = inspector.query(copyRows); err != nil {
		return err
	}
	fmt.Println("Row copy complete. State: postponing cut-over")
	for {
		packet, err := stream.read()
		if err != nil {
			return err
		}
		if packet[0] != 0 {
			return failure(packet)
		}
		done, err := read.read(packet[1:])
		if err != nil {
			return err
		}
		if done != nil && len(done.statements) > 0 {
			m.start(done)
		}
	}
}

func (m *migrator) inspect(c *conn) error {
	rows, err := c.query(fmt.Sprintf(
		"SELECT column_name, column_key FROM information_schema.columns WHERE table_schema = '%s' "+
			"AND table_name = '%s' ORDER BY ordinal_position", m.table.database, m.table.old))
	for n, row := range rows {
		m.table.columns = append(m.table.columns, row[0])
		if row[1] == "PRI" {
			m.table.key = append(m.table.key, n)
		}
	}
	if err == nil && len(m.table.key) == 0 {
		err = errors.New("the table has no primary key")
	}
	return err
}

// stream begins to read the log from its present end.
func (m *migrator) stream() (*conn, *reader, error) {
	c, err := connect(m.address, m.user)
	if err != nil {
		return nil, nil, err
	}
	place, err := c.query("SHOW BINARY LOG STATUS")
	if err != nil {
		if place, err = c.query("SHOW MASTER STATUS"); err != nil {
			return nil, nil, err
		}
	}
	checksum, err := c.query("SELECT @@global.binlog_checksum")
	if err != nil {
		return nil, nil, err
	}
	for _, statement := range []string{
		"SET @master_binlog_checksum = @@global.binlog_checksum, " +
			"@source_binlog_checksum = @@global.binlog_checksum",
		"SET @mariadb_slave_capability = 4",
	} {
		if _, err = c.query(statement); err != nil {
			return nil, nil, err
		}
	}
	position, err := strconv.ParseUint(place[0][1], 10, 32)
	if err != nil {
		return nil, nil, err
	}
	read := &reader{
		table: m.table, hasChecksum: checksum[0][0] != "NONE", fileName: place[0][0],
		maps: map[uint64]tableMap{},
	}
	return c, read, c.dump(place[0][0], uint32(position), replicaNumber)
}

func (m *migrator) beat(changelog string) {
	for n := 0; ; n++ {
		c, err := connect(m.address, m.user)
		for err == nil {
			n++
			_, err = c.query(fmt.Sprintf("REPLACE INTO %s VALUES (1, 'beat %d')", changelog, n))
			time.Sleep(beatEvery)
		}
		time.Sleep(beatEvery)
	}
}

// start waits until a transaction may begin and gives it to a worker.
func (m *migrator) start(next *transaction) {
	m.lock.Lock()
	for !m.mayStart(next) {
		m.ended.Wait()
	}
	m.running[next] = true
	m.lock.Unlock()
	m.work <- next
}

func (m *migrator) mayStart(next *transaction) bool {
	for other := range m.running {
		switch {
		case m.fault == "ignore-stamps":
		case other.file != next.file && m.fault != "forget-rotation":
			return false
		case next.sn == 0 && (next.group == 0 || other.group != next.group):
			return false
		case next.sn != 0 && other.sn <= next.lc:
			return false
		}
	}
	return true
}

func (m *migrator) apply() {
	var c *conn
	for next := range m.work {
		c = m.applyOne(c, next)
		m.lock.Lock()
		delete(m.running, next)
		m.ended.Broadcast()
		m.lock.Unlock()
	}
}

// applyOne repeats a whole transaction until it is done; it returns the connection to go on with.
func (m *migrator) applyOne(c *conn, next *transaction) *conn {
	for attempt := 0; attempt < attemptsMax; attempt++ {
		var err error
		if c == nil {
			if c, err = connect(m.address, m.user); err != nil {
				time.Sleep(pause)
				continue
			}
		}
		for _, text := range []string{"BEGIN", strings.Join(next.statements, "; "), "COMMIT"} {
			if _, err = c.query(text); err != nil {
				break
			}
		}
		var refused sqlError
		switch {
		case err == nil:
			return c
		case !errors.As(err, &refused):
			c.socket.Close()
			c = nil
			if m.fault == "skip-after-loss" {
				return c
			}
		case refused.code == deadlock || refused.code == lockTimeout:
			fmt.Fprintln(os.Stderr, "ERROR", refused)
			if m.fault == "skip-after-deadlock" {
				return c
			}
			if _, err = c.query("ROLLBACK"); err != nil {
				c = nil
			}
		default:
			log.Fatal(refused)
		}
		time.Sleep(pause)
	}
	log.Fatalf("gave up after %d attempts", attemptsMax)
	return nil
}
