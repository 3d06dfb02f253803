// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { summarizeSigner } from '#operations/show/signer-summary.ts';
import { renderTable } from '#operations/show/table.ts';
import { HOUR, MINUTE, OWN, at, pem, print, state, type Wanted } from './signer-states.ts';

const ALL: Wanted = {
  authorities: { a: 'Active', b: 'Prepared', c: 'Retiring', d: 'Distrusted' },
  served: { a: 600, b: 3, c: 900 },
};

const NOW = Date.parse('2026-01-01T01:00:00Z');
const narrow = { now: NOW, isWide: false };
const wide = { now: NOW, isWide: true };
const cellsOf = (table: string): readonly string[][] =>
  table.split('\n').map((line) => line.split(/ {3,}/));

test('shows one row per CA: signer’s Ready, phase, end, next scheduled event', () => {
  const cells = cellsOf(renderTable([summarizeSigner(state(ALL))], narrow));
  assert.deepEqual(cells[0], ['CLUSTERSIGNER', 'READY', 'CA', 'PHASE', 'ENDS', 'NEXT']);
  const short = (name: 'a' | 'b' | 'c' | 'd'): string => print(name).slice(0, 23);
  assert.deepEqual(cells.slice(1), [
    ['workload', 'True', short('a'), 'Active', 'in 365d', 'ends in 365d'],
    // Served for three minutes of ten.
    ['workload', 'True', short('b'), 'Prepared', 'in 365d', 'may sign in 7m'],
    // Five minutes after its last leaf.
    ['workload', 'True', short('c'), 'Retiring', 'in 365d', 'leaves the bundle in 12h'],
    ['workload', 'True', short('d'), 'Distrusted', 'in 365d', 'is forgotten in 12h'],
    [''],
  ]);
});

test('words a past event as one that may happen now or is late', () => {
  const shown = summarizeSigner(state(ALL));
  const past = { ...shown, authorities: shown.authorities.slice(0, 1) };
  const nextOf = (what: string, ago: number): string | undefined => {
    const authorities = past.authorities.map((each) => ({
      ...each,
      next: { what, at: new Date(NOW - ago).toISOString() },
    }));
    return cellsOf(renderTable([{ ...past, authorities }], narrow))[1]?.[5];
  };
  assert.equal(nextOf('may sign', 5_000), 'may sign now');
  assert.equal(nextOf('may sign', 0), 'may sign now');
  assert.equal(nextOf('ends', 3 * HOUR), 'ended 3h ago');
  assert.equal(nextOf('is replaced', 3 * HOUR), 'is replaced, due 3h ago');
});

test('wide: the signer name and every time as it is', () => {
  const cells = cellsOf(renderTable([summarizeSigner(state(ALL))], wide));
  assert.deepEqual(cells[0]?.slice(6), [
    'SIGNER',
    'NOT BEFORE',
    'NOT AFTER',
    'LEAVES EXPIRE BY',
    'SERVED SINCE',
  ]);
  const year = ['2026-01-01T00:00:00Z', '2027-01-01T01:00:00Z'];
  assert.deepEqual(
    cells.slice(1, 4).map((row) => row.slice(7)),
    [
      [...year, '-', '2025-12-31T15:00:00Z'],
      [...year, '-', '2026-01-01T00:57:00Z'],
      [...year, at(12 * HOUR), '2025-12-31T10:00:00Z'],
    ],
  );
});

test('what ends first is above the others, and a signer without a CA is first', () => {
  const shown = summarizeSigner(state(ALL));
  const ending = (name: string, notAfter: string): typeof shown => ({
    ...shown,
    name,
    authorities: shown.authorities.slice(0, 1).map((each) => ({ ...each, notAfter })),
  });
  const signers = [
    ending('late', '2028-01-01T00:00:00Z'),
    ending('ended', '2025-12-31T00:00:00Z'),
    ending('soon', '2026-01-03T01:00:00Z'),
    { ...shown, name: 'none', authorities: [] },
  ];
  const cells = cellsOf(renderTable(signers, narrow));
  assert.deepEqual(
    cells.slice(1, 5).map(([name, , , , ends]) => [name, ends]),
    [
      ['none', '-'],
      ['ended', '25h ago'],
      ['soon', 'in 2d'],
      ['late', 'in 729d'],
    ],
  );
});

