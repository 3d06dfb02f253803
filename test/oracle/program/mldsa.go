// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"

	"filippo.io/mldsa"
	mldsax509 "filippo.io/mldsa/x509"
)

// judgeMLDSALeaf is judgeLeaf for a CA with an ML-DSA-65 key, whose signatures crypto/x509 of Go 1.26
// knows not: a leaf directly below one root, both parsed by crypto/x509, verified by filippo.io/mldsa.
func judgeMLDSALeaf(data []byte) answer {
	found, err := readChain(data)
	if err != nil {
		return answer{refused, err.Error()}
	}
	if len(found.roots) != 1 || len(found.intermediates) != 0 {
		return answer{refused, "not one root and nothing else above the leaf"}
	}
	if err := verifyMLDSA(found.leaf, found.roots[0]); err != nil {
		return answer{parsed, err.Error()}
	}
	if err := requirePath(found); err != nil {
		return answer{parsed, err.Error()}
	}
	return lintLeaf(found.leaf.Raw)
}

func verifyMLDSA(leaf, root *x509.Certificate) error {
	key, err := mldsax509.ParsePKIXPublicKey(root.RawSubjectPublicKeyInfo)
	if err != nil {
		return fmt.Errorf("the root's key: %w", err)
	}
	public, is := key.(*mldsa.PublicKey)
	if !is || public.Parameters() != mldsa.MLDSA65() {
		return fmt.Errorf("the root's key is a %T, not of ML-DSA-65", key)
	}
	for _, each := range []*x509.Certificate{root, leaf} {
		if err := requireMLDSA65(each); err != nil {
			return err
		}
		if err := mldsa.Verify(public, each.RawTBSCertificate, each.Signature, nil); err != nil {
			return fmt.Errorf("the signature of %q: %w", each.Subject, err)
		}
	}
	return nil
}

// RFC 9881 §3: the parameters must be absent.
func requireMLDSA65(certificate *x509.Certificate) error {
	var outer struct {
		TBS       asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(certificate.Raw, &outer); err != nil {
		return err
	}
	wanted := asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 18}
	if !outer.Algorithm.Algorithm.Equal(wanted) || len(outer.Algorithm.Parameters.FullBytes) != 0 {
		return fmt.Errorf("signed under %v", outer.Algorithm)
	}
	return nil
}

// requirePath is what Certificate.Verify would look at beside the signature.
func requirePath(found chain) error {
	leaf, root := found.leaf, found.roots[0]
	switch {
	case !root.IsCA || !root.BasicConstraintsValid || root.KeyUsage&x509.KeyUsageCertSign == 0:
		return errors.New("the root is no CA")
	case !bytes.Equal(leaf.RawIssuer, root.RawSubject) || !bytes.Equal(root.RawIssuer, root.RawSubject):
		return errors.New("the names do not chain")
	case len(root.SubjectKeyId) == 0 || !bytes.Equal(leaf.AuthorityKeyId, root.SubjectKeyId):
		return errors.New("the key identifiers do not chain")
	case leaf.IsCA || len(leaf.UnhandledCriticalExtensions)+len(root.UnhandledCriticalExtensions) > 0:
		return errors.New("the leaf is a CA, or has a critical extension that nobody knows")
	}
	for _, each := range []*x509.Certificate{root, leaf} {
		if found.now.Before(each.NotBefore) || found.now.After(each.NotAfter) {
			return fmt.Errorf("%q is not valid at %v", each.Subject, found.now)
		}
	}
	return nil
}

// signMLDSA signs what follows 32 bytes of a seed. The reason of its answer is the public key that the
// seed makes and the signature, both hexadecimal.
func signMLDSA(data []byte) answer {
	if len(data) < mldsa.PrivateKeySize {
		return answer{refused, errCutOff.Error()}
	}
	key, err := mldsa.NewPrivateKey(mldsa.MLDSA65(), data[:mldsa.PrivateKeySize])
	if err != nil {
		return answer{refused, err.Error()}
	}
	signature, err := key.Sign(nil, data[mldsa.PrivateKeySize:], nil)
	if err != nil {
		return answer{refused, err.Error()}
	}
	public := hex.EncodeToString(key.PublicKey().Bytes())
	return answer{accepted, public + " " + hex.EncodeToString(signature)}
}
