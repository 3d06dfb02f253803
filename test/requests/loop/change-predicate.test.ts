// SPDX-License-Identifier: Apache-2.0
/** What makes a request be looked at again, counted: issuer-lib's README, and nothing besides. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import type { RequestOutcome } from '#requests/loop/outcome.ts';
import type { ConditionedObject } from '#requests/loop/change-predicate.ts';
import { until } from '../../cluster/until.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import { SIGNER_NAME, request, startControlled, type Controlled } from './controlled.ts';

let it: Controlled;
let version = 100;

beforeEach(async () => {
  it = await startControlled();
});
afterEach(() => it.stop());

const looks = (name = 'a'): number => it.looks.filter((each) => each.startsWith(`${name}@`)).length;

interface Shape {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
}

function shaped({ annotations, labels, conditions = [] }: Shape): ConditionedObject {
  version += 1;
  const plain = request('a', version);
  const metadata = {
    ...plain.metadata,
    ...(annotations && { annotations }),
    ...(labels && { labels }),
  };
  return { ...plain, metadata, status: { conditions } };
}

const say = (type: 'ADDED' | 'MODIFIED', shape: Shape): void => {
  it.requests.lines({ type, object: shaped(shape) });
};

/** Hears of another request after it and awaits that look: what came before it has been handled. */
async function settled(): Promise<number> {
  version += 1;
  const name = `mark-${version}`;
  it.requests.lines({ type: 'ADDED', object: request(name, version) });
  await until('the mark is looked at', PATIENCE_MS, () => looks(name) === 1);
  return looks();
}

const READY: Condition = { type: 'Ready', status: 'Unknown', reason: 'Initializing', message: '' };
const OTHER: Condition = { type: 'Order', status: 'True', reason: 'Made', message: '7' };

const triggers: [what: string, before: Shape, after: Shape][] = [
  ['an annotation is added', {}, { annotations: { a: '1' } }],
  ['an annotation is changed', { annotations: { a: '1' } }, { annotations: { a: '2' } }],
  ['an annotation is removed', { annotations: { a: '1' } }, {}],
  ['a condition is added', {}, { conditions: [OTHER] }],
  ['a condition is removed', { conditions: [OTHER] }, {}],
  [
    'a non-readiness condition changes its status',
    { conditions: [OTHER] },
    { conditions: [{ ...OTHER, status: 'False' }] },
  ],
  [
    'a non-readiness condition changes its reason',
    { conditions: [OTHER] },
    { conditions: [{ ...OTHER, reason: 'Gone' }] },
  ],
  [
    'a non-readiness condition changes its message',
    { conditions: [OTHER] },
    { conditions: [{ ...OTHER, message: '8' }] },
  ],
  ['the Ready condition is added', {}, { conditions: [READY] }],
];

for (const [what, before, after] of triggers) {
  test(`18. a request reconciles once when ${what}`, async () => {
    say('ADDED', before);
    assert.equal(await settled(), 1);
    say('MODIFIED', after);
    assert.equal(await settled(), 2);
  });
}

const quiet: [what: string, before: Shape, after: Shape][] = [
  ['a label is added', {}, { labels: { a: '1' } }],
  ['a label is changed', { labels: { a: '1' } }, { labels: { a: '2' } }],
  [
    'its own Ready condition changes',
    { conditions: [READY] },
    { conditions: [{ ...READY, status: 'False', reason: 'Pending', message: 'x' }] },
  ],
  ['conditions change their order', { conditions: [READY, OTHER] }, { conditions: [OTHER, READY] }],
  ['nothing but its version changes', { conditions: [OTHER] }, { conditions: [OTHER] }],
];

for (const [what, before, after] of quiet) {
  test(`18. a request does not reconcile when ${what}`, async () => {
    say('ADDED', before);
    assert.equal(await settled(), 1);
    say('MODIFIED', after);
    assert.equal(await settled(), 1);
  });
}

test('18. a reduced request reconciles for the same reasons', async () => {
  const large = { large: 'x'.repeat(20_000) };
  // A look at what is not kept whole reads it from the server first.
  const first = shaped({ annotations: large });
  it.requests.lines({ type: 'ADDED', object: first });
  (await it.next('the first read')).answer(200, first);
  await until('it is looked at', PATIENCE_MS, () => looks() === 1);
  say('MODIFIED', { annotations: large, labels: { a: '1' } });
  assert.equal(await settled(), 1);
  const next = shaped({ annotations: { ...large, a: '1' } });
  it.requests.lines({ type: 'MODIFIED', object: next });
  (await it.next('the second read')).answer(200, next);
  await until('it is looked at again', PATIENCE_MS, () => looks() === 2);
});

test('18. a waiting request reconciles at the requested time or on a change only', async () => {
  const waits: readonly (RequestOutcome['again'] | undefined)[] = [
    { requeueAt: it.time.clock() + 5_000 },
    'on-change',
  ];
  let turn = 0;
  it.answer(({ metadata }) => {
    const again = metadata.name === 'a' ? waits[turn++] : undefined;
    return { outcome: 'waiting', reason: 'Pending', ...(again && { again }) };
  });
  say('ADDED', {});
  await until('it is looked at', PATIENCE_MS, () => looks() === 1);
  await it.time.advance(4_999);
  assert.equal(looks(), 1);
  await it.time.advance(1);
  await until('it is looked at again', PATIENCE_MS, () => looks() === 2);
  await it.time.advance(3_600_000);
  assert.equal(looks(), 2);
  it.changeCa(SIGNER_NAME);
  await until('its issuer wakes it', PATIENCE_MS, () => looks() === 3);
});
