// SPDX-License-Identifier: Apache-2.0
/** Anchors above a CA that leave the bundle when it is distrusted. */
import { certifiersOf } from '#ca/rotation/distrusted-cas.ts';
import type { PreflightError } from './change-plan.ts';
import { authoritiesOf, fingerprintsOf, type SignerState } from './signer-state.ts';

/**
 * Returns an error for each CA that verifiers reject as well once `distrusted` is distrusted,
 * because all its anchors certified that CA: the root of an upstream CA leaves the bundle with it.
 */
export function sharedAnchorErrors(
  state: SignerState,
  distrusted: string,
): readonly PreflightError[] {
  const leaving = new Set(certifiersOf(state.signer.status, new Set([distrusted])));
  return authoritiesOf(state)
    .filter(({ fingerprint, phase }) => fingerprint !== distrusted && phase !== 'Distrusted')
    .map((each) => ({ ...each, prints: fingerprintsOf(each) }))
    .filter(({ prints }) => prints.length > 0 && prints.every((print) => leaving.has(print)))
    .map(({ fingerprint, phase, prints }) => ({
      message: `${prints.join(', ')} leaves the bundle with ${distrusted}, which it certified: verifiers then reject the leaves of ${fingerprint} (${phase}) as well`,
    }));
}

/**
 * Returns a note before a CA is replaced: once it is revoked, its upstream CAs leave the bundle
 * with it, so verifiers reject a successor below the same root as well.
 */
export function successorRootNotes(state: SignerState, replaced: string): readonly string[] {
  const { upstream } = state.signer.spec.authority.managed ?? {};
  const leaving = certifiersOf(state.signer.status, new Set([replaced]));
  if (upstream === undefined || leaving.length === 0) return [];
  return [
    `${leaving.join(', ')} certified ${replaced}, so it leaves the bundle when you revoke ${replaced}, and verifiers then reject a successor that it certified: if you intend to revoke, use another root or anchor Authority for the successor`,
  ];
}

/** Returns a note about the upstream CAs that are never trusted again here. */
export function upstreamNotes(state: SignerState, distrusted: string): readonly string[] {
  const { upstream } = state.signer.spec.authority.managed ?? {};
  const leaving = certifiersOf(state.signer.status, new Set([distrusted]));
  if (upstream === undefined || leaving.length === 0) return [];
  return [
    `${leaving.join(', ')} certified ${distrusted}, so none of them is an anchor of this signer again: the next CA needs anchor Authority, or another root`,
  ];
}
