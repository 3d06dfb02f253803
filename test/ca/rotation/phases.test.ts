// SPDX-License-Identifier: Apache-2.0
/**
 * What is demanded of the life of a CA, each sentence by itself, by the components' own decisions
 * and deeds on a simulated clock. docs/reference/rotation.md has the list.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { servedSince } from '#api/object/cluster-trust-bundle.ts';
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { calm } from '../../support/ca/rotation/calm.ts';
import { freshlySigns, inTls } from '../../support/ca/rotation/signing.ts';
import { DAY, HOUR, MINUTE, SECOND } from './simulation/scenario.ts';
import { START, type Simulation } from './simulation/simulation.ts';

/**
 * Every state of the status, one line each: `1:Active 2:Prepared`, CAs numbered in the order of
 * their making.
 */
function phasesOf(sim: Simulation): readonly string[] {
  const numbers = new Map<string, number>();
  const lines = sim.changes.flatMap(({ kind, object }) => {
    if (kind !== 'signer') return [];
    const authorities = (object as ClusterSigner | undefined)?.status?.authorities ?? [];
    for (const { fingerprint } of authorities) {
      if (!numbers.has(fingerprint)) numbers.set(fingerprint, numbers.size + 1);
    }
    const line = authorities.map((each) => `${numbers.get(each.fingerprint) ?? 0}:${each.phase}`);
    return line.length === 0 ? [] : [line.join(' ')];
  });
  return lines.filter((line, at) => line !== lines[at - 1]);
}

/** An administrator asks for a rotation. */
const rotate = (sim: Simulation): void => {
  const { signer } = sim.world.objects;
  if (signer === undefined) return;
  const annotations = { ...signer.metadata.annotations, [ROTATE_AT]: formatTime(sim.world.now) };
  sim.world.put('signer', { ...signer, metadata: { ...signer.metadata, annotations } });
};

const ROTATED_AT = START + 2 * HOUR;
const oneRotation = { until: START + 3 * DAY, plans: [{ at: ROTATED_AT, deed: rotate }] };
const ONE_ROTATION = ['1:Active', '1:Active 2:Prepared', '2:Active 1:Retiring', '2:Active'];

function activeOf({ world }: Simulation): string | undefined {
  const authorities = world.objects.signer?.status?.authorities ?? [];
  return authorities.find(({ phase }) => phase === 'Active')?.fingerprint;
}

describe('1. phases', () => {
  test('a CA goes through Prepared, Active and Retiring, and is removed', async () => {
    const { sim } = await calm(oneRotation);
    assert.deepEqual(phasesOf(sim), ONE_ROTATION);
  });

  test('a CA is removed after the longest leaf that it could sign, plus a margin', async () => {
    const { sim } = await calm(oneRotation);
    const retiring = sim.changes.filter(
      ({ kind, object }) =>
        kind === 'signer' && JSON.stringify((object as ClusterSigner).status).includes('Retiring'),
    );
    const gone = sim.changes.findLast(({ kind }) => kind === 'signer');
    const [first] = retiring;
    assert.ok(first !== undefined && gone !== undefined);
    assert.ok(gone.at - first.at > DAY + 10 * MINUTE, `${(gone.at - first.at) / HOUR} h`);
    assert.ok(gone.at - first.at < DAY + 20 * MINUTE);
  });

  test('a shorter profile does not shorten the retention of an Active CA', async () => {
    const shorter = (sim: Simulation): void => {
      const { signer } = sim.world.objects;
      assert.ok(signer !== undefined);
      const { spec } = workload({
        'authority.managed.duration': '720h',
        'authority.managed.renewBefore': undefined,
        'profile.maxDuration': '1h',
      });
      sim.durations = { duration: 720 * 3_600, maxDuration: 3_600, renewBefore: undefined };
      sim.world.put('signer', { ...signer, spec, metadata: { ...signer.metadata, generation: 2 } });
    };
    const { sim } = await calm({
      until: ROTATED_AT + DAY,
      plans: [{ at: START + HOUR, deed: shorter }, ...oneRotation.plans],
    });
    assert.equal(sim.world.objects.signer?.status?.authorities?.[1]?.phase, 'Retiring');
  });

  test('at the maximum number of old CAs no successor is made, except in an emergency', async () => {
    const often = Array.from({ length: 12 }, (_, at) => ({
      at: ROTATED_AT + at * HOUR,
      deed: rotate,
    }));
    const { sim } = await calm({ until: ROTATED_AT + 13 * HOUR, plans: often });
    const most = workload().spec.authority.managed?.maxRetiring ?? 0;
    const counts = phasesOf(sim).map((line) => line.match(/Retiring/g)?.length ?? 0);
    assert.ok(Math.max(...counts) <= most, `${Math.max(...counts)} of ${most}`);
  });

  for (let call = 1; call <= 12; call += 1) {
    for (const fate of ['killed before', 'killed after'] as const) {
      test(`the phases are the same if a process is ${fate} its call ${call}`, async () => {
        let calls = 0;
        const { sim } = await calm({
          ...oneRotation,
          fate: (name, method) => {
            if (name.startsWith('signer') || method === 'GET') return 'well';
            calls += 1;
            return calls === call ? fate : 'well';
          },
        });
        assert.deepEqual(phasesOf(sim), ONE_ROTATION);
      });
    }
  }
});

