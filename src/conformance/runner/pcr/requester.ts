// SPDX-License-Identifier: Apache-2.0
/** Finds the client and the pod for the runner's own PodCertificateRequests. */
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { SkippedScenario } from '#conformance/observed-request.ts';
import { messageOf } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { certificatesRule } from '../permissions.ts';
import { stubOf } from './plans.ts';
import type { PcrRun } from './run.ts';

export type PodIdentity = Pick<
  PodCertificateRequest['spec'],
  'podName' | 'podUID' | 'serviceAccountName' | 'serviceAccountUID' | 'nodeName' | 'nodeUID'
>;

export interface PcrRequester {
  readonly client: Client;
  /** The identity of a running pod from a kubelet's request, or an invented one. */
  readonly pod: PodIdentity;
}

/**
 * Finds a client that can create requests: that of the user, or as the pod's node, if the user may
 * impersonate it. A dry run tests this, because admission decides, too (NodeRestriction for nodes,
 * a policy like deploy/admission for others).
 */
export async function findRequester(
  pcr: PcrRun,
  shown: PodCertificateRequest | undefined,
): Promise<PcrRequester | SkippedScenario> {
  const { run, requests } = pcr;
  const facts = shown === undefined ? inventedPod(pcr.run) : factsOf(shown);
  const missing = await run.permissions.missing(
    certificatesRule(['create', 'get'], requests.plural, run.namespace),
  );
  const rejection = missing ?? (await dryRun(pcr, run.client, facts));
  if (rejection === undefined) return { client: run.client, pod: facts };
  if (shown === undefined)
    return { skipped: `${rejection}; and no kubelet has shown a pod to speak for` };
  const other = await run.permissions.missing(...impersonating(facts.nodeName));
  if (other !== undefined) return { skipped: `${rejection}; as its node: ${other}` };
  const client = run.clientAs(`system:node:${facts.nodeName}`, ['system:nodes']);
  const second = await dryRun(pcr, client, facts);
  return second === undefined
    ? { client, pod: facts }
    : { skipped: `${rejection}; as its node: ${second}` };
}

function impersonating(node: string): readonly PermissionRule[] {
  const who = (resource: string, name: string): PermissionRule => ({
    apiGroups: [''],
    resources: [resource],
    verbs: ['impersonate'],
    resourceNames: [name],
  });
  return [who('users', `system:node:${node}`), who('groups', 'system:nodes')];
}

async function dryRun(
  { run, requests }: PcrRun,
  client: Client,
  facts: PodIdentity,
): Promise<string | undefined> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const stubPKCS10Request = stubOf(key).toString('base64');
  const metadata = { name: `conformance-${run.id}-dry-run`, namespace: run.namespace };
  const spec = { ...facts, signerName: run.signerName, stubPKCS10Request };
  const body = { apiVersion: requests.apiVersion, kind: 'PodCertificateRequest', metadata, spec };
  try {
    const path = requests.collection(run.namespace);
    await client.request({ method: 'POST', path, query: { dryRun: 'All' }, body });
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status !== 0) return messageOf(error);
    throw error;
  }
}

function factsOf({ spec }: PodCertificateRequest): PodIdentity {
  const { podName, podUID, serviceAccountName, serviceAccountUID, nodeName, nodeUID } = spec;
  return { podName, podUID, serviceAccountName, serviceAccountUID, nodeName, nodeUID };
}

/** Returns a pod that does not exist, for a request that only the API server checks. */
export function inventedPod(run: PcrRun['run']): PodIdentity {
  return {
    podName: `conformance-${run.id}`,
    podUID: uuid(run.random(16)),
    serviceAccountName: run.serviceAccount,
    serviceAccountUID: uuid(run.random(16)),
    nodeName: 'conformance',
    nodeUID: uuid(run.random(16)),
  };
}

/** Returns a UUID of version 4 (RFC 9562 §5.4). */
function uuid(bytes: Uint8Array): string {
  const set = Uint8Array.from(bytes);
  set[6] = ((set[6] ?? 0) & 0x0f) | 0x40;
  set[8] = ((set[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(set).toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}
