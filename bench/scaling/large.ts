// SPDX-License-Identifier: Apache-2.0
/** What large installations take on a quiet day. */
import { MAX_LEAVES } from '#requests/pcr-issuer/evidence/outdated-names.ts';
import { EVENTS_PER_REQUEST, figure, MEASURED, type Costs } from './costs.ts';
import { renewals, type Fleet } from './scenarios.ts';

const MICROSECONDS = 1_000_000;
const DAY_SECONDS = 86_400;
/**
 * A kubelet creates a request and kube-controller-manager deletes it, beside our status. Each is
 * taken to cost what a status costs.
 */
const WRITES_OF_OTHERS = 2;
/** Of each of the six components, as the chart has it. */
const REPLICAS = 2;
const COMPONENTS = 6;

/**
 * A million pods on 10,000 nodes. Kubernetes' own limits are 150,000 pods and 5,000 nodes a
 * cluster.
 */
export const MILLION: Fleet = {
  clusters: 7,
  podsEach: 1_000_000 / 7,
  leafHours: 24,
  refreshPercent: 50,
};

/** What all clusters of a fleet take, in cores and calls a second. */
export interface Demand {
  readonly certificates: number;
  readonly ours: number;
  readonly ledger: number;
  readonly apiServer: number;
  readonly etcd: number;
  readonly etcdWrites: number;
  readonly ourCalls: number;
}

/** Returns what renewals take, and what idle components take besides. */
export function demand(fleet: Fleet, costs: Costs): Demand {
  const rate = renewals(fleet) * fleet.clusters;
  const cores = (microseconds: number, perSecond = rate): number =>
    (perSecond * microseconds) / MICROSECONDS;
  const idleWrites = (idle('writesPerMinute') * fleet.clusters) / 60;
  const heard = costs.hear * EVENTS_PER_REQUEST * (REPLICAS - 1);
  const told = costs.tell * EVENTS_PER_REQUEST * REPLICAS;
  return {
    certificates: rate,
    ours: cores(costs.issue + heard) + (idle('cpuMsPerMinute') * fleet.clusters) / 60_000,
    ledger: cores(costs.record),
    apiServer:
      cores(costs.write + MEASURED.write * WRITES_OF_OTHERS + told) +
      cores(MEASURED.write, idleWrites),
    etcd:
      cores(costs.store + MEASURED.store * WRITES_OF_OTHERS) + cores(MEASURED.store, idleWrites),
    etcdWrites: rate * (1 + WRITES_OF_OTHERS) + idleWrites,
    ourCalls: rate + (idle('callsPerMinute') * fleet.clusters) / 60,
  };
}

/** @throws Error if the bench measured another installation */
function idle(field: string): number {
  const of = (name: string): number => figure('idle', 'installations', 'countersign', name);
  if (of('processes') !== REPLICAS * COMPONENTS)
    throw new Error('bench/results/idle.json is not of a default installation');
  return of(field);
}

/**
 * MiB of a cluster's components at rest, and of the certificates that both replicas of pcr-issuer
 * remember.
 */
export function memory(fleet: Fleet): { readonly atRest: number; readonly remembered: number } {
  const count = Math.min(fleet.podsEach, MAX_LEAVES) * REPLICAS;
  return {
    atRest: idle('ownMiB'),
    remembered: (count * figure('memory', 'finished', 'countersign', 'bytesAnObject')) / 2 ** 20,
  };
}

/**
 * Records of all clusters a day, and their bytes. Each certificate is two records: the leaf, and
 * that it was delivered. The bench measured leaves over SQLite, which are larger.
 */
export function recordsOfADay(fleet: Fleet): { readonly records: number; readonly bytes: number } {
  const records = renewals(fleet) * fleet.clusters * DAY_SECONDS * 2;
  return { records, bytes: records * figure('ledger', 'bytesPerRecord') };
}

/** Returns what certificates of an ACME server take a day that are renewed every 60 days. */
export function acmeOfADay(certificates: number): {
  readonly orders: number;
  readonly calls: number;
  readonly writes: number;
  readonly ourSeconds: number;
  readonly apiServerSeconds: number;
  /** As fast as the bench ran, on two cores. */
  readonly allAtOnceMinutes: number;
} {
  const ours = (field: string): number => figure('acme', 'countersign', field);
  const orders = certificates / 60;
  return {
    orders,
    calls: orders * ours('acmeCallsPerOrder'),
    writes: orders * ours('apiWritesPerOrder'),
    ourSeconds: (orders * ours('contenderCpuMs')) / 1_000,
    apiServerSeconds: (orders * ours('apiServerCpuMs')) / 1_000,
    allAtOnceMinutes: certificates / ours('ordersPerSecond') / 60,
  };
}
