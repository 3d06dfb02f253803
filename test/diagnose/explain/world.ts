// SPDX-License-Identifier: Apache-2.0
/** An API server with one signer and one pod, as `check` and `explain` read it. */
import assert from 'node:assert/strict';
import type { Pod } from '#api/object/pod.ts';
import { readAnnotated } from '#diagnose/check/reading/read-annotated.ts';
import { readPods } from '#diagnose/check/reading/read-pods.ts';
import { readSigners } from '#diagnose/check/reading/read-signers.ts';
import { explain } from '#diagnose/explain/explain.ts';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { encodePem } from '#pki/der/pem.ts';
import { HOUR, LINKS, NOW, at, state, type Name } from '../../operations/signer-states.ts';
import { link, type Link } from '../../support/pki/chain.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { findingsOf } from '../check/well.ts';

export const SIGNER = 'example.com/workload';
export const STORED = { resourceVersion: '1', creationTimestamp: at(-HOUR) };

export interface World {
  readonly signer?: SignerState;
  readonly pod?: Pod;
  readonly requests?: readonly object[];
  readonly revocations?: readonly object[];
  readonly services?: readonly object[];
  readonly deployments?: readonly object[];
  readonly csrs?: readonly object[];
  readonly certificateRequests?: readonly object[];
  /** Version of the kubelet of node-1. */
  readonly kubelet?: string;
}

export function podThat({
  age = HOUR,
  phase = 'Running',
  projections = 1,
  labels = {},
  annotations = {},
}: {
  readonly age?: number;
  readonly phase?: string;
  readonly projections?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
} = {}): Pod {
  const source = { podCertificate: { signerName: SIGNER } };
  const sources = Array.from({ length: projections }, () => source);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      resourceVersion: '1',
      creationTimestamp: at(-age),
      labels,
      annotations,
      namespace: 'team-a',
      name: 'web',
      uid: 'web',
    },
    spec: { nodeName: 'node-1', volumes: projections === 0 ? [] : [{ projected: { sources } }] },
    status: { phase, startTime: at(-age) },
  };
}

export const leafOf = (by: Name): Link => link(`leaf of ${by}`, { by: LINKS[by] });

/** A request of the pod: with a leaf it is answered, without one it waits. */
export function requested(age: number, leaf?: Link): object {
  const request = podRequest({ podName: 'web', podUID: 'web' });
  const name = `r-${age}`;
  const metadata = { ...request.metadata, name, uid: name, creationTimestamp: at(-age) };
  if (leaf === undefined) return { ...request, metadata, status: {} };
  const certificateChain = encodePem('CERTIFICATE', leaf.certificate.raw);
  const conditions = [{ type: 'Issued', status: 'True', reason: 'Issued', message: '' }];
  return { ...request, metadata, status: { certificateChain, conditions } };
}

export function revocation(serial: string, notAfter?: string): object {
  const certificate = notAfter === undefined ? { serial } : { serial, notAfter };
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { ...STORED, name: 'stolen', uid: 'stolen' },
    spec: { signerName: SIGNER, reason: 'keyCompromise', certificates: [certificate] },
  };
}

export const service = (app: string): object => ({
  metadata: { ...STORED, namespace: 'team-a', name: 'front', uid: 'front' },
  spec: { selector: { app } },
});

/** The Deployment of the pod, with annotations of its own. */
export const deployment = (annotations: Readonly<Record<string, string>>): object => ({
  metadata: { ...STORED, namespace: 'team-a', name: 'web', uid: 'd', annotations },
  spec: { selector: { matchLabels: { app: 'web' } }, template: { metadata: {} } },
});

export const AFTER_DISTRUST = state({
  authorities: { a: 'Distrusted', b: 'Active' },
  served: { b: 60 },
});
export const BY_SERVICES = state({
  spec: {
    pods: {
      allow: 'true',
      uris: ['"spiffe://cluster.local/ns/" + pod.namespace + "/sa/" + pod.serviceAccountName'],
      services: {
        select: 'All',
        forms: ['Service'],
        clusterDomain: 'cluster.local',
        required: false,
      },
    },
  },
});

