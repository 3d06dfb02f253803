// SPDX-License-Identifier: Apache-2.0
/** A notifier that loses its Lease and gets it back, in an API server in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_NAMES } from '#api/object/event-names.ts';
import type { CallVerdict } from '#notify/notifier/delivery/verdict.ts';
import { createNotifier } from '#notify/notifier/index.ts';
import { encodePem } from '#pki/der/pem.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi, type MemoryApi } from '../../support/kube/memory-api.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { seq, utcTime } from '../../support/pki/der.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const CURSORS = '/api/v1/namespaces/countersign-system/configmaps/countersign-notifier';
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SIGNER = '/apis/countersign.dev/v1alpha1/clustersigners/workload';
const DAY = 86_400;
/** The certificate below ends four days later. */
const NOW = Date.UTC(2026, 0, 27);

interface Stage {
  readonly time: FakeTime;
  readonly api: MemoryApi;
  readonly state: { leads: boolean; answer: CallVerdict };
  /** Ids of delivered events. */
  readonly delivered: readonly string[];
  readonly warnings: () => readonly string[];
  readonly stop: () => Promise<void>;
}

function staged(answer: CallVerdict): Stage {
  const [api, time] = [memoryApi(), fakeTime(NOW)];
  const state = { leads: true, answer };
  const delivered: string[] = [];
  let data: Record<string, unknown> = {};
  const client: MemoryApi['client'] = {
    ...api.client,
    request: async <T>(request: Parameters<typeof api.client.request>[0]) => {
      if (request.path !== CURSORS) return api.client.request<T>(request);
      if (request.method === 'PATCH')
        data = { ...data, ...(request.body as { data: object }).data };
      return { data, metadata: { uid: 'u' } } as T;
    },
  };
  const { clock, delay } = time;
  const shard = { owns: () => state.leads, onChange: () => undefined };
  const component = recordedComponent({ client, clock, delay, shard });
  api.put(SIGNER, workload());
  const notifier = createNotifier({
    component,
    namespace: 'countersign-system',
    podCertificateRequests: undefined,
    pods: false,
    source: '/countersign/keys',
    expiringSeconds: 7 * DAY,
    targets: [
      {
        name: 'ops',
        endpoint: {
          handshake: () => Promise.resolve({ kind: 'delivered' }),
          post: ({ id }) => {
            if (state.answer.kind === 'delivered') delivered.push(id);
            return Promise.resolve(state.answer);
          },
        },
        events: new Set(EVENT_NAMES),
        perSecond: 100,
        deliveryTimeoutMs: DAY * 1000,
      },
    ],
  });
  const stopping = new AbortController();
  const running = notifier.run(stopping.signal);
  return {
    api,
    time,
    state,
    delivered,
    warnings: () => notifier.warnings?.() ?? [],
    stop: async () => {
      stopping.abort();
      await time.advance(0);
      await running;
    },
  };
}

function issued(name: string): Parameters<MemoryApi['put']>[1] {
  const validity = seq(utcTime('260101000000Z'), utcTime('260131000000Z'));
  const pem = encodePem('CERTIFICATE', certificateDer({ validity }));
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, uid: name, resourceVersion: '', creationTimestamp },
    spec: { signerName: 'example.com/workload', username: 'ann', request: '' },
    status: { certificate: Buffer.from(pem).toString('base64') },
  };
}

const AWAY: CallVerdict = { kind: 'later', why: 'it answers 503' };

test('a due certificate is reported although its leader lost the Lease meanwhile', async () => {
  const stage = staged(AWAY);
  stage.api.put(`${CSRS}/web`, issued('web'));
  await stage.time.advance(20_000);
  stage.state.leads = false;
  await stage.time.advance(20_000);
  stage.state.leads = true;
  stage.state.answer = { kind: 'delivered' };
  await stage.time.advance(60_000);
  assert.deepEqual(stage.delivered, ['web:expiring']);
  stage.state.leads = false;
  await stage.time.advance(20_000);
  stage.state.leads = true;
  await stage.time.advance(60_000);
  assert.deepEqual(stage.delivered, ['web:expiring']);
  await stage.stop();
});

test('a standby warns of no target that it calls no longer', async () => {
  const stage = staged(AWAY);
  stage.api.put(`${CSRS}/web`, issued('web'));
  await stage.time.advance(20_000);
  assert.match(stage.warnings().join(), /target ops does not receive events: it answers 503/);
  stage.state.leads = false;
  await stage.time.advance(20_000);
  assert.deepEqual(stage.warnings(), []);
  await stage.stop();
});
