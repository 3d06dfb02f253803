// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	formats "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// judgeCosigned opens a checkpoint by the key of its witness alone, as transparency-dev's formats reads it.
func judgeCosigned(key, path string) error {
	verifier, err := formats.NewVerifierForCosignatureV1(key)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return err
	}
	_, err = formats.CoSigV1Timestamp(opened.Sigs[0])
	return err
}

// judgeWebhook verifies what a receiver of a webhook gets: its body, and its headers as an object of JSON.
func judgeWebhook(secret string, files []string) error {
	if len(files) != 2 {
		return fmt.Errorf("a body and its headers are needed")
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	text, err := os.ReadFile(files[1])
	if err != nil {
		return err
	}
	var given map[string]string
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	headers := http.Header{}
	for name, value := range given {
		headers.Set(name, value)
	}
	receiver, err := webhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return receiver.Verify(body, headers)
}
