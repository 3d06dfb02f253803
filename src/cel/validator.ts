// SPDX-License-Identifier: Apache-2.0
/**
 * Checks beyond the type check of the CEL library, for expressions that it accepts and this program
 * rejects.
 */
import type { Environment } from './environments.ts';
import { PATTERN_FUNCTIONS } from './functions/patterns.ts';
import { NAMESPACES, PRICES } from './library.ts';
import { MAX_COMPILE_WORK, type PatternSet, tryRegex } from './pattern/regex.ts';
import type { Shape } from './cost/shape.ts';
import { callOf, children, comprehensionOf, typeOf, type Call, type Node } from './syntax.ts';

export interface Issue {
  readonly node: Node;
  readonly message: string;
}

/**
 * Finds the first fault of an expression that passed the library's type check, in source order.
 *
 * @param patterns - receives the patterns of the expression
 */
export function findIssue(
  root: Node,
  environment: Environment,
  patterns: PatternSet,
): Issue | undefined {
  const call = callOf(root);
  const special =
    call === undefined
      ? (indexIssue(root) ?? keyIssue(root))
      : callIssue(root, call, environment, patterns);
  const own = special ?? dynamicTypeIssue(root);
  if (own !== undefined) return own;
  for (const child of operands(root, call)) {
    const fault = findIssue(child, environment, patterns);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Returns the parts to check. `has()` is checked as a whole, and a loop variable is a name, not an
 * expression.
 */
function operands(root: Node, call: Call | undefined): readonly Node[] {
  if (call === undefined) return children(root);
  if (call.name === 'has') return [];
  if (call.name === 'format')
    return call.receiver === undefined ? [] : [call.receiver, ...mixed(call)];
  const loop = comprehensionOf(call);
  return loop === undefined ? children(root) : [loop.range, ...loop.body];
}

/**
 * Returns the items of `format()`'s list, each to be checked alone. No other list may have mixed
 * types.
 */
function mixed({ args }: Call): readonly Node[] {
  return args.flatMap((each) => (each.op === 'list' ? children(each) : [each]));
}

/** Rejects a computed index on an object, which hides the field and its maximum size. */
function indexIssue(node: Node): Issue | undefined {
  if (node.op !== '[]' || !/^(?!list<|map<)/.test(typeOf(node.args[0]) ?? '')) return undefined;
  return { node, message: '[ ] works on lists and maps only; write a field as .name' };
}

/** Types of keys that a look-up finds: the library compares objects by identity. */
const KEY_TYPE = /^map<(string|int|bool), /;

function keyIssue(node: Node): Issue | undefined {
  if (node.op !== 'map' || node.args.length === 0) return undefined;
  const type = typeOf(node) ?? '';
  if (KEY_TYPE.test(type)) return undefined;
  const [, key = 'dyn'] = /^map<(.*?), /.exec(type) ?? [];
  const message = `keys of a map cannot be of type ${key}; write strings, integers such as 1, or booleans`;
  return { node, message };
}

/**
 * Rejects a dynamic type. Without a static type, neither the called functions nor their cost are
 * known in advance.
 */
function dynamicTypeIssue(node: Node): Issue | undefined {
  const type = typeOf(node);
  if (type === undefined || !/\bdyn\b/.test(type)) return undefined;
  return {
    node,
    message: 'the type is unknown (dyn); use values of one type in each list and map',
  };
}

function callIssue(
  node: Node,
  call: Call,
  environment: Environment,
  patterns: PatternSet,
): Issue | undefined {
  if (call.name === 'has' && call.receiver === undefined) return hasIssue(node, call, environment);
  const loop = comprehensionOf(call);
  if (loop !== undefined) return variableIssue(loop.variable, environment);
  if (!PRICES.has(call.key)) return { node, message: `function "${call.key}" is not available` };
  return PATTERN_FUNCTIONS.has(call.name) ? patternIssue(node, call, patterns) : undefined;
}

function patternIssue(node: Node, { name, args }: Call, patterns: PatternSet): Issue | undefined {
  const [pattern] = args;
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    return {
      node: pattern ?? node,
      message: `the pattern of ${name}() must be a string literal`,
    };
  }
  const made = tryRegex(pattern.args, name === 'matches' ? 'part' : 'place');
  if (typeof made === 'string') {
    return { node: pattern, message: `cannot use the RE2 pattern "${pattern.args}": ${made}` };
  }
  patterns.add(made);
  if (patterns.work <= MAX_COMPILE_WORK) return undefined;
  const message = `the patterns up to "${pattern.args}" exceed the compile limit; use fewer patterns, or fewer and smaller repetitions`;
  return { node: pattern, message };
}

function variableIssue(variable: Node, { variables }: Environment): Issue | undefined {
  if (variable.op !== 'id') return undefined;
  if (!Object.hasOwn(variables, variable.args) && !NAMESPACES.has(variable.args)) return undefined;
  return {
    node: variable,
    message: `"${variable.args}" is already the name of a variable; rename the loop variable`,
  };
}

/**
 * Checks the argument of `has()`, which the library does not. A misspelled field would look absent.
 */
function hasIssue(node: Node, { args }: Call, { variables }: Environment): Issue | undefined {
  const names: string[] = [];
  let at: Node | undefined = args[0];
  while (at?.op === '.') {
    names.unshift(at.args[1]);
    at = at.args[0];
  }
  if (at?.op !== 'id' || !Object.hasOwn(variables, at.args)) {
    return { node, message: 'has() needs a field of a variable, such as has(request.extra.team)' };
  }
  let shape: Shape | undefined = variables[at.args];
  for (const name of names) {
    shape = fieldOf(shape, name);
    if (shape === undefined) return { node: args[0] ?? node, message: `No such key: ${name}` };
  }
  return undefined;
}

function fieldOf(shape: Shape | undefined, name: string): Shape | undefined {
  if (shape?.kind === 'map') return shape.of;
  return shape?.kind === 'object' && Object.hasOwn(shape.fields, name)
    ? shape.fields[name]
    : undefined;
}
