// SPDX-License-Identifier: Apache-2.0
import type { CallResult } from '#kube/client/client.ts';
import type { QueueMetrics } from '#kube/workqueue/queue.ts';
import type { Component } from '#component/contract.ts';
import type { SeriesRecorder, SeriesTable } from '#component/metric.ts';
import { PROCESS_SERIES } from '#component/web/process-metrics.ts';
import { PROCESSES } from '#install/component-list.ts';
import { SENDER_SERIES } from '#ledger/sender/metrics.ts';

/** The series that every process exposes: its own, and those of all components. */
export const SERIES: readonly SeriesTable[] = [
  PROCESS_SERIES,
  SENDER_SERIES,
  ...new Set(PROCESSES.flatMap(({ series = [] }) => series)),
];

/** Returns the metrics of a component: those of its main loop and watches, and its own series. */
export function componentMetrics(metrics: SeriesRecorder, name: string): Component['metrics'] {
  const { watchRestarts, watchLastEvent, queueWork, queueRetries } = metrics.of(PROCESS_SERIES);
  return {
    watchRestart: ({ resource }, reason) => watchRestarts.inc({ resource, reason }),
    watchEvent: ({ resource, selector }, seconds) =>
      watchLastEvent.set({ resource, selector }, seconds),
    watchStopped: ({ resource, selector }) => watchLastEvent.remove({ resource, selector }),
    worked: (seconds) => queueWork.observe({ name }, seconds),
    retried: () => queueRetries.inc({ name }),
    of: metrics.of,
    unserved: metrics.unserved,
  };
}

/** Counts a response of the API server, as client-go's dashboards expect. */
export function countAnswer(metrics: SeriesRecorder, { method, status }: CallResult): void {
  const { calls } = metrics.of(PROCESS_SERIES);
  calls.inc({ method, code: status === 0 ? '<error>' : String(status) });
}

/** Maps the counts of a queue to the `workqueue_*` series of client-go. */
export function queueMetrics(metrics: SeriesRecorder, name: string): QueueMetrics {
  const { queueAdds, queueDepth, queueWait } = metrics.of(PROCESS_SERIES);
  return {
    added: () => queueAdds.inc({ name }),
    depth: (count) => queueDepth.set({ name }, count),
    waited: (seconds) => queueWait.observe({ name }, seconds),
  };
}
