// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import {
  nextAuthorities,
  nextRemovalOrExpiry,
  type AuthoritiesInput,
  type PublicHalf,
} from '#ca/rotation/authorities.ts';
import {
  BORN,
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  entry,
  held,
  print,
} from '../../support/ca/rotation/next-step.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name, index) =>
  held({ fingerprint: print(name), bornAt: BORN + index * DAY }),
) as [ReturnType<typeof held>, ReturnType<typeof held>, ReturnType<typeof held>];

const half = (of: typeof a): PublicHalf => ({ ...of, anchors: of.fingerprint });
const NOW = BORN + 30 * DAY;
/** The longest leaf, and ten minutes in which a signer need not have heard of it yet. */
const RETIRED = DAY + 10 * MINUTE;

function after(more: Partial<AuthoritiesInput>): readonly AuthorityStatus[] {
  return nextAuthorities({
    before: [],
    current: undefined,
    next: undefined,
    isDistrusted: () => false,
    longestLeafSeconds: DAY / SECOND,
    clocksApart: false,
    now: NOW,
    ...more,
  });
}

const phases = (of: readonly AuthorityStatus[]): readonly string[] =>
  of.map(({ fingerprint, phase }) => `${fingerprint.slice(7, 8)} ${phase}`);

const signing = (of: typeof a): AuthoritiesInput['current'] => ({ ...half(of), signs: true });
const waiting = (of: typeof a): AuthoritiesInput['current'] => ({ ...half(of), signs: false });

const rows: [law: string, input: Partial<AuthoritiesInput>, phases: readonly string[]][] = [
  [
    'the first CA is Active, though its bundle is still to come',
    { current: waiting(a) },
    ['a Active'],
  ],
  [
    'a successor is Prepared beside the Active one',
    { before: [entry(a)], current: signing(a), next: half(b) },
    ['a Active', 'b Prepared'],
  ],
  [
    'an activated CA is Active, and the one before it Retiring',
    { before: [entry(a), entry(b, 'Prepared')], current: signing(b) },
    ['b Active', 'a Retiring'],
  ],
  [
    'a CA in the place of a lost one is Prepared until it may sign; until then no CA retires',
    { before: [entry(a)], current: waiting(b) },
    ['a Active', 'b Prepared'],
  ],
  [
    'if the lost CA has expired, its anchor still makes the next CA wait: it is not the first of the bundle',
    { before: [entry(a)], current: waiting(b), now: a.notAfter + DAY },
    ['a Active', 'b Prepared'],
  ],
  [
    'a CA that signed stays Active when its bundle is edited under it',
    { before: [entry(a), entry(b, 'Retiring')], current: waiting(a) },
    ['a Active', 'b Retiring'],
  ],
  [
    'a successor that is no longer in the Secret may have signed: it retires',
    { before: [entry(a), entry(b, 'Prepared')], current: signing(a), next: half(c) },
    ['a Active', 'c Prepared', 'b Retiring'],
  ],
  [
    'while no usable CA is known the phases stay as they are',
    { before: [entry(a), entry(b, 'Prepared')] },
    ['a Active', 'b Prepared'],
  ],
  [
    'a distrusted CA is Distrusted, and the CA that was prepared beside it is removed',
    {
      before: [entry(a), entry(b, 'Prepared')],
      isDistrusted: (each) => each === a.fingerprint,
    },
    ['a Distrusted'],
  ],
  [
    'distrust of a retired CA leaves the prepared one',
    {
      before: [entry(b), entry(c, 'Prepared'), entry(a, 'Retiring')],
      current: signing(b),
      next: half(c),
      isDistrusted: (each) => each === a.fingerprint,
    },
    ['b Active', 'c Prepared', 'a Distrusted'],
  ],
  [
    'no duplicates: a CA that signs again is Active, once',
    { before: [entry(b), entry(a, 'Retiring')], current: signing(a) },
    ['a Active', 'b Retiring'],
  ],
  [
    'newest first',
    { before: [entry(c), entry(a, 'Retiring'), entry(b, 'Retiring')], current: signing(c) },
    ['c Active', 'b Retiring', 'a Retiring'],
  ],
];

for (const [law, input, expected] of rows) {
  test(law, () => {
    assert.deepEqual(phases(after(input)), expected);
  });
}

test('the same input gives the same entries at any time until one expires', () => {
  const first = after({ before: [entry(a), entry(b, 'Prepared')], current: signing(b) });
  assert.deepEqual(after({ before: first, current: signing(b), now: NOW + RETIRED }), first);
});

test('an old CA is removed five minutes after its last leaf could expire', () => {
  const retired = after({ before: [entry(a)], current: signing(b) });
  assert.equal(Date.parse(retired[1]?.leavesExpireBy ?? ''), NOW + RETIRED);
  const gone = NOW + RETIRED + 5 * MINUTE;
  assert.equal(nextRemovalOrExpiry(retired, NOW), gone);
  assert.equal(after({ before: retired, current: signing(b), now: gone - SECOND }).length, 2);
  assert.deepEqual(phases(after({ before: retired, current: signing(b), now: gone })), [
    'b Active',
  ]);
});

test('a CA that expires before its retention ends is kept only until it expires', () => {
  const now = a.notAfter - HOUR;
  const retired = after({ before: [entry(a)], current: signing(b), now });
  assert.equal(Date.parse(retired[1]?.leavesExpireBy ?? ''), a.notAfter);
});

test('an Active CA’s longest leaf only grows, even while its Secret is unreadable', () => {
  const grown = after({ before: [entry(a)], longestLeafSeconds: (2 * DAY) / SECOND });
  assert.equal(grown[0]?.longestLeaf, '48h');
  assert.equal(after({ before: grown, current: signing(a) })[0]?.longestLeaf, '48h');
});

test('neither signing again nor distrust shortens an old CA’s retention', () => {
  const retired = after({ before: [entry(a)], current: signing(b) });
  const until = retired[1]?.leavesExpireBy ?? '';
  const later = { now: NOW + HOUR };
  const distrusted = after({
    before: retired,
    current: signing(b),
    isDistrusted: (each) => each === a.fingerprint,
    ...later,
  });
  assert.deepEqual([distrusted[1]?.phase, distrusted[1]?.leavesExpireBy], ['Distrusted', until]);
  const back = after({ before: retired, current: signing(a), ...later });
  const again = after({ before: back, current: signing(b), ...later });
  assert.equal(Date.parse(again[1]?.leavesExpireBy ?? ''), NOW + HOUR + RETIRED);
});

test('above the status limit the last distrusted CAs are dropped, never trusted ones', () => {
  const many = (phase: AuthorityStatus['phase'], count: number): AuthorityStatus[] =>
    Array.from({ length: count }, (_each, index) =>
      entry(held({ fingerprint: `sha256:${phase}${index}` }), phase),
    );
  const found = after({
    before: [entry(a), ...many('Retiring', 60), ...many('Distrusted', 10)],
    current: signing(a),
    next: half(b),
    isDistrusted: (each) => each.startsWith('sha256:Distrusted'),
  });
  assert.equal(found.length, 64);
  assert.equal(found.filter(({ phase }) => phase === 'Retiring').length, 60);
});
