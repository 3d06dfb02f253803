// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { RequestOutcome } from './outcome.ts';
import * as messages from './messages.ts';

/** Maximum clock difference between two API servers, which write creationTimestamps. */
const SKEW_MS = 5_000;

/**
 * Returns the outcome of a request that is older than its namespaced signer, which must not answer
 * it, or undefined.
 *
 * A CertificateSigningRequest has no namespace, so it outlives the namespace of its signer. If that
 * namespace is deleted and created again, its new owner must not sign what was requested, and
 * perhaps approved, for the old one. Namespaced requests need no such check, since they are deleted
 * with their namespace.
 */
export function olderThanSigner(
  request: KubeObject,
  signer: SignerObject,
): RequestOutcome | undefined {
  return isOlder(request, signer) ? untouched(request, signer) : undefined;
}

function isOlder({ metadata }: KubeObject, signer: SignerObject): boolean {
  const made = Date.parse(metadata.creationTimestamp);
  const since = Date.parse(signer.metadata.creationTimestamp);
  return isNamespaced(signer) && made + SKEW_MS < since;
}

function untouched({ metadata }: KubeObject, signer: SignerObject): RequestOutcome {
  const { namespace = '', name, creationTimestamp } = signer.metadata;
  const reason = 'OlderThanSigner';
  const message = messages.olderThanSigner(
    metadata.creationTimestamp,
    `${signer.kind} ${namespace}/${name}`,
    creationTimestamp,
  );
  return {
    outcome: 'undecided',
    reason,
    message,
    event: { type: 'Warning', reason, action: 'Wait', note: message },
  };
}
