// SPDX-License-Identifier: Apache-2.0
/** Lists what a certificate will lack, before a person approves its request. */
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { servesSigningRequests, type SignerSpec } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import { copyRequestedNames } from '#ca/issuance/leaf-subject.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { omittedFields } from '#ca/policy/omitted-fields.ts';
import { validateRequest } from '#ca/policy/validate.ts';

/** Problem of a server's certificate whose clients find no name in it (RFC 9525 section 2). */
export const SERVER_WITHOUT_NAMES =
  'it is for servers and has no DNS name, IP address or URI, and clients ignore the common name';

/** Reports whether clients find a name in the certificate of a server. */
export function hasServerNames({
  dnsNames,
  ipAddresses,
  uris,
}: {
  readonly [Field in 'dnsNames' | 'ipAddresses' | 'uris']: readonly unknown[];
}): boolean {
  return dnsNames.length + ipAddresses.length + uris.length > 0;
}

/**
 * Returns what the certificate of a request will lack, as the Event after its issuance lists it.
 *
 * @returns nothing for a CA, or for a request that its signer would fail
 */
export function certificateNotices(
  csr: CertificateSigningRequest,
  spec: SignerSpec,
): readonly string[] {
  if (!servesSigningRequests(spec) || spec.intermediates !== undefined) return [];
  const found = attempt(() => {
    const { profile, rules, maxDurationSeconds } = compilePolicy(spec);
    const judged = validateRequest({ csr, profile, rules, reservedPrefixes: [] });
    if (judged.kind === 'fail') return [];
    const { request } = judged;
    const lacks = omittedFields(csr.spec, request, { copy: profile.copy, maxDurationSeconds });
    const names = copyRequestedNames(request, profile.copy);
    return [
      ...(lacks === undefined ? [] : [`the certificate would have ${lacks}`]),
      ...unnamedServer(csr, names),
    ];
  });
  return found instanceof SignerError ? [] : found;
}

function unnamedServer({ spec }: CertificateSigningRequest, names: LeafSubject): readonly string[] {
  const isForServers = spec.usages?.includes('server auth') === true;
  if (!isForServers || hasServerNames(names)) return [];
  return [
    `clients would reject the certificate: ${SERVER_WITHOUT_NAMES}; request subject alternative names that spec.requests.copy of the signer lists`,
  ];
}
