// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import { SignerError } from '../../errors.ts';
import type { Issuing } from './issuing.ts';

/**
 * What a leaf was signed on: the signer as it then was, and its CA. A leaf that could not be
 * delivered at once is delivered only while both are the same. What else might have been signed
 * since is not ours to guess, and a CA that may not sign now may not have signed it either.
 *
 * @returns undefined where there is no CA to sign with, which is the same as nothing
 */
export function groundsOf(
  { metadata }: KubeObject,
  issuing: Pick<Issuing<never>, 'identity'> | SignerError,
): string | undefined {
  if (issuing instanceof SignerError) return undefined;
  return `${metadata.uid}/${metadata.generation ?? ''}/${issuing.identity}`;
}
