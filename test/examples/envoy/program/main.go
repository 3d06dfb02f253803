// SPDX-License-Identifier: Apache-2.0

// Command envoy reads configurations of Envoy by Envoy's own definitions, for tests: the fields of each message, and
// the rules of protoc-gen-validate that Envoy enforces when it loads one. It reads lines of JSON from stdin, each with
// the name of a message and its contents, and answers each with a line: its faults, none where Envoy would load it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	_ "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"countersign.dev/test/owner"
)

type asked struct {
	Message  protoreflect.FullName
	Contents json.RawMessage
}

func main() {
	owner.End()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		said := []string{}
		if err := judge(lines.Bytes()); err != nil {
			said = append(said, err.Error())
		}
		answer, _ := json.Marshal(said)
		fmt.Println(string(answer))
	}
}

func judge(line []byte) error {
	var wanted asked
	if err := json.Unmarshal(line, &wanted); err != nil {
		return err
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(wanted.Message)
	if err != nil {
		return err
	}
	message := kind.New().Interface()
	if err := protojson.Unmarshal(wanted.Contents, message); err != nil {
		return err
	}
	return valid(message)
}

// valid holds a message, and each that is packed into it, to the rules of its definition.
func valid(message proto.Message) error {
	if err := rules(message); err != nil {
		return err
	}
	return protorange.Range(message.ProtoReflect(), func(values protopath.Values) error {
		last := values.Index(-1)
		if last.Step.Kind() != protopath.AnyExpandStep {
			return nil
		}
		return rules(last.Value.Message().Interface())
	})
}

// rules are those of one message and of what it holds; what is packed has rules of its own.
func rules(message proto.Message) error {
	if checked, ok := message.(interface{ ValidateAll() error }); ok {
		return checked.ValidateAll()
	}
	return nil
}
