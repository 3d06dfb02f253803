// SPDX-License-Identifier: Apache-2.0
import { counter, gauge } from '#component/metric.ts';

/** The series of `pod-refresher`. */
export const REFRESH_SERIES = {
  workloads: gauge(
    'countersign_refresh_workloads',
    'Workloads that opted in to restarts, by their state after the last pass.',
    ['state'],
  ),
  restarts: counter(
    'countersign_refresh_restarts_total',
    'Restarts that began, or that the API server rejected.',
    ['outcome'],
  ),
  evictions: counter(
    'countersign_refresh_evictions_total',
    'Evictions of pods, for an expiring credential or in place of a rollout, by outcome.',
    ['outcome'],
  ),
};
