// SPDX-License-Identifier: Apache-2.0

// Oracle says what Go and zlint think of requests, certificates and chains. It reads questions from
// stdin and answers each on stdout, in their order.
package main

import (
	"bufio"
	"io"
	"log"
	"os"
	"runtime"
)

// What can be asked, by the first byte of a frame.
var judges = map[byte]func([]byte) answer{
	'r': judgeRequest,
	'c': judgeCertificate,
	'p': judgeRequestPEM,
	'b': judgeBundlePEM,
	'v': judgeChain,
	'l': judgeLeaf,
	'm': judgeMLDSALeaf,
	's': signMLDSA,
	'u': judgeURI,
	'k': judgeRevocationList,
	'f': judgeFacts,
}

// Questions that may wait for their answers: enough to keep all cores busy.
const pending = 4096

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	order := make(chan chan answer, pending)
	questions := make(chan question, pending)
	for range runtime.NumCPU() {
		go work(questions)
	}
	go read(in, questions, order)
	for next := range order {
		if err := writeAnswer(out, <-next); err != nil {
			log.Fatal(err)
		}
		if len(order) == 0 {
			if err := out.Flush(); err != nil {
				log.Fatal(err)
			}
		}
	}
}

type question struct {
	frame []byte
	reply chan<- answer
}

func work(questions <-chan question) {
	for each := range questions {
		each.reply <- judge(each.frame)
	}
}

func read(in *bufio.Reader, questions chan<- question, order chan<- chan answer) {
	defer close(order)
	for {
		frame, err := readFrame(in)
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		reply := make(chan answer, 1)
		order <- reply
		questions <- question{frame, reply}
	}
}

func judge(frame []byte) answer {
	if len(frame) == 0 {
		return answer{reason: "an empty question"}
	}
	found, known := judges[frame[0]]
	if !known {
		log.Fatalf("a question of the unknown kind %q", frame[0])
	}
	return found(frame[1:])
}
