// SPDX-License-Identifier: Apache-2.0
import { createMetrics } from '../../../src/web/metrics.ts';
import { createLeaderMetrics, createShareMetrics } from '../../../src/web/replica-metrics.ts';

/** Series by name, with their labels, as a component exposes them. */
export function everySeries(): ReadonlyMap<string, readonly string[]> {
  const shared = createMetrics('approver', '0').registry;
  createShareMetrics(shared);
  const leading = createMetrics('authority', '0').registry;
  createLeaderMetrics(leading);
  const found = [...shared.getMetricsAsArray(), ...leading.getMetricsAsArray()].map((metric) => {
    const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] };
    return [name, labelNames] as const;
  });
  return new Map(found);
}
