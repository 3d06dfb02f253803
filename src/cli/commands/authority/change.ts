// SPDX-License-Identifier: Apache-2.0
import { applyChange } from '#operations/apply-change.ts';
import type { ChangePlan } from '#operations/change-plan.ts';
import { holderReads } from '#operations/holder-reads.ts';
import { EXIT_REFUSED, operationText, type Verb } from '#operations/report.ts';
import { planVerb } from '#operations/verbs/plan-verb.ts';
import { inSession, type ChangeOptions } from './session.ts';
import type { SignerState } from '#operations/signer-state.ts';

export type { ChangeOptions } from './session.ts';

/**
 * Runs `countersign authority prepare | activate | revoke`.
 *
 * @param fingerprint - of the CA, or a prefix of it
 * @returns the exit code
 * @throws KubeError of the API server
 */
export async function runChange(
  verb: Exclude<Verb, 'taint' | 'install'>,
  [name, fingerprint]: readonly [name: string, fingerprint: string | undefined],
  options: ChangeOptions,
): Promise<number> {
  return inSession(name, options, async (session) => {
    const plan = (state: SignerState): ChangePlan | Promise<ChangePlan> =>
      planVerb(verb, [state, fingerprint], holderReads(session.client, state));
    const report = await applyChange({ ...session, ...options, verb, plan });
    session.print(operationText(report));
    session.printStructured(report);
    return report.outcome === 'refused' ? EXIT_REFUSED : 0;
  });
}
