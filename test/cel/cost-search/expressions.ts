// SPDX-License-Identifier: Apache-2.0
/** Expressions of each environment, on values as large as the environment takes. */
import { compileExpression, type CompiledExpression } from '#cel/compile.ts';
import type { Shape } from '#cel/cost/shape.ts';
import { NAMESPACED_REQUEST, REQUEST, selfOf, type Environment } from '#cel/environments.ts';
import { POD } from '../../support/cel/pod-environment.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { UNIT_MS, minMs, type Finding } from './measure.ts';
import { pattern } from './patterns.ts';
import { oneOf, type Pick } from './random.ts';

/** What an expression of an environment is made of. */
interface Words {
  readonly environment: Environment;
  readonly lists: readonly string[];
  readonly texts: readonly string[];
  readonly maps: readonly string[];
}

const LITERALS = ['[1,2,3].map(i,"a")', '["a","ab","b"]'];
const OF_REQUEST = {
  lists: ['csr.uris', 'csr.dnsNames', 'csr.usages', 'request.groups', ...LITERALS],
  texts: ['request.username', 'csr.subject.commonName', "csr.uris.join('')", 'request.uid'],
  maps: ['request.extra'],
};

export const WORDS: Readonly<Record<string, Words>> = {
  REQUEST: { environment: REQUEST, ...OF_REQUEST },
  NAMESPACED_REQUEST: {
    environment: NAMESPACED_REQUEST,
    ...OF_REQUEST,
    texts: [...OF_REQUEST.texts, 'request.namespace'],
  },
  POD: {
    environment: POD,
    lists: LITERALS,
    texts: ["pod.annotations['a']", 'pod.name', 'pod.serviceAccount'],
    maps: ['pod.annotations'],
  },
  SELF_URI: {
    environment: selfOf('uris'),
    ...OF_REQUEST,
    texts: [...OF_REQUEST.texts, 'self', 'self'],
  },
  SELF_DNS: {
    environment: selfOf('dnsNames', NAMESPACED_REQUEST),
    ...OF_REQUEST,
    texts: [...OF_REQUEST.texts, 'self', 'self'],
  },
};

/** Where an expression is made: the words, and the loop variables in scope. */
interface Place {
  readonly pick: Pick;
  readonly words: Words;
  readonly names: readonly string[];
}

function text(at: Place, depth: number): string {
  const { pick, words, names } = at;
  const one = (): string => text(at, depth - 1);
  const leaves = ["'a'", "'ab'.replace('a','b')", ...words.texts, ...names];
  if (depth <= 0 || pick(3) === 0) return oneOf(pick, leaves);
  const forms = [
    () => `(${one()} + ${one()})`,
    () => `${one()}.lowerAscii()`,
    () => `${one()}.substring(${pick(3)})`,
    () => `${one()}.split('a')[${pick(3)}]`,
    () => `${one()}.replace(${one()}, 'b')`,
    () => `${one()}.find('${quoted(pattern(pick, 2))}')`,
    () => `url(${one()}).getHost()`,
    () => `string(${pick(3)} / ${pick(2)})`,
    () => `'%s:%s'.format([${one()}, ${one()}])`,
    () => `'%s'.format([${oneOf(pick, words.lists)}])`,
    () => `string(quantity(${one()}))`,
  ];
  return oneOf(pick, forms)();
}

/** A pattern inside a literal of CEL. */
function quoted(source: string): string {
  return source.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n');
}

