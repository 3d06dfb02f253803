// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"
	"strings"

	"github.com/zmap/zcrypto/x509"
	"github.com/zmap/zlint/v3"
	"github.com/zmap/zlint/v3/lint"
)

var registry = rfc5280()

func rfc5280() lint.Registry {
	filtered, err := lint.GlobalRegistry().Filter(lint.FilterOptions{
		IncludeSources: lint.SourceList{lint.RFC5280},
	})
	if err != nil {
		panic(err)
	}
	return filtered
}

// judgeLeaf verifies a chain as judgeChain does, and lints its leaf.
func judgeLeaf(data []byte) answer {
	if found := judgeChain(data); found.level != accepted {
		return found
	}
	der, _, err := take(data[8:])
	if err != nil {
		return answer{refused, err.Error()}
	}
	return lintLeaf(der)
}

// lintLeaf refuses a leaf for errors; the reason of an acceptance is the list of warnings.
func lintLeaf(der []byte) answer {
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return answer{refused, "zcrypto: " + err.Error()}
	}
	var errors, warnings []string
	for name, result := range zlint.LintCertificateEx(leaf, registry).Results {
		switch result.Status {
		case lint.Error, lint.Fatal:
			errors = append(errors, name)
		case lint.Warn:
			warnings = append(warnings, name)
		}
	}
	sort.Strings(errors)
	sort.Strings(warnings)
	if len(errors) > 0 {
		return answer{refused, strings.Join(errors, " ")}
	}
	return answer{accepted, strings.Join(warnings, " ")}
}
