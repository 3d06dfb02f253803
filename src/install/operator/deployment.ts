// SPDX-License-Identifier: Apache-2.0
import { LABELS, labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { LINUX, apart, probes } from '../workloads/deployment.ts';
import { CONTAINER_CONFINEMENT, POD_CONFINEMENT } from '../pod-confinement.ts';

/** Differences between the Deployments of operators. */
export interface OperatorDeployment {
  /** The subcommand. */
  readonly component: string;
  readonly namespace: string;
  /** Reference of the image, with its tag. */
  readonly image: string;
  /** Arguments besides the subcommand. */
  readonly args: readonly string[];
  readonly description: string;
}

/** Returns the Deployment of an operator, which belongs to no installation. */
export function operatorDeployment(init: OperatorDeployment): Manifest {
  const { component, namespace, description } = init;
  const labels = labelsOf(component);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: `countersign-${component}`,
      namespace,
      labels,
      annotations: { 'kubernetes.io/description': description },
    },
    spec: {
      // One leads by its Lease, and the other waits.
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...LABELS, ...labels } },
        spec: {
          affinity: apart(component),
          nodeSelector: LINUX,
          serviceAccountName: `countersign-${component}`,
          automountServiceAccountToken: true,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 30,
          securityContext: POD_CONFINEMENT,
          containers: [container(init)],
        },
      },
    },
  };
}

function container({ component, image, args }: OperatorDeployment): Manifest {
  return {
    name: component,
    image,
    args: [component, ...args],
    ports: [{ name: 'http', containerPort: 8080 }],
    ...probes(),
    resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
    securityContext: CONTAINER_CONFINEMENT,
  };
}
