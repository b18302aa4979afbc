package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// A client of the MySQL protocol for accounts without a password, by the standard library alone.

const (
	capabilities = 0x1 | 0x2 | 0x4 | 0x200 | 0x2000 | 0x8000 | 1<<16 | 1<<17 | 1<<19
	comQuery     = 3
	comDump      = 18
	moreResults  = 8
)

type conn struct {
	socket   net.Conn
	in       *bufio.Reader
	sequence byte
}

// sqlError is an error that the server reports; any other error means a lost connection.
type sqlError struct {
	code int
	text string
}

func (e sqlError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

func connect(address, user string) (*conn, error) {
	socket, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &conn{socket: socket, in: bufio.NewReader(socket)}
	if _, err = c.read(); err != nil {
		return nil, err
	}
	login := make([]byte, 32)
	binary.LittleEndian.PutUint32(login, capabilities)
	binary.LittleEndian.PutUint32(login[4:], 1<<24)
	login[8] = 45
	login = append(login, user...)
	login = append(login, 0, 0) // no password
	login = append(login, "mysql_native_password\x00"...)
	if err = c.write(login); err != nil {
		return nil, err
	}
	for {
		packet, err := c.read()
		switch {
		case err != nil:
			return nil, err
		case packet[0] == 0:
			return c, nil
		case packet[0] == 0xFE: // another method, also without a password
			if err = c.write(nil); err != nil {
				return nil, err
			}
		case packet[0] == 0xFF:
			return nil, failure(packet)
		}
	}
}

func (c *conn) read() ([]byte, error) {
	var payload []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(c.in, head[:]); err != nil {
			return nil, err
		}
		size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		part := make([]byte, size)
		if _, err := io.ReadFull(c.in, part); err != nil {
			return nil, err
		}
		c.sequence = head[3] + 1
		payload = append(payload, part...)
		if size < 0xFFFFFF {
			return payload, nil
		}
	}
}

func (c *conn) write(payload []byte) error {
	size := len(payload)
	head := []byte{byte(size), byte(size >> 8), byte(size >> 16), c.sequence}
	c.sequence++
	_, err := c.socket.Write(append(head, payload...))
	return err
}

func failure(packet []byte) error {
	text := packet[3:]
	if len(text) > 6 && text[0] == '#' {
		text = text[6:]
	}
	return sqlError{int(binary.LittleEndian.Uint16(packet[1:])), string(text)}
}

// query runs statements that one packet holds, and returns the rows of all.
func (c *conn) query(text string) ([][]string, error) {
	c.sequence = 0
	if err := c.write(append([]byte{comQuery}, text...)); err != nil {
		return nil, err
	}
	var rows [][]string
	for {
		packet, err := c.read()
		if err != nil {
			return nil, err
		}
		var status uint16
		switch packet[0] {
		case 0xFF:
			return nil, failure(packet)
		case 0:
			_, at := lengthEncoded(packet, 1)
			_, at = lengthEncoded(packet, at)
			status = binary.LittleEndian.Uint16(packet[at:])
		default:
			found, ended, err := c.rows(int(packet[0]))
			if err != nil {
				return nil, err
			}
			rows, status = append(rows, found...), ended
		}
		if status&moreResults == 0 {
			return rows, nil
		}
	}
}

func (c *conn) rows(columns int) ([][]string, uint16, error) {
	var rows [][]string
	for n := 0; n <= columns; n++ { // definitions and their end
		if _, err := c.read(); err != nil {
			return nil, 0, err
		}
	}
	for {
		packet, err := c.read()
		if err != nil {
			return nil, 0, err
		}
		if packet[0] == 0xFF {
			return nil, 0, failure(packet)
		}
		if packet[0] == 0xFE && len(packet) < 9 {
			return rows, binary.LittleEndian.Uint16(packet[3:]), nil
		}
		row := make([]string, columns)
		for n, at := 0, 0; n < columns; n++ {
			if packet[at] == 0xFB {
				at++
				continue
			}
			size, start := lengthEncoded(packet, at)
			row[n], at = string(packet[start:start+size]), start+size
		}
		rows = append(rows, row)
	}
}

func lengthEncoded(data []byte, at int) (int, int) {
	switch data[at] {
	case 0xFC:
		return int(binary.LittleEndian.Uint16(data[at+1:])), at + 3
	case 0xFD:
		return int(data[at+1]) | int(data[at+2])<<8 | int(data[at+3])<<16, at + 4
	case 0xFE:
		return int(binary.LittleEndian.Uint64(data[at+1:])), at + 9
	}
	return int(data[at]), at + 1
}

// dump asks for the log from a position.
func (c *conn) dump(file string, position uint32, server uint32) error {
	c.sequence = 0
	request := []byte{comDump}
	request = binary.LittleEndian.AppendUint32(request, position)
	request = binary.LittleEndian.AppendUint16(request, 0)
	request = binary.LittleEndian.AppendUint32(request, server)
	return c.write(append(request, file...))
}
