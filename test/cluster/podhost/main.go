// SPDX-License-Identifier: Apache-2.0

// Command podhost is what pods of a test cluster really run on: one host of its own network, process
// and mount namespaces, with a bridge, the CRI of each node, Services' addresses and names.
package main

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"countersign.dev/test/owner"
)

var commands = map[string]func(args []string){
	"check":        runCheck,
	"check-inside": runCheckInside,
	"container":    runContainer,
	"enter":        runEnter,
	"enter-mounts": runEnterMounts,
	"inside":       runInside,
	"kill":         runKill,
	"serve":        runServe,
	"stats":        runStats,
}

func init() {
	// Namespaces are a thread's: what main does stays on the first one, which execve keeps.
	runtime.LockOSThread()
}

func main() {
	if len(os.Args) > 1 {
		if run, ok := commands[os.Args[1]]; ok {
			// Processes within cannot see their owner; they end with the first of them.
			if slices.Contains([]string{"serve", "enter", "enter-mounts"}, os.Args[1]) {
				owner.End()
			}
			run(os.Args[2:])
			return
		}
	}
	fmt.Fprintf(os.Stderr, "first argument: want one of %q\n", slices.Sorted(maps.Keys(commands)))
	os.Exit(2)
}

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "podhost: %s: %v\n", doing, err)
		os.Exit(1)
	}
}

// got is must for calls that answer with a value.
func got[T any](doing string) func(T, error) T {
	return func(value T, err error) T {
		must(doing, err)
		return value
	}
}