const nodesOf = ({ kubelet }: World): readonly object[] =>
  kubelet === undefined
    ? []
    : [
        {
          metadata: { ...STORED, name: 'node-1', uid: 'node-1' },
          status: { nodeInfo: { kubeletVersion: kubelet } },
        },
      ];

/** The collections of an API server. */
function clientOf(world: World): Client {
  const { signer: of = state(), pod = podThat() } = world;
  const { signer, bundle } = of;
  assert.ok(typeof bundle === 'object');
  const name = 'example.com:workload:primary';
  const collections = new Map<string, readonly object[]>([
    ['/apis/countersign.dev/v1alpha1/clustersigners', [signer]],
    [
      '/apis/certificates.k8s.io/v1/clustertrustbundles',
      [{ ...bundle, metadata: { ...bundle.metadata, name } }],
    ],
    ['/api/v1/pods', [pod]],
    ['/apis/certificates.k8s.io/v1/podcertificaterequests', world.requests ?? []],
    ['/apis/countersign.dev/v1alpha1/revocations', world.revocations ?? []],
    ['/apis/certificates.k8s.io/v1/certificatesigningrequests', world.csrs ?? []],
    ['/apis/cert-manager.io/v1/certificaterequests', world.certificateRequests ?? []],
    ['/api/v1/services', world.services ?? []],
    ['/api/v1/events', []],
    ['/api/v1/nodes', nodesOf(world)],
    ['/api/v1/resourcequotas', []],
    ['/api/v1/namespaces', [{ metadata: { ...STORED, name: 'team-a', uid: 'n' } }]],
    ['/apis/apps/v1/deployments', world.deployments ?? []],
    ['/apis/apps/v1/statefulsets', []],
    ['/apis/apps/v1/daemonsets', []],
  ]);
  const kinds = ['podcertificaterequests', 'clustertrustbundles'].map((each) => ({ name: each }));
  const client = recordedClient();
  client.answer(({ path }) => {
    if (path === '/apis/certificates.k8s.io/v1') return { resources: kinds };
    // No object has the name of a namespace that is not its own.
    const whole = path.replace(/\/namespaces\/team-a(?=\/)/, '');
    const items = collections.get(whole);
    if (items !== undefined) {
      const kind = whole.endsWith('/clustersigners') ? 'ClusterSignerList' : 'List';
      return { kind, apiVersion: 'v1', metadata: { resourceVersion: '1' }, items };
    }
    const [, collection = '', wanted = ''] = /^(.*)\/([^/]+)$/.exec(whole) ?? [];
    const found = (collections.get(collection) ?? []).find(
      (each) => (each as Pod).metadata.name === decodeURIComponent(wanted),
    );
    if (found === undefined) throw new KubeError({ status: 404, what: path, body: {} });
    return found;
  });
  return client;
}

const IDS = ['leaves-trusted', 'services-select', 'annotations-known'] as const;

/** What `check` finds that is not well, a line each. */
export async function checked(world: World): Promise<readonly string[]> {
  const client = clientOf(world);
  const place = {
    propagationSeconds: 600,
    namespace: 'countersign-system',
    secretNamespace: 'countersign-keys',
    servingSigner: 'countersign.dev/serving',
  };
  const signers = await readSigners({ client, clock: () => NOW, ...place });
  const pods = await readPods(client, signers);
  const annotated = await readAnnotated(client);
  return IDS.flatMap((id) => findingsOf(id, { installed: { signers, pods, annotated } }))
    .filter(({ severity }) => severity !== 'ok')
    .map(({ id, severity, why }) => `${severity} ${id} ${why}`);
}

export function explained(world: World, kind = 'pod'): Promise<Explanation> {
  const init = { client: clientOf(world), clock: () => NOW, propagationSeconds: 600 };
  return explain(init, { kind, name: 'web', namespace: 'team-a' });
}
