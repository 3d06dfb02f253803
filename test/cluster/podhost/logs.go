// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// log writes what a container says, in the CRI's format: a line each, with its time, its stream, and
// F for a whole line or P for a part of one.
type log struct {
	path  string
	mutex sync.Mutex
	file  *os.File
}

const longestLine = 16 * 1024

func openLog(path string) (*log, error) {
	made := &log{path: path}
	if path == "" {
		return made, nil
	}
	return made, made.reopen()
}

// reopen follows a rotation, which has given the file another name.
func (l *log) reopen() error {
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.file != nil {
		l.file.Close()
	}
	l.file = file
	return nil
}

func (l *log) copy(stream string, from io.Reader) {
	reader := bufio.NewReaderSize(from, longestLine)
	for {
		line, isPart, err := reader.ReadLine()
		if err != nil {
			return
		}
		tag := "F"
		if isPart {
			tag = "P"
		}
		l.mutex.Lock()
		if l.file != nil {
			fmt.Fprintf(l.file, "%s %s %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), stream, tag, line)
		}
		l.mutex.Unlock()
	}
}

func (l *log) close() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