test('a retiring CA that is not published is forgotten, not removed from the bundle', () => {
  const wanted = {
    authorities: { b: 'Active', c: 'Retiring' },
    spec: { trustBundle: undefined },
  } as const;
  const table = renderTable([summarizeSigner(state({ ...wanted, bundle: undefined }))], narrow);
  assert.match(table, /Retiring.* is forgotten in 12h/);
});

test('a ClusterSigner without a CA has a row too', () => {
  const shown = summarizeSigner(state({ authorities: {}, bundle: undefined, conditions: [] }));
  assert.match(renderTable([shown], narrow), /^workload +Unknown +none/m);
});

const warns: [law: string, wanted: Wanted, says: RegExp | undefined][] = [
  ['nothing is wrong', {}, undefined],
  ['no component reconciles it', { conditions: [], observed: 0 }, /no condition Ready/],
  ['the status is stale', { observed: 0 }, /has not observed generation 1/],
  [
    'it is not ready',
    {
      conditions: [
        { type: 'Ready', status: 'False', reason: 'NoTrustAnchor', message: 'add ca.crt' },
      ],
    },
    /not ready: NoTrustAnchor: add ca\.crt/,
  ],
  [
    'a rotation is due',
    {
      conditions: [
        { type: 'RotationDue', status: 'True', reason: 'RenewBefore', message: 'it waits' },
      ],
    },
    /RotationDue: RenewBefore: it waits/,
  ],
  [
    'it is degraded',
    {
      conditions: [
        { type: 'Degraded', status: 'True', reason: 'SecretUnusable', message: 'fix it' },
      ],
    },
    /Degraded: SecretUnusable: fix it/,
  ],
  [
    'an annotation is not a time',
    { annotations: { [ROTATE_AT]: 'tomorrow' } },
    /rotate-at is ignored: its value is not an RFC 3339 time/,
  ],
  [
    'a rotation is scheduled',
    { annotations: { [ROTATE_AT]: at(HOUR) } },
    /a rotation is scheduled for 2026-01-01T02:00:00Z/,
  ],
  [
    'a successor is scheduled',
    { annotations: { [PREPARE_AT]: at(HOUR) } },
    /a successor is scheduled for/,
  ],
  [
    'a requested successor does not exist yet',
    { annotations: { [PREPARE_AT]: at(-MINUTE) }, served: { a: 4 } },
    /requested at 2026-01-01T00:59:00Z .*created at 2026-01-01T01:06:00Z at the earliest/,
  ],
  ['a requested rotation is done', { annotations: { [ROTATE_AT]: at(-HOUR) } }, undefined],
  ['the bundle does not exist', { bundle: undefined }, /its bundle is not published/],
  ['the bundle may not be read', { bundle: 'unread' }, /you may not read the bundle/],
  ['a CA is not in the bundle', { served: { b: 60 } }, /\(Active\) is not in the published bundle/],
  [
    'the bundle holds an unknown anchor',
    { served: { a: 60, b: 60 } },
    /not a CA of this ClusterSigner: it is of an earlier one, or another client added it/,
  ],
  [
    'a distrusted CA is still published',
    { served: { a: 60, b: 60 }, managed: { distrusted: [print('b')] } },
    /is distrusted and still in the bundle/,
  ],
  ['a CA has expired', { authorityFields: { notAfter: at(0) } }, /has expired/],
  [
    'the ClusterSigner publishes no bundle',
    { spec: { trustBundle: undefined }, bundle: undefined },
    undefined,
  ],
  ['the CA is not managed', { spec: OWN }, undefined],
];

for (const [law, wanted, says] of warns) {
  test(`${says === undefined ? 'no warning' : 'a warning'} when ${law}`, () => {
    const { warnings } = summarizeSigner(state(wanted));
    if (says === undefined) assert.deepEqual(warnings, []);
    else assert.match(warnings.join('\n'), says);
  });
}

test('no key and no certificate is printed', () => {
  const text = JSON.stringify(summarizeSigner(state(ALL)));
  assert.ok(!text.includes('PRIVATE') && !text.includes(pem('a')));
});
