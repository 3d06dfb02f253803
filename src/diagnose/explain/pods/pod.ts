// SPDX-License-Identifier: Apache-2.0
import { MIN_KUBELET } from '#api/object/node.ts';
import type { Pod } from '#api/object/pod.ts';
import { worstOf, type Explanation, type Diagnosis } from '../explanation.ts';
import { raiseCommand, type FullQuota } from '#operations/pods/quota.ts';
import { isTooOld, type AskingKubelet } from './read-kubelet.ts';
import type { TrustVerdict } from './trust.ts';

/** Returns the signer names of a pod's `podCertificate` projections, without duplicates. */
export function mountedSigners({ spec }: Pod): readonly string[] {
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return [...new Set(sources.flatMap(({ podCertificate }) => podCertificate?.signerName ?? []))];
}

/** Known reasons why a pod has no PodCertificateRequest, and its other problems. */
export interface RequestBlockers {
  /** Quota of its namespace that rejects the kubelet's next request. */
  readonly quota?: FullQuota | undefined;
  readonly kubelet?: AskingKubelet | undefined;
  /** Verdict on the leaves of a pod whose containers run. */
  readonly running?: TrustVerdict | undefined;
  /** Verdict on a leaf that verifiers reject, regardless of the latest request. */
  readonly rejected?: TrustVerdict | undefined;
  /** Latest warning of its kubelet. */
  readonly warning?: string | undefined;
  /** Problems of a pod whose certificates were issued. */
  readonly notes?: readonly PodNote[];
}

/** A problem of a pod, and a command that shows or fixes it. */
export interface PodNote {
  readonly text: string;
  readonly remediation: string;
}

/**
 * Explains a pod's credentials. Pure.
 *
 * @param requests - the explanations of its PodCertificateRequests, the latest of each signer
 * @param why - the known reasons if there is none
 */
export function explainPod(
  pod: Pod,
  requests: readonly Explanation[],
  why: RequestBlockers = {},
): Diagnosis {
  const signers = mountedSigners(pod);
  const { nodeName } = pod.spec;
  const timeline = [
    { at: pod.metadata.creationTimestamp, what: `the pod is created` },
    ...(nodeName === undefined ? [] : [{ what: `it is bound to node ${nodeName}` }]),
  ];
  const { notes = [] } = why;
  if (signers.length === 0) {
    return {
      timeline,
      ...noted({ state: 'NotUsed', summary: NO_VOLUME, remediation: [] }, notes),
      ...(notes.length === 0
        ? { remediation: ['deploy/examples/pod.yaml shows such a volume'] }
        : {}),
    };
  }
  if (requests.length === 0)
    return { timeline, ...noted(why.running ?? notAsked(pod, why), notes) };
  const worst = worstOf(requests);
  if (worst === undefined) throw new TypeError('there is a request');
  return {
    timeline,
    ...noted(withRejection(worst, why.rejected), notes),
    ...(worst.next === undefined ? {} : { next: worst.next }),
    parts: requests,
  };
}

const NO_VOLUME = 'it has no volume with a podCertificate source';

/** Appends notes to a verdict. */
export function noted(
  { state, summary, remediation }: TrustVerdict,
  notes: readonly PodNote[],
): TrustVerdict {
  return {
    state,
    summary: [summary, ...notes.map(({ text }) => text)].join('; '),
    remediation: [...remediation, ...notes.map((each) => each.remediation)],
  };
}

/**
 * Adds the verdict on a rejected leaf, which matters even while the pod waits for its next leaf or
 * for that of another signer.
 */
function withRejection(worst: Explanation, rejected: TrustVerdict | undefined): TrustVerdict {
  if (rejected === undefined || worst.state === 'NotTrusted') return worst;
  const { state, summary, remediation } = worst;
  return {
    state: state === 'Denied' || state === 'Failed' ? state : rejected.state,
    summary: `${summary}; ${rejected.summary}`,
    remediation: [...rejected.remediation, ...remediation],
  };
}

/** Returns why the pod has no request. */
function notAsked(
  { metadata: { name, namespace = '' }, spec, status }: Pod,
  { quota, kubelet, warning }: RequestBlockers,
): TrustVerdict {
  const state = 'WaitingForComponent';
  const describe = `kubectl describe pod ${name} -n ${namespace}`;
  if (spec.nodeName === undefined)
    return {
      state,
      summary: 'no node runs it yet, so no kubelet requests a certificate',
      remediation: [describe],
    };
  const absent = 'there is no PodCertificateRequest of it';
  if (isTooOld(kubelet)) {
    const why = `the kubelet of node ${kubelet.node} is ${kubelet.version}, and does not know podCertificate volumes (1.${MIN_KUBELET} does)${status?.phase === 'Running' ? ': it runs without its certificates' : ''}`;
    const remediation = [
      `kubectl cordon ${kubelet.node}   # keeps new pods away from it, or upgrade it`,
      `kubectl delete pod ${name} -n ${namespace}   # its controller creates another, which runs elsewhere`,
    ];
    return { state: 'WaitingForNode', summary: `${absent}: ${why}`, remediation };
  }
  if (quota === undefined) {
    const why =
      warning ?? 'the kubelet has created none, or it was deleted 15 minutes after its end';
    return { state, summary: `${absent}: ${why}`, remediation: [describe] };
  }
  const why = `ResourceQuota ${quota.name} of the namespace allows ${quota.hard} at a time, so that the API server refuses the kubelet's`;
  const remediation = [raiseCommand(namespace, quota)];
  return { state, summary: `${absent}: ${why}`, remediation };
}