function bool(at: Place, depth: number): string {
  const { pick, words, names } = at;
  const one = (): string => bool(at, depth - 1);
  const string = (): string => text(at, 2);
  const loop = (over: readonly string[]) => (): string => {
    const name = `v${names.length}`;
    const inner = bool({ ...at, names: [...names, name] }, depth - 1);
    return `${oneOf(pick, over)}.${oneOf(pick, ['all', 'exists', 'exists_one'])}(${name}, ${inner})`;
  };
  const leaves = [
    () => `${string()} == ${string()}`,
    () => `${string()}.matches('${quoted(pattern(pick, 3))}')`,
    () => `${string()}.contains(${string()})`,
    () => `${string()} in ${oneOf(pick, words.lists)}`,
    () => `1 / 0 == ${pick(2)}`,
    () => `ip(${string()}).family() == 4`,
    () => `cidr('10.0.0.0/8').containsIP(${string()})`,
    () => `${oneOf(pick, words.maps)}[${string()}].size() > 0`,
    () => `sets.contains(${oneOf(pick, words.lists)}, ${oneOf(pick, words.lists)})`,
    () => `${string()}.findAll('${quoted(pattern(pick, 1))}').size() > ${pick(3)}`,
    () => `${oneOf(pick, words.lists)}.filter(f, f.startsWith(${string()})).size() > 1`,
    () => `${oneOf(pick, ['isQuantity', 'isURL', 'isIP', 'isCIDR'])}(${string()})`,
    () => `${string()} ${oneOf(pick, ['<', '>='])} ${string()}`,
    () => `${string()}.size() > ${pick(3)}`,
    () => `(${oneOf(pick, words.lists)} + ${oneOf(pick, words.lists)}).size() > ${pick(3)}`,
  ];
  const inner = [
    loop(words.lists),
    loop(words.maps),
    () => `(${one()} || ${one()})`,
    () => `(${one()} && ${one()})`,
    () => `!(${one()})`,
  ];
  return oneOf(pick, depth <= 0 ? leaves : [...inner, ...leaves])();
}

/** An expression, again, or one of the worst beside or inside something. */
export function expression(pick: Pick, words: Words, worst: readonly string[]): string {
  const at: Place = { pick, words, names: [] };
  const before = worst[pick(Math.max(1, worst.length))];
  if (before === undefined || pick(2) === 0) {
    // The longest list there is, so that what a round costs is seen.
    const longest = [...words.lists, ...words.maps].includes('request.groups')
      ? 'request.groups'
      : 'pod.annotations';
    const rounds = `${longest}.exists(v0, ${bool({ ...at, names: ['v0'] }, 1)})`;
    return pick(2) === 0 ? rounds : bool(at, 3);
  }
  const forms = [
    `(${before}) || ${bool(at, 2)}`,
    `${bool(at, 1)} && (${before})`,
    `['a','b','c'].exists(w, !(${before}))`,
    before.replace(/\.all\(|\.exists\(/, pick(2) === 0 ? '.exists(' : '.all('),
  ];
  return oneOf(pick, forms);
}

/** Hostile values: as much of everything as the environment takes. */
export function largestOf(environment: Environment, pick: Pick): Readonly<Record<string, unknown>> {
  const letters = oneOf(pick, [
    'a',
    'ab',
    'aaab',
    'x ',
    'a.',
    'aB\n',
    '9',
    'a:/',
    '\u0001',
    '\ud83d\ude00',
  ]);
  return Object.fromEntries(
    Object.entries(environment.variables).map(([name, shape]) => [name, largest(shape, letters)]),
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
    case 'map': {
      const keys = Array.from({ length: shape.max }, (_, index) =>
        index === 0 ? 'a' : `a${index}`,
      );
      return Object.fromEntries(keys.map((key) => [key, largest(shape.of, letters)]));
    }
    case 'object':
      return Object.fromEntries(
        Object.entries(shape.fields).map(([name, each]) => [name, largest(each, letters)]),
      );
  }
}

/** What one run of an expression took; undefined if it is refused. */
export async function tryExpression(
  pick: Pick,
  kind: keyof typeof WORDS,
  worst: readonly string[],
): Promise<Finding | undefined> {
  const words = WORDS[kind];
  if (words === undefined) return undefined;
  const { environment } = words;
  const source = expression(pick, words, worst);
  const compiled = attempt(() =>
    compileExpression({ source, where: 'here', environment, result: 'bool' }),
  );
  if (compiled instanceof SignerError) return undefined;
  const variables = largestOf(environment, pick);
  const again = async (): Promise<Finding> => {
    const ms = await minMs(4, () => () => attempt(() => compiled.evaluate(variables)));
    return { kind, source, ms, ratio: ms / priceMs(compiled, environment), again };
  };
  return again();
}

/** Of one run: `cost` is that of all runs for one request. */
function priceMs({ cost }: CompiledExpression<boolean>, { runs }: Environment): number {
  return (cost / runs) * UNIT_MS;
}
