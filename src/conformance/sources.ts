// SPDX-License-Identifier: Apache-2.0
/** Names the sources of the cases. Upstream's paths are of kubernetes v1.37. */

/** Fields of CertificateSigningRequest, certificates.k8s.io/v1. */
export const CSR_SOURCES = {
  certificate: 'certificates.k8s.io/v1 CertificateSigningRequestStatus.certificate',
  conditions: 'certificates.k8s.io/v1 CertificateSigningRequestCondition.type',
  signer: 'certificates.k8s.io/v1 CertificateSigningRequestSpec.signerName',
  usages: 'certificates.k8s.io/v1 CertificateSigningRequestSpec.usages',
  expiration: 'certificates.k8s.io/v1 CertificateSigningRequestSpec.expirationSeconds',
} as const;

/** Fields of PodCertificateRequest, certificates.k8s.io/v1, and the API server's validation. */
export const PCR_SOURCES = {
  spec: 'certificates.k8s.io/v1 PodCertificateRequestSpec',
  status: 'certificates.k8s.io/v1 PodCertificateRequestStatus',
  validation: 'pkg/apis/certificates/validation, ValidatePodCertificateRequestStatusUpdate',
  stub: 'PodCertificateRequestSpec.stubPKCS10Request; KEP-4317',
  annotations: 'PodCertificateRequestSpec.unverifiedUserAnnotations',
} as const;

/** Fields of ClusterTrustBundle, certificates.k8s.io/v1, and the API server's validation. */
export const CTB_SOURCES = {
  spec: 'certificates.k8s.io/v1 ClusterTrustBundleSpec',
  validation: 'pkg/apis/certificates/validation, ValidateClusterTrustBundle',
} as const;

/** Fields of CertificateRequest, cert-manager.io/v1. */
export const CR_SOURCES = {
  spec: 'cert-manager.io/v1 CertificateRequestSpec',
  status: 'cert-manager.io/v1 CertificateRequestStatus',
  condition: 'cert-manager.io/v1 CertificateRequestCondition.type',
} as const;

/** The source for weak keys. */
export const WEAK_KEYS = 'NIST SP 800-131A; CA/Browser Forum BR §6.1.5';

/** Returns the name of one of upstream's conformance tests, in `test/e2e/auth`. */
export function e2e(file: string, test: string): string {
  return `test/e2e/auth/${file}: "${test}"`;
}

/** Returns one of upstream's integration tests, for topics that its conformance tests omit. */
export function integration(file: string): string {
  return `test/integration/${file}`;
}
