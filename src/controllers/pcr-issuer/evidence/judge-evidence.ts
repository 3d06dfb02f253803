// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '../../../api/object/pod.ts';
import type { PodCertificateRequest } from '../../../api/request/pod-certificate-request.ts';
import { SignerError } from '../../../errors.ts';
import type { PodProfile } from '../../../issuance/pod-profile.ts';
import type { NamedPod } from '../../../issuance/service-names.ts';
import type { PodPlan } from '../plan.ts';
import { chooseServices, namedPod } from './choose-services.ts';
import { isPodOf, type PodEvidence, type Proof } from './evidence.ts';

/** What is proven of a pod, or what becomes of its request. */
export type Judged = { readonly named: NamedPod; readonly proof: Proof } | PodPlan;

/**
 * Judges what was read of the pod of a request and of its Services. Pure.
 *
 * @param evidence - undefined where none was gathered, because the spec asked for none then
 */
export function judgeEvidence(
  profile: PodProfile,
  request: PodCertificateRequest,
  evidence: PodEvidence | undefined,
): Judged {
  const pod = evidence?.pod;
  const name = `${request.metadata.namespace ?? ''}/${request.spec.podName}`;
  if (pod === undefined || !isPodOf(request, pod)) {
    const of = `UID ${request.spec.podUID}, this node and this ServiceAccount`;
    return wait('POD_NOT_FOUND', `there is no pod ${name} with ${of}; its names cannot be proven`);
  }
  if (profile.ipAddresses.length > 0 && awaitsAddress(pod)) {
    const message = `the kubelet has not reported the address of pod ${name} yet, which has that of its node`;
    return wait('POD_ADDRESS_UNKNOWN', message);
  }
  const chosen = chosenOf(profile, request, { pod, services: evidence?.services });
  if ('kind' in chosen) return chosen;
  const { services } = chosen;
  const named = namedPod(pod, services);
  const proof = { pod, services, labels: profile.labels ?? [] };
  return { named, proof: { ...proof, hasAddress: profile.ipAddresses.length > 0 } };
}

/** A pod in the network of its node has an address before its volumes are mounted. */
function awaitsAddress({ spec, status }: Pod): boolean {
  return spec.hostNetwork === true && (status?.podIP ?? '') === '';
}

function chosenOf(
  { services: wanted }: PodProfile,
  request: PodCertificateRequest,
  { pod, services }: { readonly pod: Proof['pod']; readonly services: PodEvidence['services'] },
): ReturnType<typeof chooseServices> {
  if (wanted === undefined) return { services: [] };
  if (services !== undefined) return chooseServices(wanted, request, pod, services);
  return wait('SERVICES_NOT_LISTED', 'the Services of the cluster are not listed yet');
}

function wait(code: SignerError['code'], message: string): PodPlan {
  return { kind: 'wait', error: new SignerError({ code, disposition: 'wait', message }) };
}
