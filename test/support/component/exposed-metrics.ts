// SPDX-License-Identifier: Apache-2.0
import { SERIES } from '#app/all-metrics.ts';
import { createMetrics } from '#component/web/metric-registry.ts';
import { LEADER_SERIES, SHARE_SERIES } from '#component/web/process-metrics.ts';

/** Series by name, with their labels, as a component exposes them. */
export function everySeries(): ReadonlyMap<string, readonly string[]> {
  const { registry } = createMetrics('approver', '0', [...SERIES, LEADER_SERIES, SHARE_SERIES]);
  const found = registry.getMetricsAsArray().map((metric) => {
    const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] };
    return [name, labelNames] as const;
  });
  return new Map(found);
}
