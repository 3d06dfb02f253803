// SPDX-License-Identifier: Apache-2.0
/** What each verb writes, and what it refuses: a row a law. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREPARE_AT, ROTATE_AT } from '../../src/api/signer/rotation-annotations.ts';
import { activate } from '../../src/operations/verbs/activate.ts';
import { prepare } from '../../src/operations/verbs/prepare.ts';
import { taint } from '../../src/operations/verbs/taint.ts';
import {
  HOUR,
  NOW,
  OWN,
  at,
  print,
  state,
  verdictOf,
  type Name,
  type Wanted,
} from './signer-states.ts';
import { own, run, unheard, type Row } from './rows.ts';

const prepareNow = { annotations: { [PREPARE_AT]: at(0) } };
const rotateNow = { annotations: { [ROTATE_AT]: at(0) } };
const DUE = { type: 'RotationDue', status: 'True', reason: 'Requested', message: '' } as const;
const noBundle = { trustBundle: undefined };

const crowded: Row = {
  law: 'where old CAs leave no room, the rotation would wait, and that is said',
  wanted: { authorities: { a: 'Active', b: 'Retiring' }, managed: { maxRetiring: 1 } },
  verdict: 'refused',
  says: /1 old CAs are still trusted \(maxRetiring: 1\).*after 2026-01-01T13:00:00Z/,
};
const unpublished: Row = {
  law: 'without a bundle nobody would know the next CA',
  wanted: { spec: noBundle, bundle: undefined },
  verdict: 'refused',
  says: /publishes no bundle/,
};

const prepares: readonly Row[] = [
  own,
  unheard,
  crowded,
  {
    law: 'a successor is asked for now',
    wanted: {},
    verdict: 'go',
    says: /publishes it/,
    change: prepareNow,
  },
  {
    law: 'while the CA that signs is young, it is said from when on a successor is made',
    wanted: { served: { a: 4 } },
    verdict: 'go',
    says: /made from 2026-01-01T01:06:00Z on/,
    change: prepareNow,
  },
  {
    law: 'a successor that is there is enough',
    wanted: { authorities: { a: 'Active', b: 'Prepared' } },
    verdict: 'nothing',
    says: /is prepared already/,
  },
  {
    law: 'without a bundle a CA can be prepared all the same: that is how verifiers learn it',
    wanted: { spec: noBundle, bundle: undefined },
    verdict: 'go',
    says: /publishes it/,
  },
  {
    law: 'a plan for later is lost, and that is said',
    wanted: { annotations: { [PREPARE_AT]: at(HOUR) } },
    verdict: 'go',
    says: /takes the place of the one planned for 2026-01-01T02:00:00Z/,
  },
];

const both: Wanted['authorities'] = { a: 'Active', b: 'Prepared' };
const ready: Wanted = { authorities: both, served: { a: 60, b: 10 } };

const activates: readonly Row[] = [
  own,
  { ...unheard, wanted: { ...ready, observed: 0 } },
  { ...unpublished, wanted: { authorities: both, ...unpublished.wanted } },
  {
    law: 'a CA that every kubelet has signs now',
    wanted: ready,
    verdict: 'go',
    says: /stays in the bundle/,
    change: rotateNow,
  },
  {
    law: 'a CA that not every kubelet has may not sign yet',
    wanted: { authorities: both, served: { a: 60, b: 9 } },
    verdict: 'refused',
    says: /may sign from 2026-01-01T01:01:00Z/,
  },
  {
    law: 'a CA that is not in the bundle may not sign yet',
    wanted: { authorities: both, served: { a: 60 } },
    verdict: 'refused',
    says: /not in the published bundle yet; is the attester running/,
  },
  {
    law: 'a bundle that is not there serves nothing',
    wanted: { authorities: both, bundle: undefined },
    verdict: 'refused',
    says: /not in the published bundle/,
  },
  {
    law: 'who may not read the bundle cannot know',
    wanted: { authorities: both, bundle: 'unread' },
    verdict: 'refused',
    says: /you may not read the bundle/,
  },
  {
    law: 'what is not prepared cannot be activated',
    wanted: {},
    verdict: 'refused',
    says: /authority prepare workload first/,
  },
  {
    law: 'who has just ordered a successor is told to wait for it, not to order it again',
    wanted: { annotations: { [PREPARE_AT]: at(0) } },
    verdict: 'refused',
    says: /asked for at 2026-01-01T01:00:00Z, and is not there yet: countersign authority show workload/,
  },
  {
    law: 'an order that was answered long ago prepares nothing now',
    wanted: { annotations: { [PREPARE_AT]: at(-HOUR) } },
    verdict: 'refused',
    says: /authority prepare workload first/,
  },
  {
    law: 'nor does one for later',
    wanted: { annotations: { [PREPARE_AT]: at(HOUR) } },
    verdict: 'refused',
    says: /authority prepare workload first/,
  },
  crowded,
  {
    law: 'a first or new CA that no other signs for begins by itself',
    wanted: { authorities: { b: 'Prepared' } },
    verdict: 'nothing',
    says: /signs by itself/,
  },
];

const taints: readonly Row[] = [
  own,
  unheard,
  crowded,
  unpublished,
  {
    law: 'the CA that signs is replaced',
    wanted: {},
    verdict: 'go',
    says: /signs until every kubelet has its anchor/,
    change: rotateNow,
  },
  {
    law: 'the one prepared in the same Secret is not trusted either',
    wanted: { authorities: both },
    verdict: 'go',
    says: /whoever has the one key has the other/,
    change: { ...rotateNow, distrust: [print('b')] },
  },
  {
    law: 'while it signs, the end of its leaves is an estimate, with the CA’s own end as the latest',
    wanted: {},
    verdict: 'go',
    // Ten minutes to be published, ten that it may sign late, a day of life.
    says: /until about 2026-01-02T01:20:00Z, and never after 2027-01-01T01:00:00Z/,
  },
  {
    law: 'no estimate is later than the CA’s own end',
    wanted: { authorityFields: { notAfter: at(HOUR) } },
    verdict: 'go',
    says: /until about 2026-01-01T02:00:00Z, and never after 2026-01-01T02:00:00Z/,
  },
  {
    law: 'an order that stands is not given twice',
    wanted: { annotations: { [ROTATE_AT]: at(-HOUR) }, conditions: [DUE] },
    verdict: 'nothing',
    says: /is being replaced already/,
  },
  {
    law: 'an order for later is no order for now',
    wanted: { annotations: { [ROTATE_AT]: at(HOUR) }, conditions: [DUE] },
    verdict: 'go',
    says: /planned for/,
    change: rotateNow,
  },
  {
    law: 'of a CA that signs no more only the end is told',
    wanted: { authorities: { a: 'Retiring', b: 'Active' } },
    verdict: 'nothing',
    says: /signs no more\nno leaf of sha256:\w+ is valid after 2026-01-01T13:00:00Z/,
  },
  {
    law: 'of a distrusted CA too',
    wanted: { authorities: { a: 'Distrusted', b: 'Active' } },
    verdict: 'nothing',
    says: /is distrusted already/,
  },
  {
    law: 'a CA that signed nothing needs no successor',
    wanted: { authorities: { a: 'Prepared', b: 'Active' } },
    verdict: 'never',
    says: /revoke it, and another is made/,
  },
  {
    law: 'a CA of somebody else is not ours to taint',
    wanted: { authorities: { b: 'Active' }, served: {} },
    verdict: 'never',
    says: /is no CA of this ClusterSigner/,
  },
  {
    law: 'a retiring CA of the user’s own is told of like any',
    wanted: { spec: OWN, authorities: { a: 'Retiring', b: 'Active' } },
    verdict: 'nothing',
    says: /no leaf of/,
  },
];

run('prepare', prepares, prepare);
run('activate', activates, (each) => activate(each, undefined));
run('taint', taints, (each) => taint(each, print('a')));
test('activate: the CA that the user names must be the prepared one, by any beginning of it', () => {
  const here = state(ready);
  assert.equal(verdictOf(activate(here, print('b').slice(0, 20))), 'go');
  assert.equal(verdictOf(activate(here, print('a'))), 'never');
  assert.equal(verdictOf(activate(here, 'zz')), 'never');
});

test('what is written is a time of whole seconds in UTC, by the API server’s clock', () => {
  const { change } = prepare(state());
  assert.equal(Date.parse(change?.annotations?.[PREPARE_AT] ?? ''), NOW);
});

const beginnings: [text: (whole: string) => string, found: boolean][] = [
  [(whole) => whole, true],
  [(whole) => whole.slice(0, 23), true],
  [(whole) => whole.slice('sha256:'.length, 15), true],
  [(whole) => whole.toUpperCase().replace('SHA256', 'sha256'), true],
  [(whole) => whole.slice(0, 14), false],
  [() => '', false],
  [() => 'sha256:', false],
  [() => 'sha512:0123456789', false],
  [() => '../../secrets', false],
];

for (const [text, found] of beginnings) {
  const name: Name = 'a';
  test(`a CA is ${found ? '' : 'not '}named by ${text(print(name)).slice(0, 30)}`, () => {
    const order = taint(state(), text(print(name)));
    assert.equal(order.target, found ? print(name) : undefined);
  });
}
