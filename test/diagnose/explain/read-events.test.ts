// SPDX-License-Identifier: Apache-2.0
/**
 * How often `countersign explain` asks for Events: a list of a busy namespace is not a cheap call.
 * And what it shows of equal ones.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { explain } from '#diagnose/explain/explain.ts';
import { eventReader } from '#diagnose/explain/read-events.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { changed, clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';

const NAMES = ['example.com/one', 'example.com/two'];
const POD_UID = podRequest().spec.podUID;

const READY = { type: 'Ready', status: 'True', reason: 'Checked', observedGeneration: 1 };

function signerOf(signerName: string): KubeObject & { readonly status: unknown } {
  const spec = changed(workloadSpec(), 'signerName', signerName);
  const signer = clusterSigner(changed(spec, 'trustBundle', undefined));
  const metadata = { ...signer.metadata, name: signerName.replace('/', '-') };
  return { ...signer, metadata, status: { observedGeneration: 1, conditions: [READY] } };
}

const requests = NAMES.map((signerName, index) => {
  const request = podRequest({ signerName });
  const name = `req-${index}`;
  return { ...request, metadata: { ...request.metadata, name, uid: `request-${index}` } };
});

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...podRequest().metadata, name: 'web-0', uid: POD_UID },
  spec: {
    nodeName: 'node-1',
    volumes: [
      {
        projected: {
          sources: NAMES.map((signerName) => ({ podCertificate: { signerName } })),
        },
      },
    ],
  },
};

const csr = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: {
    name: 'jane',
    uid: 'csr',
    resourceVersion: '1',
    creationTimestamp: '2026-11-21T06:00:00Z',
  },
  spec: { signerName: NAMES[0], request: '', usages: ['client auth'] },
  status: { conditions: [{ type: 'Approved', status: 'True', reason: 'ByHand' }] },
};

const latestWarning = {
  type: 'Warning',
  reason: 'ClocksApart',
  message: 'the clock is ahead',
  reportingComponent: 'countersign.dev/signer',
  eventTime: '2026-11-21T06:01:00.000000Z',
};

const OBJECTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['/apis/certificates.k8s.io/v1', { resources: [{ name: 'podcertificaterequests' }] }],
  ['/apis/certificates.k8s.io/v1/certificatesigningrequests/jane', csr],
  ['/api/v1/namespaces/team-a/pods/web-0', pod],
  [
    '/apis/countersign.dev/v1alpha1/clustersigners',
    {
      apiVersion: 'countersign.dev/v1alpha1',
      kind: 'ClusterSignerList',
      items: NAMES.map(signerOf),
    },
  ],
  ...NAMES.map(
    (name) =>
      [
        `/apis/countersign.dev/v1alpha1/clustersigners/${name.replace('/', '-')}`,
        signerOf(name),
      ] as const,
  ),
  ['/apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests', { items: requests }],
  ['/api/v1/namespaces/default/events', { items: [latestWarning] }],
  ['/api/v1/namespaces/team-a/events', { items: [latestWarning] }],
]);

/** @returns the explanation, and of which objects Events were asked for */
async function asked(
  subject: Subject,
): Promise<{ readonly explanation: Explanation; readonly events: readonly unknown[] }> {
  const client = recordedClient();
  client.answer(({ path }) => {
    const found = OBJECTS.get(path);
    if (found === undefined) throw new KubeError({ status: 404, what: path, body: {} });
    return { kind: 'List', metadata: { resourceVersion: '1' }, ...found };
  });
  const init = { client, clock: () => 0, propagationSeconds: 300 };
  const explanation = await explain(init, subject);
  const events = client.requests
    .filter(({ path }) => path.endsWith('/events'))
    .map(({ query }) => query?.['fieldSelector']);
  return { explanation, events };
}

const event = (at: string, more: object = {}): object => ({
  ...latestWarning,
  eventTime: at,
  reportingInstance: `signer-${at}`,
  ...more,
});

test('equal Events of several replicas are one line, with the latest time and a sum', async () => {
  const client = recordedClient();
  const items = [
    event('2026-11-21T06:03:00.000000Z'),
    event('2026-11-21T06:01:00.000000Z', {
      series: { count: 3, lastObservedTime: '2026-11-21T06:04:00.000000Z' },
    }),
    event('2026-11-21T06:02:00.000000Z', { count: 2 }),
    event('2026-11-21T06:00:00.000000Z', { message: 'the clock is behind' }),
    event('2026-11-21T06:00:30.000000Z', { reportingComponent: 'countersign.dev/approver' }),
  ];
  client.answer(() => ({ kind: 'List', metadata: { resourceVersion: '1' }, items }));
  const { moments } = await eventReader(client)({ uid: 'csr' });
  const text = 'Event Warning ClocksApart';
  assert.deepEqual(
    moments.toSorted((a, b) => (a.at ?? '').localeCompare(b.at ?? '')),
    [
      {
        at: '2026-11-21T06:00:00Z',
        what: `${text} by countersign.dev/signer: the clock is behind`,
      },
      {
        at: '2026-11-21T06:00:30Z',
        what: `${text} by countersign.dev/approver: the clock is ahead`,
      },
      {
        at: '2026-11-21T06:04:00Z',
        what: `${text} (6 times) by countersign.dev/signer: the clock is ahead`,
      },
    ],
  );
});

test('reads the Events of a waiting request once, for its reason and its timeline', async () => {
  const { explanation, events } = await asked({ kind: 'csr', name: 'jane', namespace: '' });
  assert.deepEqual(events, ['involvedObject.uid=csr']);
  assert.match(explanation.summary, /^ClocksApart: the clock is ahead \(signer reported this/);
  assert.match(explanation.timeline.at(-1)?.what ?? '', /^Event Warning ClocksApart/);
});

test('the Events of a pod are read once, however many of its requests wait', async () => {
  const { explanation, events } = await asked({ kind: 'pod', name: 'web-0', namespace: 'team-a' });
  assert.deepEqual(
    explanation.parts?.map(({ state }) => state),
    ['WaitingForComponent', 'WaitingForComponent'],
  );
  const uids = [...requests.map(({ metadata }) => metadata.uid), POD_UID];
  assert.deepEqual(events.toSorted(), uids.map((uid) => `involvedObject.uid=${uid}`).toSorted());
});
