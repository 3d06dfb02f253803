// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s: %v\n", filepath.Base(os.Args[0]), doing, err)
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
