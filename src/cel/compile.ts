// SPDX-License-Identifier: Apache-2.0
import { EvaluationError, ParseError, TypeError as CheckError } from '@marcbachmann/cel-js';
import { SignerError, messageOf } from '../errors.ts';
import { MAX_EXPRESSION } from '../vocabulary.ts';
import { costOf } from './cost/cost.ts';
import type { Environment } from './environments.ts';
import { findIssue } from './validator.ts';
import { libraryOf, rename } from './library.ts';
import { invalidExpression, position } from './position.ts';
import type { PatternSet, Regex } from './pattern/regex.ts';
import { children, offsetOf, type Node } from './syntax.ts';
import { celVariables, type Variables } from './variables.ts';

/** An expression that was checked, priced and is ready to run. */
export interface Compiled<T extends boolean | string> {
  readonly source: string;
  /** The field that holds it. */
  readonly where: string;
  /** Of all its runs for one request, at worst. */
  readonly cost: number;
  /** What its patterns became; they stay compiled for as long as this is held. */
  readonly patterns: readonly Regex[];
  /**
   * Pure and synchronous, in time bounded by the cost that compileExpression() accepted.
   *
   * @throws SignerError CEL_EVALUATION (`wait`): neither true nor false, so nothing may follow from it
   */
  evaluate(variables: Variables): T;
}

export interface ExpressionSpec<T extends boolean | string> {
  readonly source: string;
  /** The field that holds it, such as `spec.requests.rules[0].when`. */
  readonly where: string;
  readonly environment: Environment;
  readonly result: T extends boolean ? 'bool' : 'string';
}

/**
 * Most that all runs of an expression for one request may cost, in visited nodes of some 20 ns: a
 * hostile request holds up the event loop for less than 20 ms.
 */
export const MAX_COST = 1_000_000;

type Program = (variables: Variables) => unknown;

/**
 * @throws SignerError CEL_INVALID (syntax, types, unknown names, functions that are not available)
 * or CEL_COST (`wait` both), with the field, the line, the column and the offending name
 */
export function compileExpression(spec: ExpressionSpec<boolean>): Compiled<boolean>;
export function compileExpression(spec: ExpressionSpec<string>): Compiled<string>;
export function compileExpression<T extends boolean | string>(
  spec: ExpressionSpec<T>,
): Compiled<T> {
  const { source, environment, result } = spec;
  if (source.length > MAX_EXPRESSION) {
    throw invalid(spec, MAX_EXPRESSION, `an expression has at most ${MAX_EXPRESSION} characters`);
  }
  const patterns: PatternSet = new Set();
  const cost = check(spec, patterns);
  const program = programOf(spec);
  const expected = result === 'bool' ? 'boolean' : 'string';
  return Object.freeze({
    source,
    where: spec.where,
    cost,
    patterns: Object.freeze([...patterns]),
    evaluate: (variables: Variables): T => {
      const value = run(spec, program, celVariables(environment, variables));
      if (typeof value === expected) return value as T;
      throw failed(spec, `gives a ${typeof value} and not a ${result}`);
    },
  });
}

/** Types, then what the library's types do not tell, then the cost, which is returned. */
function check(spec: Spec, patterns: PatternSet): number {
  const { environment, result } = spec;
  const parsed = parse(spec);
  const found = parsed.check();
  if (!found.valid) throw libraryFault(spec, found.error);
  const fault = findIssue(parsed.ast, environment, patterns);
  if (fault !== undefined) throw invalid(spec, offsetOf(fault.node), fault.message);
  if (found.type !== result) {
    throw invalid(spec, 0, `gives ${found.type ?? 'nothing'}, but must give ${result}`);
  }
  return checkCost(spec, parsed.ast);
}

function checkCost(spec: Spec, ast: Node): number {
  const { where, source, environment } = spec;
  const cost = Math.ceil(costOf(ast, environment)) * environment.runs;
  if (cost <= MAX_COST) return cost;
  const offset = dearest(ast, environment).start;
  throw invalidExpression(
    'CEL_COST',
    { where, source, offset },
    `may cost ${cost} at worst, and ${MAX_COST} is the limit: avoid loops inside loops and long texts`,
  );
}

/** The innermost part that takes more than half of all, which is where to start mending. */
function dearest(ast: Node, environment: Environment): Node {
  const half = costOf(ast, environment) / 2;
  const heavy = children(ast).find((each) => costOf(each, environment) > half);
  return heavy === undefined ? ast : dearest(heavy, environment);
}

/** A second tree, in which the functions that the library gets wrong go by the names of ours. */
function programOf(spec: Spec): Program {
  const parsed = parse(spec);
  renameCalls(parsed.ast);
  const found = parsed.check();
  if (!found.valid) throw libraryFault(spec, found.error);
  return parsed;
}

function renameCalls(node: Node): void {
  if (node.op === 'call' || node.op === 'rcall') node.args[0] = rename(node.args[0]);
  for (const child of children(node)) renameCalls(child);
}

type Spec = Pick<ExpressionSpec<boolean>, 'source' | 'where' | 'environment'> & {
  readonly result: 'bool' | 'string';
};

function parse(spec: Spec): ReturnType<ReturnType<typeof libraryOf>['parse']> {
  try {
    return libraryOf(spec.environment).parse(spec.source);
  } catch (error) {
    throw libraryFault(spec, error);
  }
}

function libraryFault(spec: Spec, error: unknown): SignerError {
  if (error instanceof ParseError || error instanceof CheckError) {
    const summary = error.summary.replaceAll('_k8s', '').replaceAll('$', '');
    return invalid(spec, error.range?.start ?? 0, summary);
  }
  return invalid(spec, 0, messageOf(error));
}

function invalid({ where, source }: Spec, offset: number, message: string): SignerError {
  return invalidExpression('CEL_INVALID', { where, source, offset }, message);
}

function run(spec: Spec, program: Program, variables: Variables): unknown {
  const { stackTraceLimit } = Error;
  // An error that `exists` or `||` absorbs is not seen by anybody; its stack takes most of its time.
  Error.stackTraceLimit = 0;
  try {
    return program(variables);
  } catch (error) {
    throw failed(spec, runtimeMessage(spec, error), error);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function runtimeMessage({ source }: Spec, error: unknown): string {
  if (!(error instanceof EvaluationError)) return messageOf(error);
  const { line, column } = position(source, error.range?.start ?? 0);
  return `line ${line}, column ${column}: ${error.summary}`;
}

/** What a request may bring into a message. */
const MAX_EVALUATION_MESSAGE = 300;

function failed({ where }: Spec, message: string, cause?: unknown): SignerError {
  return new SignerError({
    code: 'CEL_EVALUATION',
    disposition: 'wait',
    message: `${where}: ${message.slice(0, MAX_EVALUATION_MESSAGE)}`,
    cause,
  });
}
