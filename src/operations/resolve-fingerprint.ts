// SPDX-License-Identifier: Apache-2.0
import { authoritiesOf, unknownAnchors, type SignerState } from './signer-state.ts';

/** Fewer digits than these are a slip of the hand more often than a name. */
const LEAST_DIGITS = 8;
/** SHA-256, in hexadecimal digits. */
const ALL_DIGITS = 64;

/**
 * The CA that a user names: a fingerprint, or the beginning of one, with or without `sha256:`.
 *
 * @returns the whole fingerprint, or why there is none
 */
export function resolveFingerprint(
  state: SignerState,
  text: string,
): { readonly fingerprint: string; readonly isKnown: boolean } | { readonly problem: string } {
  const digits = text.replace(/^sha256:/, '').toLowerCase();
  const known = knownFingerprints(state);
  if (!/^[0-9a-f]*$/.test(digits) || digits.length < LEAST_DIGITS) {
    const problem = `"${text.slice(0, 80)}" is no fingerprint; write at least ${LEAST_DIGITS} hexadecimal digits of one`;
    return { problem };
  }
  const found = known.filter((each) => each.startsWith(`sha256:${digits}`));
  const [fingerprint] = found;
  if (fingerprint !== undefined && found.length === 1) return { fingerprint, isKnown: true };
  if (found.length > 1) return { problem: `${text} is the beginning of ${found.join(' and of ')}` };
  if (digits.length === ALL_DIGITS) return { fingerprint: `sha256:${digits}`, isKnown: false };
  return { problem: `no CA of ${state.signer.metadata.name} begins with ${text}` };
}

function knownFingerprints(state: SignerState): readonly string[] {
  const own = authoritiesOf(state).map(({ fingerprint }) => fingerprint);
  return [...new Set([...own, ...unknownAnchors(state)])];
}
