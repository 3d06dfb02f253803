// SPDX-License-Identifier: Apache-2.0
/**
 * Hundreds of hostile namespaces beside one honest: what all share goes by turns. On a simulated
 * clock.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTenants, type Tenant } from './simulated-tenants.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Of ADR 0069. */
const TURN_MS = 45 * MINUTE;
const SHORT_TURN_MS = 3 * MINUTE;
/** The source's number. */
const SLOTS = 60;
const HOSTILE = 300;

/** Challenges that are never proved. */
function stuck(count: number, of: (index: number) => Partial<Tenant> = () => ({})): Tenant[] {
  return Array.from({ length: count }, (_, index) => ({
    namespace: `evil-${index}`,
    name: `x${index}.example`,
    arrivesAt: 0,
    provesAfter: Infinity,
    ...of(index),
  }));
}

const honest = (more: Partial<Tenant> = {}): Tenant => ({
  namespace: 'team',
  name: 'team.example',
  arrivesAt: 10 * MINUTE,
  provesAfter: MINUTE,
  ...more,
});

/** How long the honest one, which is the last, waited. */
function waited(tenants: readonly Tenant[], until = 2 * DAY): number {
  const at = simulateTenants(tenants, SLOTS, until).at(-1);
  assert.notEqual(at, undefined, 'the honest namespace was never served');
  return (at ?? 0) - (tenants.at(-1)?.arrivesAt ?? 0);
}

test('300 endless Challenges delay another namespace only by its share of slots', () => {
  const turns = Math.ceil(HOSTILE / SLOTS);
  assert.ok(waited([...stuck(HOSTILE), honest()]) <= turns * (TURN_MS + 2 * MINUTE));
});

test('who floods from one namespace delays another by one turn, however much it floods', () => {
  const flood = stuck(600, () => ({ namespace: 'evil', signer: 'evil/own' }));
  assert.ok(waited([...flood, honest()]) <= TURN_MS + 3 * MINUTE);
  // The second certificate of a team is as quick, with all of the flood waiting again.
  const later = honest({ arrivesAt: 5 * HOUR });
  assert.ok(waited([...flood, honest(), later]) <= TURN_MS + 3 * MINUTE);
});

test('60 Challenges that cannot be proved stop no other signer', () => {
  assert.ok(waited([...stuck(60), honest()]) <= TURN_MS + 3 * MINUTE);
});

test('60 Challenges that fill their slots stop no other signer', () => {
  const most = TURN_MS + 13 * MINUTE;
  const one = stuck(60, () => ({ namespace: 'evil', signer: 'evil/own' }));
  const at = simulateTenants([...one, honest()], SLOTS, DAY, { 'evil/own': 60 }).at(-1);
  assert.ok(at !== undefined && at <= most, `${at ?? 'never'}`);
  const limits = Object.fromEntries(one.map((_, index) => [`evil-${index}/own`, 1]));
  const many = simulateTenants([...stuck(60), honest()], SLOTS, DAY, limits).at(-1);
  assert.ok(many !== undefined && many <= most, `${many ?? 'never'}`);
});

test('300 namespaces that request another’s name delay it only by short turns', () => {
  const evil = stuck(HOSTILE, () => ({ name: 'team.example' }));
  const most = HOSTILE * (SHORT_TURN_MS + MINUTE) + TURN_MS;
  assert.ok(waited([...evil, honest()], 7 * DAY) <= most);
});

test('a namespace that orders a name again and again has one turn of it before another', () => {
  const evil = Array.from({ length: 40 }, (_, index) =>
    honest({
      namespace: 'evil',
      arrivesAt: index * 30 * MINUTE,
      provesAfter: Infinity,
    }),
  );
  assert.ok(waited([...evil, honest()]) <= 2 * TURN_MS + 5 * MINUTE);
});

for (const [what, count] of [
  ['one other namespace', 1],
  ['ten other namespaces', 10],
] as const) {
  test(`a zone that needs 30 minutes is proved although ${what} request its name`, () => {
    const evil = stuck(count, () => ({ name: 'team.example' }));
    const slow = honest({ provesAfter: 30 * MINUTE });
    assert.ok(waited([...evil, slow]) <= (count + 1) * (TURN_MS + 2 * MINUTE));
  });
}

