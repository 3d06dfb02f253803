// SPDX-License-Identifier: Apache-2.0
/** What is told, with which words, and where a next process goes on. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CloudEvent, HTTP } from 'cloudevents';
import fc from 'fast-check';
import { fromJSONSchema } from 'zod';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { cursorOf, type Cursor } from '#notify/notifier/cursor.ts';
import { authorityOccurrences } from '#notify/notifier/events/authority-events.ts';
import { cloudEvent } from '#notify/notifier/events/event.ts';
import { endOccurrence } from '#notify/notifier/events/request-events.ts';
import { seenRequest, type SeenRequest } from '#notify/notifier/events/seen-request.ts';
import { NotifiedTarget } from '#notify/notifier/delivery/target.ts';
import { NotificationSession } from '#notify/notifier/notification-session.ts';
import { encodePem } from '#pki/der/pem.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { generalizedTime, seq, utcTime } from '../../support/pki/der.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { EVENT_NAMES } from '#api/object/event-names.ts';

const page = readFileSync(
  join(import.meta.dirname, '../../../docs/reference/cloudevents.md'),
  'utf8',
);
const schema = fromJSONSchema(
  JSON.parse(/```json\n([^]*?)```/.exec(page)?.[1] ?? '') as Parameters<typeof fromJSONSchema>[0],
);

const DAY = 86_400_000;
const AT = Date.UTC(2026, 10, 21);

const ended = (version: string, uid: string, stage = 'Denied'): SeenRequest => {
  const condition = {
    type: stage,
    status: 'True' as const,
    reason: 'NotAllowed',
    message: 'no',
    lastTransitionTime: '2026-11-21T06:00:01Z',
  };
  const request = podRequest({}, { conditions: [condition] });
  const metadata = { ...request.metadata, uid, resourceVersion: version };
  return seenRequest('podcertificaterequests', { ...request, metadata });
};

function target(name = 'ops'): NotifiedTarget {
  return new NotifiedTarget(recordedComponent(), {
    name,
    endpoint: {
      handshake: () => Promise.resolve({ kind: 'delivered' }),
      post: () => Promise.resolve({ kind: 'delivered' }),
    },
    events: new Set(EVENT_NAMES),
    perSecond: 10,
    deliveryTimeoutMs: DAY,
  });
}

function telling(
  to: NotifiedTarget,
  cursors: ReadonlyMap<string, Cursor> = new Map(),
): NotificationSession {
  return new NotificationSession({
    source: '/countersign/keys',
    targets: [to],
    cursors,
    expiringMs: DAY,
    now: AT,
    signerNameOf: ({ signer }) => (signer === 'example.com/workload' ? signer : undefined),
  });
}

const ids = (to: NotifiedTarget): readonly string[] => [...to.pending()].map(({ id }) => id);

test('foreign texts arrive bounded, without hidden characters, as valid CloudEvents', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 5_000 }),
      fc.string({ unit: 'binary', maxLength: 300 }),
      (message, username) => {
        const csr = {
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: {
            name: username || 'x',
            uid: 'u-1',
            resourceVersion: '3',
            creationTimestamp: '2026-11-21T06:00:00Z',
          },
          spec: { signerName: 'example.com/people', username, request: '' },
          status: { conditions: [{ type: 'Denied', status: 'True', reason: 'No', message }] },
        } as unknown as KubeObject;
        const occurrence = endOccurrence(
          seenRequest('certificatesigningrequests', csr),
          'example.com/people',
        );
        assert.ok(occurrence);
        const body = cloudEvent('/countersign/keys', occurrence);
        assert.ok(body.length < 32_768, String(body.length));
        assert.doesNotMatch(
          JSON.stringify(JSON.parse(body)),
          /\p{C}|[\u202a-\u202e\u2066-\u2069]/u,
        );
        const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
        const event = HTTP.toEvent({ headers, body });
        assert.ok(event instanceof CloudEvent && event.validate());
        assert.equal(event.type, 'dev.countersign.certificate.denied');
        assert.equal(event.id, 'u-1:denied');
        schema.parse(event.data);
      },
    ),
    { numRuns: 50 },
  );
});

const FIRST = `sha256:${'1'.repeat(64)}`;
const SECOND = `sha256:${'2'.repeat(64)}`;
const authority = (fingerprint: string, phase: string): object => ({
  fingerprint,
  phase,
  longestLeaf: '1h',
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
});
const signer = (status: object): ClusterSigner =>
  ({
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name: 'workload', uid: 's-1', resourceVersion: '1', creationTimestamp: '' },
    spec: { signerName: 'example.com/workload' },
    status,
  }) as unknown as ClusterSigner;

const ROTATED = signer({
  authorities: [authority(SECOND, 'Active'), authority(FIRST, 'Retiring')],
});
const DISTRUSTED = signer({
  authorities: [authority(SECOND, 'Active'), authority(FIRST, 'Distrusted')],
  distrusted: [{ fingerprint: FIRST, reason: 'Named' }],
});

test('reports a CA that replaces another or ends soon, and not a first one', () => {
  const names = (found: ClusterSigner, now = AT): readonly string[] =>
    authorityOccurrences(found, now, 7 * DAY).map((each) => {
      schema.parse(each.data);
      return `${each.name} ${each.id}`;
    });
  assert.deepEqual(names(signer({ authorities: [authority(FIRST, 'Active')] })), []);
  assert.deepEqual(names(ROTATED), [`authority.rotated s-1:${SECOND}:rotated`]);
  assert.deepEqual(names(DISTRUSTED), [
    `authority.distrusted s-1:${FIRST}:distrusted`,
    `authority.rotated s-1:${SECOND}:rotated`,
  ]);
  assert.deepEqual(
    names(signer({ authorities: [authority(FIRST, 'Active')] }), Date.UTC(2026, 11, 28)),
    [`authority.expiring s-1:${FIRST}:expiring`],
  );
});

test('reports each CA event once across processes, and repeats only undelivered ones', () => {
  const first = target();
  const begun = telling(first);
  begun.authorities([ROTATED], AT);
  assert.deepEqual(ids(first), []); // It begins now.
  begun.authorities([DISTRUSTED], AT);
  begun.authorities([DISTRUSTED], AT);
  assert.deepEqual(ids(first), [`s-1:${FIRST}:distrusted`]);
  const second = target();
  const next = telling(second, begun.cursors());
  next.authorities([DISTRUSTED], AT);
  assert.deepEqual(ids(second), [`s-1:${FIRST}:distrusted`]);
  first.clear();
  const third = target();
  telling(third, begun.cursors()).authorities([DISTRUSTED], AT);
  assert.deepEqual(ids(third), []);
});

test('reports a request once however often it changes, and none of another signer', () => {
  const to = target();
  const told = telling(to);
  told.join('podcertificaterequests', '100', [ended('50', 'old')]);
  const now = ended('101', 'new');
  told.changed(now, undefined);
  told.changed(ended('102', 'new'), now);
  told.changed({ ...ended('103', 'foreign'), signer: 'example.com/other' }, undefined);
  assert.deepEqual(ids(to), ['new:denied']);
});

test('the next process reports only undelivered and intervening events', () => {
  const versions = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 40 });
  fc.assert(
    fc.property(versions, fc.nat(400), fc.nat(40), (all, upTo, delivered) => {
      const before = target();
      const begun = telling(before);
      begun.join('podcertificaterequests', '0', []);
      const sorted = all.toSorted((a, b) => a - b);
      for (const each of sorted.filter((version) => version <= upTo))
        begun.changed(ended(String(each), `u${each}`), undefined);
      begun.reach('podcertificaterequests', String(upTo));
      const pending = [...before.pending()].slice(delivered);
      const cursor = cursorOf(
        {
          reached: new Map([['podcertificaterequests', String(upTo)]]),
          lookedAt: AT,
          expiring: DAY,
          told: new Set(),
        },
        pending,
      );
      const after = target();
      const last = Math.max(upTo, ...all);
      const objects = all.map((each) => ended(String(each), `u${each}`));
      telling(after, new Map([['ops', cursor]])).join(
        'podcertificaterequests',
        String(last),
        objects,
      );
      const told = new Set(ids(after));
      for (const { id } of pending) assert.ok(told.has(id), id);
      for (const each of all) if (each > upTo) assert.ok(told.has(`u${each}:denied`));
      const first = Math.min(
        ...pending.map(({ id }) => Number(id.slice(1).split(':')[0])),
        upTo + 1,
      );
      for (const id of told) assert.ok(Number(id.slice(1).split(':')[0]) >= first, id);
    }),
  );
});

test('a cursor ahead of the collection means a restored etcd: reports everything', () => {
  const cursor = { versions: { podcertificaterequests: '900' }, due: 0, expiring: 0, told: [] };
  const to = target();
  telling(to, new Map([['ops', cursor]])).join('podcertificaterequests', '60', [ended('50', 'a')]);
  assert.deepEqual(ids(to), ['a:denied']);
});

test('the cursor of a target that answered 410 stays until the process starts again', () => {
  const to = target();
  const told = telling(to);
  told.join('podcertificaterequests', '10', []);
  told.join('certificatesigningrequests', '10', []);
  told.authorities([ROTATED], AT);
  told.looked(AT);
  const before = told.cursors();
  to.isGone = true;
  told.changed(ended('20', 'unsent'), undefined);
  told.reach('podcertificaterequests', '30');
  told.authorities([DISTRUSTED], AT);
  told.looked(AT + DAY);
  assert.deepEqual(told.cursors(), before);
  // The target answers again. This process still sends it nothing, and its session ends.
  const later = telling(to, told.cursors());
  later.join('podcertificaterequests', '40', [ended('20', 'unsent')]);
  assert.deepEqual(later.cursors(), before);
  const next = target();
  telling(next, later.cursors()).join('podcertificaterequests', '40', [ended('20', 'unsent')]);
  assert.deepEqual(ids(next), ['unsent:denied']);
});

test('a threshold counts as new until the due certificates were processed under it', () => {
  const cursor = { versions: {}, due: AT - 1, expiring: DAY / 2, told: [] };
  const first = target();
  const begun = telling(first, new Map([['ops', cursor]]));
  const next = target();
  const request = ended('5', 'c');
  telling(next, begun.cursors()).expiring({ request, notAfter: AT + DAY, dueAt: AT - 9 }, AT);
  assert.deepEqual(ids(next), ['c:expiring']);
  begun.looked(AT);
  const last = target();
  telling(last, begun.cursors()).expiring({ request, notAfter: AT + DAY, dueAt: AT - 9 }, AT);
  assert.deepEqual(ids(last), []);
});

const issued = (version: string, uid: string, end: string): SeenRequest => {
  const condition = { type: 'Issued', status: 'True' as const, reason: 'Issued', message: '' };
  const validity = seq(utcTime('260101000000Z'), generalizedTime(end));
  const certificateChain = encodePem('CERTIFICATE', certificateDer({ validity }));
  const request = podRequest({}, { conditions: [condition], certificateChain });
  const metadata = { ...request.metadata, uid, resourceVersion: version };
  return seenRequest('podcertificaterequests', { ...request, metadata });
};

test('a certificate with a malformed time is left out, and costs no other event', () => {
  const cursor = { versions: { podcertificaterequests: '1' }, due: 0, expiring: 0, told: [] };
  const to = target();
  telling(to, new Map([['ops', cursor]])).join('podcertificaterequests', '60', [
    issued('50', 'a', '20601201000000Z'),
    issued('51', 'b', '20601301000000Z'),
    issued('52', 'c', '20601201000000Z'),
  ]);
  assert.deepEqual(ids(to), ['a:issued', 'b:issued', 'c:issued']);
  const hasCertificate = [...to.pending()].map(({ body }) => body.includes('"certificate":'));
  assert.deepEqual(hasCertificate, [true, false, true]);
});

test('a cursor of a clock that was ahead hides no certificate that is due later', () => {
  const cursor = { versions: {}, due: AT + 365 * DAY, expiring: DAY, told: [] };
  const to = target();
  const told = telling(to, new Map([['ops', cursor]]));
  const request = ended('5', 'c');
  told.expiring({ request, notAfter: AT + 3 * DAY, dueAt: AT - 1 }, AT);
  assert.deepEqual(ids(to), []);
  told.expiring({ request, notAfter: AT + 3 * DAY, dueAt: AT + 2 * DAY }, AT + 2 * DAY);
  assert.deepEqual(ids(to), ['c:expiring']);
});
