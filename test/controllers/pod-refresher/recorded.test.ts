// SPDX-License-Identifier: Apache-2.0
/** Which pods lose their last credential, as a process knows it that has just begun. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordedDenials } from '../../../src/controllers/pod-refresher/recorded.ts';
import type { LedgerRecord } from '../../../src/ledger/records/record.ts';
import { ClusterView } from '../../../src/refreshing/cluster-view.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedRecord, listed, NOW as LEDGER_NOW } from '../../support/ledger/records.ts';

const MINUTE = 60_000;
/** Each leaf is of {@link LEDGER_NOW}; that of pod `n` lives for `n` minutes. */
const NOW = LEDGER_NOW + 10 * MINUTE;

/** The renewal of pod `n` was denied five minutes after its leaf was issued. */
function denied(n: number): LedgerRecord {
  const { certificate: _leaf, ca: _ca, decision: _why, ...asked } = issuedRecord(n);
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
function stage(records: readonly LedgerRecord[] | undefined): Stage {
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
    const uid = /podUID=([^,]+)/.exec(selector)?.[1];
    const found = records.filter((record) =>
      uid === undefined
        ? record.kind === 'denied'
        : record.kind === 'issued' && record.requester.pod?.uid === uid,
    );
    const items = found.map(listed);
    return { items: query['after'] === undefined ? items : [], metadata: {} };
  });
  const view = new ClusterView(() => NOW);
  const facts = createRecordedDenials(component, view, () => undefined);
  const read = async (): Promise<void> => {
    ended = new AbortController();
    await facts.run(ended.signal);
  };
  return { view, asked, read, warnings: facts.warnings };
}

test('a pod whose renewal was denied before the start loses its last credential when the ledger says', async () => {
  const { view, read } = stage([issuedRecord(30), denied(30), issuedRecord(31)]);
  optIn(view, 'team-0');
  optIn(view, 'team-1');
  await read();
  assert.deepEqual(view.endangered(), [
    {
      ...{ namespace: 'team-0', name: 'pod-30', uid: 'pod-uid-30' },
      signerName: 'example.com/workload',
      notAfter: LEDGER_NOW + 30 * MINUTE,
      message: 'no',
    },
  ]);
});

test('a first request that was denied, and a credential that has ended, endanger nobody', async () => {
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
  assert.deepEqual(asked.slice(1), [asked[0], asked[2]]);
  assert.match(asked[2] ?? '', /^kind=issued,podUID=pod-uid-30,signer=example\.com\/workload,/);
  await read();
  assert.equal(asked.length, 4, 'and once');
});

test('while the ledger is away it says that it goes by what it has seen', async () => {
  const { view, warnings, read } = stage(undefined);
  await read();
  assert.deepEqual(view.endangered(), []);
  assert.match(warnings().join(), /facts are those since the start/);
});
