// SPDX-License-Identifier: Apache-2.0
import { LEAST_KUBELET, knowsPodCertificates } from '../../api/object/node.ts';
import type { Pod } from '../../api/object/pod.ts';
import type { Explanation, Journey, State } from '../explanation.ts';
import type { FullQuota } from './quota.ts';
import type { AskingKubelet } from './read-kubelet.ts';

/** The worst state decides. */
const ORDER: readonly State[] = [
  ...([
    'Failed',
    'Denied',
    'WaitsForSigner',
    'WaitsForTrust',
    'WaitsForRule',
    'WaitsForService',
  ] as const),
  ...(['WaitsForApproval', 'WaitsForComponent', 'Issued'] as const),
];

/** The signer names of the `podCertificate` projections of a pod, each once. */
export function mountedSigners({ spec }: Pod): readonly string[] {
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return [...new Set(sources.flatMap(({ podCertificate }) => podCertificate?.signerName ?? []))];
}

/** What is known of why a pod has no PodCertificateRequest. */
export interface WhyNotAsked {
  /** Of its namespace, by which the kubelet's next is refused. */
  readonly quota?: FullQuota | undefined;
  readonly kubelet?: AskingKubelet | undefined;
}

/**
 * The journey of a pod's credentials. Pure.
 *
 * @param requests - the explanations of its PodCertificateRequests, the newest of each signer
 * @param why - what is known of why there is none
 */
export function explainPod(
  pod: Pod,
  requests: readonly Explanation[],
  why: WhyNotAsked = {},
): Journey {
  const signers = mountedSigners(pod);
  const { nodeName } = pod.spec;
  const timeline = [
    { at: pod.metadata.creationTimestamp, what: `the pod is created` },
    ...(nodeName === undefined ? [] : [{ what: `it is bound to node ${nodeName}` }]),
  ];
  if (signers.length === 0) {
    return {
      timeline,
      state: 'NotUsed',
      summary: 'it has no volume with a podCertificate source',
      todo: ['deploy/examples/pod.yaml shows such a volume'],
    };
  }
  if (requests.length === 0) return { timeline, ...notAsked(pod, why) };
  const [worst] = requests.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  if (worst === undefined) throw new TypeError('there is a request');
  return {
    timeline,
    state: worst.state,
    summary: worst.summary,
    ...(worst.next === undefined ? {} : { next: worst.next }),
    todo: worst.todo,
    parts: requests,
  };
}

/** Why there is no request of it. */
function notAsked(
  { metadata: { name, namespace = '' }, spec }: Pod,
  { quota, kubelet }: WhyNotAsked,
): Pick<Journey, 'state' | 'summary' | 'todo'> {
  const state = 'WaitsForComponent';
  const describe = `kubectl describe pod ${name} -n ${namespace}`;
  if (spec.nodeName === undefined)
    return { state, summary: 'no node runs it yet, so that no kubelet asks', todo: [describe] };
  const absent = 'there is no PodCertificateRequest of it';
  if (kubelet !== undefined && !knowsPodCertificates(kubelet.version)) {
    const why = `the kubelet of node ${kubelet.node} is ${kubelet.version}, and does not know podCertificate volumes (1.${LEAST_KUBELET} does)`;
    const todo = [
      `kubectl cordon ${kubelet.node}   # keeps new pods away from it, or upgrade it`,
      `kubectl delete pod ${name} -n ${namespace}   # whoever made it makes another, which runs elsewhere`,
    ];
    return { state: 'WaitsForNode', summary: `${absent}: ${why}`, todo };
  }
  if (quota === undefined) {
    const why = 'the kubelet has not asked, or the request was deleted 15 minutes after its end';
    return { state, summary: `${absent}: ${why}`, todo: [describe] };
  }
  const why = `ResourceQuota ${quota.name} of the namespace allows ${quota.hard} at a time, so that the API server refuses the kubelet's`;
  const todo = [`kubectl describe resourcequota ${quota.name} -n ${namespace}`];
  return { state, summary: `${absent}: ${why}`, todo };
}
