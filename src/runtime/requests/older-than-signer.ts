// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { isDerivedName } from '../../api/signer/signer.ts';
import type { RequestOutcome } from './outcome.ts';

/** By so much the clocks of two API servers that date objects may lie apart. */
const SKEW_MS = 5_000;

/**
 * A CertificateSigningRequest has no namespace, and outlives the one that it was meant for: what was
 * asked, and perhaps approved, under a Signer of before must not be signed by whoever has got the
 * namespace's name since. So a Signer answers only what was made after it. What lies in a namespace is
 * gone with it.
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
