// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// How far something came: refused at once, read but refused, accepted.
const (
	refused  = 0
	parsed   = 1
	accepted = 2
)

type answer struct {
	level  byte
	reason string
}

// readFrame reads four bytes of length, big-endian, and as many bytes.
func readFrame(in io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(in, frame)
	return frame, err
}

func writeAnswer(out *bufio.Writer, each answer) error {
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(1+len(each.reason)))
	if _, err := out.Write(length[:]); err != nil {
		return err
	}
	if err := out.WriteByte(each.level); err != nil {
		return err
	}
	_, err := out.WriteString(each.reason)
	return err
}

var errCutOff = errors.New("a question that is cut off")

// take cuts the next length-prefixed part off.
func take(from []byte) (part, rest []byte, err error) {
	if len(from) < 4 {
		return nil, nil, errCutOff
	}
	end := 4 + int(binary.BigEndian.Uint32(from))
	if end > len(from) {
		return nil, nil, errCutOff
	}
	return from[4:end], from[end:], nil
}
