// SPDX-License-Identifier: Apache-2.0
/** A search for expressions that take longer than their price says: time over price guides it. */
import { compileExpression, type Compiled } from '../../../src/cel/compile.ts';
import type { Shape } from '../../../src/cel/cost/shape.ts';
import { REQUEST } from '../../../src/cel/environments.ts';
import { SignerError, attempt } from '../../../src/errors.ts';

/** What one unit of a price stands for, in milliseconds. */
const UNIT_MS = 20e-6;
/** Shorter runs are no news, and cannot be measured. */
const LEAST_MS = 1;
/** A thread's time may be counted in steps of 10 ms; so much of it is measured. */
const MEASURED_MS = 60;
const KEPT = 20;

/** Numbers from 0 to `below`, each run the same: mulberry32. */
export type Pick = (below: number) => number;

export function picks(seed: number): Pick {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const LISTS = ['csr.uris', 'csr.dnsNames', 'csr.usages', 'request.groups', '[1,2,3].map(i,"a")'];
const PATTERNS = [
  'a',
  '^[ab]*$',
  '(a|b)*c',
  '\\\\bx\\\\B',
  '[ab]{1,20}c',
  'a.*b',
  '(?i)k+',
  '^(?:.?){30}$',
];

/** A text; `names` are loop variables in scope. */
function text(pick: Pick, names: readonly string[], depth: number): string {
  const simple = ["'a'", "'ab'.replace('a','b')", 'request.username', 'csr.subject.commonName'];
  const forms = [
    () => `(${text(pick, names, depth - 1)} + ${text(pick, names, depth - 1)})`,
    () => `${text(pick, names, depth - 1)}.lowerAscii()`,
    () => `${text(pick, names, depth - 1)}.substring(${pick(3)})`,
    () => `${text(pick, names, depth - 1)}.split('a')[${pick(3)}]`,
    () => `${text(pick, names, depth - 1)}.find('${PATTERNS[pick(PATTERNS.length)]}')`,
    () => `url(${text(pick, names, depth - 1)}).getHost()`,
    () => `string(${pick(3)} / ${pick(2)})`,
  ];
  const leaves = [...simple, ...names];
  if (depth <= 0 || pick(3) === 0) return leaves[pick(leaves.length)] ?? "'a'";
  return forms[pick(forms.length)]?.() ?? "'a'";
}

export function bool(pick: Pick, names: readonly string[], depth: number): string {
  const one = (): string => bool(pick, names, depth - 1);
  const string = (): string => text(pick, names, 2);
  const forms = [
    () => {
      const name = `v${names.length}`;
      const loop = ['all', 'exists', 'exists_one'][pick(3)] ?? 'all';
      const inner = bool(pick, [...names, name], depth - 1);
      return `${LISTS[pick(LISTS.length)]}.${loop}(${name}, ${inner})`;
    },
    () => `(${one()} || ${one()})`,
    () => `(${one()} && ${one()})`,
    () => `!(${one()})`,
    () => `${string()} == ${string()}`,
    () => `${string()}.matches('${PATTERNS[pick(PATTERNS.length)]}')`,
    () => `${string()}.contains(${string()})`,
    () => `${string()} in ${LISTS[pick(LISTS.length)]}`,
    () => `1 / 0 == ${pick(2)}`,
    () => `ip(${string()}).family() == 4`,
    () => `request.extra[${string()}].size() > 0`,
  ];
  const first = depth <= 0 ? 4 : 0;
  return forms[first + pick(depth <= 0 ? forms.length - 4 : forms.length)]?.() ?? 'true';
}

/** A hostile request: as much of everything as the environment takes. */
function hostile(pick: Pick): Readonly<Record<string, unknown>> {
  const letters = ['a', 'ab', 'aaab', 'x ', 'a.'][pick(5)] ?? 'a';
  return Object.fromEntries(
    Object.entries(REQUEST.variables).map(([name, shape]) => [name, largest(shape, letters)]),
  );
}

function largest(shape: Shape, letters: string): unknown {
  switch (shape.kind) {
    case 'int':
      return 3_600;
    case 'string':
      return letters.repeat(shape.max).slice(0, shape.max);
    case 'list':
      return Array.from({ length: shape.max }, () => largest(shape.of, letters));
    case 'map':
      return { scopes: largest(shape.of, letters) };
    case 'object':
      return Object.fromEntries(
        Object.entries(shape.fields).map(([name, each]) => [name, largest(each, letters)]),
      );
  }
}

/** What one expression took on one request. */
export interface Finding {
  readonly source: string;
  readonly cost: number;
  readonly ms: number;
  /** Time over price. */
  readonly ratio: number;
}

export interface Result {
  readonly tried: number;
  readonly measured: number;
  readonly worst: Finding | undefined;
  /** The longest single run, in milliseconds. */
  readonly longest: Finding | undefined;
}

/** Searches until `isOver`. */
export function search(pick: Pick, isOver: () => boolean): Result {
  let [tried, measured] = [0, 0];
  let longest: Finding | undefined;
  const kept: Finding[] = [];
  while (!isOver()) {
    const source = next(pick, kept);
    const spec = { source, where: 'here', environment: REQUEST, result: 'bool' } as const;
    const compiled = attempt(() => compileExpression(spec));
    if (compiled instanceof SignerError) continue;
    tried += 1;
    const found = measure(compiled, hostile(pick));
    if (found === undefined) continue;
    measured += 1;
    if (longest === undefined || found.ms > longest.ms) longest = found;
    kept.push(found);
    kept.sort((a, b) => b.ratio - a.ratio);
    kept.length = Math.min(kept.length, KEPT);
  }
  return { tried, measured, worst: kept[0], longest };
}

/** One anew, or one of the worst beside or inside something. */
function next(pick: Pick, kept: readonly Finding[]): string {
  const before = kept[pick(Math.max(1, kept.length))]?.source;
  if (before === undefined || pick(2) === 0) {
    // The longest list there is, so that what a round costs is seen.
    const rounds = `request.groups.exists(v0, ${bool(pick, ['v0'], 1)})`;
    return pick(2) === 0 ? rounds : bool(pick, [], 3);
  }
  const forms = [
    `(${before}) || ${bool(pick, [], 2)}`,
    `${bool(pick, [], 1)} && (${before})`,
    `['a','b','c'].exists(w, !(${before}))`,
    before.replace(/\.all\(|\.exists\(/, pick(2) === 0 ? '.exists(' : '.all('),
  ];
  return forms[pick(forms.length)] ?? before;
}

function measure(
  compiled: Compiled<boolean>,
  variables: Readonly<Record<string, unknown>>,
): Finding | undefined {
  const run = (): unknown => attempt(() => compiled.evaluate(variables));
  run();
  if (timed(run) < LEAST_MS) return undefined;
  const before = process.threadCpuUsage();
  for (let times = 1; ; times += 1) {
    run();
    const { user, system } = process.threadCpuUsage(before);
    const total = (user + system) / 1_000;
    if (total < MEASURED_MS) continue;
    const ms = total / times;
    const { source, cost } = compiled;
    return ms < LEAST_MS ? undefined : { source, cost, ms, ratio: ms / (cost * UNIT_MS) };
  }
}

function timed(run: () => unknown): number {
  const before = performance.now();
  run();
  return performance.now() - before;
}
