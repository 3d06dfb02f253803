// SPDX-License-Identifier: Apache-2.0
/**
 * A user who keeps a CA of his own, and replaces it at random times, in every way that he might.
 */
import type { AuthoritySpec } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import type { Dice } from '../../../oracle/dice.ts';
import { DAY, HOUR, MINUTE } from './scenario.ts';
import type { Simulation } from './simulation.ts';

interface Plan {
  readonly at: number;
  readonly deed: (sim: Simulation) => void;
}

const OWN: AuthoritySpec = { secret: { namespace: 'countersign-keys', name: 'workload-ca' } };
/** Nobody replaces a CA more often than it has spread, or he waits for it. */
const SHORTEST_MS = 2 * HOUR;
const LONGEST_MS = 60 * DAY;

/** Until the first CA has come to sign. */
const SETTLED_MS = HOUR;

/** From the first minute on a CA of his own, another after each while. */
export async function ownCas(dice: Dice, start: number, end: number): Promise<readonly Plan[]> {
  const first = await secretOf('CA 0', start, dice);
  const plans: Plan[] = [{ at: start + MINUTE, deed: (sim) => begin(sim, first) }];
  let before = first;
  let at = start + MINUTE;
  for (let number = 1; ; number += 1) {
    at += SHORTEST_MS + dice.roll(LONGEST_MS - SHORTEST_MS);
    if (at >= end) return plans;
    // Sometimes he takes back what he did.
    const isBack = dice.roll(8) === 0;
    const next = isBack ? before : await secretOf(`CA ${number}`, at, dice);
    plans.push(...replacement(dice, at, next));
    if (!isBack) before = next;
  }
}

/** In one write, or in two with some time between: certificate first, or key first. */
function replacement(dice: Dice, at: number, next: Secret): readonly Plan[] {
  const whole: Plan = { at, deed: (sim) => void sim.world.put('secret', next) };
  const part = dice.of(['', '', 'tls.crt', 'tls.key']);
  if (part === '') return [whole];
  const half = (sim: Simulation): void => {
    const { secret } = sim.world.objects;
    if (secret === undefined) return;
    const data = { ...secret.data, [part]: next.data?.[part] ?? '' };
    sim.world.put('secret', { ...secret, data });
  };
  return [
    { at, deed: half },
    { ...whole, at: at + dice.roll(HOUR) },
  ];
}

/** From now on the signer has this CA of its owner's. */
export function begin(sim: Simulation, secret: Secret): void {
  const { signer } = sim.world.objects;
  if (signer === undefined) return;
  sim.excusedUntil = sim.world.now + SETTLED_MS;
  sim.world.put('secret', secret);
  const { spec, metadata } = signer;
  sim.world.put('signer', {
    ...signer,
    spec: { ...spec, authority: OWN },
    metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
  });
}

/** A CA of the owner's, as he would put it into the cluster. */
export async function secretOf(commonName: string, now: number, dice: Dice): Promise<Secret> {
  const create = createManagedAuthorities((size) =>
    Uint8Array.from({ length: size }, () => dice.roll(256)),
  );
  const durationSeconds = 8_760 * 3_600;
  const made = await create({ keyType: 'ECDSAP256', commonName, durationSeconds, now });
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      namespace: 'countersign-keys',
      name: 'workload-ca',
      uid: 'own',
      resourceVersion: '',
      creationTimestamp: '',
      annotations: { 'countersign.dev/signer-name': 'example.com/workload' },
    },
    data: { 'tls.crt': encoded(made.certificate), 'tls.key': encoded(made.key) },
  };
}
