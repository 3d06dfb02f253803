// SPDX-License-Identifier: Apache-2.0
import { canonicalDnsName } from '#pki/names/canonical.ts';
import type { PodServicesSpec } from '#api/signer/cluster-signer.ts';
import type { ServiceNameForm } from '#base/vocabulary.ts';

/** A Service that selects a pod. */
export interface SelectingService {
  readonly name: string;
  readonly isHeadless: boolean;
}

/** The facts about a pod, besides its request, that determine the names of its leaf. */
export interface NamedPod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `spec.hostname` and `spec.subdomain`, as a StatefulSet sets them, or ''. */
  readonly hostname: string;
  readonly subdomain: string;
  /** `status.podIP`, or '' before it is known. */
  readonly ip: string;
  /** The Services whose names the leaf has. */
  readonly services: readonly SelectingService[];
}

type Spelling = (
  service: string,
  of: { readonly namespace: string; readonly clusterDomain: string },
) => string;

const SPELLINGS: Readonly<Record<ServiceNameForm, Spelling>> = {
  Service: (service) => service,
  ServiceNamespace: (service, { namespace }) => `${service}.${namespace}`,
  ServiceNamespaceSvc: (service, { namespace }) => `${service}.${namespace}.svc`,
  FullyQualified: (service, { namespace, clusterDomain }) =>
    `${service}.${namespace}.svc.${clusterDomain}`,
};

/**
 * Returns the DNS names by which Services lead to a pod (Kubernetes DNS-Based Service Discovery
 * §2.3.1 and §2.4.1). It returns that of each Service, and below a headless one that of the pod, if
 * its hostname is valid there. The endpoint of a pod has a hostname if the pod has one and its
 * subdomain is the Service (endpointslice/util, ShouldSetHostname).
 *
 * It omits names that a DNS server derives from addresses, because the specification does not
 * define them.
 *
 * @returns canonical names, each once, in the order of the Services and of `forms`
 * @throws SignerError NAME_INVALID if a name would be longer than DNS allows
 */
export function serviceNames(
  pod: Pick<NamedPod, 'namespace' | 'hostname' | 'subdomain' | 'services'>,
  { forms, clusterDomain }: Pick<PodServicesSpec, 'forms' | 'clusterDomain'>,
): readonly string[] {
  const { namespace } = pod;
  const found = pod.services.flatMap((service) =>
    forms.flatMap((form) => {
      const name = SPELLINGS[form](service.name, { namespace, clusterDomain });
      return hasOwnName(pod, service) ? [name, `${pod.hostname}.${name}`] : [name];
    }),
  );
  return [...new Set(found.map(canonicalDnsName))];
}

function hasOwnName(
  { hostname, subdomain }: Pick<NamedPod, 'hostname' | 'subdomain'>,
  { name, isHeadless }: SelectingService,
): boolean {
  return isHeadless && hostname !== '' && subdomain === name;
}
