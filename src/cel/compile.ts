// SPDX-License-Identifier: Apache-2.0
import { EvaluationError, ParseError, TypeError as CheckError } from '@marcbachmann/cel-js';
import { SignerError, messageOf, type ErrorCode } from '#base/errors.ts';
import { NO_DEADLINE, type Deadline } from '#base/ports.ts';
import { MAX_EXPRESSION } from '#base/vocabulary.ts';
import { costOf } from './cost/cost.ts';
import type { Environment } from './environments.ts';
import { findIssue } from './validator.ts';
import { libraryOf, rename } from './library.ts';
import { keepEntries } from './map-literal.ts';
import { PatternSet, discardPatterns, type Regex } from './pattern/regex.ts';
import { children, offsetOf, type Node } from './syntax.ts';
import { MAX_TYPE_DEPTH, typeDepth } from './type-depth.ts';
import { celVariables, type Variables } from './variables.ts';

/** A checked expression with a known worst-case cost, ready to run. */
export interface CompiledExpression<T extends boolean | string> {
  readonly source: string;
  /** Field with the expression. */
  readonly where: string;
  /** Worst case of all its runs for one request, in the unit of {@link MAX_COST}. */
  readonly cost: number;
  /** Its compiled patterns. A reference to them keeps them compiled. */
  readonly patterns: readonly Regex[];
  /**
   * Evaluates the expression. Pure and synchronous, in time bounded by the cost that
   * compileExpression() accepted.
   *
   * @throws SignerError CEL_EVALUATION (`wait`): the result is neither true nor false, so decide
   *   nothing
   */
  evaluate(variables: Variables): T;
}

export interface ExpressionSpec<T extends boolean | string> {
  readonly source: string;
  /** Field with the expression, such as `spec.requests.rules[0].when`. */
  readonly where: string;
  readonly environment: Environment;
  readonly result: T extends boolean ? 'bool' : 'string';
  /** Deadline of its compilation and its runs. Default: no limit. */
  readonly deadline?: Deadline | undefined;
}

/**
 * Limit on the cost of all runs of an expression for one request. The unit is one visited node,
 * about 20 ns. A hostile request blocks the event loop for less than 20 ms.
 */
export const MAX_COST = 1_000_000;

type Program = (variables: Variables) => unknown;

/**
 * Checks and compiles a CEL expression.
 *
 * @throws SignerError CEL_INVALID (syntax, types, unknown names, unavailable functions) or CEL_COST
 *   (`wait` both), with the field, the line, the column, and the faulty name
 */
export function compileExpression(spec: ExpressionSpec<boolean>): CompiledExpression<boolean>;
export function compileExpression(spec: ExpressionSpec<string>): CompiledExpression<string>;
export function compileExpression<T extends boolean | string>(
  spec: ExpressionSpec<T>,
): CompiledExpression<T> {
  const { where, deadline = NO_DEADLINE } = spec;
  return deadline.compile(where, () => compileWithin(spec, deadline));
}

function compileWithin<T extends boolean | string>(
  spec: ExpressionSpec<T>,
  deadline: Deadline,
): CompiledExpression<T> {
  const { source, where, environment, result } = spec;
  if (source.length > MAX_EXPRESSION) {
    throw invalid(
      spec,
      MAX_EXPRESSION,
      `the expression has ${source.length} characters, more than the limit of ${MAX_EXPRESSION}`,
    );
  }
  const patterns = new PatternSet();
  const cost = check(spec, patterns);
  const program = programOf(spec);
  const expected = result === 'bool' ? 'boolean' : 'string';
  const evaluate = (variables: Variables): T => {
    const value = run(spec, program, celVariables(environment, variables));
    // `expected` is the name of T.
    if (typeof value === expected) return value as T;
    throw failed(spec, `returned ${typeof value} instead of ${result}`);
  };
  return Object.freeze({
    source,
    where,
    cost,
    patterns: Object.freeze([...patterns]),
    evaluate: (variables: Variables): T =>
      deadline.evaluate(
        where,
        () => evaluate(variables),
        () => {
          discardPatterns(patterns);
        },
      ),
  });
}

