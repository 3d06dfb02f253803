// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../api/cluster-signer.ts';
import type { Authority } from '../authorities/contract.ts';
import { SignerError } from '../errors.ts';

/**
 * What a leaf was signed on: the ClusterSigner as it then was, and its CA. A leaf that could not be
 * delivered at once is delivered only while both are the same. What else might have been signed
 * since is not ours to guess, and a CA that may not sign now may not have signed it either.
 *
 * @returns undefined where there is no CA to sign with, which is the same as nothing
 */
export function groundsOf(
  { metadata }: ClusterSigner,
  authority: Authority | SignerError,
): string | undefined {
  if (authority instanceof SignerError) return undefined;
  return `${metadata.uid}/${metadata.generation ?? ''}/${authority.facts.fingerprint}`;
}
