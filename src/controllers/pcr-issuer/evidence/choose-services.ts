// SPDX-License-Identifier: Apache-2.0
import {
  isHeadless,
  hasSelectedEndpoints,
  selectsLabels,
  type Service,
} from '../../../api/object/service.ts';
import type { Pod } from '../../../api/object/pod.ts';
import type { PodCertificateRequest } from '../../../api/request/pod-certificate-request.ts';
import type { PodServicesSpec } from '../../../api/signer/cluster-signer.ts';
import { SignerError, type ErrorCode } from '../../../errors.ts';
import type { NamedPod } from '../../../issuance/service-names.ts';
import { quote } from '../../../quote.ts';
import { MAX_POD_SERVICES } from '../../../vocabulary.ts';
import type { PodPlan } from '../plan.ts';

/** A Service's name is a label (RFC 1123, since 1.34 behind a gate; before that RFC 1035). */
const SERVICE_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

type Chosen = { readonly services: readonly Service[] } | PodPlan;

/**
 * The Services whose names the leaf of a pod has. Whatever time or a person may mend makes the request wait: a kubelet
 * never asks again for a pod whose request was denied. Only a wrong annotation is denied, since no request can lose it.
 *
 * @param services - all of the pod's namespace
 */
export function chooseServices(
  spec: PodServicesSpec,
  request: PodCertificateRequest,
  pod: Pod,
  services: readonly Service[],
): Chosen {
  const name = ownOf(request.spec.unverifiedUserAnnotations, spec.annotation);
  if (spec.select === 'All') return selecting(spec, pod, services);
  if (name === undefined) {
    return spec.required
      ? wrongAnnotation(`${spec.annotation ?? ''} is missing; name the Service in it`)
      : { services: [] };
  }
  if (!SERVICE_NAME.test(name)) {
    return wrongAnnotation(
      `${spec.annotation ?? ''} may not have the value ${quote(name)}, which is no name of a Service`,
    );
  }
  const found = services.find(({ metadata }) => metadata.name === name);
  if (found === undefined) {
    const advice = 'create it, or correct the annotation of the volume and delete the pod';
    return wait('SERVICE_NOT_FOUND', `Service ${where(pod, name)} does not exist; ${advice}`);
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

function selecting({ required }: PodServicesSpec, pod: Pod, services: readonly Service[]): Chosen {
  const found = services
    .filter((service) => selectsLabels(service, pod.metadata.labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (found.length > MAX_POD_SERVICES) {
    return wait(
      'NAME_INVALID',
      `${found.length} Services select pod ${where(pod)}, more than the ${MAX_POD_SERVICES} that a leaf may name; use spec.pods.services.select FromAnnotation`,
    );
  }
  if (found.length > 0 || !required) return { services: found };
  return wait(
    'SERVICE_DOES_NOT_SELECT_POD',
    `no Service of namespace ${pod.metadata.namespace ?? ''} selects pod ${pod.metadata.name}; correct the selector of a Service or the labels of the pod`,
  );
}

function whyNot(service: Service, pod: Pod): string {
  const at = `Service ${where(pod, service.metadata.name)}`;
  const { type, selector = {} } = service.spec ?? {};
  if (service.metadata.deletionTimestamp !== undefined) return `${at} is being deleted`;
  if (type === 'ExternalName')
    return `${at} is an alias (ExternalName), which selects no pod; name a Service with a selector`;
  if (!hasSelectedEndpoints(service))
    return `${at} has no selector, so that nothing says whose endpoints it has; name a Service with a selector`;
  const [key = '', value = ''] =
    Object.entries(selector).find(([each, wanted]) => pod.metadata.labels?.[each] !== wanted) ?? [];
  return `${at} does not select pod ${pod.metadata.name}, which has not the label ${quote(key)} with the value ${quote(value)}; correct the selector or the label`;
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

/** What the names of a leaf are made from. */
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
