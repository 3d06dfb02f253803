// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import type { ChangePlan } from '../change-plan.ts';
import { resolveFingerprint } from '../resolve-fingerprint.ts';
import { authoritiesOf, type SignerState } from '../signer-state.ts';
import { revoke } from './revoke.ts';

/** Reads of possible holders. Each returns undefined if the user may not read them. */
export interface HolderReads {
  /** Returns the number of running pods that may hold a leaf of the CA. */
  readonly pods: (authority: AuthorityStatus) => Promise<number | undefined>;
  readonly hasCertManager: () => Promise<boolean | undefined>;
}

/**
 * Plans a revocation, which is safe when no leaf is in use. For a retiring CA that serves pods,
 * this checks the pods.
 * @param text - the CA's fingerprint or a prefix
 */
export async function planRevocation(
  reads: HolderReads,
  state: SignerState,
  text: string,
): Promise<ChangePlan> {
  const found = resolveFingerprint(state, text);
  const target = authoritiesOf(state).find(
    (each) => 'fingerprint' in found && each.fingerprint === found.fingerprint,
  );
  const isUseful = target?.phase === 'Retiring' && state.signer.spec.pods !== undefined;
  const pods = isUseful ? await reads.pods(target) : undefined;
  // Without permission to find out, assume that it is served.
  const certManager = (await reads.hasCertManager()) ?? true;
  return revoke(state, text, { pods, certManager });
}
