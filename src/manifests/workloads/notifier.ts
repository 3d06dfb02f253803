// SPDX-License-Identifier: Apache-2.0
/** What `notifier` keeps, what it is told, and where it may connect to. */
import { CURSORS } from '../../controllers/notifier/cursor.ts';
import type { ComponentName } from '../components.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';

const NOTIFIER = 'notifier';

/**
 * The ConfigMap with how far each target has got, made empty: applying it again leaves what was filled in. And, where a
 * NetworkPolicy keeps others from our pods, one that says where this component may connect to.
 */
export function notifierObjects({
  components,
  installation: { namespace },
  parts: { networkPolicy },
}: InstallationPlan): readonly Manifest[] {
  if (!components.has(NOTIFIER)) return [];
  const labels = labelsOf(NOTIFIER);
  const cursors = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { name: CURSORS, namespace, labels },
  };
  if (networkPolicy === undefined) return [cursors];
  const policy = {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    metadata: { name: CURSORS, namespace, labels },
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Egress'],
      egress: networkPolicy.notifierEgress,
    },
  };
  return [cursors, policy];
}

/** Whom it tells what. */
export function notifierArguments(
  component: ComponentName,
  { installation, parts }: InstallationPlan,
): readonly string[] {
  if (component !== NOTIFIER) return [];
  const pods = installation.notifiedPods === true ? ['--look-at-pods'] : [];
  return [...(parts.notifierArguments ?? []), ...pods];
}
