// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { REVOCATIONS } from '#api/revocation/names.ts';
import { readRevocation, type Revocation } from '#api/revocation/revocation.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';
import {
  chainTrust,
  leafTrust,
  revocationsInForce,
  type LeafTrust,
} from '#operations/pods/leaf-trust.ts';
import { revocationEffect } from '#operations/pods/revocation-effect.ts';
import type { ReadSignerStateInit } from '#operations/read-signer-state.ts';
import { phaseOf, type SignerState } from '#operations/signer-state.ts';
import { shellWord } from '#base/quote.ts';
import type { Diagnosis } from '../explanation.ts';
import { revokedText, type TrustEvidence } from '../revoked.ts';
import { readVisibleState } from '../read-signer-view.ts';
import type { SignerView } from '../signer-view.ts';

/**
 * Reads the bundle and the Revocations of a ClusterSigner with the user's permissions.
 *
 * @returns undefined for signers of other kinds, whose bundles others publish
 * @throws KubeError other than 403 and 404
 */
export async function readTrust(
  init: ReadSignerStateInit,
  { signer }: SignerView,
): Promise<TrustEvidence | undefined> {
  const [state, revocations] = await Promise.all([
    readVisibleState(init, signer),
    readRevocations(init.client),
  ]);
  if (state === undefined) return undefined;
  return { state, revocations: revocationsInForce(revocations, state) };
}

/**
 * Reads all Revocations that the user may list.
 *
 * @throws KubeError other than 403 and 404
 */
export async function readRevocations(client: Client): Promise<readonly Revocation[]> {
  const found = await listReadable<KubeObject>(client, resource(REVOCATIONS));
  return found.flatMap((object) => {
    const read = attempt(() => readRevocation(object));
    return read instanceof SignerError ? [] : [read];
  });
}

/** Adds to the diagnosis of an issued request that verifiers reject its certificate. */
export function withRequestTrust(
  diagnosis: Diagnosis,
  request: PodCertificateRequest,
  evidence: TrustEvidence | undefined,
): Diagnosis {
  if (diagnosis.state !== 'Issued' || evidence === undefined) return diagnosis;
  const trust = chainTrust(request, evidence);
  const { namespace = '' } = request.metadata;
  const pod = { namespace, name: request.spec.podName };
  const bad = trust === undefined ? undefined : rejection(trust, evidence.state, pod);
  if (bad === undefined) return diagnosis;
  const { next } = diagnosis;
  const of = trust?.kind === 'revoked' && next !== undefined ? nextAfter(trust.by, next) : {};
  return { ...diagnosis, ...bad, ...of, summary: `${diagnosis.summary}; ${bad.summary}` };
}

/** Returns the next request for a revoked certificate. A Revocation does not make it earlier. */
function nextAfter(
  { metadata, spec }: Revocation,
  { at }: NonNullable<Diagnosis['next']>,
): Pick<Diagnosis, 'next'> {
  const isRefused = (spec.holders ?? []).length > 0;
  const what = isRefused
    ? `the kubelet requests a new one, which Revocation ${metadata.name} may refuse`
    : 'the kubelet requests a new one, and keeps the revoked one until then';
  return { next: { what, ...(at === undefined ? {} : { at }) } };
}

/** A verdict on the leaves of a pod, with its remediation. */
export type TrustVerdict = Pick<Diagnosis, 'state' | 'summary' | 'remediation'>;

/**
 * Returns why verifiers reject a leaf of a pod, or may, by the same code as `countersign check`.
 * Undefined without evidence, and for a pod whose containers do not run, which holds no leaf yet.
 *
 * @param requests - requests of the pod, which the API server keeps for 15 minutes
 */
export function podRejection(
  pod: Pod,
  evidence: readonly TrustEvidence[],
  requests: readonly PodCertificateRequest[],
): TrustVerdict | undefined {
  if (pod.status?.phase !== 'Running') return undefined;
  const { namespace = '', name } = pod.metadata;
  for (const each of evidence) {
    const trust = leafTrust(pod, { ...each, requests });
    const bad = rejection(trust, each.state, { namespace, name });
    if (bad !== undefined) return bad;
  }
  return undefined;
}

/** Returns the verdict on a running pod whose requests were deleted. */
export function runningTrust(
  { metadata }: Pod,
  evidence: readonly TrustEvidence[],
  rejected: TrustVerdict | undefined,
): TrustVerdict {
  const { namespace = '', name } = metadata;
  const gone =
    'its containers run, so it has its certificates; Kubernetes deleted its requests after 15 minutes';
  if (rejected !== undefined) return { ...rejected, summary: `${gone}; ${rejected.summary}` };
  const serials = evidence.flatMap(({ revocations }) =>
    revocations.flatMap(({ spec }) => spec.certificates),
  );
  const revoked =
    serials.length === 0
      ? ''
      : `, nor whether one of them is among the ${serials.length} revoked ones`;
  return {
    state: 'Issued',
    summary: `${gone}, so explain cannot tell which certificates these are${revoked}`,
    remediation: [
      `countersign ledger search --pod ${shellWord(`${namespace}/${name}`)}   # where there is a ledger`,
    ],
  };
}

/**
 * Returns a note about the holders of a Revocation that the successor of a pod may share: its
 * ServiceAccount and its names. It has another UID and another key.
 */
function alsoRefused({ metadata, spec }: Revocation): readonly string[] {
  const shared = (spec.holders ?? []).some(
    ({ serviceAccount, name, pod }) =>
      serviceAccount !== undefined ||
      name !== undefined ||
      (pod !== undefined && pod.uid === undefined),
  );
  if (!shared) return [];
  return [
    `kubectl get revocation ${shellWord(metadata.name)} -o yaml   # its spec.holders may match the new pod, too, which then gets no certificate`,
  ];
}

/** Returns why verifiers reject a leaf, or may. Undefined without evidence. */
function rejection(
  trust: LeafTrust,
  signerState: SignerState,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): TrustVerdict | undefined {
  const restart = `kubectl -n ${shellWord(namespace)} delete pod ${shellWord(name)}   # its controller makes another pod, which requests a new certificate; create a pod without one again`;
  const state = 'NotTrusted';
  const { name: signer } = signerState.signer.metadata;
  switch (trust.kind) {
    case 'revoked':
      return {
        state,
        summary: `${revokedText(trust.by)}: ${revocationEffect(trust.by)}; the Revocation does not make the kubelet replace it earlier`,
        remediation: [restart, ...alsoRefused(trust.by)],
      };
    case 'untrusted':
      // The next leaf of the pod is of the same CA.
      if (phaseOf(signerState, trust.authority ?? '') === 'Active') {
        return {
          state,
          summary: `the bundle of ClusterSigner ${signer} lacks the anchor of the CA that signs: verifiers reject it`,
          remediation: ['countersign check   # why does attester not publish the anchor?'],
        };
      }
      return {
        state,
        summary: `the bundle of ClusterSigner ${signer} does not cover it: verifiers reject it`,
        remediation: [restart],
      };
    case 'doubtful':
      return {
        state,
        summary: `it started before CA ${trust.authority} was distrusted, and may hold a certificate of that CA, which verifiers reject`,
        remediation: [restart],
      };
    case 'trusted':
    case 'unknown':
      return undefined;
  }
}
