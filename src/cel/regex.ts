// SPDX-License-Identifier: Apache-2.0
import { RE2JS } from 're2js';
import { messageOf } from '../errors.ts';

/** A compiled RE2 expression: linear in the text, whoever wrote the text. */
export interface Regex {
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
 * RE2 repeats `x{n}` by copying. A SPIFFE ID of two labels of 63 and 253 characters takes 662 steps;
 * programs much larger than that fall out of the automaton's cache on hostile texts.
 */
const MAX_PROGRAM = 1_000;

const compiled = new Map<string, Regex>();

/** Patterns are literals of ClusterSigners; old ones are dropped all at once, which is rare. */
const MAX_CACHED = 2_000;

/**
 * The pattern's expression, compiled once.
 *
 * @throws Error in RE2's words where the pattern is not RE2 (lookaround, back references, bad syntax)
 */
export function compileRegex(pattern: string): Regex {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= MAX_CACHED) compiled.clear();
  const made = wrap(RE2JS.compile(pattern));
  compiled.set(pattern, made);
  return made;
}

function wrap(re2: RE2JS): Regex {
  if (re2.programSize() > MAX_PROGRAM) {
    throw new Error(`it compiles to ${re2.programSize()} steps, more than ${MAX_PROGRAM}`);
  }
  return {
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

/** Why `pattern` cannot be used, or undefined. */
export function faultOfPattern(pattern: string): string | undefined {
  try {
    compileRegex(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
