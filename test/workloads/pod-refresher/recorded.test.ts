// SPDX-License-Identifier: Apache-2.0
/** Which pods lose their last credential, as a process knows it that has just begun. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordedDenials } from '#workloads/pod-refresher/recorded.ts';
import type { LedgerRecord } from '#ledger/records/record.ts';
import { ClusterView } from '#workloads/refresh/cluster-view.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { readsThrough } from '../../support/ledger/reader.ts';
import { issuedRecord, listed, NOW as LEDGER_NOW } from '../../support/ledger/records.ts';

const MINUTE = 60_000;
/** Records that a reader asks for. */
const PAGE = 100;
/** Each leaf is of {@link LEDGER_NOW}; that of pod `n` lives for `n` minutes. */
const NOW = LEDGER_NOW + 10 * MINUTE;

/** The renewal of pod `n` was denied five minutes after its leaf was issued. */
function denied(
  n: number,
  more: Partial<ReturnType<typeof issuedRecord>> = {},
): Extract<LedgerRecord, { readonly kind: 'denied' }> {
  const { certificate: _leaf, ca: _ca, decision: _why, ...asked } = issuedRecord(n, more);
  const at = new Date(LEDGER_NOW + 5 * MINUTE).toISOString();
  return { ...asked, kind: 'denied', key: `denied-${n}`, at, reason: 'NotAllowed', message: 'no' };
}

function optIn(view: ClusterView, namespace: string): void {
  const metadata = { name: namespace, uid: namespace, resourceVersion: '1', creationTimestamp: '' };
  const labels = { 'countersign.dev/refresh': 'enabled' };
  const now = { apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata, labels } };
  view.seen.namespaces(namespace, now, undefined);
}

interface Stage {
  readonly view: ClusterView;
  readonly asked: readonly string[];
  readonly warnings: () => readonly string[];
  /** Until it waits for the next time to read. */
  readonly read: () => Promise<void>;
}

/** @param records - what the ledger has, oldest first; nothing: it is away */
function stage(records: readonly LedgerRecord[] | undefined, isComplete = true): Stage {
  const asked: string[] = [];
  let ended = new AbortController();
  const component = recordedComponent({
    clock: () => NOW,
    delay: () => {
      ended.abort();
      return Promise.resolve();
    },
  });
  component.client.answer(({ query = {} }) => {
    if (records === undefined) throw new Error('the server is currently unable to handle it');
    const selector = String(query['fieldSelector']);
    asked.push(selector);
    const uid = /podUID=((?:\\.|[^,])+)/.exec(selector)?.[1]?.replaceAll('\\', '');
    const found = records.filter((record) =>
      uid === undefined
        ? record.kind === 'denied'
        : record.kind === 'issued' && record.requester.pod?.uid === uid,
    );
    const from = Number(query['continue'] ?? 0);
    const items = query['after'] === undefined ? found.map(listed).slice(from, from + PAGE) : [];
    const next = from + items.length;
    return {
      items,
      metadata: next < found.length && items.length > 0 ? { continue: `${next}` } : {},
    };
  });
  const view = new ClusterView(() => NOW);
  const facts = createRecordedDenials({
    component,
    ledger: readsThrough(component),
    view,
    isComplete: () => isComplete,
    onChange: () => undefined,
  });
  const read = async (): Promise<void> => {
    ended = new AbortController();
    await facts.run(ended.signal);
  };
  return { view, asked, read, warnings: facts.warnings };
}

test('a renewal denied before the start ends a pod with its recorded last credential', async () => {
  const { view, read } = stage([issuedRecord(30), denied(30), issuedRecord(31)]);
  optIn(view, 'team-0');
  optIn(view, 'team-1');
  await read();
  assert.deepEqual(view.endangered(), [
    {
      namespace: 'team-0',
      name: 'pod-30',
      uid: 'pod-uid-30',
      signerName: 'example.com/workload',
      notAfter: LEDGER_NOW + 30 * MINUTE,
      message: 'no',
    },
  ]);
});

