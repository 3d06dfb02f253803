// SPDX-License-Identifier: Apache-2.0
import { activate } from '../../operations/activate.ts';
import { giveOrder } from '../../operations/give-order.ts';
import type { Order } from '../../operations/order.ts';
import { prepare } from '../../operations/prepare.ts';
import { EXIT_REFUSED, orderText, type Verb } from '../../operations/report.ts';
import { revoke } from '../../operations/revoke.ts';
import { inSession, unlessForbidden, type OrderOptions, type Session } from '../session.ts';
import { authoritiesOf, type Situation } from '../../operations/situation.ts';
import { findTarget } from '../../operations/target.ts';

export type { OrderOptions } from '../session.ts';

/**
 * Runs `countersign authority prepare | activate | revoke`.
 *
 * @param fingerprint - or its beginning
 * @returns the exit code
 * @throws KubeError
 */
export async function order(
  verb: Exclude<Verb, 'taint'>,
  [name, fingerprint]: readonly [name: string, fingerprint: string | undefined],
  options: OrderOptions,
): Promise<number> {
  return inSession(name, options, async (session) => {
    const gate = (situation: Situation): Order | Promise<Order> => {
      if (verb === 'prepare') return prepare(situation);
      if (verb === 'activate') return activate(situation, fingerprint);
      return revokeUnheld(session, situation, fingerprint ?? '');
    };
    const report = await giveOrder({ ...session, ...options, verb, gate });
    session.print(orderText(report));
    session.conclude(report);
    return report.outcome === 'refused' ? EXIT_REFUSED : 0;
  });
}

/** Revoking is safe once no pod holds a leaf any more: that is looked up, where it is of any use. */
async function revokeUnheld(session: Session, situation: Situation, text: string): Promise<Order> {
  const found = findTarget(situation, text);
  const target = authoritiesOf(situation).find(
    (each) => 'fingerprint' in found && each.fingerprint === found.fingerprint,
  );
  const isUseful = target?.phase === 'Retiring' && situation.signer.spec.pods !== undefined;
  const pods = isUseful ? await unlessForbidden(session.pods(situation, target)) : undefined;
  // Who may not even ask that has to reckon with it.
  const certManager = (await unlessForbidden(session.hasCertManager())) ?? true;
  return revoke(situation, text, { pods: pods?.holding.length, certManager });
}
