// SPDX-License-Identifier: Apache-2.0
/** What leads strangers to the ports that are for them. */
import { COMPONENTS } from '../components.ts';
import type { PublicPort } from '../components/description.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';

/** A Service for each public port. */
export function publicPorts(plan: InstallationPlan): readonly Manifest[] {
  return ofEach(plan, (metadata, labels, { name, servicePort = 80 }) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: labels, ports: [{ name, port: servicePort, targetPort: name }] },
  }));
}

/**
 * Where a NetworkPolicy keeps others from our pods, one that lets everybody reach their public ports: the Ingress
 * controller, or whoever it is that routes to them.
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
      ingress: [{ ports: [{ port: containerPort }] }],
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
