// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"

	"github.com/transparency-dev/formats/proof"
	merkle "github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// judgeInclusion knows nothing but the key: the entry is the SHA-256 of what the proof carries with it, or of the file
// that somebody kept.
func judgeInclusion(verifier note.Verifier, files []string) error {
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	var read proof.TLogProof
	if err := read.Unmarshal(text); err != nil {
		return fmt.Errorf("formats: %w", err)
	}
	if !bytes.Equal(read.Marshal(), text) {
		return fmt.Errorf("formats: would write the proof otherwise")
	}
	tree, err := parseCheckpoint(verifier, read.Checkpoint)
	if err != nil {
		return err
	}
	extra := read.ExtraData
	if len(files) > 1 {
		if len(extra) > 0 {
			return fmt.Errorf("the proof carries a record")
		}
		if extra, err = os.ReadFile(files[1]); err != nil {
			return err
		}
	}
	entry := sha256.Sum256(extra)
	hashes := make([][]byte, len(read.Hashes))
	theirs := make(tlog.RecordProof, len(read.Hashes))
	for at := range read.Hashes {
		hashes[at] = read.Hashes[at][:]
		theirs[at] = tlog.Hash(read.Hashes[at])
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(entry[:])
	if err := merkle.VerifyInclusion(rfc6962.DefaultHasher, read.Index, uint64(tree.N), leaf, hashes, tree.Hash[:]); err != nil {
		return fmt.Errorf("merkle: %w", err)
	}
	return tlog.CheckRecord(theirs, tree.N, tree.Hash, int64(read.Index), tlog.RecordHash(entry[:]))
}

// judgeConsistency reads a proof that is one hash in base64 a line.
func judgeConsistency(verifier note.Verifier, files []string) error {
	if len(files) != 3 {
		return fmt.Errorf("two checkpoints and a proof are needed")
	}
	older, err := readCheckpoint(verifier, files[0])
	if err != nil {
		return err
	}
	newer, err := readCheckpoint(verifier, files[1])
	if err != nil {
		return err
	}
	text, err := os.ReadFile(files[2])
	if err != nil {
		return err
	}
	var hashes [][]byte
	var theirs tlog.TreeProof
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		hash, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil || len(hash) != tlog.HashSize {
			return fmt.Errorf("%q is no hash", lines.Text())
		}
		hashes = append(hashes, hash)
		theirs = append(theirs, tlog.Hash(hash))
	}
	sizes := [2]uint64{uint64(older.N), uint64(newer.N)}
	if err := merkle.VerifyConsistency(rfc6962.DefaultHasher, sizes[0], sizes[1], hashes, older.Hash[:], newer.Hash[:]); err != nil {
		return fmt.Errorf("merkle: %w", err)
	}
	return tlog.CheckTree(theirs, newer.N, newer.Hash, older.N, older.Hash)
}
