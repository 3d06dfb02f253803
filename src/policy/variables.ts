// SPDX-License-Identifier: Apache-2.0
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import type { RequestedNames } from '../pki/x509/requested-names.ts';
import type { ReviewableRequest } from '../api/request/reviewable-request.ts';

/** What CEL sees, in the shape of cel/environments.ts' REQUEST and NAMESPACED_REQUEST. */
export interface RequestVariables {
  readonly csr: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, unknown>>;
}

/**
 * `csr` is what is asked for, `request` who asks: the API server alone sets username, uid, groups
 * and extra (`spec` of certificates.k8s.io/v1); for cert-manager.io/v1 its webhook does, and our
 * admission policy lets nothing else pass. A request that names no lifetime gets the longest, so a
 * rule sees the longest.
 */
export function requestVariables(
  csr: ReviewableRequest,
  { publicKey }: CertificationRequest,
  names: RequestedNames,
  maxDurationSeconds: number,
): RequestVariables {
  const { spec, metadata } = csr;
  const { commonName, organizations, organizationalUnits, ...sans } = names;
  return {
    csr: {
      subject: { commonName, organizations, organizationalUnits },
      ...sans,
      key: { type: publicKey.algorithm, size: publicKey.bits },
      keyType: publicKey.keyType ?? '',
      usages: spec.usages ?? [],
    },
    request: {
      name: metadata.name,
      // Only where the kind has one: elsewhere no expression can name it.
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      username: spec.username ?? '',
      uid: spec.uid ?? '',
      groups: spec.groups ?? [],
      extra: spec.extra ?? {},
      expirationSeconds: spec.expirationSeconds ?? maxDurationSeconds,
    },
  };
}