test('a zone that needs 30 minutes is proved among 300 competing namespaces', () => {
  const slow = honest({ provesAfter: 30 * MINUTE });
  assert.ok(waited([...stuck(HOSTILE), slow]) <= 6 * (TURN_MS + 2 * MINUTE));
  const evil = stuck(20, () => ({ name: 'team.example' }));
  assert.ok(waited([...evil, slow]) <= 22 * (TURN_MS + SHORT_TURN_MS + 2 * MINUTE));
});

test('a Challenge that no other waits for keeps its slot and is checked to the end', () => {
  const slow = honest({ provesAfter: 3 * DAY });
  assert.equal(waited([slow], 4 * DAY), 3 * DAY);
  // Others that run beside it are no reason.
  const beside = stuck(58);
  assert.equal(waited([...beside, slow], 4 * DAY), 3 * DAY);
});

test('namespaces without renewals do not pass over one with many at its own name', () => {
  const evil = stuck(50, () => ({ name: 'team.example' }));
  const own = Array.from({ length: 2000 }, (_, index) =>
    honest({ name: `h${index}.team.example`, arrivesAt: (index % 1000) * MINUTE }),
  );
  assert.ok(waited([...evil, ...own, honest()], 3 * DAY) <= 50 * (SHORT_TURN_MS + MINUTE) + HOUR);
});

test('a signer of the cluster with few slots is shared by turns, too', () => {
  const evil = stuck(20, () => ({ signer: 'cluster' }));
  const tenants = [...evil, honest({ signer: 'cluster' })];
  const at = simulateTenants(tenants, SLOTS, 2 * DAY, { cluster: 2 }).at(-1);
  assert.ok(at !== undefined && at <= 11 * (TURN_MS + 3 * MINUTE), `${at ?? 'never'}`);
});

test('who floods from one namespace makes no other yield, however long its zone needs', () => {
  const slow = honest({ provesAfter: 3 * HOUR });
  const flood = stuck(600, () => ({ namespace: 'evil', signer: 'evil/own' }));
  assert.ok(waited([...flood, slow], 7 * DAY) <= 3 * HOUR + TURN_MS + 3 * MINUTE);
  // Nor by Challenges that cannot run, since their signer has no slot left.
  const idle = stuck(600, () => ({ namespace: 'evil', signer: 'evil/idle' }));
  const at = simulateTenants([...idle, ...flood, slow], SLOTS, 7 * DAY, { 'evil/idle': 1 }).at(-1);
  assert.ok(at !== undefined && at <= 4 * HOUR, `${at ?? 'never'}`);
});

test('a namespace that floods a signer with few slots makes no other yield', () => {
  const flood = stuck(600, () => ({ namespace: 'evil', signer: 'cluster' }));
  const slow = honest({ signer: 'cluster', provesAfter: 3 * HOUR });
  const at = simulateTenants([...flood, slow], SLOTS, 7 * DAY, { cluster: 2 }).at(-1);
  assert.ok(at !== undefined && at <= 5 * HOUR, `${at ?? 'never'}`);
});

test('as many yield as have a claim: one that waits costs no 59 others their turn', () => {
  const all = stuck(59);
  const slow = honest({ provesAfter: 3 * HOUR, arrivesAt: 0 });
  const one = honest({ namespace: 'other', name: 'other.example', provesAfter: MINUTE });
  assert.ok(waited([...all, one, slow]) <= 4 * HOUR);
});

test('a namespace that waits elsewhere keeps its turns at a signer with few slots', () => {
  const elsewhere = honest({ name: 'broken.example', provesAfter: Infinity, arrivesAt: 0 });
  const tenants = [
    ...stuck(20, () => ({ signer: 'cluster' })),
    elsewhere,
    honest({ signer: 'cluster' }),
  ];
  const at = simulateTenants(tenants, SLOTS, 4 * DAY, { cluster: 2 }).at(-1);
  assert.ok(at !== undefined && at <= 12 * (TURN_MS + 3 * MINUTE), `${at ?? 'never'}`);
});
