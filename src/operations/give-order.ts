// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import type { Order } from './order.ts';
import { refusalsOf } from './order.ts';
import { write } from './patch.ts';
import type { Report, Verb } from './report.ts';
import type { Situation } from './situation.ts';

export interface GiveOrder {
  readonly client: Client;
  readonly verb: Verb;
  readonly look: () => Promise<Situation>;
  readonly gate: (situation: Situation) => Promise<Order> | Order;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** `authority` writes the status a few times while it rotates; nobody else is that busy. */
const MAX_CONFLICTS = 5;

/**
 * Looks, asks the gate, writes. Where somebody changed the ClusterSigner in between, all of it is done
 * again: the gate must have seen what the write goes onto.
 *
 * @throws KubeError
 */
export async function giveOrder(init: GiveOrder): Promise<Report> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await attemptOrder(init);
    } catch (error) {
      const isConflict = error instanceof KubeError && error.code === 'KUBE_CONFLICT';
      if (!isConflict || conflicts === MAX_CONFLICTS) throw error;
    }
  }
}

async function attemptOrder(init: GiveOrder): Promise<Report> {
  const { client, verb, force, dryRun } = init;
  const situation = await init.look();
  const order = await init.gate(situation);
  const { change, target } = order;
  const report = {
    verb,
    clusterSigner: situation.signer.metadata.name,
    ...(target === undefined ? {} : { target }),
    dryRun,
    notes: order.notes,
  };
  const refusals = refusalsOf(order, force);
  if (refusals.length > 0) {
    const canForce = refusals.every(({ absolute }) => absolute !== true);
    const notes = canForce ? ['--force gives the order all the same'] : [];
    const why = refusals.map(({ message }) => message);
    return { ...report, notes, refusals: why, outcome: 'refused' };
  }
  const overruled = order.objections.map(({ message }) => `in spite of this: ${message}`);
  const given = { ...report, refusals: [], notes: [...overruled, ...order.notes] };
  if (change === undefined) return { ...given, outcome: 'unchanged' };
  await write(client, situation.signer, change, dryRun);
  return { ...given, outcome: 'changed', change };
}
