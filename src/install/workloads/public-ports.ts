// SPDX-License-Identifier: Apache-2.0
/** Services and policies for the public ports of components. */
import { COMPONENTS } from '../component-list.ts';
import type { PublicPort } from '#component/descriptor.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';

/** Returns a Service for each public port. */
export function publicPorts(plan: InstallationPlan): readonly Manifest[] {
  return ofEach(plan, (metadata, labels, { name, servicePort = 80 }) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      // Clients outside of the cluster may have IPv4 or IPv6 alone.
      ipFamilyPolicy: 'PreferDualStack',
      selector: labels,
      ports: [{ name, port: servicePort, targetPort: name }],
    },
  }));
}

/**
 * Returns a NetworkPolicy that opens the public ports to all peers, such as an Ingress controller,
 * if NetworkPolicies isolate the pods.
 */
export function publicNetworkPolicies(plan: InstallationPlan): readonly Manifest[] {
  if (plan.parts.networkPolicy === undefined) return [];
  return ofEach(plan, (metadata, labels, { containerPort }) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress'],
      // Names the default protocol: server-side apply treats the list as one value.
      ingress: [{ ports: [{ port: containerPort, protocol: 'TCP' }] }],
    },
  }));
}

function ofEach(
  plan: InstallationPlan,
  make: (
    metadata: Manifest,
    labels: Readonly<Record<string, string>>,
    port: PublicPort,
  ) => Manifest,
): readonly Manifest[] {
  const { namespace } = plan.installation;
  return [...plan.components.keys()].flatMap((component) => {
    const { publicPorts: ports = [] } = COMPONENTS.get(component) ?? {};
    const labels = labelsOf(component);
    return ports.map((port) => make({ name: port.service, namespace, labels }, labels, port));
  });
}
