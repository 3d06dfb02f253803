// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { certificateAuthority } from '../ca/generated.ts';
import { apply } from './apply.ts';

const READY_MS = 120_000;

/** `namespace/name` of a Signer. */
export interface SignerPlace {
  readonly namespace: string;
  readonly name: string;
}

/** A team's CA in its own namespace, with its consent to one signer name; a fresh one each time. */
export async function applyTeamCa(
  cluster: Cluster,
  wanted: { readonly namespace: string; readonly name: string; readonly consentsTo?: string },
): Promise<{ readonly certificate: string }> {
  const { namespace, name, consentsTo } = wanted;
  const { certificate, key } = await certificateAuthority();
  const annotations = consentsTo === undefined ? {} : { 'countersign.dev/signer-name': consentsTo };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { namespace, name, annotations },
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  };
  await apply(cluster, secret);
  return { certificate };
}

/** A Signer as a team writes it: for pods, people and cert-manager. */
export function signerObject(
  { namespace, name }: SignerPlace,
  spec: Readonly<Record<string, unknown>> = {},
): object {
  const usages = ['digital signature', 'client auth', 'server auth'];
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Signer',
    metadata: { namespace, name },
    spec: {
      authority: { secret: { name: 'team-ca' } },
      profile: { keyTypes: ['ECDSAP256', 'ED25519'], usages },
      pods: {
        allow: 'true',
        dnsNames: ["pod.serviceAccount + '.' + pod.namespace + '.svc'"],
      },
      requests: {
        copy: ['commonName', 'organizations'],
        rules: [
          {
            name: 'own-name',
            when: 'true',
            allow: { commonName: 'self == request.username', organizations: 'true', usages },
          },
        ],
      },
      certificateRequests: {
        rules: [{ name: 'all', when: 'true', allow: { dnsNames: 'true', usages } }],
      },
      ...spec,
    },
  };
}

export async function applyTeamSigner(
  cluster: Cluster,
  place: SignerPlace,
  spec: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await apply(cluster, signerObject(place, spec));
}

export async function getTeamSigner(
  cluster: Cluster,
  { namespace, name }: SignerPlace,
): Promise<ClusterSigner> {
  const get = ['get', 'signers.countersign.dev', name, '-n', namespace, '-o', 'json'];
  return JSON.parse((await cluster.kubectl(get)).stdout) as ClusterSigner;
}

/** Ready once it has `reason` for the present generation. */
export function waitForTeamSigner(
  cluster: Cluster,
  place: SignerPlace,
  reason: string,
): Promise<Condition & { readonly message: string }> {
  return until(`Signer ${place.namespace}/${place.name} is ${reason}`, READY_MS, async () => {
    const { metadata, status } = await getTeamSigner(cluster, place);
    const ready = findCondition(status?.conditions, 'Ready');
    const current = status?.observedGeneration === metadata.generation;
    if (current && ready?.reason === reason) return { ...ready, message: ready.message ?? '' };
    throw new Error(`it is ${ready?.reason ?? 'without status'}: ${ready?.message ?? ''}`);
  });
}
