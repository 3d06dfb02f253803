// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"

	"github.com/gowebpki/jcs"
	"golang.org/x/mod/sumdb/tlog"
)

// exported is what a line of an export has of a leaf: all else is there for people.
type exported struct {
	Metadata struct{ Name string }
	Appended json.RawMessage
	Record   json.RawMessage
	Salt     []byte
}

// judgeLeaves computes the leaf of each exported record, and compares it with the hashes of a tile of level 0.
func judgeLeaves(tile, export string) error {
	hashes, err := os.ReadFile(tile)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(export)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16<<20)
	count := 0
	for ; lines.Scan(); count++ {
		if err := judgeLeaf(hashes, lines.Bytes()); err != nil {
			return err
		}
	}
	if count != len(hashes)/tlog.HashSize {
		return fmt.Errorf("%d records for %d leaves", count, len(hashes)/tlog.HashSize)
	}
	return lines.Err()
}

func judgeLeaf(hashes, line []byte) error {
	var of exported
	if err := json.Unmarshal(line, &of); err != nil {
		return err
	}
	var log, index int
	if _, err := fmt.Sscanf(of.Metadata.Name, "%d-%d", &log, &index); err != nil {
		return err
	}
	body, err := jcs.Transform(fmt.Appendf(nil, `{"appended":%s,"record":%s}`, of.Appended, of.Record))
	if err != nil {
		return err
	}
	entry := sha256.Sum256(append(of.Salt, body...))
	leaf := tlog.RecordHash(entry[:])
	at := index * tlog.HashSize
	if at+tlog.HashSize > len(hashes) || !bytes.Equal(leaf[:], hashes[at:at+tlog.HashSize]) {
		return fmt.Errorf("record %s is not the leaf", of.Metadata.Name)
	}
	return nil
}
