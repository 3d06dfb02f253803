// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { SignerError } from '#base/errors.ts';
import type { PodProfile } from '#ca/issuance/pod-profile.ts';
import type { NamedPod } from '#ca/issuance/service-names.ts';
import type { PodPlan } from '../plan.ts';
import { chooseServices, namedPod } from './choose-services.ts';
import { isPodOf, type PodEvidence, type Proof } from './evidence.ts';
import { isPodAddress } from './pod-address.ts';
import * as messages from '../messages.ts';

/** The proven names of a pod, or the plan for its request. */
export type EvidenceVerdict = { readonly named: NamedPod; readonly proof: Proof } | PodPlan;

/**
 * Judges the pod of a request and its Services. Pure.
 *
 * @param evidence - undefined if the spec required none when it was gathered
 */
export function judgeEvidence(
  profile: PodProfile,
  request: PodCertificateRequest,
  evidence: PodEvidence | undefined,
): EvidenceVerdict {
  const pod = evidence?.pod;
  const name = `${request.metadata.namespace ?? ''}/${request.spec.podName}`;
  if (pod === undefined || !isPodOf(request, pod)) {
    const of = messages.podIdentity(request.spec.podUID);
    return wait('POD_NOT_FOUND', messages.podNotFound(name, of));
  }
  const unknown = profile.ipAddresses.length > 0 ? addressFault(pod, name) : undefined;
  if (unknown !== undefined) return wait('POD_ADDRESS_UNKNOWN', unknown);
  const chosen = chosenOf(profile, request, { pod, services: evidence?.services });
  if ('kind' in chosen) return chosen;
  const { services } = chosen;
  const named = namedPod(pod, services);
  const proof = { pod, services, labels: profile.labels ?? [] };
  return { named, proof: { ...proof, hasAddress: profile.ipAddresses.length > 0 } };
}

/**
 * Returns the fault of a pod's address. A pod in the network of its node has one before its volumes
 * are mounted. Any other may have none yet.
 */
function addressFault({ spec, status }: Pod, name: string): string | undefined {
  const address = status?.podIP ?? '';
  if (address !== '')
    return isPodAddress(address) ? undefined : messages.notAPodAddress(address, name);
  return spec.hostNetwork === true ? messages.addressUnknown(name) : undefined;
}

function chosenOf(
  { services: wanted }: PodProfile,
  request: PodCertificateRequest,
  { pod, services }: { readonly pod: Proof['pod']; readonly services: PodEvidence['services'] },
): ReturnType<typeof chooseServices> {
  if (wanted === undefined) return { services: [] };
  if (services !== undefined) return chooseServices(wanted, request, pod, services);
  return wait('SERVICES_NOT_LISTED', messages.SERVICES_NOT_LISTED);
}

function wait(code: SignerError['code'], message: string): PodPlan {
  return { kind: 'wait', error: new SignerError({ code, disposition: 'wait', message }) };
}
