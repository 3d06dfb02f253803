// SPDX-License-Identifier: Apache-2.0
import {
  isHeadless,
  hasSelectedEndpoints,
  selectsLabels,
  type Service,
} from '#api/object/service.ts';
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { PodServicesSpec } from '#api/signer/cluster-signer.ts';
import { SignerError, type ErrorCode } from '#base/errors.ts';
import type { NamedPod } from '#ca/issuance/service-names.ts';
import { MAX_POD_SERVICES } from '#base/vocabulary.ts';
import type { PodPlan } from '../plan.ts';
import * as messages from '../messages.ts';

/** A Service's name is a label: RFC 1123 since 1.34 behind a gate, earlier RFC 1035. */
const SERVICE_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

type ServiceChoice = { readonly services: readonly Service[] } | PodPlan;

/**
 * Chooses the Services whose names the leaf of a pod gets. Faults that time or a user may fix make
 * the request wait, since a kubelet never repeats a denied request. Only a wrong annotation is
 * denied, since no request can lose it.
 *
 * @param services - all Services of the pod's namespace
 */
export function chooseServices(
  spec: PodServicesSpec,
  request: PodCertificateRequest,
  pod: Pod,
  services: readonly Service[],
): ServiceChoice {
  const name = ownOf(request.spec.unverifiedUserAnnotations, spec.annotation);
  if (spec.select === 'All') return selecting(spec, pod, services);
  if (name === undefined) {
    return spec.required
      ? wrongAnnotation(messages.annotationMissing(spec.annotation))
      : { services: [] };
  }
  if (!SERVICE_NAME.test(name)) {
    return wrongAnnotation(messages.notAServiceName(spec.annotation, name));
  }
  const found = services.find(({ metadata }) => metadata.name === name);
  if (found === undefined) {
    const advice = messages.CREATE_OR_CORRECT;
    return wait('SERVICE_NOT_FOUND', messages.serviceNotFound(where(pod, name), advice));
  }
  if (selectsLabels(found, pod.metadata.labels)) return { services: [found] };
  return wait('SERVICE_DOES_NOT_SELECT_POD', whyNot(found, pod));
}

function ownOf(
  annotations: Readonly<Record<string, string>> | undefined,
  key: string | undefined,
): string | undefined {
  if (annotations === undefined || key === undefined) return undefined;
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

function selecting(
  { required }: PodServicesSpec,
  pod: Pod,
  services: readonly Service[],
): ServiceChoice {
  const found = services
    .filter((service) => selectsLabels(service, pod.metadata.labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (found.length > MAX_POD_SERVICES) {
    return wait('NAME_INVALID', messages.tooManyServices(found.length, where(pod)));
  }
  if (found.length > 0 || !required) return { services: found };
  return wait(
    'SERVICE_DOES_NOT_SELECT_POD',
    messages.notSelected(pod.metadata.namespace, pod.metadata.name),
  );
}

function whyNot(service: Service, pod: Pod): string {
  const at = messages.serviceText(where(pod, service.metadata.name));
  const { type, selector = {} } = service.spec ?? {};
  if (service.metadata.deletionTimestamp !== undefined) return messages.serviceDeleted(at);
  if (type === 'ExternalName') return messages.externalName(at);
  if (!hasSelectedEndpoints(service)) return messages.withoutSelector(at);
  const [key = '', value = ''] =
    Object.entries(selector).find(([each, wanted]) => pod.metadata.labels?.[each] !== wanted) ?? [];
  return messages.otherLabels(at, pod.metadata.name, key, value);
}

function where({ metadata }: Pod, name = metadata.name): string {
  return `${metadata.namespace ?? ''}/${name}`;
}

function wrongAnnotation(message: string): PodPlan {
  return { kind: 'deny', reason: 'InvalidUnverifiedUserAnnotations', message };
}

function wait(code: ErrorCode, message: string): PodPlan {
  return { kind: 'wait', error: new SignerError({ code, disposition: 'wait', message }) };
}

/** Returns the inputs for the names of a leaf. */
export function namedPod(pod: Pod, services: readonly Service[]): NamedPod {
  const { metadata, spec, status } = pod;
  return {
    namespace: metadata.namespace ?? '',
    labels: metadata.labels ?? {},
    hostname: spec.hostname ?? '',
    subdomain: spec.subdomain ?? '',
    ip: status?.podIP ?? '',
    services: services.map((service) => ({
      name: service.metadata.name,
      isHeadless: isHeadless(service),
    })),
  };
}
