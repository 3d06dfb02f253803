// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// judgeFacts reads a certificate. The reason of an acceptance is what it says, as facts.ts writes
// it of ours.
func judgeFacts(der []byte) answer {
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return answer{refused, err.Error()}
	}
	return answer{accepted, factsOf(certificate)}
}

func factsOf(c *x509.Certificate) string {
	pathLen := c.MaxPathLen
	if pathLen == 0 && !c.MaxPathLenZero {
		pathLen = -1
	}
	uris := make([]string, len(c.URIs))
	for i, each := range c.URIs {
		uris[i] = each.String()
	}
	return strings.Join([]string{
		"serial " + c.SerialNumber.Text(16),
		"begin " + strconv.FormatInt(c.NotBefore.Unix(), 10),
		"end " + strconv.FormatInt(c.NotAfter.Unix(), 10),
		"ca " + strconv.FormatBool(c.IsCA),
		"path " + strconv.Itoa(pathLen),
		"usage " + strconv.FormatInt(int64(c.KeyUsage), 2),
		"purposes " + strings.Join(purposesOf(c), " "),
		"key " + hex.EncodeToString(c.SubjectKeyId),
		"issuer key " + hex.EncodeToString(c.AuthorityKeyId),
		"critical " + oidsOf(c.UnhandledCriticalExtensions),
		fmt.Sprintf("dns %q", c.DNSNames),
		fmt.Sprintf("email %q", c.EmailAddresses),
		fmt.Sprintf("addresses %d uris %d", len(c.IPAddresses), len(uris)),
		fmt.Sprintf("permitted %q %d %q %q", c.PermittedDNSDomains, len(c.PermittedIPRanges), c.PermittedEmailAddresses, c.PermittedURIDomains),
		fmt.Sprintf("excluded %q %d %q %q", c.ExcludedDNSDomains, len(c.ExcludedIPRanges), c.ExcludedEmailAddresses, c.ExcludedURIDomains),
	}, "\n")
}

// purposesOf reads them from the extension, because Go keeps known and unknown ones apart.
func purposesOf(c *x509.Certificate) []string {
	var found []string
	for _, each := range c.Extensions {
		if each.Id.String() != "2.5.29.37" {
			continue
		}
		var oids []asn1.ObjectIdentifier
		if _, err := asn1.Unmarshal(each.Value, &oids); err != nil {
			return []string{err.Error()}
		}
		for _, oid := range oids {
			found = append(found, oid.String())
		}
	}
	return found
}

func oidsOf(oids []asn1.ObjectIdentifier) string {
	texts := make([]string, len(oids))
	for i, each := range oids {
		texts[i] = each.String()
	}
	return strings.Join(texts, " ")
}
