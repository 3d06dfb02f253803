// SPDX-License-Identifier: Apache-2.0
/** Which certificates are told of before they end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchedCertificates } from '#notify/notifier/events/expiring.ts';
import { seenRequest, type SeenRequest } from '#notify/notifier/events/seen-request.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const DAY = 86_400_000;
const AT = Date.UTC(2026, 10, 21);
const FIRST = `sha256:${'1'.repeat(64)}`;

test('a certificate without a successor is due once; with one it never is', () => {
  const issued = (uid: string, created: string, refresh: number, end: number): SeenRequest => {
    const seen = seenRequest('podcertificaterequests', podRequest());
    const metadata = { ...seen.metadata, uid, creationTimestamp: created };
    const certificate = {
      fingerprint: FIRST,
      serialNumber: '1',
      notBefore: AT,
      notAfter: AT + end,
      beginRefreshAt: AT + refresh,
    };
    return { ...seen, metadata, certificate };
  };
  const watched = new WatchedCertificates(7 * DAY);
  watched.observe(issued('a', '2026-11-21T06:00:00Z', 12, 24));
  assert.deepEqual(watched.due(AT + 17), []);
  const [due] = watched.due(AT + 18);
  assert.equal(due?.request.metadata.uid, 'a');
  watched.markTold(due);
  watched.observe(issued('a', '2026-11-21T06:00:00Z', 12, 24));
  assert.deepEqual(watched.due(AT + 19), []);
  watched.observe(issued('b', '2026-11-21T07:00:00Z', 30, 60));
  watched.observe(issued('a', '2026-11-21T06:00:00Z', 12, 24));
  assert.deepEqual(watched.due(AT + 40), []);
  assert.equal(watched.due(AT + 45)[0]?.request.metadata.uid, 'b');
  assert.deepEqual(watched.due(AT + 60), []);
});

const issuedTo = (flow: string, at: number): SeenRequest => {
  const seen = seenRequest('podcertificaterequests', podRequest());
  const certificate = {
    fingerprint: FIRST,
    serialNumber: '1',
    notBefore: AT,
    notAfter: AT + 100,
    beginRefreshAt: AT + 50,
  };
  const uid = `${flow}-${at}`;
  return { ...seen, flow, renews: uid, metadata: { ...seen.metadata, uid }, certificate };
};

test('who gets many certificates hides those of nobody else', () => {
  const watched = new WatchedCertificates(7 * DAY, 100);
  for (let each = 0; each < 10; each += 1) watched.observe(issuedTo('quiet', each));
  for (let each = 0; each < 1000; each += 1) watched.observe(issuedTo('flood', each));
  for (let each = 10; each < 20; each += 1) watched.observe(issuedTo('quiet', each));
  assert.equal(watched.size, 100);
  assert.equal(watched.forgotten, 920);
  const due = watched.due(AT + 99).map(({ request }) => request.metadata.uid);
  for (let each = 0; each < 20; each += 1) assert.ok(due.includes(`quiet-${each}`));
  assert.ok(due.includes('flood-999') && !due.includes('flood-0'));
  assert.deepEqual(watched.due(AT + 101), []);
  assert.equal(watched.size, 0);
});
