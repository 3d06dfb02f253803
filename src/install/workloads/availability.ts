// SPDX-License-Identifier: Apache-2.0
/** Objects that keep the components available during node drains and API server load. */
import { COMPONENTS } from '../component-list.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { LABELS, labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';

const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1';
/** Name of the FlowSchema, and of its PriorityLevelConfiguration. */
export const FLOW_CONTROL_NAME = 'countersign';

/** Returns a budget with which a node drain leaves one replica of a component running. */
export function disruptionBudget(component: string, { installation }: InstallationPlan): Manifest {
  const labels = labelsOf(component);
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: `countersign-${component}`, namespace: installation.namespace, labels },
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: labels },
    },
  };
}

/** Returns a priority level for API Priority and Fairness, and the flow schema of its members. */
export function flowControl({ installation }: InstallationPlan): readonly Manifest[] {
  return flowControlOf(installation.namespace);
}

/**
 * Returns them for the components in a namespace.
 *
 * @param namespace - of the components
 */
export function flowControlOf(namespace: string): readonly Manifest[] {
  return [priorityLevel(), flowSchema(namespace)];
}

function priorityLevel(): Manifest {
  return {
    apiVersion: FLOW_CONTROL,
    kind: 'PriorityLevelConfiguration',
    metadata: { name: FLOW_CONTROL_NAME, labels: LABELS },
    spec: {
      type: 'Limited',
      limited: {
        // 30 of 275 shares with those of Kubernetes: 66 of the default 600 seats. A loop of a
        // component writes at most 36 objects at a time, or 68 beside a ledger, and the server
        // counts more than one seat for a list. More waits in the queues.
        nominalConcurrencyShares: 30,
        // Lend unused seats: most of the time nearly all.
        lendablePercent: 80,
        limitResponse: {
          type: 'Queue',
          // One flow for each component. A hand of four out of sixteen queues separates them.
          queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 },
        },
      },
    },
  };
}

function flowSchema(namespace: string): Manifest {
  return {
    apiVersion: FLOW_CONTROL,
    kind: 'FlowSchema',
    metadata: { name: FLOW_CONTROL_NAME, labels: LABELS },
    spec: {
      priorityLevelConfiguration: { name: FLOW_CONTROL_NAME },
      // After those of Kubernetes itself (up to 900), before service-accounts (9000).
      matchingPrecedence: 1000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [...COMPONENTS.keys()].map((component) => ({
            kind: 'ServiceAccount',
            serviceAccount: { namespace, name: `countersign-${component}` },
          })),
          resourceRules: [
            {
              verbs: ['*'],
              apiGroups: ['*'],
              resources: ['*'],
              namespaces: ['*'],
              clusterScope: true,
            },
          ],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  };
}
