// SPDX-License-Identifier: Apache-2.0
import type { ChangePlan } from '../change-plan.ts';
import type { Verb } from '../report.ts';
import type { SignerState } from '../signer-state.ts';
import { activate } from './activate.ts';
import { planRevocation, type HolderReads } from './plan-revocation.ts';
import { prepare } from './prepare.ts';
import { taint } from './taint.ts';

/** The verbs whose plan needs no file. */
export type PlannedVerb = Exclude<Verb, 'install'>;

/**
 * Plans a verb, for the commands and for the console.
 *
 * @param fingerprint - of the CA, or a prefix of it. `prepare` has none.
 */
export function planVerb(
  verb: PlannedVerb,
  [state, fingerprint]: readonly [state: SignerState, fingerprint: string | undefined],
  reads: HolderReads,
): ChangePlan | Promise<ChangePlan> {
  switch (verb) {
    case 'prepare':
      return prepare(state);
    case 'activate':
      return activate(state, fingerprint);
    case 'taint':
      return taint(state, fingerprint ?? '');
    case 'revoke':
      return planRevocation(reads, state, fingerprint ?? '');
  }
}
