// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/url"
)

// What net/url reads in a URI; path, query and fragment without escapes.
type uriParts struct {
	Scheme   string `json:"scheme"`
	User     bool   `json:"user"`
	Host     string `json:"host"`
	Port     string `json:"port"`
	Path     string `json:"path"`
	Query    string `json:"query"`
	Fragment string `json:"fragment"`
}

// judgeURI answers with what Go reads, as JSON.
func judgeURI(text []byte) answer {
	found, err := url.Parse(string(text))
	if err != nil {
		return answer{reason: err.Error()}
	}
	path := found.Path
	if found.Opaque != "" {
		if path, err = url.PathUnescape(found.Opaque); err != nil {
			return answer{reason: err.Error()}
		}
	}
	query, err := url.PathUnescape(found.RawQuery)
	if err != nil {
		return answer{reason: err.Error()}
	}
	parts := uriParts{
		Scheme:   found.Scheme,
		User:     found.User != nil,
		Host:     found.Hostname(),
		Port:     found.Port(),
		Path:     path,
		Query:    query,
		Fragment: found.Fragment,
	}
	out, err := json.Marshal(parts)
	if err != nil {
		return answer{reason: err.Error()}
	}
	return answer{accepted, string(out)}
}
