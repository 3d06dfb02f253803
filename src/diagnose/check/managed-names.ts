// SPDX-License-Identifier: Apache-2.0
import { isDerivedName } from '#api/signer/signer.ts';
import type { SignerFacts } from './facts.ts';

/**
 * Returns a function that reports whether a ClusterSigner, Signer, or ExternalClusterSigner of this
 * installation has a signer name. ACME signers have checks of their own.
 */
export function managedNames({
  states,
  installation,
}: SignerFacts): (signerName: string) => boolean {
  const names = new Set([
    ...states.map(({ signer }) => signer.spec.signerName),
    ...(installation.external?.signers ?? []),
  ]);
  return (name) => names.has(name) || isDerivedName(name);
}
