// SPDX-License-Identifier: Apache-2.0
/** What notifier tells of requests that real kubelets make for pods. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { CloudEvent } from 'cloudevents';
import { delay } from '#app/process.ts';
import { EVENT_NAMES } from '#api/object/event-names.ts';
import { createNotifier } from '#notify/notifier/index.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { connect } from '../../ca/rotation/cluster/stand.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { createPod, createTeam } from '../../support/cluster/pods.ts';
import {
  requestsOf,
  waitForRequest,
} from '../../support/cluster/requests/pod-certificate-request.ts';

const WAIT_MS = 120_000;
const TEAM = 'team-told';
const ELSEWHERE = 'elsewhere';
const PCRS = { group: 'certificates.k8s.io', version: 'v1', plural: 'podcertificaterequests' };
/** Between half of the renewal's time and the end of a certificate of 24 hours. */
const LATER_MS = 20 * 3_600_000;

/** What the tests go by. */
export interface PodsStage {
  readonly cluster: Cluster;
  /** The event of this id, once it was taken. */
  readonly told: (id: string) => Promise<CloudEvent<unknown>>;
}

interface PodData {
  readonly pod: { readonly name: string; readonly uid: string };
  readonly serviceAccount: string;
  readonly certificate?: { readonly fingerprint: string; readonly beginRefreshAt: string };
  readonly reason?: string;
}

function podOf(namespace: string, name: string, signerName = 'example.com/workload') {
  return {
    namespace,
    name,
    signerName,
    serviceAccount: 'web',
    node: 'node-1',
    keyType: 'ECDSAP256',
    trustBundle: false,
  };
}

/** Declares the tests. */
export function requestsOfPodsAreTold(stage: () => PodsStage): void {
  test('what kubelets ask for pods is told: issued, denied and failed, each by its pod', async () => {
    const { cluster, told } = stage();
    await createTeam(cluster, TEAM, ['web']);
    await createTeam(cluster, ELSEWHERE, ['web']);
    await createPod(cluster, podOf(TEAM, 'web'));
    await createPod(cluster, podOf(ELSEWHERE, 'web'));
    // Nobody answers requests of pods for this signer.
    await createPod(cluster, podOf(TEAM, 'people', 'example.com/people'));
    const { metadata, spec, status } = await waitForRequest(cluster, TEAM, 'web', 'Issued');
    const issued = await told(`${metadata.uid}:issued`);
    assert.equal(issued.subject, `podcertificaterequests/${TEAM}/${metadata.name}`);
    const { pod, serviceAccount, certificate } = issued.data as PodData;
    assert.deepEqual(pod, { name: 'web', uid: spec.podUID });
    assert.equal(serviceAccount, 'web');
    const leaf = new X509Certificate(status?.certificateChain ?? '').raw;
    const digest = createHash('sha256').update(leaf).digest('hex');
    assert.equal(certificate?.fingerprint, `sha256:${digest}`);
    assert.equal(Date.parse(certificate.beginRefreshAt), Date.parse(status?.beginRefreshAt ?? ''));

    const refused = await waitForRequest(cluster, ELSEWHERE, 'web', 'Denied');
    const denied = await told(`${refused.metadata.uid}:denied`);
    assert.equal((denied.data as PodData).reason, 'NotAllowed');

    const waiting = await until('the kubelet has asked', WAIT_MS, async () => {
      const [found] = await requestsOf(cluster, TEAM, 'people');
      return found;
    });
    const condition = {
      type: 'Failed',
      status: 'True',
      reason: 'Broken',
      message: 'it cannot be',
      lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ''),
    };
    const patch = JSON.stringify({ status: { conditions: [condition] } });
    await cluster.kubectl([
      'patch',
      'podcertificaterequest',
      waiting.metadata.name,
      '-n',
      TEAM,
      '--subresource=status',
      '--type=merge',
      '-p',
      patch,
    ]);
    const failed = await told(`${waiting.metadata.uid}:failed`);
    assert.equal((failed.data as PodData).reason, 'Broken');
  });

  test('an unrenewed pod certificate is notified only while that pod exists', async () => {
    const { cluster } = stage();
    await createPod(cluster, podOf(TEAM, 'gone'));
    const { metadata: gone } = await waitForRequest(cluster, TEAM, 'gone', 'Issued');
    await createPod(cluster, podOf(TEAM, 'stays'));
    const { metadata: stays } = await waitForRequest(cluster, TEAM, 'stays', 'Issued');
    await cluster.kubectl(['delete', 'pod', 'gone', '-n', TEAM]);
    // Another one of its name.
    await createPod(cluster, podOf(TEAM, 'gone', 'example.com/people'));
    const ids = await toldLater(cluster, `${stays.uid}:expiring`);
    assert.ok(!ids.includes(`${gone.uid}:expiring`), ids.join(' '));
  });
}

/**
 * What a notifier tells whose clock is ahead, with this id among it, after it has looked at all
 * certificates.
 */
async function toldLater(cluster: Cluster, id: string): Promise<readonly string[]> {
  await cluster.kubectl(['create', 'configmap', 'countersign-notifier', '-n', TEAM]);
  const client = await connect(cluster);
  const taken: { readonly id: string; readonly time: string }[] = [];
  const stop = new AbortController();
  const component = { client, delay, clock: () => Date.now() + LATER_MS };
  const notifier = createNotifier({
    component: recordedComponent(component),
    namespace: TEAM,
    podCertificateRequests: resource(PCRS),
    pods: true,
    source: 'https://test.example',
    expiringSeconds: 3_600,
    targets: [
      {
        name: 'later',
        events: new Set(EVENT_NAMES),
        perSecond: 1_000,
        deliveryTimeoutMs: 3_600_000,
        endpoint: {
          handshake: () => Promise.resolve({ kind: 'delivered' }),
          post: ({ body }) => {
            taken.push(JSON.parse(body) as (typeof taken)[number]);
            return Promise.resolve({ kind: 'delivered' });
          },
        },
      },
    ],
  });
  const running = notifier.run(stop.signal);
  try {
    const { time } = await until(`${id} is told`, WAIT_MS, () =>
      Promise.resolve(taken.find((each) => each.id === id)),
    );
    await until('all certificates that are due were looked at', WAIT_MS, async () => {
      const jsonpath = 'jsonpath={.data.target\\.later}';
      const get = ['get', 'configmap', 'countersign-notifier', '-n', TEAM, '-o', jsonpath];
      const text = (await cluster.kubectl(get)).stdout;
      const { due = 0 } = JSON.parse(text === '' ? '{}' : text) as { readonly due?: number };
      return due >= Date.parse(time);
    });
    return taken.map((each) => each.id);
  } finally {
    stop.abort();
    await running;
    await client.close();
  }
}
