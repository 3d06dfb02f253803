// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-csr`: create → approve → sign of CertificateSigningRequests, by our approver and
 * signer and by kube-controller-manager's two controllers, with its limits raised and as shipped,
 * in turns on one cluster. ARGS: `--requests 3000 --default-requests 200 --rounds 3`.
 */
import { startBenchCluster } from '../cluster/start.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { medianRatio, medians, rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { runRounds } from '../measure/rounds.ts';
import { printRatios } from '../measure/table.ts';
import { isDisturbed } from '../measure/undisturbed.ts';
import { csrContenders, type CsrContender } from './baselines.ts';
import { measureFlow, type Flow } from './measure-flow.ts';
import { newKeys, peopleSigner } from './requests.ts';

/** Just-in-time compilers, caches and connections: at 10 a second they are as warm after fewer. */
const WARM_UP = 500;
const WARM_UP_DEFAULT = 10;

const sizes = readArguments({
  requests: { default: 3000, least: 10 },
  'default-requests': { default: 200, least: 10 },
  rounds: { default: 3, least: 1 },
});
const { requests, rounds } = sizes;
const limited = sizes['default-requests'];

endOnSignals();
const bench = await startBenchCluster(console.log, [peopleSigner()]);
try {
  const all = await csrContenders(bench.cluster);
  const keys = newKeys(Math.max(requests, limited));
  const measure = (contender: CsrContender): Promise<Flow> => {
    const slow = contender.name === 'kcm-default';
    const size = slow ? limited : requests;
    const warmUp = Math.min(size, slow ? WARM_UP_DEFAULT : WARM_UP);
    return measureFlow(bench, contender, { keys: keys.slice(0, size), warmUp });
  };
  const flows = await runRounds(
    all.map((contender) => ({ name: contender.name, measure: () => measure(contender) })),
    rounds,
  );
  const rates = (name: string): number[] =>
    (flows.get(name) ?? []).map(({ certificatesPerSecond }) => certificatesPerSecond);
  const ratios = {
    csr_vs_kcm_unlimited: medianRatio(rates('countersign'), rates('kcm-unlimited')),
    csr_vs_kcm_default: medianRatio(rates('countersign'), rates('kcm-default')),
  };
  printRatios(ratios);
  const figures = [...flows].map(([name, of]) => {
    const [least, most] = [Math.min(...rates(name)), Math.max(...rates(name))];
    return [name, { ...medians(of), leastPerSecond: rounded(least), mostPerSecond: rounded(most) }];
  });
  writeResults(sizes.results, 'csr', {
    ratios,
    figures: {
      requests,
      defaultRequests: limited,
      rounds,
      disturbed: [...flows.values()].flat().filter(isDisturbed).length,
      ...(Object.fromEntries(figures) as object),
    },
    machine: readMachine(bench.kubernetes),
  });
} finally {
  await bench.stop();
}
