// SPDX-License-Identifier: Apache-2.0
/**
 * Whatever befalls a CA, and whichever single call of ours is lost or kills its caller: before it
 * is carried out or after. No state that two writes leave between them is one that nobody gets out
 * of. `ROTATION=long` (make test-rotation) takes each of four fates for each call.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  activeIsDistrusted,
  nextIsSpoilt,
  nothing,
  oldIsDistrusted,
  rotationIsAsked,
  secretIsLost,
  secretIsSpoilt,
  statusIsLost,
  type Incident,
} from './incidents.ts';
import type { Fate } from './process.ts';
import { NOT_WAITING, HOUR, MINUTE } from './scenario.ts';
import { START, Simulation } from './simulation.ts';

/**
 * A CA of three days: its successor is due by time in the third, which most of these do not await.
 */
const durations = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };
const INCIDENT_AT = START + HOUR;
const isLong = process.env['ROTATION'] === 'long';
/** Killed after one call is killed before the next: the rest is for the long form. */
const BOUNDARY_FATES: readonly Fate[] = isLong
  ? ['lost before', 'lost after', 'killed before', 'killed after']
  : ['killed after'];

interface Case {
  readonly what: string;
  readonly happens: readonly { readonly after: number; readonly incident: Incident }[];
  /** Hours that are simulated. */
  readonly hours: number;
  /** CAs that there are in the end, and still trusted. */
  readonly phases: string;
}

const AT_ONCE = { after: 0, incident: rotationIsAsked };
/** The successor is published by then, and does not sign yet. */
const WHILE_PREPARED = 5 * MINUTE;

const cases: readonly Case[] = [
  { what: 'a first CA', happens: [], hours: 1, phases: 'Active' },
  {
    what: 'a rotation by time',
    happens: [{ after: 0, incident: nothing }],
    hours: 50,
    phases: 'Active Retiring',
  },
  { what: 'a rotation on request', happens: [AT_ONCE], hours: 3, phases: 'Active Retiring' },
  {
    what: 'a Secret that is lost',
    happens: [{ after: 0, incident: secretIsLost }],
    hours: 3,
    phases: 'Active Retiring',
  },
  {
    what: 'a Secret that is lost while a successor is prepared',
    happens: [AT_ONCE, { after: WHILE_PREPARED, incident: secretIsLost }],
    hours: 3,
    phases: 'Active Retiring Retiring',
  },
  {
    what: 'a key that is spoilt',
    happens: [{ after: 0, incident: secretIsSpoilt }],
    hours: 3,
    phases: 'Active Retiring',
  },
  {
    what: 'a key that is spoilt while a successor is prepared',
    happens: [AT_ONCE, { after: WHILE_PREPARED, incident: secretIsSpoilt }],
    hours: 3,
    phases: 'Active Retiring',
  },
  {
    what: 'a prepared key that is spoilt',
    happens: [AT_ONCE, { after: WHILE_PREPARED, incident: nextIsSpoilt }],
    hours: 3,
    phases: 'Active Retiring Retiring',
  },
  {
    what: 'distrust',
    happens: [{ after: 0, incident: activeIsDistrusted }],
    hours: 3,
    phases: 'Active Distrusted',
  },
  {
    what: 'distrust while a successor is prepared',
    happens: [AT_ONCE, { after: WHILE_PREPARED, incident: activeIsDistrusted }],
    hours: 3,
    phases: 'Active Distrusted',
  },
  {
    what: 'a status that is lost while an old CA is trusted',
    happens: [AT_ONCE, { after: HOUR, incident: statusIsLost }],
    hours: 3,
    phases: 'Active Retiring',
  },
  {
    what: 'a status that is lost while a successor is prepared',
    happens: [AT_ONCE, { after: WHILE_PREPARED, incident: statusIsLost }],
    hours: 3,
    phases: 'Active Retiring',
  },
  {
    what: 'a status that is lost after a distrust',
    happens: [
      { after: 0, incident: activeIsDistrusted },
      { after: HOUR, incident: statusIsLost },
    ],
    hours: 3,
    phases: 'Active',
  },
  {
    what: 'a status that is lost after the distrust of a CA that another one certified',
    happens: [
      AT_ONCE,
      { after: HOUR, incident: activeIsDistrusted },
      { after: 90 * MINUTE, incident: statusIsLost },
    ],
    hours: 4,
    phases: 'Active',
  },
  {
    what: 'distrust of the CA that certified the one that signs',
    happens: [AT_ONCE, { after: HOUR, incident: oldIsDistrusted }],
    hours: 3,
    phases: 'Active Distrusted',
  },
];

/** @param fateOf - of each call, by its number from the first on */
async function simulate(
  { happens, hours }: Case,
  fateOf: (call: number) => Fate,
): Promise<{ readonly sim: Simulation; readonly calls: number }> {
  let calls = 0;
  const sim = new Simulation({
    seed: 7,
    durations,
    weather: NOT_WAITING,
    propagationSeconds: 600,
    crossSigned: true,
    fate: () => {
      calls += 1;
      return fateOf(calls);
    },
    plans: happens.map(({ after, incident }) => ({ at: INCIDENT_AT + after, deed: incident })),
  });
  await sim.run(START + hours * HOUR);
  return { sim, calls };
}

function phasesOf({ world }: Simulation): string {
  const authorities = world.objects.signer?.status?.authorities ?? [];
  return authorities.map(({ phase }) => phase).join(' ');
}

for (const each of cases) {
  test(`${each.what}: the rotation completes whichever call is lost or kills its process`, async (t) => {
    const { sim, calls } = await simulate(each, () => 'well');
    assert.equal(phasesOf(sim), each.phases);
    for (const fate of BOUNDARY_FATES) {
      for (let at = 1; at <= calls; at += 1) {
        const where = `${fate} call ${at} of ${calls}`;
        const { sim: harmed } = await simulate(each, (call) => (call === at ? fate : 'well'));
        assert.equal(phasesOf(harmed), each.phases, where);
        harmed.laws.bundleHasNoDistrusted();
        harmed.laws.pinned.secretHasNoDistrusted();
        assert.ok(harmed.laws.leaves > 0, where);
      }
    }
    t.diagnostic(`${calls} calls`);
  });
}
