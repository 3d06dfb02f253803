// SPDX-License-Identifier: Apache-2.0
/** `policy/v1` PodDisruptionBudget: the pods that it selects, and how many may be disrupted now. */
import type { LabelSelector } from '../object/label-selector.ts';
import type { KubeObject } from '../object/object.ts';

export const DISRUPTION_BUDGET_RESOURCE = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
} as const;

export interface DisruptionBudget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
  };
}
