// SPDX-License-Identifier: Apache-2.0
/** What keeps the components at work while others drain nodes or load the API server. */
import { COMPONENTS } from '../components.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { LABELS, labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';

const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1';
const NAME = 'countersign';

/** A drain of nodes leaves one replica of a component at work. */
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

/** A place of our own in the API server's line (API Priority and Fairness): a level, and who belongs to it. */
export function flowControl({ installation }: InstallationPlan): readonly Manifest[] {
  return [priorityLevel(), flowSchema(installation.namespace)];
}

function priorityLevel(): Manifest {
  return {
    apiVersion: FLOW_CONTROL,
    kind: 'PriorityLevelConfiguration',
    metadata: { name: NAME, labels: LABELS },
    spec: {
      type: 'Limited',
      limited: {
        // Of 275 shares with those that Kubernetes brings: 65 of the default 600 seats. A component has 32
        // objects at work at most, and the server counts more than one seat for a list.
        nominalConcurrencyShares: 30,
        // What we do not need others may have: most of the time that is nearly everything.
        lendablePercent: 80,
        limitResponse: {
          type: 'Queue',
          // One flow a component: a hand of four queues of sixteen keeps them apart.
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
    metadata: { name: NAME, labels: LABELS },
    spec: {
      priorityLevelConfiguration: { name: NAME },
      // Behind those of Kubernetes itself (up to 900), before service-accounts (9000).
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
