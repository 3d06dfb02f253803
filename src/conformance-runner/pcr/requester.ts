// SPDX-License-Identifier: Apache-2.0
/** Who may write a PodCertificateRequest, and for which pod. */
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import type { Skipped } from '../../conformance/observed-request.ts';
import { messageOf } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { generatePrivateKey } from '../../pki/keys/private-key.ts';
import { may } from '../permissions.ts';
import { stubOf } from './plans.ts';
import type { PcrKit } from './run.ts';

export type Facts = Pick<
  PodCertificateRequest['spec'],
  'podName' | 'podUID' | 'serviceAccountName' | 'serviceAccountUID' | 'nodeName' | 'nodeUID'
>;

export interface Requester {
  readonly client: Client;
  /** Of a pod that runs, where a kubelet has shown one; invented else. */
  readonly facts: Facts;
}

/**
 * How the kit can write requests itself: as who it is, or as the pod's node, where it may impersonate
 * it. The API server is asked with a dry run, for admission has its own say (NodeRestriction of nodes,
 * a policy like deploy/admission of others).
 */
export async function findRequester(
  pcr: PcrKit,
  shown: PodCertificateRequest | undefined,
): Promise<Requester | Skipped> {
  const { kit, requests } = pcr;
  const facts = shown === undefined ? inventedFacts(pcr) : factsOf(shown);
  const lacking = await kit.rights.lacking(may(['create', 'get'], requests.plural, kit.namespace));
  const refusal = lacking ?? (await dryRun(pcr, kit.client, facts));
  if (refusal === undefined) return { client: kit.client, facts };
  if (shown === undefined)
    return { skipped: `${refusal}; and no kubelet has shown a pod to speak for` };
  const other = await kit.rights.lacking(...impersonating(facts.nodeName));
  if (other !== undefined) return { skipped: `${refusal}; as its node: ${other}` };
  const client = kit.clientAs(`system:node:${facts.nodeName}`, ['system:nodes']);
  const second = await dryRun(pcr, client, facts);
  return second === undefined
    ? { client, facts }
    : { skipped: `${refusal}; as its node: ${second}` };
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
  { kit, requests }: PcrKit,
  client: Client,
  facts: Facts,
): Promise<string | undefined> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const stubPKCS10Request = stubOf(key).toString('base64');
  const metadata = { name: `conformance-${kit.run}-dry-run`, namespace: kit.namespace };
  const spec = { ...facts, signerName: kit.signerName, stubPKCS10Request };
  const body = { apiVersion: requests.apiVersion, kind: 'PodCertificateRequest', metadata, spec };
  try {
    const path = requests.collection(kit.namespace);
    await client.request({ method: 'POST', path, query: { dryRun: 'All' }, body });
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status !== 0) return messageOf(error);
    throw error;
  }
}

function factsOf({ spec }: PodCertificateRequest): Facts {
  const { podName, podUID, serviceAccountName, serviceAccountUID, nodeName, nodeUID } = spec;
  return { podName, podUID, serviceAccountName, serviceAccountUID, nodeName, nodeUID };
}

function inventedFacts({ kit }: PcrKit): Facts {
  return {
    podName: `conformance-${kit.run}`,
    podUID: uuid(kit.random(16)),
    serviceAccountName: kit.serviceAccount,
    serviceAccountUID: uuid(kit.random(16)),
    nodeName: 'conformance',
    nodeUID: uuid(kit.random(16)),
  };
}

/** RFC 9562 §5.4. */
export function uuid(bytes: Uint8Array): string {
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
