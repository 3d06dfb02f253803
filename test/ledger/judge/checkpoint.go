// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// readCheckpoint opens a checkpoint with x/mod's note and with transparency-dev's formats, which must agree.
func readCheckpoint(verifier note.Verifier, path string) (tlog.Tree, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return tlog.Tree{}, err
	}
	return parseCheckpoint(verifier, text)
}

func parseCheckpoint(verifier note.Verifier, text []byte) (tlog.Tree, error) {
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, fmt.Errorf("note: %w", err)
	}
	checkpoint, rest, _, err := log.ParseCheckpoint(text, verifier.Name(), verifier)
	if err != nil {
		return tlog.Tree{}, fmt.Errorf("formats: %w", err)
	}
	if len(rest) > 0 {
		return tlog.Tree{}, fmt.Errorf("formats: %d bytes after the checkpoint", len(rest))
	}
	if !bytes.Equal(checkpoint.Marshal(), []byte(opened.Text)) {
		return tlog.Tree{}, fmt.Errorf("formats: would write the checkpoint otherwise")
	}
	tree := tlog.Tree{N: int64(checkpoint.Size)}
	if copy(tree.Hash[:], checkpoint.Hash) != len(tree.Hash) {
		return tlog.Tree{}, fmt.Errorf("formats: the root has %d bytes", len(checkpoint.Hash))
	}
	return tree, nil
}
