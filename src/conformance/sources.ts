// SPDX-License-Identifier: Apache-2.0
/** Where the cases come from. Upstream's paths are of kubernetes v1.37. */

export const CSR_CERTIFICATE = 'certificates.k8s.io/v1 CertificateSigningRequestStatus.certificate';
export const CSR_CONDITIONS = 'certificates.k8s.io/v1 CertificateSigningRequestCondition.type';
export const CSR_SIGNER = 'certificates.k8s.io/v1 CertificateSigningRequestSpec.signerName';
export const CSR_USAGES = 'certificates.k8s.io/v1 CertificateSigningRequestSpec.usages';
export const CSR_EXPIRATION =
  'certificates.k8s.io/v1 CertificateSigningRequestSpec.expirationSeconds';

export const PCR_SPEC = 'certificates.k8s.io/v1 PodCertificateRequestSpec';
export const PCR_STATUS = 'certificates.k8s.io/v1 PodCertificateRequestStatus';
export const PCR_VALIDATION =
  'pkg/apis/certificates/validation, ValidatePodCertificateRequestStatusUpdate';
export const PCR_STUB = 'PodCertificateRequestSpec.stubPKCS10Request; KEP-4317';
export const PCR_ANNOTATIONS = 'PodCertificateRequestSpec.unverifiedUserAnnotations';

export const CTB_SPEC = 'certificates.k8s.io/v1 ClusterTrustBundleSpec';
export const CTB_VALIDATION = 'pkg/apis/certificates/validation, ValidateClusterTrustBundle';

export const CR_SPEC = 'cert-manager.io/v1 CertificateRequestSpec';
export const CR_STATUS = 'cert-manager.io/v1 CertificateRequestStatus';
export const CR_CONDITION = 'cert-manager.io/v1 CertificateRequestCondition.type';

export const WEAK_KEYS = 'NIST SP 800-131A; CA/Browser Forum BR §6.1.5';

/** A sentence of upstream's conformance tests. */
export function e2e(file: string, test: string): string {
  return `test/e2e/auth/${file}: "${test}"`;
}

/** Upstream's integration tests say what its conformance tests leave out. */
export function integration(file: string): string {
  return `test/integration/${file}`;
}
