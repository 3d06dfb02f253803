// SPDX-License-Identifier: Apache-2.0
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';

/** The variables of rules, in the shape of REQUEST and NAMESPACED_REQUEST (cel/environments.ts). */
export interface RequestVariables {
  readonly csr: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, unknown>>;
}

/**
 * Returns the variables of a request: `csr` is its content, `request` its requester. The API server
 * sets username, uid, groups and extra of a CertificateSigningRequest. cert-manager's webhook sets
 * those of a CertificateRequest, and the project's admission policy rejects all others.
 *
 * A request without a lifetime gets the longest that the profile allows, so rules see that one in
 * `expirationSeconds`.
 */
export function requestVariables(
  csr: ReviewableRequest,
  { publicKey, extensions, attributes }: CertificationRequest,
  names: LeafSubject,
  maxDurationSeconds: number,
): RequestVariables {
  const { spec } = csr;
  const { commonName, organizations, organizationalUnits, ...sans } = names;
  return {
    csr: {
      subject: { commonName, organizations, organizationalUnits },
      ...sans,
      key: { type: publicKey.algorithm, size: publicKey.bits },
      keyType: publicKey.keyType ?? '',
      usages: spec.usages ?? [],
      extensions: extensions.map(({ oid }) => oid),
      attributes,
    },
    request: requesterVariables(csr, maxDurationSeconds),
  };
}

/** Returns the variable `request`: the requester, and the lifetime. */
export function requesterVariables(
  { spec, metadata }: ReviewableRequest,
  maxDurationSeconds: number,
): RequestVariables['request'] {
  return {
    name: metadata.name,
    // CertificateSigningRequests have no namespace, and their environment does not declare it.
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    username: spec.username ?? '',
    uid: spec.uid ?? '',
    groups: spec.groups ?? [],
    extra: spec.extra ?? {},
    expirationSeconds: spec.expirationSeconds ?? maxDurationSeconds,
  };
}