test('a denied first request and an ended credential endanger no pod', async () => {
  const { view, read } = stage([denied(30), issuedRecord(9), denied(9)]);
  for (const namespace of ['team-0', 'team-9']) optIn(view, namespace);
  await read();
  assert.deepEqual(view.endangered(), []);
});

test('of namespaces that did not opt in it asks for no certificate, until they do', async () => {
  const { view, asked, read } = stage([issuedRecord(30), denied(30)]);
  await read();
  assert.deepEqual([view.endangered(), asked.length], [[], 1]);
  optIn(view, 'team-0');
  await read();
  assert.equal(view.endangered().length, 1);
  assert.equal(asked[2], asked[0]);
  assert.match(asked[1] ?? '', /^kind=issued,podUID=pod-uid-30,signer=example\.com\/workload,/);
  await read();
  assert.equal(asked.length, 4, 'and once');
});

test('a pod that got a credential after it was denied is not endangered', async () => {
  const at = new Date(LEDGER_NOW + 6 * MINUTE).toISOString();
  const { view, read } = stage([issuedRecord(30), denied(30), issuedRecord(30, { at })]);
  optIn(view, 'team-0');
  await read();
  assert.deepEqual(view.endangered(), []);
});

test('another pod’s UID in a tenant’s request neither endangers nor hides that pod', async () => {
  const pod = { namespace: 'team-5', name: 'pod-30', uid: 'pod-uid-30' };
  const forged = denied(30, { requester: { pod } });
  for (const [records, endangered] of [
    [[issuedRecord(30), forged], []],
    [[issuedRecord(30), denied(30), forged], ['team-0']],
    [[issuedRecord(30), denied(30), issuedRecord(30, { requester: { pod } })], ['team-0']],
  ] as const) {
    const { view, read } = stage(records);
    for (const each of ['team-0', 'team-5']) optIn(view, each);
    await read();
    assert.deepEqual(
      view.endangered().map(({ namespace }) => namespace),
      endangered,
    );
  }
});

test('a UID of any characters keeps nobody from being known', async () => {
  const uid = 'x,pod=team-1/y\\';
  const pod = { namespace: 'team-5', name: 'pod-5', uid };
  const { view, asked, warnings, read } = stage([
    denied(5, { requester: { pod } }),
    issuedRecord(30),
    denied(30),
  ]);
  for (const each of ['team-0', 'team-5']) optIn(view, each);
  await read();
  assert.deepEqual([view.endangered().length, warnings()], [1, []]);
  assert.match(asked[1] ?? '', /podUID=x\\,pod\\=team-1\/y\\\\,signer=/);
});

test('denials of namespaces that never opt in crowd out nobody, however many they are', async () => {
  const flood = Array.from({ length: 10_100 }, (_, at) =>
    denied(31, { requester: { pod: { namespace: 'team-1', name: 'pod-31', uid: `u-${at}` } } }),
  );
  const { view, read } = stage([issuedRecord(30), denied(30), ...flood]);
  optIn(view, 'team-0');
  await read();
  assert.equal(view.endangered().length, 1);
});

test('of a reason as much is kept as an Event can say', async () => {
  const { view, read } = stage([issuedRecord(30), { ...denied(30), message: 'x'.repeat(4_000) }]);
  optIn(view, 'team-0');
  await read();
  assert.equal(view.endangered()[0]?.message.length, 512);
});

test('before all namespaces are listed nothing is read: none would have opted in', async () => {
  const { asked, read } = stage([issuedRecord(30), denied(30)], false);
  await read();
  assert.deepEqual(asked, []);
});

test('while the ledger is away it says that it goes by what it has seen', async () => {
  const { view, warnings, read } = stage(undefined);
  await read();
  assert.deepEqual(view.endangered(), []);
  assert.match(warnings().join(), /facts are those since the start/);
});
