// A sample applier: goroutines, scheduled by last_committed and sequence_number.
//
// Standard library only. Build it with `go build -o lc_sn main.go`; it speaks JSON lines on
// standard input and output. Replace ask by calls to a database, and it applies a real log.
//
// The main goroutine owns all state. It starts a transaction once nothing under way has a sequence
// number up to its last_committed, and nothing of an older file is under way.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type message struct {
	Type      string            `json:"type"`
	MsgID     int               `json:"msg_id,omitempty"`
	InReplyTo int               `json:"in_reply_to,omitempty"`
	Worker    int               `json:"worker,omitempty"`
	Txn       int               `json:"txn,omitempty"`
	Row       *int              `json:"i,omitempty"`
	Name      string            `json:"name,omitempty"`
	Features  []string          `json:"features,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	Upto      *int              `json:"upto,omitempty"`
	ID        int               `json:"id,omitempty"`
	LC        int64             `json:"lc,omitempty"`
	SN        int64             `json:"sn,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Rows      []json.RawMessage `json:"rows,omitempty"`
	Workers   int               `json:"workers,omitempty"`
	Affected  *int              `json:"affected,omitempty"`
	Errno     int               `json:"errno,omitempty"`
	Message   string            `json:"message,omitempty"`
	Options   *struct {
		CommitOrder bool `json:"commit_order"`
	} `json:"options,omitempty"`
	Resume *struct {
		Upto     int   `json:"upto"`
		Executed []int `json:"executed"`
	} `json:"resume,omitempty"`
	file int
}

func (m message) good() bool { return m.Type == "ok" && (m.Affected == nil || *m.Affected == 1) }

const retriesMax = 21

// worker has at most one transaction, and a goroutine for it.
type worker struct {
	number  int
	txn     *message
	answers chan message
	turn    chan bool // may commit
}

type applier struct {
	out         *json.Encoder
	workers     []*worker
	commitOrder bool
	executed    map[int]bool
	received    int
	waiting     []*message
	order       []int
	waitsTurn   map[int]*worker // by transaction
	asked       map[int]*worker // by msg_id
	nextID      int
	busy        int // workers that will speak without hearing from the harness
	file        int
	finishing   *message
	failed      bool
	events      chan event
}

// event is what a worker tells the coordinator: a request to send, a wish to commit, an end.
type event struct {
	from    *worker
	kind    string
	request message
	reason  string
}

func newApplier(out *json.Encoder, init message) *applier {
	a := &applier{out: out, commitOrder: init.Options.CommitOrder, executed: map[int]bool{},
		waitsTurn: map[int]*worker{}, asked: map[int]*worker{}, events: make(chan event)}
	if init.Resume != nil {
		a.received = init.Resume.Upto
		for _, id := range init.Resume.Executed {
			a.executed[id] = true
		}
	}
	for n := 1; n <= init.Workers; n++ {
		a.workers = append(a.workers, &worker{n, nil, make(chan message), make(chan bool)})
	}
	return a
}

// apply runs in a goroutine of its own for each transaction.
func (w *worker) apply(txn *message, events chan event) {
	ask := func(kind string, row *int) message {
		events <- event{from: w, kind: "ask", request: message{Type: kind, Worker: w.number, Txn: txn.ID, Row: row}}
		return <-w.answers
	}
	for try := 0; ; try++ {
		answer := ask("begin", nil)
		if txn.Kind == "ddl" {
			answer = ask("execute", nil)
		}
		for row := 0; row < len(txn.Rows) && answer.good(); row++ {
			i := row
			answer = ask("row", &i)
		}
		if answer.good() {
			events <- event{from: w, kind: "ready"}
			<-w.turn
			ask("commit", nil)
			events <- event{from: w, kind: "done"}
			return
		}
		if (answer.Errno != 1205 && answer.Errno != 1213) || try == retriesMax {
			events <- event{from: w, kind: "fail", reason: answer.Message + " "}
			return
		}
	}
}

// settle handles what workers say until all wait for the harness, for work or for a turn.
func (a *applier) settle() {
	for {
		a.dispatch()
		if a.busy == 0 {
			break
		}
		e := <-a.events
		a.busy--
		switch e.kind {
		case "ask":
			a.nextID++
			e.request.MsgID = a.nextID
			a.asked[a.nextID] = e.from
			a.out.Encode(e.request)
		case "ready":
			a.waitsTurn[e.from.txn.ID] = e.from
			a.grantTurns()
		case "done":
			a.done(e.from)
		case "fail":
			a.failed = true
			a.out.Encode(message{Type: "fail", Txn: e.from.txn.ID, Reason: e.reason})
		}
	}
	if a.finishing != nil && len(a.order) == 0 && !a.failed {
		a.out.Encode(message{Type: a.finishing.Type + "_ok", InReplyTo: a.finishing.MsgID})
		a.finishing = nil
	}
}

func (a *applier) dispatch() {
	for len(a.waiting) > 0 && !a.failed {
		txn := a.waiting[0]
		var free *worker
		for _, w := range a.workers {
			if w.txn == nil {
				free = w
			} else if w.txn.file != txn.file || w.txn.SN <= txn.LC {
				return
			}
		}
		if free == nil {
			return
		}
		a.waiting = a.waiting[1:]
		free.txn = txn
		a.busy++
		go free.apply(txn, a.events)
	}
}

func (a *applier) grantTurns() {
	for id, w := range a.waitsTurn {
		if !a.commitOrder || a.order[0] == id {
			delete(a.waitsTurn, id)
			a.busy++
			w.turn <- true
		}
	}
}

func (a *applier) done(w *worker) {
	for i, id := range a.order {
		if id == w.txn.ID {
			a.order = append(a.order[:i], a.order[i+1:]...)
			break
		}
	}
	w.txn = nil
	upto := a.received
	if len(a.order) > 0 {
		upto = a.order[0] - 1
	}
	a.out.Encode(message{Type: "checkpoint", Upto: &upto})
	a.grantTurns()
}

func (a *applier) on(m message) {
	switch m.Type {
	case "txn":
		a.received = m.ID
		if a.executed[m.ID] {
			a.out.Encode(message{Type: "skip", Txn: m.ID})
			return
		}
		m.file = a.file
		a.waiting = append(a.waiting, &m)
		a.order = append(a.order, m.ID)
	case "rotate":
		a.file++
	case "drain", "end":
		a.finishing = &m
	case "ok", "error":
		if w := a.asked[m.InReplyTo]; w != nil {
			delete(a.asked, m.InReplyTo)
			a.busy++
			w.answers <- m
		}
	}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	var a *applier
	features := []string{"lc_sn", "ddl", "commit_order", "retry", "crash", "position", "sync", "reset"}
	for in.Scan() {
		var m message
		json.Unmarshal(in.Bytes(), &m)
		switch m.Type {
		case "init":
			a = newApplier(out, m)
			out.Encode(message{Type: "init_ok", InReplyTo: m.MsgID, Name: "lc_sn_go", Features: features})
		case "sync":
			out.Encode(message{Type: "sync_ok", InReplyTo: m.MsgID})
		default:
			a.on(m)
			a.settle()
		}
	}
}
