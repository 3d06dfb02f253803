// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { requireServedChain, signsFrom, type Gate } from '#ca/rotation/signs-from.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../../support/pki/chain.ts';

const root = (name: string): Link => link(name, { extensions: [ca(), usage(), ...keyIds(name)] });
const [R, S] = [root('R'), root('S')];
const below = link('below', { extensions: [ca(0), usage(), ...keyIds('below', 'R')], by: R });

/** Since how many seconds before now each anchor is served. */
function gate(ages: readonly (readonly [Link, number])[], more: Partial<Gate> = {}): Gate {
  const since = ages.map(([of, age]) => [print(of.certificate), NOW - age * 1000] as const);
  return {
    published: new Set(since.map(([name]) => name)),
    servedSince: new Map(since),
    propagationSeconds: 600,
    atOnce: false,
    ...more,
  };
}

const print = ({ raw }: Certificate): string => fingerprint(raw);
const chain = (of: Link, ...anchors: readonly Link[]): Parameters<typeof signsFrom>[0] => ({
  certificate: of.certificate,
  intermediates: of === below ? [below.certificate] : [],
  anchors: anchors.map(({ certificate }) => certificate),
});

const soon = (seconds: number): number => NOW + seconds * 1000;

const rows: [law: string, of: ReturnType<typeof chain>, gate: Gate, from: number | undefined][] = [
  ['what is not published does not sign', chain(S, S), gate([[R, 999]]), undefined],
  [
    'what is published signs when every kubelet has it',
    chain(S, S),
    gate([
      [R, 999],
      [S, 60],
    ]),
    soon(540),
  ],
  ['the only anchor of a bundle signs at once', chain(S, S), gate([[S, 0]]), -Infinity],
  [
    'after a distrusted one, being published is enough',
    chain(S, S),
    gate(
      [
        [R, 0],
        [S, 0],
      ],
      { atOnce: true },
    ),
    -Infinity,
  ],
  ['also then it must be published', chain(S, S), gate([[R, 0]], { atOnce: true }), undefined],
  [
    'a root that is only added holds up nobody',
    chain(below, R, S),
    gate([
      [R, 700],
      [S, 0],
    ]),
    soon(-100),
  ],
  [
    'the CA waits until the root of its chain is published',
    chain(below, R, S),
    gate([
      [R, 0],
      [S, 700],
    ]),
    soon(600),
  ],
  [
    'a root that does not lead to the CA does not count',
    chain(below, S),
    gate([
      [R, 700],
      [S, 700],
    ]),
    undefined,
  ],
];

for (const [law, of, by, from] of rows) {
  test(law, () => {
    assert.equal(signsFrom(of, by, NOW), from);
  });
}

test('a CA that must wait gets the reason and the time', () => {
  const one = gate([[R, 999]]);
  assert.throws(() => requireServedChain(chain(S, S), one, NOW), {
    code: 'ANCHOR_NOT_SERVED',
    disposition: 'authority',
    message: /is not in the published bundle yet/,
  });
  const both = gate([
    [R, 999],
    [S, 0],
  ]);
  assert.throws(
    () => requireServedChain(chain(S, S), both, soon(599)),
    /starts at 2026-06-01T00:10/,
  );
  requireServedChain(chain(S, S), both, soon(600));
});
