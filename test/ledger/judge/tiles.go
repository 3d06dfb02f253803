// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api/layout"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8
const entryBytes = 32

// More than the files of a log in these tests: fsck waits indefinitely once all its workers have found a fault.
const fsckWorkers = 1024

// directory reads tiles of a log from files, for tlog.TileHashReader.
type directory string

func (d directory) Height() int { return tileHeight }

func (d directory) SaveTiles([]tlog.Tile, [][]byte) {}

func (d directory) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	found := make([][]byte, len(tiles))
	for at, tile := range tiles {
		path := layout.TilePath(uint64(tile.L), uint64(tile.N), partial(tile.W))
		data, err := os.ReadFile(filepath.Join(string(d), path))
		if err != nil {
			return nil, err
		}
		found[at] = data
	}
	return found, nil
}

func partial(width int) uint8 {
	return uint8(width % layout.TileWidth)
}

// judgeTiles reads every leaf through x/mod's tlog, which compares each tile with the root, hashes every entry, and
// proves that the tree begins with each older one.
func judgeTiles(verifier note.Verifier, path string, older []string) error {
	tree, err := readCheckpoint(verifier, filepath.Join(path, "checkpoint"))
	if err != nil {
		return err
	}
	reader := tlog.TileHashReader(tree, directory(path))
	if err := compareEntries(reader, tree, path); err != nil {
		return err
	}
	for _, file := range older {
		before, err := readCheckpoint(verifier, file)
		if err != nil {
			return err
		}
		if before.N > tree.N {
			return fmt.Errorf("the log has %d entries and had %d", tree.N, before.N)
		}
		proof, err := tlog.ProveTree(tree.N, before.N, reader)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, before.N, before.Hash); err != nil {
			return err
		}
	}
	return nil
}

func compareEntries(reader tlog.HashReader, tree tlog.Tree, path string) error {
	for start := int64(0); start < tree.N; start += layout.EntryBundleWidth {
		width := min(tree.N-start, layout.EntryBundleWidth)
		indexes := make([]int64, width)
		for at := range indexes {
			indexes[at] = tlog.StoredHashIndex(0, start+int64(at))
		}
		hashes, err := reader.ReadHashes(indexes)
		if err != nil {
			return err
		}
		bundle := layout.EntriesPath(uint64(start/layout.EntryBundleWidth), partial(int(width)))
		data, err := os.ReadFile(filepath.Join(path, bundle))
		if err != nil {
			return err
		}
		entries, err := entriesOf(data)
		if err != nil {
			return err
		}
		if len(entries) != len(hashes) {
			return fmt.Errorf("%s has %d entries instead of %d", bundle, len(entries), len(hashes))
		}
		for at, entry := range entries {
			if tlog.RecordHash(entry) != hashes[at] {
				return fmt.Errorf("entry %d does not have the hash of its leaf", start+int64(at))
			}
		}
	}
	return nil
}

// entriesOf takes a bundle apart: uint16, big-endian, before each entry.
func entriesOf(bundle []byte) ([][]byte, error) {
	var entries [][]byte
	for len(bundle) > 0 {
		if len(bundle) < 2 {
			return nil, fmt.Errorf("a bundle of entries ends in a length")
		}
		length := int(binary.BigEndian.Uint16(bundle))
		if length != entryBytes || len(bundle) < 2+length {
			return nil, fmt.Errorf("an entry of %d bytes in a bundle with %d left", length, len(bundle))
		}
		entries = append(entries, bundle[2:2+length])
		bundle = bundle[2+length:]
	}
	return entries, nil
}

// judgeByFsck lets Tessera rebuild the whole tree from the entries and compare every file with it.
// It panics where a bundle is shorter than the tree says.
func judgeByFsck(verifier note.Verifier, path string) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("fsck: %v", fault)
		}
	}()
	hashes := func(bundle []byte) ([][]byte, error) {
		entries, err := entriesOf(bundle)
		if err != nil {
			return nil, err
		}
		for at, entry := range entries {
			entries[at] = rfc6962.DefaultHasher.HashLeaf(entry)
		}
		return entries, nil
	}
	check := fsck.New(verifier.Name(), verifier, client.FileFetcher{Root: path}, hashes, fsck.Opts{N: fsckWorkers})
	return check.Check(context.Background())
}
