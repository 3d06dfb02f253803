// SPDX-License-Identifier: Apache-2.0
import { fingerprintDigits } from '#base/hex-digits.ts';
import { authoritiesOf, unexpectedAnchors, type SignerState } from './signer-state.ts';

/** Least number of digits of a prefix. A shorter prefix is more likely a typing error. */
const MIN_DIGITS = 8;
/** Length of a SHA-256 in hexadecimal digits. */
const SHA256_DIGITS = 64;

/**
 * Resolves a fingerprint, or a unique prefix of one, in any spelling of OpenSSL, to a known CA.
 * @returns the whole fingerprint, or why it cannot be resolved. For a whole fingerprint of an
 * unknown CA, `isKnown` is false.
 */
export function resolveFingerprint(
  state: SignerState,
  text: string,
): { readonly fingerprint: string; readonly isKnown: boolean } | { readonly problem: string } {
  const digits = fingerprintDigits(text);
  const known = knownFingerprints(state);
  if (!/^[0-9a-f]*$/.test(digits) || digits.length < MIN_DIGITS) {
    const problem = `"${text.slice(0, 80)}" is not a fingerprint; write at least ${MIN_DIGITS} hexadecimal digits, as countersign authority show prints them`;
    return { problem };
  }
  const found = known.filter((each) => each.startsWith(`sha256:${digits}`));
  const [fingerprint] = found;
  if (fingerprint !== undefined && found.length === 1) return { fingerprint, isKnown: true };
  if (found.length > 1)
    return { problem: `${text} is ambiguous: it matches ${found.join(' and ')}` };
  if (digits.length === SHA256_DIGITS) return { fingerprint: `sha256:${digits}`, isKnown: false };
  return {
    problem: `no CA of ${state.signer.metadata.name} matches ${text}; countersign authority show ${state.signer.metadata.name} lists them`,
  };
}

function knownFingerprints(state: SignerState): readonly string[] {
  const own = authoritiesOf(state).map(({ fingerprint }) => fingerprint);
  return [...new Set([...own, ...unexpectedAnchors(state).map((each) => each.fingerprint)])];
}