/** Checks the types, then the rules beyond the library, then the cost. Returns the cost. */
function check(spec: Spec, patterns: PatternSet): number {
  const { environment, result } = spec;
  const parsed = parse(spec);
  if (typeDepth(parsed.ast) > MAX_TYPE_DEPTH) {
    throw invalid(spec, 0, `lists and maps are nested more than ${MAX_TYPE_DEPTH} levels deep`);
  }
  const found = parsed.check();
  if (!found.valid) throw libraryFault(spec, found.error);
  const fault = findIssue(parsed.ast, environment, patterns);
  if (fault !== undefined) throw invalid(spec, offsetOf(fault.node), fault.message);
  if (found.type !== result) {
    throw invalid(
      spec,
      0,
      `the expression returns ${found.type ?? 'nothing'}; it must return ${result}`,
    );
  }
  return checkCost(spec, parsed.ast);
}

function checkCost(spec: Spec, ast: Node): number {
  const { environment } = spec;
  const cost = Math.ceil(costOf(ast, environment)) * environment.runs;
  if (cost <= MAX_COST) return cost;
  throw invalid(
    spec,
    mostExpensive(ast, environment).start,
    `the worst-case cost is ${cost}, more than the limit of ${MAX_COST}; avoid nested loops and operations on long strings`,
    'CEL_COST',
  );
}

/** Returns the innermost node that causes more than half of the cost: the best place to start. */
function mostExpensive(ast: Node, environment: Environment): Node {
  const half = costOf(ast, environment) / 2;
  const heavy = children(ast).find((each) => costOf(each, environment) > half);
  return heavy === undefined ? ast : mostExpensive(heavy, environment);
}

/**
 * Returns a second tree, which runs our functions and map literals in place of those that the
 * library gets wrong.
 */
function programOf(spec: Spec): Program {
  const parsed = parse(spec);
  replaceFaulty(parsed.ast);
  const found = parsed.check();
  if (!found.valid) throw libraryFault(spec, found.error);
  return parsed;
}

function replaceFaulty(node: Node): void {
  if (node.op === 'call' || node.op === 'rcall') node.args[0] = rename(node.args[0]);
  keepEntries(node);
  for (const child of children(node)) replaceFaulty(child);
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

/**
 * Returns the error for a fault in the expression itself. Its author can correct it, so requests
 * wait.
 *
 * @param offset - UTF-16 units from the start of the source
 */
function invalid(
  { where, source }: Spec,
  offset: number,
  message: string,
  code: Extract<ErrorCode, 'CEL_INVALID' | 'CEL_COST'> = 'CEL_INVALID',
): SignerError {
  const place = position(source, offset);
  return new SignerError({ code, disposition: 'wait', message: `${where}: ${place}: ${message}` });
}

/** Returns line and column, which start at 1 as in editors. */
function position(source: string, offset: number): string {
  const before = source.slice(0, offset);
  const column = offset - before.lastIndexOf('\n');
  return `line ${before.split('\n').length}, column ${column}`;
}

function run(spec: Spec, program: Program, variables: Variables): unknown {
  const { stackTraceLimit } = Error;
  // Disable stacks: `exists` or `||` absorb most errors, and the stack takes most of their time.
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
  return `${position(source, error.range?.start ?? 0)}: ${error.summary}`;
}

/** Limit in characters. An evaluation error may quote values of the request, which can be long. */
const MAX_EVALUATION_MESSAGE = 300;

function failed({ where }: Spec, message: string, cause?: unknown): SignerError {
  return new SignerError({
    code: 'CEL_EVALUATION',
    disposition: 'wait',
    message: `${where}: ${message.slice(0, MAX_EVALUATION_MESSAGE)}`,
    cause,
  });
}
