// SPDX-License-Identifier: Apache-2.0
/**
 * What is read back of a ledger that may have been taken over: who reads it signs certificates in
 * the same process.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFieldSelector } from '#ledger/ledger/api/selector.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { ListedRecord } from '#ledger/records/listed.ts';
import {
  createFacts,
  deliveredLeaf,
  recordPages,
  selectorValue,
} from '#requests/recording/facts.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { readsThrough } from '../../support/ledger/reader.ts';
import { issuedRecord, listed } from '../../support/ledger/records.ts';

const never = new AbortController().signal;

interface Reading {
  readonly component: RecordedComponent;
  readonly records: readonly ListedRecord[];
  /** Until the end, or what ends it. */
  readonly end: Promise<unknown>;
}

function read(
  answer: (request: RequestInit) => unknown,
  { after, ...parts }: Parameters<typeof recordedComponent>[0] & { readonly after?: string } = {},
): Reading {
  const component = recordedComponent(parts);
  component.client.answer(answer);
  const ledger = readsThrough(component);
  const records: ListedRecord[] = [];
  const all = async (): Promise<undefined> => {
    for await (const page of recordPages(
      component,
      { ledger, selector: 'kind=issued', after },
      never,
    ))
      records.push(...page);
    return undefined;
  };
  return { component, records, end: all().catch((error: unknown) => error) };
}

const paged = (items: readonly unknown[], next?: string): object => ({
  items,
  metadata: next === undefined ? {} : { continue: next },
});

const ANSWERS: readonly unknown[] = [
  null,
  [],
  'x',
  7,
  {},
  { items: null },
  { items: {}, metadata: {} },
  { items: [] },
  paged([null]),
  paged([{}]),
  paged([{ metadata: { name: 7 }, record: {} }]),
  { items: [], metadata: { continue: 7 } },
  paged([], 'x'.repeat(10_000)),
  paged(Array.from({ length: 101 }, (_, at) => listed(issuedRecord(at), at))),
];
for (const [at, answer] of ANSWERS.entries())
  test(`what is no page of records is refused, and ends the reading (${at})`, async () => {
    const error = await read(() => answer).end;
    assert.match(String(error), /^SignerError: a record of the ledger cannot be used/);
  });

test('records that come again, or in another order, end the reading', async () => {
  const first = issuedRecord(1);
  for (const [items, after] of [
    [[listed(first, 5), listed(first, 5)], undefined],
    [[listed(first, 5), listed(first, 4)], undefined],
    [[listed(first, 5)], '1-5'],
    [[listed(first, 5)], '2-0'],
    [[{ ...listed(first), metadata: { name: 'x' } }], undefined],
  ] as const) {
    const { end } = read(() => paged(items), after === undefined ? {} : { after });
    assert.match(String(await end), /it is not in order/);
  }
  const same = read(() => paged([listed(first, 5)], 'more'));
  assert.match(String(await same.end), /it is not in order/);
  assert.equal(same.component.client.requests.length, 2);
});

test('records of a later log follow those of an earlier one', async () => {
  const later = { ...listed(issuedRecord(2)), metadata: { name: '2-0' } };
  const { end, records } = read(() => paged([listed(issuedRecord(1), 900), later]));
  assert.equal(await end, undefined);
  assert.deepEqual(
    records.map(({ name }) => name),
    ['1-900', '2-0'],
  );
});

test('pages that do not end, end', async () => {
  const { end, component } = read(() => paged([], 'more'));
  assert.match(String(await end), /its pages do not end/);
  assert.equal(component.client.requests.length, 10_000);
});

test('after each page it rests three times as long as the page took', async () => {
  let steady = 0;
  const rests: number[] = [];
  const answers = [paged([], 'more'), paged([], 'more'), paged([])];
  const { end } = read(
    () => {
      steady += 40;
      return answers.shift();
    },
    {
      monotonic: () => steady,
      delay: (milliseconds) => {
        rests.push(milliseconds);
        return Promise.resolve();
      },
    },
  );
  assert.equal(await end, undefined);
  assert.deepEqual(rests, [120, 120]);
});

