// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DEFAULT_PROPAGATION_SECONDS,
  requirePropagatedAnchor,
  type PropagationInput,
} from '#ca/issuance/propagation-gate.ts';
import { refuses } from '../../support/pki/refuses.ts';

const NOW = Date.UTC(2026, 10, 21, 6);

/** The bundle with `old` for a year and `new` for `seconds`. */
const grown = (seconds: number, more: Partial<PropagationInput> = {}): PropagationInput => ({
  anchor: 'new',
  published: new Set(['old', 'new']),
  servedSince: new Map([
    ['old', NOW - 365 * 24 * 3_600_000],
    ['new', NOW - seconds * 1000],
  ]),
  propagationSeconds: 600,
  now: NOW,
  ...more,
});

const notServed = (input: PropagationInput, message: RegExp): void =>
  refuses(() => requirePropagatedAnchor(input), 'ANCHOR_NOT_SERVED', message, 'authority');

test('the only anchor of a bundle signs at once: no older bundle exists', () => {
  assert.doesNotThrow(() =>
    requirePropagatedAnchor(
      grown(0, { published: new Set(['new']), servedSince: new Map([['new', NOW]]) }),
    ),
  );
});

const rewritten: [law: string, old: number, added: number][] = [
  ['deleted, and all get a new date', NOW, NOW],
  ['edited, and the old anchor gets a new date', NOW, NOW - 300_000],
];

for (const [law, old, added] of rewritten) {
  test(`a new anchor keeps waiting although the bundle was ${law}`, () => {
    const servedSince = new Map([
      ['old', old],
      ['new', added],
    ]);
    notServed(grown(0, { servedSince }), /was published recently/);
    assert.doesNotThrow(() =>
      requirePropagatedAnchor(grown(0, { servedSince, now: added + 600_000 })),
    );
  });
}

test('a new anchor keeps waiting if the old one is edited out', () => {
  notServed(grown(300, { published: new Set(['new']) }), /was published recently/);
});

test('an added anchor signs after the propagation time, to the millisecond', () => {
  notServed(grown(0), /signing with this CA starts at 2026-11-21T06:10:00Z/);
  notServed(grown(600, { now: NOW - 1 }), /was published recently/);
  assert.doesNotThrow(() => requirePropagatedAnchor(grown(600)));
});

test('the older anchor keeps signing meanwhile', () => {
  assert.doesNotThrow(() => requirePropagatedAnchor(grown(0, { anchor: 'old' })));
});

test('without a bundle no anchor signs', () => {
  notServed(
    grown(9_999, { published: undefined, servedSince: new Map() }),
    /is not in the published bundle yet, .*check that the attester is running$/,
  );
});

test('an anchor that is no longer served does not sign', () => {
  notServed(grown(9_999, { published: new Set(['old']) }), /new is not in the published bundle/);
});

test('an anchor without a publication time does not sign', () => {
  notServed(grown(0, { servedSince: new Map([['old', 0]]) }), /not in the published bundle/);
});

test('the default propagation time exceeds the kubelet’s delay', () => {
  const seconds: number = DEFAULT_PROPAGATION_SECONDS;
  // kubernetes/kubernetes#141439: 374 s measured.
  assert.ok(seconds > 374);
});
