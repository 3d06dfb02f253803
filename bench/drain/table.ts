// SPDX-License-Identifier: Apache-2.0
import type { Figures } from './figures.ts';
import type { Drain } from './measure-drain.ts';

const NAME_WIDTH = 20;
const COLUMNS = ['cert/s', 'least', 'most', 'start→last s', 'CPU µs', 'API µs', 'etcd µs', 'other'];

export function printDrain(round: number, name: string, drain: Drain): void {
  const { certificatesPerSecond, contenderCpu, apiServerCpu, otherCores } = drain;
  console.log(
    `round ${round}  ${name.padEnd(NAME_WIDTH)}` +
      `${certificatesPerSecond.toFixed(0).padStart(6)} certificates/s` +
      `${contenderCpu.toFixed(0).padStart(7)} µs CPU each` +
      `${apiServerCpu.toFixed(0).padStart(7)} µs of the API server` +
      `${otherCores.toFixed(2).padStart(7)} cores elsewhere`,
  );
}

/** The medians, and the ratios that a mark is set on. */
export function printTable(figures: Figures, ratios: object): void {
  console.log(`\n${''.padEnd(NAME_WIDTH)}${COLUMNS.map((each) => each.padStart(13)).join('')}`);
  for (const [name, figure] of Object.entries(figures)) {
    const values = [
      figure.certificatesPerSecond,
      figure.leastPerSecond,
      figure.mostPerSecond,
      figure.secondsFromStart,
      figure.contenderCpu,
      figure.apiServerCpu,
      figure.etcdCpu,
      figure.otherCores,
    ];
    const cells = values.map((value) => String(value).padStart(13));
    console.log(`${name.padEnd(NAME_WIDTH)}${cells.join('')}`);
  }
  console.log('');
  for (const [name, ratio] of Object.entries(ratios)) console.log(`${name}  ${String(ratio)}`);
}
