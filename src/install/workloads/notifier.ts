// SPDX-License-Identifier: Apache-2.0
/** Objects and arguments of `notifier`, and the destinations that it may connect to. */
import { CURSORS } from '#notify/notifier/objects.ts';
import type { ComponentName } from '../component-list.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';

const NOTIFIER = 'notifier';

/**
 * Returns the ConfigMap with the cursor of each target. It starts empty, so applying it again keeps
 * what was filled in. If NetworkPolicies isolate the pods, it also returns one for the destinations
 * of this component.
 */
export function notifierObjects({
  components,
  installation: { namespace },
  parts: { networkPolicy },
}: InstallationPlan): readonly Manifest[] {
  if (!components.has(NOTIFIER)) return [];
  const labels = labelsOf(NOTIFIER);
  const cursors = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: CURSORS, namespace, labels },
  };
  if (networkPolicy === undefined) return [cursors];
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: CURSORS, namespace, labels },
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Egress'],
      egress: networkPolicy.notifierEgress,
    },
  };
  return [cursors, policy];
}

/** Returns the arguments for targets and their events. */
export function notifierArguments(
  component: ComponentName,
  { installation, parts }: InstallationPlan,
): readonly string[] {
  if (component !== NOTIFIER) return [];
  const pods = installation.notifiedPods === true ? ['--read-pods'] : [];
  return [...(parts.notifierArguments ?? []), ...pods];
}
