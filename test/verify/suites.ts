// SPDX-License-Identifier: Apache-2.0
/** The suites of `make verify`, in the order in which they run. */
import { commandsOf, countsTests, pathsIn, type Makefile } from './makefile.ts';
import type { Roots } from './import-graph.ts';

/** A suite, which is one target of the Makefile. */
export interface Suite {
  readonly target: string;
  /** Variables of make for the target. */
  readonly variables?: readonly string[];
  /** Programs that the project does not bring, and that the suite cannot do without. */
  readonly takes?: readonly string[];
  /** Runs only if ONLY names it. */
  readonly isOnRequest?: true;
  /** Files that the suite starts by a name which it puts together. */
  readonly starts?: Roots;
}

const integration = ['test/integration/*.ts'];

export const SUITES: readonly Suite[] = [
  { target: 'test-long', starts: integration },
  { target: 'test-1.36', starts: integration },
  { target: 'test-oracle-mutations' },
  { target: 'test-oracle' },
  { target: 'test-java', takes: ['keytool'] },
  { target: 'test-shells', takes: ['zsh', 'fish'] },
  { target: 'test-cel-cost' },
  { target: 'test-faults-short' },
  { target: 'test-faults' },
  { target: 'test-silence' },
  { target: 'test-flood' },
  { target: 'test-flood-real' },
  { target: 'test-acme' },
  { target: 'test-acme-killed' },
  { target: 'test-ledger' },
  { target: 'test-ledger-faults', takes: ['prlimit'] },
  { target: 'test-ledger-million', isOnRequest: true },
  { target: 'test-revocation' },
  { target: 'test-rotation' },
  { target: 'test-rotation-cluster', starts: integration },
  { target: 'test-trust-rotation' },
  { target: 'test-trust-manager' },
  { target: 'test-spiffe' },
  { target: 'test-keys' },
  { target: 'test-vault' },
  { target: 'test-step-ca' },
  { target: 'test-fleet' },
  { target: 'test-refresher' },
  { target: 'test-operator' },
  { target: 'test-operator-long' },
  { target: 'test-operator-advice' },
  { target: 'test-cert-manager' },
  { target: 'test-cert-manager-operator' },
  { target: 'test-install' },
  { target: 'test-clusters' },
  { target: 'test-real-pods' },
  { target: 'test-real-pods-operator' },
  { target: 'test-real-pods-credentials' },
  { target: 'test-examples' },
  { target: 'test-monitoring' },
  { target: 'test-console' },
  { target: 'bench-smoke', starts: ['bench/**/*.ts'] },
  { target: 'demo', variables: ['ACME=1'] },
];

/** What every suite depends on: packages, how TypeScript is read, and Node's flags in the image. */
const EVERY_SUITE = ['package.json', 'package-lock.json', 'tsconfig.json', 'Dockerfile'];
/** What the bundle and the library are built from. */
const BUILT = ['src', 'build'];

/** Returns where the reach of a suite begins. */
export function rootsOf({ target, starts = [] }: Suite, makefile: Makefile): Roots {
  const commands = commandsOf(makefile, target);
  const built = /^dist\//m.test(commands) ? BUILT : [];
  return [...EVERY_SUITE, ...built, ...starts, ...pathsIn(commands)];
}

/** Reports whether a run of the suite prints how many tests it has. */
export function hasTests({ target }: Suite, makefile: Makefile): boolean {
  return countsTests(commandsOf(makefile, target));
}

/**
 * Returns the suites that ONLY names, as `test-acme` or `acme`.
 *
 * @throws if a name is no suite
 */
export function suitesNamed(only: string, suites: readonly Suite[] = SUITES): readonly Suite[] {
  const names = only.split(',').map((name) => name.trim());
  const isNamed = ({ target }: Suite, name: string): boolean =>
    target === name || target === `test-${name}`;
  const unknown = names.filter((name) => !suites.some((suite) => isNamed(suite, name)));
  if (unknown.length > 0) {
    const known = suites.map(({ target }) => target).join(', ');
    throw new Error(
      `ONLY=${only}: no suite is called ${unknown.join(', ')}; want some of ${known}`,
    );
  }
  return suites.filter((suite) => names.some((name) => isNamed(suite, name)));
}