describe('2. rotation rules', () => {
  test('each phase change is one write of the Secret', async () => {
    const { sim } = await calm(oneRotation);
    // Made, prepared, activated.
    assert.equal(sim.writes.secret, 3);
  });

  test('the Secret has the signing CA in tls.*, the next in next.*, anchors in ca.crt', async () => {
    const { sim } = await calm({ ...oneRotation, until: ROTATED_AT + 5 * MINUTE });
    const { secret } = sim.world.objects;
    assert.deepEqual(Object.keys(secret?.data ?? {}).sort(), [
      'ca.crt',
      'next.crt',
      'next.key',
      'tls.crt',
      'tls.key',
    ]);
    assert.equal(inTls(sim), activeOf(sim));
  });
});

describe('3. publish, wait, then sign', () => {
  test('a new CA signs only when its bundle has been served for the propagation time', async () => {
    const { sim } = await calm({ ...oneRotation, until: ROTATED_AT + HOUR });
    const active = activeOf(sim) ?? '';
    const bundle = sim.changes.find(
      ({ kind, object }) => kind === 'bundle' && JSON.stringify(object).includes(active),
    );
    const activated = sim.changes.findLast(({ kind }) => kind === 'secret');
    assert.ok(bundle !== undefined && activated !== undefined);
    const waited = activated.at - bundle.at;
    assert.ok(waited >= 10 * MINUTE && waited < 11 * MINUTE, `${waited / SECOND} s`);
  });

  test('the attester records served-since', async () => {
    const { sim } = await calm({ ...oneRotation, until: ROTATED_AT + HOUR });
    const { bundle } = sim.world.objects;
    assert.ok(bundle !== undefined);
    assert.deepEqual([...servedSince(bundle).keys()].length, 2);
  });

  test('the first CA signs at once', async () => {
    const { sim } = await calm({ until: START + MINUTE });
    assert.equal(freshlySigns(sim), inTls(sim));
  });

  test('a CA that replaces a lost key waits for propagation', async () => {
    const lose = (sim: Simulation): void => {
      sim.world.put('secret', undefined);
      sim.excusedUntil = sim.world.now + HOUR;
    };
    const { sim } = await calm({
      until: ROTATED_AT + 5 * MINUTE,
      plans: [{ at: ROTATED_AT, deed: lose }],
    });
    assert.equal(freshlySigns(sim), 'ANCHOR_NOT_SERVED');
    await sim.run(ROTATED_AT + 12 * MINUTE);
    assert.equal(freshlySigns(sim), inTls(sim));
  });

  test('a CA that replaces a distrusted one signs at once', async () => {
    const distrust = (sim: Simulation): void => {
      const { signer } = sim.world.objects;
      assert.ok(signer !== undefined);
      const print = inTls(sim);
      sim.laws.distrusted.add(print);
      const { spec, metadata } = signer;
      const managed = { ...spec.authority.managed, distrusted: [print] };
      sim.world.put('signer', {
        ...signer,
        metadata: { ...metadata, generation: 2 },
        spec: { ...spec, authority: { managed } } as typeof spec,
      });
      sim.world.onChange(({ kind, object }) => {
        if (kind !== 'secret' || object === undefined) return;
        const { facts } = openLocalAuthority(materialOf(object), sim.world.now);
        sim.laws.atOnce.add(facts.fingerprint);
      });
      sim.excusedUntil = sim.world.now + HOUR;
    };
    const { sim } = await calm({
      until: ROTATED_AT + 2 * MINUTE,
      plans: [{ at: ROTATED_AT, deed: distrust }],
    });
    assert.equal(freshlySigns(sim), inTls(sim));
    assert.ok(!sim.laws.distrusted.has(inTls(sim)));
  });
});

describe('4. no leaf outlives its CA, and there is always a valid leaf', () => {
  // The simulation fails where a leaf is cut short, or there is none.
  const rows = [
    { duration: 72 * 3_600, maxDuration: 24 * 3_600, renewBefore: 60 },
    { duration: 72 * 3_600, maxDuration: 36 * 3_600, renewBefore: undefined },
    { duration: 720 * 3_600, maxDuration: 3_600, renewBefore: 60 },
  ];
  for (const durations of rows) {
    test(`CAs of ${JSON.stringify(durations)}`, async () => {
      const { sim } = await calm({ durations, until: START + 120 * DAY });
      assert.ok(sim.laws.leaves > 100);
      for (const { notAfter } of sim.world.objects.signer?.status?.authorities ?? []) {
        assert.ok(parseTime(notAfter) > sim.world.now);
      }
    });
  }
});
