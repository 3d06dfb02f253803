// SPDX-License-Identifier: Apache-2.0
/** The CEL library with the functions of Kubernetes. No other file registers functions. */
import { Environment as Library, type ObjectSchema } from '@marcbachmann/cel-js';
import type { Environment } from './environments.ts';
import { Address } from './functions/address.ts';
import { Quantity } from './functions/quantity-arithmetic.ts';
import { BUILTIN } from './functions/builtin.ts';
import { CIDR, Prefix } from './functions/cidr.ts';
import { FORMAT } from './functions/format.ts';
import type { CelFunction, Price, Signature } from './functions/function.ts';
import { IP, IpNamespace } from './functions/ip.ts';
import { PATTERNS } from './functions/patterns.ts';
import { QUANTITIES } from './functions/quantity.ts';
import { SETS, Sets } from './functions/sets.ts';
import { STRINGS } from './functions/strings.ts';
import { sameUrl, URLS, Url } from './functions/url.ts';
import { typeName, type ObjectShape } from './cost/shape.ts';

const FUNCTIONS: readonly CelFunction[] = [
  ...BUILTIN,
  ...STRINGS,
  ...PATTERNS,
  ...FORMAT,
  ...SETS,
  ...IP,
  ...CIDR,
  ...URLS,
  ...QUANTITIES,
];

/** Namespaces of functions, as variables of the CEL library. */
export const NAMESPACES: ReadonlySet<string> = new Set(['sets', 'ip']);

/** Price of each available function, by name (with its namespace, if it has one). */
export const PRICES: ReadonlyMap<string, Price> = new Map(
  FUNCTIONS.toReversed().map(({ namespace, name, price }) => [
    namespace === undefined ? name : `${namespace}.${name}`,
    price,
  ]),
);

/** Suffix of our functions. The library's own functions cannot be replaced, see `rename()`. */
const KUBERNETES_SUFFIX = '_k8s';

const SHADOWED: ReadonlySet<string> = new Set(
  FUNCTIONS.filter(({ shadows }) => shadows).map(({ name }) => name),
);

/** Returns the name to call in place of `name`. */
export function rename(name: string): string {
  return SHADOWED.has(name) ? `${name}${KUBERNETES_SUFFIX}` : name;
}

/**
 * Limits for an expression of 2,048 characters, low enough that the cost of any is computed fast.
 */
const LIMITS = { maxAstNodes: 1_000, maxDepth: 50, maxListElements: 200, maxMapEntries: 200 };

const base = createBase();

function createBase(): Library {
  const library = new Library({ homogeneousAggregateLiterals: false, limits: LIMITS })
    .registerType('Sets', Sets)
    .registerConstant('sets', 'Sets', new Sets())
    .registerType('IpNamespace', IpNamespace)
    .registerConstant('ip', 'IpNamespace', new IpNamespace())
    .registerType('net.IP', Address)
    .registerType('net.CIDR', Prefix)
    .registerType('net.URL', Url)
    .registerType('kubernetes.Quantity', Quantity)
    .registerOperator('net.IP == net.IP', sameAddress)
    .registerOperator(
      'net.CIDR == net.CIDR',
      (a: Prefix, b: Prefix) => a.length === b.length && sameAddress(a.ip, b.ip),
    )
    .registerOperator('net.URL == net.URL', sameUrl)
    .registerOperator(
      'kubernetes.Quantity == kubernetes.Quantity',
      (a: Quantity, b: Quantity) => a.nano === b.nano,
    );
  for (const each of FUNCTIONS) {
    // An overload of a shadowed name that we do not replace is checked and run under both names.
    const names = new Set([
      each.shadows === true ? rename(each.name) : each.name,
      rename(each.name),
    ]);
    for (const name of names) {
      for (const signature of each.signatures) register(library, name, signature);
    }
  }
  return library;
}

function sameAddress(a: Address, b: Address): boolean {
  return a.family === b.family && a.bits === b.bits;
}

function register(library: Library, name: string, signature: Signature): void {
  const { receiver, parameters, returns, handler } = signature;
  const owner = receiver === undefined ? '' : `${receiver}.`;
  library.registerFunction(`${owner}${name}(${parameters}): ${returns}`, handler, { async: false });
}

const libraries = new WeakMap<Environment, Library>();

/** Returns the library with the variables of `environment` declared. */
export function libraryOf(environment: Environment): Library {
  const known = libraries.get(environment);
  if (known !== undefined) return known;
  const library = base.clone();
  for (const [name, shape] of Object.entries(environment.variables)) {
    if (shape.kind === 'object') library.registerVariable({ name, schema: schemaOf(shape) });
    else library.registerVariable(name, typeName(shape));
  }
  libraries.set(environment, library);
  return library;
}

function schemaOf({ fields }: ObjectShape): ObjectSchema {
  return Object.fromEntries(
    Object.entries(fields).map(([name, shape]) => [
      name,
      shape.kind === 'object' ? schemaOf(shape) : typeName(shape),
    ]),
  );
}
