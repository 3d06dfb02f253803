// SPDX-License-Identifier: Apache-2.0
/** `cert-manager.io/v1` Certificate: which Secret it writes, and which of its requests the Secret has. */
import type { KubeObject } from '../object/object.ts';
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
  type IssuerReference,
} from '../request/certificate-request.ts';
import type { Condition } from '../request/conditions.ts';

export const CERTIFICATE_RESOURCE = {
  group: CERT_MANAGER_GROUP,
  version: CERT_MANAGER_VERSION,
  plural: 'certificates',
} as const;

export interface CertManagerCertificate extends KubeObject {
  readonly spec: { readonly secretName?: string; readonly issuerRef?: IssuerReference };
  readonly status?: {
    /**
     * The revision of the CertificateRequest whose certificate the Secret has: cert-manager sets it after it has
     * written the Secret (pkg/controller/certificates/issuing, issueCertificate).
     */
    readonly revision?: number;
    readonly notAfter?: string;
    readonly renewalTime?: string;
    readonly conditions?: readonly Condition[];
    readonly lastFailureTime?: string;
    /** In a row. */
    readonly failedIssuanceAttempts?: number;
  };
}

/** Annotations of a CertificateRequest that cert-manager made for a Certificate, and of the Secret. */
export const CERTIFICATE_NAME = 'cert-manager.io/certificate-name';
export const CERTIFICATE_REVISION = 'cert-manager.io/certificate-revision';
