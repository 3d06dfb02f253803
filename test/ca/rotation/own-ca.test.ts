// SPDX-License-Identifier: Apache-2.0
/**
 * The fifth line of docs/reference/rotation.md: the CA in `authority.secret`, which only its owner
 * changes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import { servedSince } from '#api/object/cluster-trust-bundle.ts';
import type { Secret } from '#api/object/object.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { random } from '../../support/ca/issuing.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { calm } from '../../support/ca/rotation/calm.ts';
import { freshlySigns, inTls } from '../../support/ca/rotation/signing.ts';
import { openedBy, signLeaf } from './simulation/at-work.ts';
import { DAY, HOUR, MINUTE } from './simulation/scenario.ts';
import { START, type Simulation } from './simulation/simulation.ts';

const ROTATED_AT = START + 2 * HOUR;

const replace = (sim: Simulation, next: Secret): void => {
  sim.world.put('secret', next);
};

const OWN = {
  'authority.managed': undefined,
  'authority.secret': { namespace: 'countersign-keys', name: 'corp-ca' },
};
const create = createManagedAuthorities(random);

async function secretOf(commonName: string, now: number): Promise<Secret> {
  const wanted = { keyType: 'ECDSAP256', commonName, durationSeconds: 8_760 * 3_600 } as const;
  const { certificate, key } = await create({ ...wanted, now });
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      namespace: 'countersign-keys',
      name: 'corp-ca',
      uid: 's',
      resourceVersion: '',
      creationTimestamp: '',
      annotations: { 'countersign.dev/signer-name': 'example.com/workload' },
    },
    data: { 'tls.crt': encoded(certificate), 'tls.key': encoded(key) },
  };
}

/** A ClusterSigner with a CA of the user's own, A, which `change` replaces two hours later. */
async function own(
  change: (sim: Simulation, next: Secret) => void,
  until: number,
): Promise<{ readonly sim: Simulation; readonly was: string }> {
  const [a, b] = [await secretOf('A', START - HOUR), await secretOf('B', START - HOUR)];
  let was = '';
  const { sim } = await calm({
    until,
    plans: [
      {
        at: START + 1,
        deed: (sim) => {
          const { signer } = sim.world.objects;
          assert.ok(signer !== undefined);
          const { spec } = workload({ ...OWN, 'profile.maxDuration': '24h' });
          sim.excusedUntil = START + HOUR;
          sim.world.put('secret', a);
          sim.world.put('signer', {
            ...signer,
            spec,
            metadata: { ...signer.metadata, generation: 2 },
          });
        },
      },
      {
        at: ROTATED_AT,
        deed: (sim) => {
          was = inTls(sim);
          change(sim, b);
        },
      },
    ],
  });
  return { sim, was };
}

test('5. own CA: all replicas use a changed Secret once its anchor has propagated', async () => {
  const { sim } = await own((sim, next) => sim.world.put('secret', next), ROTATED_AT + 30 * MINUTE);
  for (const { process } of sim.signers) {
    const { authority } = signLeaf(process, openedBy(process));
    assert.equal(authority.facts.fingerprint, inTls(sim));
  }
});

test('5. own CA: the old root stays in the bundle while its leaves are valid', async () => {
  const { sim, was } = await own(
    (sim, next) => sim.world.put('secret', next),
    ROTATED_AT + 20 * HOUR,
  );
  const { bundle } = sim.world.objects;
  assert.ok(bundle !== undefined && servedSince(bundle).has(was));
  await sim.run(ROTATED_AT + 26 * HOUR);
  const { bundle: later } = sim.world.objects;
  assert.ok(later !== undefined && !servedSince(later).has(was));
});

test('5. own CA: a half-written Secret leaves the old CA signing, Ready and Degraded', async () => {
  const half = (sim: Simulation, next: Secret): void => {
    const { secret } = sim.world.objects;
    const data = { ...secret?.data, 'tls.crt': next.data?.['tls.crt'] ?? '' };
    sim.world.put('secret', { ...next, data });
    sim.later(ROTATED_AT + HOUR, () => sim.world.put('secret', next));
  };
  const { sim } = await own(half, ROTATED_AT + 30 * MINUTE);
  const said = (type: string): string =>
    findCondition(sim.world.objects.signer?.status?.conditions, type)?.status ?? '';
  assert.deepEqual([said('Ready'), said('Degraded')], ['True', 'True']);
  await sim.run(ROTATED_AT + 2 * HOUR);
  assert.deepEqual([said('Ready'), said('Degraded')], ['True', 'False']);
  assert.equal(freshlySigns(sim), inTls(sim));
});

test('5. the user’s own CA: its Secret is never written', async () => {
  const { sim } = await own(replace, ROTATED_AT + 2 * DAY);
  const ours = sim.changes.filter(
    ({ kind, isManaged, at }) => kind === 'secret' && isManaged && at > START + 1,
  );
  assert.deepEqual(ours, []);
});
