// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-acme`: CertificateRequests of three names each, answered over ACME and DNS-01 by our
 * acme and acme-solver and by cert-manager's controllers, with its self-check replaced by no wait
 * and as shipped, in turns on one cluster with one Pebble and one BIND. ARGS:
 * `--requests 200 --default-requests 5 --rounds 3`; no default requests: that is left out.
 */
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { medianRatio, medians } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios, printRound } from '../measure/table.ts';
import { inTurns } from '../measure/turns.ts';
import { exactRelease } from '../../test/cluster/releases.ts';
import { acmeContenders, type AcmeContenderName } from './baselines.ts';
import { measureOrders, type OrdersRun } from './measure-orders.ts';
import { makerOf } from './requests.ts';
import { startStage } from './stage.ts';

/** More are no warmer. */
const WARM_UP = 20;

const sizes = readArguments({
  requests: { default: 200, least: 1 },
  'default-requests': { default: 5, least: 0 },
  rounds: { default: 3, least: 1 },
});
const { requests, rounds } = sizes;
const ofDefault = sizes['default-requests'];

endOnSignals();
const stage = await startStage(console.log);
try {
  const all = await acmeContenders(stage);
  const maker = await makerOf(stage);
  const runs = new Map<AcmeContenderName, OrdersRun[]>(all.map(({ name }) => [name, []]));
  const measure = async (name: AcmeContenderName, round: number, size: number): Promise<void> => {
    const contender = all.find((each) => each.name === name);
    if (contender === undefined) throw new Error(`there is no ${name}`);
    // As it is shipped it sleeps a minute with each record: it need not be warm.
    const warmUp = name === 'cert-manager-default' ? 0 : Math.min(size, WARM_UP);
    const label = `${name}-${round}`;
    const run = await measureOrders(stage, contender, { label, size, warmUp, maker });
    runs.get(name)?.push(run);
    printRound(round, name, run);
  };
  const turns = inTurns(['countersign', 'cert-manager'] as const, rounds);
  for (const [round, turn] of turns.entries()) {
    for (const name of turn) await measure(name, round + 1, requests);
    // What is measured is kept, however long the rest takes.
    write(runs);
    if (round > 0 || ofDefault === 0) continue;
    await measure('cert-manager-default', 1, ofDefault);
    write(runs);
  }
  printRatios(ratiosOf(runs));
} finally {
  await stage.stop();
}

function write(runs: ReadonlyMap<AcmeContenderName, readonly OrdersRun[]>): void {
  const figures = [...runs].filter(([, each]) => each.length > 0);
  writeResults(sizes.results, 'acme', {
    ratios: ratiosOf(runs),
    figures: {
      requests,
      defaultRequests: ofDefault,
      rounds: runs.get('countersign')?.length ?? 0,
      ...Object.fromEntries(figures.map(([name, each]) => [name, medians(each)])),
    },
    machine: readMachine(exactRelease(stage.cluster.version)),
  });
}

/** Ours as a multiple of cert-manager's. */
function ratiosOf(runs: ReadonlyMap<AcmeContenderName, readonly OrdersRun[]>): object {
  const of = (name: AcmeContenderName, field: keyof OrdersRun): readonly number[] =>
    (runs.get(name) ?? []).map((each) => each[field]);
  const against = (name: AcmeContenderName, field: keyof OrdersRun): number =>
    medianRatio(of('countersign', field).slice(0, of(name, field).length), of(name, field));
  return {
    acme_orders_vs_cert_manager: against('cert-manager', 'ordersPerSecond'),
    acme_orders_vs_cert_manager_default:
      of('cert-manager-default', 'ordersPerSecond').length > 0
        ? against('cert-manager-default', 'ordersPerSecond')
        : null,
    acme_calls_per_order_vs_cert_manager: against('cert-manager', 'acmeCallsPerOrder'),
    api_writes_per_order_vs_cert_manager: against('cert-manager', 'apiWritesPerOrder'),
  };
}
