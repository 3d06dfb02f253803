// SPDX-License-Identifier: Apache-2.0
import { activate } from '../../../operations/verbs/activate.ts';
import { applyChange } from '../../../operations/apply-change.ts';
import type { ChangePlan } from '../../../operations/change-plan.ts';
import { prepare } from '../../../operations/verbs/prepare.ts';
import { EXIT_REFUSED, operationText, type Verb } from '../../../operations/report.ts';
import { revoke } from '../../../operations/verbs/revoke.ts';
import { inSession, unlessForbidden, type ChangeOptions, type Session } from './session.ts';
import { authoritiesOf, type SignerState } from '../../../operations/signer-state.ts';
import { resolveFingerprint } from '../../../operations/resolve-fingerprint.ts';

export type { ChangeOptions } from './session.ts';

/**
 * Runs `countersign authority prepare | activate | revoke`.
 *
 * @param fingerprint - of the CA, or a prefix of it
 * @returns the exit code
 * @throws KubeError of the API server
 */
export async function runChange(
  verb: Exclude<Verb, 'taint'>,
  [name, fingerprint]: readonly [name: string, fingerprint: string | undefined],
  options: ChangeOptions,
): Promise<number> {
  return inSession(name, options, async (session) => {
    const plan = (state: SignerState): ChangePlan | Promise<ChangePlan> => {
      if (verb === 'prepare') return prepare(state);
      if (verb === 'activate') return activate(state, fingerprint);
      return planRevocation(session, state, fingerprint ?? '');
    };
    const report = await applyChange({ ...session, ...options, verb, plan });
    session.print(operationText(report));
    session.printStructured(report);
    return report.outcome === 'refused' ? EXIT_REFUSED : 0;
  });
}

/** Revocation is safe when no leaf is in use. For a retiring CA that serves pods, this checks the pods. */
async function planRevocation(
  session: Session,
  state: SignerState,
  text: string,
): Promise<ChangePlan> {
  const found = resolveFingerprint(state, text);
  const target = authoritiesOf(state).find(
    (each) => 'fingerprint' in found && each.fingerprint === found.fingerprint,
  );
  const isUseful = target?.phase === 'Retiring' && state.signer.spec.pods !== undefined;
  const pods = isUseful ? await unlessForbidden(session.pods(state, target)) : undefined;
  // A user who may not ask must assume that it is served.
  const certManager = (await unlessForbidden(session.hasCertManager())) ?? true;
  return revoke(state, text, { pods: pods?.holding.length, certManager });
}
