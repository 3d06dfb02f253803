// SPDX-License-Identifier: Apache-2.0
/** Reads the input for explanations of pods, their workloads, and their requests. */
import { byAge } from '#api/object/object.ts';
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { readFullQuota } from '#operations/pods/quota.ts';
import { unreadAnnotations, type AnnotatedObject } from '#operations/pods/unread-annotations.ts';
import type { Explanation } from '../explanation.ts';
import { finish, read, type ExplainContext, type Subject } from '../lookup/reading.ts';
import { controllerOf, explainWorkload, podsOf, type PodController } from '../lookup/workload.ts';
import { kindNamed, NAMED_KINDS } from '../../kinds.ts';
import { readSignerView } from '../read-signer-view.ts';
import type { SignerView } from '../signer-view.ts';
import { withWaitReason } from '../waiting/read-wait-reason.ts';
import { explainPodRequest } from './pod-certificate-request.ts';
import { explainPod, mountedSigners, type PodNote, type RequestBlockers } from './pod.ts';
import { readEvidence } from './read-evidence.ts';
import { isTooOld, readKubelet } from './read-kubelet.ts';
import { unselectedNote } from './services-note.ts';
import { podRejection, readTrust, runningTrust, withRequestTrust } from './trust.ts';
import type { TrustEvidence } from '../revoked.ts';

/** Explains a PodCertificateRequest by its name. */
export async function explainPcr(
  init: ExplainContext,
  { name, namespace }: Subject,
): Promise<Explanation> {
  const [kind] = await certificatesResources(init.client, 'podcertificaterequests');
  const request = await read<PodCertificateRequest>(init, kind, { namespace, name });
  return ofPodRequest(init, request);
}

async function ofPodRequest(
  init: ExplainContext,
  request: PodCertificateRequest,
  known?: JudgedSigner,
): Promise<Explanation> {
  const { client } = init;
  const { view, trust } = known ?? (await readSigner(init, request.spec.signerName));
  const evidence = await readEvidence(client, request, view);
  const { namespace, creationTimestamp } = request.metadata;
  // pcr-issuer's Events regard the pod, because its owner looks there.
  const pod = { uid: request.spec.podUID, namespace, creationTimestamp };
  const judged = withRequestTrust(explainPodRequest(request, view, evidence), request, trust);
  const diagnosis = await withWaitReason(init, view, judged, pod);
  return finish(init, 'podcertificaterequest', request, diagnosis);
}

/** A signer, and the evidence for the trust in its leaves. */
interface JudgedSigner {
  readonly view: SignerView;
  readonly trust: TrustEvidence | undefined;
}

async function readSigner(init: ExplainContext, name: string): Promise<JudgedSigner> {
  const view = await readSignerView(init.client, name);
  return { view, trust: await readTrust(init, view) };
}

/** Explains a pod by its name. */
export async function explainPodOf(
  init: ExplainContext,
  { name, namespace }: Subject,
): Promise<Explanation> {
  return ofPod(init, await read<Pod>(init, PODS, { namespace, name }));
}

/** Explains the pods of a Deployment, a StatefulSet, a DaemonSet or a ReplicaSet. */
export async function explainWorkloadOf(
  init: ExplainContext,
  { kind, name, namespace }: Subject,
): Promise<Explanation> {
  const found = kindNamed(kind);
  if (found === undefined) throw new TypeError(`${kind} is a workload`);
  const api = await NAMED_KINDS[found].resource(init.client);
  const workload = await read<PodController>(init, api, { namespace, name });
  const { known: _known, ...rest } = init;
  const pods = await podsOf(init.client, workload);
  const parts = await Promise.all(pods.map((pod) => ofPod(rest, pod)));
  const own = unreadNotes({
    kind: found,
    namespace,
    name,
    annotations: workload.metadata.annotations,
  });
  return finish(init, found, workload, explainWorkload(workload, parts, own));
}

async function ofPod(init: ExplainContext, pod: Pod): Promise<Explanation> {
  const names = mountedSigners(pod);
  const requests = names.length === 0 ? [] : await requestsOf(init, pod);
  const signers = await Promise.all(names.map((name) => readSigner(init, name)));
  const parts = await Promise.all(
    signers.flatMap((signer) => {
      const newest = requests
        .filter(({ spec }) => spec.signerName === signer.view.signerName)
        .toSorted(byAge)
        .at(-1);
      return newest === undefined ? [] : [ofPodRequest(init, newest, signer)];
    }),
  );
  const why = await whyOf(init, pod, { signers, requests, isAsked: parts.length > 0 });
  return finish(init, 'pod', pod, explainPod(pod, parts, why));
}

interface PodReading {
  readonly signers: readonly JudgedSigner[];
  readonly requests: readonly PodCertificateRequest[];
  readonly isAsked: boolean;
}

/** Reads why a pod has no request, and its other problems. */
async function whyOf(
  init: ExplainContext,
  pod: Pod,
  { signers, requests, isAsked }: PodReading,
): Promise<RequestBlockers> {
  const { client } = init;
  const unselected = await unselectedNote(
    client,
    pod,
    signers.map(({ view }) => view),
  );
  const { kind, name } = controllerOf(pod);
  const { namespace = '', annotations } = pod.metadata;
  const inTemplate = kind !== 'pod';
  const notes = [
    ...(unselected === undefined ? [] : [unselected]),
    ...unreadNotes({ kind, name, namespace, annotations, inTemplate }),
  ];
  const evidence = signers.flatMap(({ trust }) => trust ?? []);
  const rejected = podRejection(pod, evidence, requests);
  if (isAsked || signers.length === 0) return { notes, rejected };
  const kubelet = await readKubelet(client, pod.spec.nodeName);
  if (isTooOld(kubelet)) return { notes, kubelet };
  if (pod.status?.phase === 'Running')
    return { notes, running: runningTrust(pod, evidence, rejected) };
  return {
    notes,
    quota: await readFullQuota(client, namespace),
    kubelet,
    warning: (await init.events(pod.metadata)).warning,
  };
}

/**
 * Returns a note for each countersign.dev annotation that no component reads. A pod may lack a
 * certificate because of one.
 */
function unreadNotes({
  annotations = {},
  inTemplate = false,
  kind,
  name,
  namespace,
}: Pick<AnnotatedObject, 'kind' | 'name' | 'namespace'> & {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly inTemplate?: boolean;
}): readonly PodNote[] {
  return unreadAnnotations({ kind, name, namespace, annotations, inTemplate }).map(
    ({ why, remediation }) => ({ text: why, remediation }),
  );
}

async function requestsOf(
  { client }: ExplainContext,
  { metadata }: Pod,
): Promise<readonly PodCertificateRequest[]> {
  const [kind] = await certificatesResources(client, 'podcertificaterequests');
  return listObjects<PodCertificateRequest>(client, kind, {
    namespace: metadata.namespace,
    keep: ({ spec }) => spec.podUID === metadata.uid,
  });
}
