// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_36

package main

import (
	"crypto"
	"crypto/x509"

	certificates "k8s.io/api/certificates/v1beta1"
	"k8s.io/client-go/kubernetes"
	client "k8s.io/client-go/kubernetes/typed/certificates/v1beta1"
	"k8s.io/kubernetes/test/utils/hermeticpodcertificatesigner"
	"k8s.io/utils/clock"
)

type podCertificateRequest = certificates.PodCertificateRequest

const issuedCondition = certificates.PodCertificateRequestConditionTypeIssued

func podCertificateRequests(c kubernetes.Interface, namespace string) client.PodCertificateRequestInterface {
	return c.CertificatesV1beta1().PodCertificateRequests(namespace)
}

func newUpstreamSigner(name string, keys []crypto.PrivateKey, chain [][]byte, c kubernetes.Interface) *hermeticpodcertificatesigner.Controller {
	return hermeticpodcertificatesigner.New(clock.RealClock{}, name, keys, chain, c)
}

// publicKeyOf reads the field that came with 1.36, or the one that older kubelets fill.
func publicKeyOf(request *podCertificateRequest) (crypto.PublicKey, error) {
	if len(request.Spec.StubPKCS10Request) == 0 {
		return x509.ParsePKIXPublicKey(request.Spec.PKIXPublicKey)
	}
	stub, err := x509.ParseCertificateRequest(request.Spec.StubPKCS10Request)
	if err != nil {
		return nil, err
	}
	return stub.PublicKey, nil
}
