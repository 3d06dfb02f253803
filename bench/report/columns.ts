// SPDX-License-Identifier: Apache-2.0

/** Headings of the fields of bench/results/*.json. What is not here is shown by its own name. */
const HEADINGS: Readonly<Record<string, string>> = {
  certificatesPerSecond: 'certificates/s',
  leastPerSecond: 'least',
  mostPerSecond: 'most',
  secondsFromStart: 'process start to last, s',
  secondsToFirst: 'to first, s',
  contenderCpu: 'own CPU, µs',
  apiServerCpu: 'API server, µs',
  etcdCpu: 'etcd, µs',
  benchCpu: 'bench, µs',
  otherCores: 'cores elsewhere',
  ordersPerSecond: 'orders/s',
  acmeCallsPerOrder: 'ACME calls an order',
  apiWritesPerOrder: 'API writes an order',
  contenderCpuMs: 'own CPU, ms',
  apiServerCpuMs: 'API server, ms',
  bytesPerRecord: 'bytes a record',
  appendedPerSecond: 'records/s appended',
  verifiedPerCpuSecond: 'verified/s of CPU time',
  openMs: 'to open it, ms',
  apiServerCpuPerPod: 'API server a pod, µs',
  peakMiB: 'most memory, MiB',
  medianMs: 'median, ms',
  wholeAfterMs: 'whole after, ms',
  heapMiB: 'heap, MiB',
  heapLaterMiB: 'heap later, MiB',
  p50Ms: 'p50, ms',
  p95Ms: 'p95, ms',
  p99Ms: 'p99, ms',
  perSecondAndCore: 'leaves/s/core',
};

export function headingOf(field: string): string {
  return HEADINGS[field] ?? field;
}
