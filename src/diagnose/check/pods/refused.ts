// SPDX-License-Identifier: Apache-2.0
/** The check of pods whose requests were denied or failed. Pure: facts in, outcomes out. */
import {
  countPodCertificates,
  podCertificateSigners,
  recreatingOwner,
  type Pod,
} from '#api/object/pod.ts';
import { findCondition } from '#api/request/conditions.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { shellWord } from '#base/quote.ts';
import type { InstallationFacts } from '../facts.ts';
import { allWell, error, finalError, whereSeen, type Outcome } from '../finding.ts';
import { managedNames } from '../managed-names.ts';
import { podList } from './named-pods.ts';

/** A pod and the answer that refuses it a certificate. */
interface RefusedPodRequest {
  readonly pod: Pod;
  readonly type: 'Denied' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** `requests-granted` */
export function checkGranted({ pods, signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(pods, ({ mounting, requests }) =>
    whereSeen(signers, (known) => {
      const isManaged = managedNames(known);
      const byPod = Map.groupBy(requests, ({ spec }) => spec.podUID);
      const refused = mounting.flatMap((pod) => {
        const own = byPod.get(pod.metadata.uid) ?? [];
        const names = [...podCertificateSigners(pod)].filter(isManaged);
        return names.flatMap((name) => refusalOf(pod, name, own) ?? []);
      });
      const byCause = Map.groupBy(refused, ({ pod, type, reason, message }) =>
        JSON.stringify([pod.metadata.namespace, pod.status?.phase, type, reason, message]),
      );
      return allWell(
        [...byCause.values()].flatMap(outcomesOf),
        'no request of a pod was denied or failed',
      );
    }),
  );
}

/** Reads only the newest requests: one for each podCertificate source of this signer in the pod. */
function refusalOf(
  pod: Pod,
  signerName: string,
  requests: readonly PodCertificateRequest[],
): RefusedPodRequest | undefined {
  const newest = requests
    .filter(({ spec }) => spec.signerName === signerName)
    .toSorted((a, b) => b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp))
    .slice(0, countPodCertificates(pod, signerName));
  for (const { status } of newest) {
    for (const type of ['Denied', 'Failed'] as const) {
      const found = findCondition(status?.conditions, type);
      const { reason = '', message = '' } = found ?? {};
      if (found?.status === 'True') return { pod, type, reason, message };
    }
  }
  return undefined;
}

function outcomesOf(all: readonly RefusedPodRequest[]): readonly Outcome[] {
  const [first] = all;
  if (first === undefined) return [];
  const { pod, type, reason, message } = first;
  const { name, namespace = '' } = pod.metadata;
  const effect =
    pod.status?.phase === 'Running'
      ? 'a certificate that they have is not renewed'
      : 'they do not start';
  const why = `${podList(all.map((each) => each.pod))}: their requests are ${type}, and ${effect}: ${reason}: ${message}`;
  const remediation = `countersign explain ${shellWord(`pod/${name}`)} -n ${shellWord(namespace)}`;
  const subject = `pod/${name} in namespace ${namespace}`;
  // A controller may be replacing the pod, after its user has corrected the cause.
  const mayPass = all.some((each) => recreatingOwner(each.pod) !== undefined);
  return [(mayPass ? error : finalError)(why, remediation, subject)];
}
