// SPDX-License-Identifier: Apache-2.0

// Ledgerjudge says what Go's own tlog and note, transparency-dev's merkle and formats, and Tessera's fsck think of
// a log. It exits with 0 if the judge accepts it, and with 1 and the reason on stderr if not.
package main

import (
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
)

const usage = `ledgerjudge signed VKEY NOTE
ledgerjudge note VKEY CHECKPOINT
ledgerjudge tlog VKEY DIRECTORY [OLDER-CHECKPOINT ...]
ledgerjudge fsck VKEY DIRECTORY
ledgerjudge inclusion VKEY PROOF [KEPT-SALT-AND-RECORD]
ledgerjudge consistency VKEY OLDER-CHECKPOINT NEWER-CHECKPOINT PROOF
ledgerjudge cosigned WITNESS-VKEY CHECKPOINT
ledgerjudge webhook SECRET BODY HEADERS.json
ledgerjudge leaves TILE-OF-LEVEL-0 EXPORT.jsonl
`

func main() {
	if len(os.Args) < 4 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := verdict(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func verdict(name, key string, files []string) error {
	switch name {
	case "cosigned":
		return judgeCosigned(key, files[0])
	case "webhook":
		return judgeWebhook(key, files)
	case "leaves":
		return judgeLeaves(key, files[0])
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return err
	}
	return judge(name, verifier, files)
}

func judge(name string, verifier note.Verifier, files []string) error {
	switch name {
	case "signed":
		text, err := os.ReadFile(files[0])
		if err != nil {
			return err
		}
		_, err = note.Open(text, note.VerifierList(verifier))
		return err
	case "note":
		_, err := readCheckpoint(verifier, files[0])
		return err
	case "tlog":
		return judgeTiles(verifier, files[0], files[1:])
	case "fsck":
		return judgeByFsck(verifier, files[0])
	case "inclusion":
		return judgeInclusion(verifier, files)
	case "consistency":
		return judgeConsistency(verifier, files)
	default:
		return fmt.Errorf("unknown judge %q", name)
	}
}
