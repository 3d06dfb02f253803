// SPDX-License-Identifier: Apache-2.0
/**
 * The check of pods whose kubelets have not requested a certificate. Pure: facts in, outcomes out.
 */
import { podCertificateSigners, type Pod } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';
import { raiseCommand, type FullQuota } from '#operations/pods/quota.ts';
import { shellWord } from '#base/quote.ts';
import type { InstallationFacts, PodFacts } from '../facts.ts';
import { allWell, error, whereSeen, type Outcome } from '../finding.ts';
import { managedNames } from '../managed-names.ts';
import { podList } from './named-pods.ts';

/** Age from which the missing request of a pod is overdue. */
const OVERDUE_MS = 120_000;

/** `pods-requested` */
export function checkRequested({ pods, signers, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(pods, (facts) =>
    whereSeen(signers, (known) => {
      const isManaged = managedNames(known);
      const late = facts.mounting.filter(
        (pod) =>
          isLate(pod, now) &&
          [...podCertificateSigners(pod)].some(
            (name) => isManaged(name) && lacksRequest(pod, name, facts),
          ),
      );
      const byCause = Map.groupBy(late, (pod) => JSON.stringify(causeOf(pod, facts)));
      return allWell(
        [...byCause.values()].flatMap((all) => waiting(all, facts, now)),
        'the kubelet of every pod has requested its certificates',
      );
    }),
  );
}

function isLate(pod: Pod, now: number): boolean {
  const isBound = pod.status?.phase === 'Pending' && pod.spec.nodeName !== undefined;
  return isBound && now - startOf(pod) > OVERDUE_MS;
}

function startOf({ metadata, status }: Pod): number {
  return parseTime(status?.startTime ?? metadata.creationTimestamp);
}

function lacksRequest(pod: Pod, signerName: string, { requests }: PodFacts): boolean {
  return !requests.some(
    ({ spec }) => spec.podUID === pod.metadata.uid && spec.signerName === signerName,
  );
}

interface Cause {
  readonly namespace: string;
  readonly quota?: FullQuota;
  readonly message?: string;
}

function causeOf({ metadata }: Pod, { quotas, warnings }: PodFacts): Cause {
  const { namespace = '', uid } = metadata;
  const full = quotas.find((each) => each.namespace === namespace);
  if (full !== undefined) return { namespace, quota: full };
  // The path of the volume contains the pod's UID, so texts of different pods would differ.
  const message = warnings.get(uid)?.replaceAll(uid, 'UID');
  return message === undefined ? { namespace } : { namespace, message };
}

/** Kubernetes deletes a PodCertificateRequest 15 minutes after its end (cleaner in kubernetes). */
const REQUEST_KEPT_MS = 15 * 60_000;

/** A request that was refused may have existed for as long as its pod. */
function absence(pods: readonly Pod[], now: number): string {
  return pods.some((pod) => now - startOf(pod) > REQUEST_KEPT_MS)
    ? 'they have no request: their kubelets created none, or it was denied or failed, and Kubernetes deleted it after 15 minutes'
    : 'their kubelets have requested no certificate';
}

function waiting(pods: readonly Pod[], facts: PodFacts, now: number): readonly Outcome[] {
  const [first] = pods;
  if (first === undefined) return [];
  const { namespace, quota, message } = causeOf(first, facts);
  const wait = `${podList(pods)}: they wait, and ${absence(pods, now)}`;
  const subject = `pod/${first.metadata.name} in namespace ${namespace}`;
  if (quota !== undefined) {
    return [
      error(
        `${wait}: ResourceQuota ${quota.name} allows no more PodCertificateRequests in the namespace`,
        raiseCommand(namespace, quota),
        subject,
      ),
    ];
  }
  const because = message === undefined ? '' : `: ${message}`;
  const name = shellWord(`pod/${first.metadata.name}`);
  return [
    error(`${wait}${because}`, `countersign explain ${name} -n ${shellWord(namespace)}`, subject),
  ];
}
