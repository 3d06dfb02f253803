// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { isDerivedName } from '../../api/signer/signer.ts';
import type { RequestOutcome } from './outcome.ts';

/** The clocks of two API servers, which write creationTimestamps, may differ by this much. */
const SKEW_MS = 5_000;

/**
 * Makes a Signer ignore requests that are older than itself. A CertificateSigningRequest has no namespace, so it
 * outlives the namespace whose Signer it names. If that namespace is deleted and created again, its new owner
 * must not sign what was requested, and perhaps approved, for the old one. Namespaced requests need no such
 * check: they are deleted with their namespace.
 */
export function ignoreOlderThanSigner<T extends KubeObject, S extends SignerObject>(
  handle: (request: T, signer: S) => Promise<RequestOutcome>,
): (request: T, signer: S) => Promise<RequestOutcome> {
  return (request, signer) =>
    isOlder(request, signer)
      ? Promise.resolve(untouched(request, signer))
      : handle(request, signer);
}

function isOlder({ metadata }: KubeObject, signer: SignerObject): boolean {
  const made = Date.parse(metadata.creationTimestamp);
  const since = Date.parse(signer.metadata.creationTimestamp);
  return isDerivedName(signer.spec.signerName) && made + SKEW_MS < since;
}

function untouched({ metadata }: KubeObject, signer: SignerObject): RequestOutcome {
  const { namespace = '', name, creationTimestamp } = signer.metadata;
  const reason = 'OlderThanSigner';
  const message = `created at ${metadata.creationTimestamp}, before Signer ${namespace}/${name} (${creationTimestamp}): not answered; create a new request`;
  return {
    outcome: 'undecided',
    reason,
    message,
    event: { type: 'Warning', reason, action: 'Wait', note: message },
  };
}
