// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../api/csr.ts';
import type { CertificationRequest } from '../pki/pkcs10.ts';
import type { RequestedNames } from '../pki/requested-names.ts';

/** What CEL sees, in the shape of cel/environments.ts' REQUEST. */
export interface RequestVariables {
  readonly csr: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, unknown>>;
}

/**
 * `csr` is what is asked for, `request` who asks: the API server alone sets username, uid, groups
 * and extra (`spec` of certificates.k8s.io/v1). A request that names no lifetime gets the longest,
 * so a rule sees the longest.
 */
export function requestVariables(
  csr: CertificateSigningRequest,
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
      username: spec.username ?? '',
      uid: spec.uid ?? '',
      groups: spec.groups ?? [],
      extra: spec.extra ?? {},
      expirationSeconds: spec.expirationSeconds ?? maxDurationSeconds,
    },
  };
}
