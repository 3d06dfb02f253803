// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREPARE_AT, ROTATE_AT } from '../../src/api/signer/rotation-annotations.ts';
import { summarizeSigner } from '../../src/operations/show/signer-summary.ts';
import { renderTable } from '../../src/operations/show/table.ts';
import { HOUR, MINUTE, OWN, at, pem, print, state, type Wanted } from './signer-states.ts';

const ALL: Wanted = {
  authorities: { a: 'Active', b: 'Prepared', c: 'Retiring', d: 'Distrusted' },
  served: { a: 600, b: 3, c: 900 },
};

test('a line for each CA says its phase, its times, and what time does to it next', () => {
  const lines = renderTable([summarizeSigner(state(ALL))]).split('\n');
  const cells = lines.map((line) => line.split(/ {3,}/));
  assert.deepEqual(cells[0], [
    ...['CLUSTERSIGNER', 'FINGERPRINT', 'PHASE', 'NOT BEFORE', 'NOT AFTER'],
    ...['LEAVES EXPIRE BY', 'SERVED SINCE', 'NEXT'],
  ]);
  const year = ['2026-01-01T00:00:00Z', '2027-01-01T01:00:00Z'];
  const short = (name: 'a' | 'b' | 'c' | 'd'): string => print(name).slice(0, 23);
  assert.deepEqual(cells.slice(1), [
    [
      'workload',
      short('a'),
      'Active',
      ...year,
      '-',
      '2025-12-31T15:00:00Z',
      'ends 2027-01-01T01:00:00Z',
    ],
    // Served for three minutes of ten.
    [
      'workload',
      short('b'),
      'Prepared',
      ...year,
      '-',
      '2026-01-01T00:57:00Z',
      'may sign 2026-01-01T01:07:00Z',
    ],
    // Five minutes after its last leaf.
    [
      'workload',
      short('c'),
      'Retiring',
      ...year,
      at(12 * HOUR),
      '2025-12-31T10:00:00Z',
      'leaves the bundle 2026-01-01T13:05:00Z',
    ],
    [
      'workload',
      short('d'),
      'Distrusted',
      ...year,
      at(12 * HOUR),
      '-',
      'is forgotten 2026-01-01T13:05:00Z',
    ],
    [''],
  ]);
});

test('an old CA that no bundle holds does not leave one', () => {
  const wanted = {
    authorities: { b: 'Active', c: 'Retiring' },
    spec: { trustBundle: undefined },
  } as const;
  const table = renderTable([summarizeSigner(state({ ...wanted, bundle: undefined }))]);
  assert.match(table, /Retiring.* is forgotten 2026-01-01T13:05:00Z/);
});

test('a ClusterSigner without a CA has a line, too', () => {
  const shown = summarizeSigner(state({ authorities: {}, bundle: undefined, conditions: [] }));
  assert.match(renderTable([shown]), /^workload +none +Unknown/m);
});

const warns: [law: string, wanted: Wanted, says: RegExp | undefined][] = [
  ['nothing is wrong', {}, undefined],
  ['nobody serves it', { conditions: [], observed: 0 }, /no condition Ready/],
  ['the status is of yesterday', { observed: 0 }, /has not looked at generation 1/],
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
        { type: 'Degraded', status: 'True', reason: 'SecretUnusable', message: 'mend it' },
      ],
    },
    /Degraded: SecretUnusable: mend it/,
  ],
  [
    'an annotation is no time',
    { annotations: { [ROTATE_AT]: 'tomorrow' } },
    /rotate-at is no RFC 3339 time/,
  ],
  [
    'a rotation is planned',
    { annotations: { [ROTATE_AT]: at(HOUR) } },
    /a rotation is asked for at 2026-01-01T02:00:00Z/,
  ],
  [
    'a successor is planned',
    { annotations: { [PREPARE_AT]: at(HOUR) } },
    /a successor is asked for at/,
  ],
  [
    'a successor that was asked for waits',
    { annotations: { [PREPARE_AT]: at(-MINUTE) }, served: { a: 4 } },
    /asked for at 2026-01-01T00:59:00Z, .*made from 2026-01-01T01:06:00Z on/,
  ],
  ['what was asked for and done is quiet', { annotations: { [ROTATE_AT]: at(-HOUR) } }, undefined],
  ['the bundle is not there', { bundle: undefined }, /its bundle is not published/],
  ['the bundle may not be read', { bundle: 'unread' }, /you may not read the bundle/],
  ['a CA is not in the bundle', { served: { b: 60 } }, /\(Active\) is not in the published bundle/],
  [
    'the bundle holds another',
    { served: { a: 60, b: 60 } },
    /of an earlier ClusterSigner or a stranger/,
  ],
  [
    'a distrusted CA is served still',
    { served: { a: 60, b: 60 }, managed: { distrusted: [print('b')] } },
    /is distrusted and still in the bundle/,
  ],
  ['a CA has expired', { authorityFields: { notAfter: at(0) } }, /has expired/],
  [
    'who publishes no bundle is not reminded of it',
    { spec: { trustBundle: undefined }, bundle: undefined },
    undefined,
  ],
  ['the user’s own CA is shown like any', { spec: OWN }, undefined],
];

for (const [law, wanted, says] of warns) {
  test(`${says === undefined ? 'no warning' : 'a warning'} where ${law}`, () => {
    const { warnings } = summarizeSigner(state(wanted));
    if (says === undefined) assert.deepEqual(warnings, []);
    else assert.match(warnings.join('\n'), says);
  });
}

test('no more than the public half is shown', () => {
  const text = JSON.stringify(summarizeSigner(state(ALL)));
  assert.ok(!text.includes('PRIVATE') && !text.includes(pem('a')));
});
