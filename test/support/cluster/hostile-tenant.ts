// SPDX-License-Identifier: Apache-2.0
/** A tenant who asks for as much as the API lets one ask, and the requests of a neighbour. */
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../build/demo-installation.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { isCaReady } from '#api/serving/report.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { applyText } from './apply.ts';
import { applyTeamCa, applyTeamSigner, signerObject, getTeamSigner } from './namespaced-signers.ts';
import { createTeam } from './pods.ts';
import { requestPem } from './requests/csr.ts';

const CERTIFICATES = { group: 'certificates.k8s.io', version: 'v1' };
export const POD_REQUESTS = resource({ ...CERTIFICATES, plural: 'podcertificaterequests' });
const CSRS = resource({ ...CERTIFICATES, plural: 'certificatesigningrequests' });
const SIGNERS = resource({ group: 'countersign.dev', version: 'v1alpha1', plural: 'signers' });

export const HOSTILE = 'team-hostile';
export const VICTIM = 'team-victim';

const READY_MS = 120_000;

const PLACE = { namespace: HOSTILE, name: 'flood' };
const HOSTILE_SIGNER = `signers.countersign.dev/${HOSTILE}.${PLACE.name}`;

/** As dear as one expression may be, more or less: loops whose errors are absorbed. */
function costly(seed: number): string {
  const list = `[${Array.from({ length: 24 }, (_, index) => index).join(',')}]`;
  return `${list}.exists(a, ${list}.exists(b, a + b == -${seed + 1})) || true`;
}

/**
 * Opts in to Signers, and makes two teams: the hostile one has a Signer with costly expressions and
 * a CA of its own. `authority` must run with `--namespaced-signers`.
 */
export async function prepareTenants(cluster: Cluster): Promise<void> {
  const installation = {
    ...DEMO,
    namespacedSigners: true,
    signerSecrets: [{ namespace: HOSTILE, name: 'team-ca' }],
  };
  for (const namespace of [HOSTILE, VICTIM]) await createTeam(cluster, namespace, ['web']);
  const admission = renderAdmission(installation).get('pod-certificate-requests.yaml') ?? '';
  await applyText(cluster, [...renderRbac(installation).values(), admission].join('---\n'));
  await applyTeamCa(cluster, {
    namespace: HOSTILE,
    name: 'team-ca',
    consentsTo: HOSTILE_SIGNER,
  });
  await applyTeamSigner(cluster, PLACE, hostileSpec(0));
}

/** Once `authority` has looked at the hostile Signer. */
export async function tenantsAreReady(cluster: Cluster): Promise<void> {
  await until('the hostile Signer is checked', READY_MS, async () => {
    const { metadata, status } = await getTeamSigner(cluster, PLACE);
    return status?.observedGeneration === metadata.generation && isCaReady(status?.conditions);
  });
}

function hostileSpec(seed: number): Readonly<Record<string, unknown>> {
  return { pods: { allow: costly(seed), dnsNames: ["pod.serviceAccount + '.example'"] } };
}

export interface PodRequestWanted {
  readonly namespace: string;
  readonly name: string;
  readonly signerName: string;
  readonly stub: string;
  /** Asks for an annotation that no signer here allows: it is denied, with an Event. */
  readonly isRefused?: boolean;
}

/** The pod that a request is for: Events are about it. */
export function podNameOf(request: string): string {
  return `web-${request}`;
}

/** A request as a kubelet writes it. */
export function podRequestOf(wanted: PodRequestWanted): PodCertificateRequest {
  const { namespace, name, signerName, stub, isRefused = false } = wanted;
  return {
    apiVersion: POD_REQUESTS.apiVersion,
    kind: 'PodCertificateRequest',
    metadata: { namespace, name } as PodCertificateRequest['metadata'],
    spec: {
      signerName,
      podName: podNameOf(name),
      podUID: randomUUID(),
      serviceAccountName: 'web',
      serviceAccountUID: randomUUID(),
      nodeName: 'node-1',
      nodeUID: randomUUID(),
      maxExpirationSeconds: 86_400,
      stubPKCS10Request: stub,
      ...(isRefused ? { unverifiedUserAnnotations: { 'example.com/other': 'x' } } : {}),
    },
  };
}

export async function createPodRequest(client: Client, wanted: PodRequestWanted): Promise<void> {
  const path = POD_REQUESTS.collection(wanted.namespace);
  await client.request({ method: 'POST', path, body: podRequestOf(wanted) });
}

/** Of deploy/examples/workload.yaml: it answers every team. */
export const SHARED_SIGNER = 'example.com/workload';

/**
 * A request of the hostile tenant, to its own signer or to the shared one: every second one is
 * refused.
 */
export function hostileRequest(index: number, stub: string): PodRequestWanted {
  const isRefused = index % 2 === 1;
  return {
    namespace: HOSTILE,
    name: `hostile-${index}`,
    stub,
    signerName: index % 4 < 2 ? SHARED_SIGNER : HOSTILE_SIGNER,
    isRefused,
  };
}

/** How many of each the hostile tenant wrote. */
export interface Flood {
  readonly pods: number;
  readonly csrs: number;
  readonly specs: number;
}

const IN_FLIGHT = 12;

/**
 * Writes pods' requests, CSRs that are refused, and its Signer again, as fast as the API server
 * takes them.
 */
export async function flood(
  client: Client,
  stubs: readonly string[],
  signal: AbortSignal,
): Promise<Flood> {
  const counts = { pods: 0, csrs: 0, specs: 0 };
  const pem = Buffer.from(await requestPem({ commonName: 'somebody else' })).toString('base64');
  const forever = async (write: () => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) await write();
  };
  const pod = (): Promise<void> => {
    const index = counts.pods++;
    return createPodRequest(client, hostileRequest(index, stubs[index % stubs.length] ?? ''));
  };
  const csr = (): Promise<unknown> => {
    const body = csrObject(`hostile-${counts.csrs++}`, pem);
    return client.request({ method: 'POST', path: CSRS.collection(), body });
  };
  const spec = (): Promise<unknown> => {
    const body = signerObject(PLACE, hostileSpec(++counts.specs));
    const path = SIGNERS.object(PLACE);
    const contentType = 'application/merge-patch+json';
    return client.request({ method: 'PATCH', path, contentType, body });
  };
  await Promise.all([
    ...Array.from({ length: IN_FLIGHT }, () => forever(pod)),
    ...Array.from({ length: 2 }, () => forever(csr)),
    forever(spec),
  ]);
  return counts;
}

function csrObject(name: string, request: string): object {
  const usages = ['digital signature', 'client auth'];
  const spec = { signerName: 'example.com/people', request, usages };
  return {
    apiVersion: CSRS.apiVersion,
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec,
  };
}