test('a response is bounded', async () => {
  const { end, component } = read(() => paged([]));
  await end;
  const [asked] = component.client.requests;
  assert.equal(asked?.maxBytes, 24 * 1024 * 1024);
});

test('an unreadable record does not hide the others', async () => {
  const { requester, request, decision, ...rest } = issuedRecord(1);
  const pod = { namespace: 'team-1', name: 'pod-1', uid: 'pod-uid-1' };
  const whole = { ...rest, requester, request, decision };
  const spoilt: readonly unknown[] = [
    undefined,
    null,
    'issued',
    {},
    { kind: 'issued' },
    { ...whole, kind: 'unheard-of' },
    { ...whole, at: 'yesterday' },
    { ...whole, certificate: 7 },
    { ...whole, requester: {} },
    { ...whole, requester: { pod: { ...pod, namespace: '..' } } },
    { ...whole, requester: { pod: { ...pod, name: '../../secrets/ca' } } },
    { ...whole, requester: { pod: { ...pod, uid: 'u'.repeat(129) } } },
    { ...whole, request: { ...request, annotations: [] } },
    { ...whole, decision: { services: 'web' } },
    { ...whole, decision: { services: ['a b: https://example.com'] } },
    { ...whole, decision: { services: Array.from({ length: 1_001 }, () => 'web') } },
    { ...whole, decision: { labels: { app: 'x'.repeat(254) } } },
    { ...whole, kind: 'denied', message: 'x'.repeat(4_097) },
  ];
  const items = [...spoilt, { ...whole, novelty: 1 }].map((record, at) => ({
    metadata: { name: `1-${at}` },
    record,
  }));
  const { end, records } = read(() => paged(items));
  assert.equal(await end, undefined);
  assert.equal(records.length, items.length);
  assert.deepEqual(
    records.filter(({ record }) => record !== undefined).map(({ name }) => name),
    [`1-${spoilt.length}`],
    'also where a newer ledger says more',
  );
});

test('a certificate that cannot be read is none', () => {
  for (const certificate of ['', 'AAAA', '!', 'MIIC']) {
    const record = { ...issuedRecord(1), certificate } as unknown as ListedRecord['record'];
    assert.equal(
      deliveredLeaf({ name: '1-1', outcomes: [], ...(record && { record }) }),
      undefined,
    );
  }
});

test('a caller that ends the reading waits for no page, and nothing is logged', async () => {
  const ended = new AbortController();
  const component = recordedComponent({ delay: () => Promise.resolve() });
  component.client.answer(({ signal }) => {
    const { promise, reject } = Promise.withResolvers();
    signal?.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
    return promise;
  });
  const facts = createFacts(component, async (signal) => {
    const query = { ledger: readsThrough(component), selector: 'kind=issued' };
    for await (const page of recordPages(component, query, signal)) assert.ok(page);
    return true;
  });
  const running = facts.run(ended.signal);
  ended.abort();
  await running;
  assert.deepEqual([component.log.lines, facts.warnings()], [[], []]);
});

test('what the ledger says of its failure is cut, and shows what it hides', async () => {
  const ended = new AbortController();
  const component = recordedComponent({
    delay: () => {
      ended.abort();
      return Promise.resolve();
    },
  });
  const message = `no\n\u202e${'x'.repeat(1_000_000)}`;
  const facts = createFacts(component, () => {
    throw new KubeError({ status: 503, what: 'GET /apis', body: { message } });
  });
  await facts.run(ended.signal);
  const said = facts.warnings().join();
  assert.match(said, /since the start: GET \/apis: 503: no\\u\{a\}\\u\{202e\}x+$/);
  assert.ok(said.length < 500);
});

test('a value that others chose is one value of a selector', () => {
  const uid = String.raw`x,kind=issued\,pod==a`;
  const asked = parseFieldSelector(`podUID=${selectorValue(uid)},kind=denied`, { now: 0 });
  assert.ok(!('fault' in asked));
  assert.deepEqual(asked.terms, [{ kind: 'podUid', value: uid }]);
});
