// SPDX-License-Identifier: Apache-2.0
/**
 * `cert-manager.io/v1` Certificate: the Secret that it writes, and the request whose certificate
 * the Secret has.
 */
import type { KubeObject } from '../object/object.ts';
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
  type CertificateRequest,
  type IssuerReference,
} from '../request/certificate-request.ts';
import type { Condition } from '../request/conditions.ts';

export const CERTIFICATE_RESOURCE = {
  group: CERT_MANAGER_GROUP,
  version: CERT_MANAGER_VERSION,
  plural: 'certificates',
} as const;

export interface CertManagerCertificate extends KubeObject {
  /** The definition allows none. Only the webhook of cert-manager refuses that. */
  readonly spec?: { readonly secretName?: string; readonly issuerRef?: IssuerReference };
  readonly status?: {
    /**
     * The revision of the CertificateRequest whose certificate the Secret has. cert-manager sets it
     * after it writes the Secret (pkg/controller/certificates/issuing, issueCertificate).
     */
    readonly revision?: number;
    readonly notAfter?: string;
    readonly renewalTime?: string;
    readonly conditions?: readonly Condition[];
    readonly lastFailureTime?: string;
    /** Number of failed attempts in a row. */
    readonly failedIssuanceAttempts?: number;
  };
}

/**
 * Annotations of a CertificateRequest that cert-manager created for a Certificate, and of the
 * Secret.
 */
export const CERTIFICATE_NAME = 'cert-manager.io/certificate-name';
const CERTIFICATE_REVISION = 'cert-manager.io/certificate-revision';

/**
 * Returns the Certificate that controls a request. cert-manager distinguishes its own requests from
 * others by this owner (pkg/util/predicate, ResourceOwnedBy), since any user may write annotations.
 */
export function controllingCertificate({
  metadata,
}: KubeObject): { name: string; uid: string } | undefined {
  // ObjectMeta leaves out owners, which objects in JSON have.
  const { ownerReferences = [] } = metadata as {
    readonly ownerReferences?: readonly (Readonly<Record<string, unknown>> & {
      readonly name: string;
      readonly uid: string;
    })[];
  };
  return ownerReferences.find(
    ({ apiVersion, kind, controller }) =>
      kind === 'Certificate' && controller === true && apiVersion === 'cert-manager.io/v1',
  );
}

/**
 * Returns the revision of the Certificate for which a request was made, or undefined without a
 * readable annotation.
 */
export function certificateRevision({ metadata }: CertificateRequest): number | undefined {
  const text = metadata.annotations?.[CERTIFICATE_REVISION] ?? '';
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}
