// SPDX-License-Identifier: Apache-2.0
import { RE2JS } from 're2js';
import { messageOf } from '../errors.ts';
import { isSmallAutomaton, type Program } from './automaton.ts';

/** A compiled RE2 expression: linear in the text, whoever wrote the text. */
export interface Regex {
  /** Instructions of its program, all of which each character may take where a place is searched. */
  readonly size: number;
  /** Somewhere in the text, as CEL's matches(). */
  test(text: string): boolean;
  /** The whole text. */
  testWhole(text: string): boolean;
  /** The first match, or '' (Kubernetes' find()). */
  find(text: string): string;
  /** At most `limit` matches; negative: all (Kubernetes' findAll()). */
  findAll(text: string, limit: number): readonly string[];
}

/**
 * RE2 repeats `x{n}` by copying. A SPIFFE ID of two labels of 63 and 253 characters takes 662 steps.
 */
const MAX_PROGRAM = 1_000;

const compiled = new Map<string, Regex>();

/** Patterns are literals of ClusterSigners; old ones are dropped all at once, which is rare. */
const MAX_CACHED = 2_000;

/**
 * What is asked of a text: whether some part of it matches, whether the whole does, or which part. The
 * first two are an automaton's work, the third is not.
 */
export type Question = 'part' | 'whole' | 'place';

/**
 * The pattern's expression, compiled once for each question.
 *
 * @throws Error in RE2's words where the pattern is not RE2 (lookaround, back references, bad syntax), or
 * where it is too large
 */
export function compileRegex(pattern: string, question: Question): Regex {
  const key = `${question} ${pattern}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  if (compiled.size >= MAX_CACHED) compiled.clear();
  const made = wrap(RE2JS.compile(pattern), question);
  compiled.set(key, made);
  return made;
}

function wrap(re2: RE2JS, question: Question): Regex {
  if (re2.programSize() > MAX_PROGRAM) {
    throw new Error(`it compiles to ${re2.programSize()} steps, more than ${MAX_PROGRAM}`);
  }
  if (question !== 'place' && !isSmallAutomaton(programOf(re2), question === 'whole')) {
    throw new Error('its automaton has too many states: begin it with ^, or repeat less');
  }
  return {
    size: re2.programSize(),
    test: (text) => re2.test(text),
    testWhole: (text) => re2.testExact(text),
    find: (text) => {
      const matcher = re2.matcher(text);
      return matcher.find() ? (matcher.group() ?? '') : '';
    },
    findAll: (text, limit) => {
      const matcher = re2.matcher(text);
      const found: string[] = [];
      let end = -1;
      while (found.length !== limit && matcher.find()) {
        const isEmpty = matcher.start() === matcher.end();
        // Nothing right after something is no match of its own (Go's regexp, "All").
        if (!isEmpty || matcher.start() !== end) found.push(matcher.group() ?? '');
        end = matcher.end();
      }
      return found;
    },
  };
}

function programOf(re2: RE2JS): Program {
  return re2.re2().prog as Program;
}

/** Why `pattern` cannot be used, or undefined. */
export function faultOfPattern(pattern: string, question: Question): string | undefined {
  try {
    compileRegex(pattern, question);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
