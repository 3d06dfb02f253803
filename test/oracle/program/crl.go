// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"filippo.io/mldsa"
	mldsax509 "filippo.io/mldsa/x509"
)

// judgeRevocationList reads a CRL and verifies it with the key of one CA. A question is eight bytes of Unix
// seconds, the CRL, and the CA as a root. The reason of its answer is what Go read: number, thisUpdate,
// nextUpdate, and each entry's serial number, time and reason.
func judgeRevocationList(data []byte) answer {
	if len(data) < 8 {
		return answer{refused, errCutOff.Error()}
	}
	now := int64(binary.BigEndian.Uint64(data))
	der, rest, err := take(data[8:])
	if err != nil {
		return answer{refused, err.Error()}
	}
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		return answer{refused, err.Error()}
	}
	if len(rest) == 0 {
		return answer{parsed, "no CA"}
	}
	ca, rest, err := take(rest[1:])
	if err != nil || len(rest) > 0 {
		return answer{parsed, "not one CA"}
	}
	if err := verifyList(list, ca, now); err != nil {
		return answer{parsed, err.Error()}
	}
	return answer{accepted, contents(list)}
}

func verifyList(list *x509.RevocationList, der []byte, now int64) error {
	ca, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	if now < list.ThisUpdate.Unix() || now > list.NextUpdate.Unix() {
		return errors.New("the CRL is not current")
	}
	if hex.EncodeToString(list.AuthorityKeyId) != hex.EncodeToString(ca.SubjectKeyId) ||
		hex.EncodeToString(list.RawIssuer) != hex.EncodeToString(ca.RawSubject) {
		return errors.New("the CRL is another CA's")
	}
	if key, err := mldsax509.ParsePKIXPublicKey(ca.RawSubjectPublicKeyInfo); err == nil {
		if public, is := key.(*mldsa.PublicKey); is {
			return mldsa.Verify(public, list.RawTBSRevocationList, list.Signature, nil)
		}
	}
	return list.CheckSignatureFrom(ca)
}

func contents(list *x509.RevocationList) string {
	parts := []string{list.Number.String(), fmt.Sprint(list.ThisUpdate.Unix()), fmt.Sprint(list.NextUpdate.Unix())}
	for _, each := range list.RevokedCertificateEntries {
		parts = append(parts, fmt.Sprintf("%x/%d/%d", each.SerialNumber, each.RevocationTime.Unix(), each.ReasonCode))
	}
	return strings.Join(parts, " ")
}
