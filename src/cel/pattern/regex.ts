// SPDX-License-Identifier: Apache-2.0
import { RE2JS } from 're2js';
import { BoundedMap } from '../../bounded-map.ts';
import { messageOf } from '../../errors.ts';
import { automatonWork } from './automaton.ts';
import { programWork, type Program } from './program.ts';

/** A compiled RE2 expression: linear in the text, whoever wrote the text. */
export interface Regex {
  /** Instructions of its program, all of which each character may take where a place is searched. */
  readonly size: number;
  /** What it took to make, and what a hostile text may cost once: in instructions, up to 100 ns each. */
  readonly work: number;
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

/**
 * Whoever compiled an expression holds its patterns for as long as it may run. A cache of so many would
 * be emptied by a namespace that writes more of them, and everybody's be made anew for each request.
 */
const compiled = new Map<string, WeakRef<Regex>>();

/** What nobody holds any longer is cleared away by this. */
const dropped = new FinalizationRegistry<string>((key) => {
  if (compiled.get(key)?.deref() === undefined) compiled.delete(key);
});

/** Why a pattern is not compiled: to find out takes as long as to compile one, and is asked for in a loop. */
const refused = new BoundedMap<string, string>(1_000);

/**
 * What is asked of a text: whether some part of it matches, whether the whole does, or which part. The
 * first two are an automaton's work, the third is not.
 */
export type MatchMode = 'part' | 'whole' | 'place';

/**
 * The pattern's expression, compiled once for each question.
 *
 * @throws Error in RE2's words where the pattern is not RE2 (lookaround, back references, bad syntax), or
 * where it is too large
 */
export function compileRegex(pattern: string, question: MatchMode): Regex {
  const key = `${question} ${pattern}`;
  const known = compiled.get(key)?.deref();
  if (known !== undefined) return known;
  const refusal = refused.get(key);
  if (refusal !== undefined) throw new Error(refusal);
  const made = compileOrRefuse(pattern, question, key);
  compiled.set(key, new WeakRef(made));
  dropped.register(made, key);
  return made;
}

function compileOrRefuse(pattern: string, question: MatchMode, key: string): Regex {
  try {
    return wrap(RE2JS.compile(pattern), question);
  } catch (error) {
    refused.set(key, messageOf(error));
    throw error;
  }
}

function wrap(re2: RE2JS, question: MatchMode): Regex {
  if (re2.programSize() > MAX_PROGRAM) {
    throw new Error(`it compiles to ${re2.programSize()} steps, more than ${MAX_PROGRAM}`);
  }
  const program = programOf(re2);
  const states = question === 'place' ? 0 : automatonWork(program, question === 'whole');
  if (states === undefined) {
    throw new Error('its automaton has too many states: begin it with ^, or repeat less');
  }
  const regex: Regex = {
    size: re2.programSize(),
    work: programWork(program) + states,
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
  return Object.freeze(regex);
}

function programOf(re2: RE2JS): Program {
  return re2.re2().prog as Program;
}

/** The same, or why `pattern` cannot be used. */
export function tryRegex(pattern: string, question: MatchMode): Regex | string {
  try {
    return compileRegex(pattern, question);
  } catch (error) {
    return messageOf(error);
  }
}

/** Patterns that stay compiled for as long as this is held. */
export type PatternSet = Set<Regex>;

/**
 * Instructions that the patterns of a part of a spec may take to be made, some 100 ns each: whoever may
 * write one must not hold up for longer those whom the same process serves. Thirty of those that are
 * usual for SPIFFE IDs.
 */
export const MAX_COMPILE_WORK = 2_000_000;

export function compileWorkOf(patterns: ReadonlySet<Regex>): number {
  let work = 0;
  for (const each of patterns) work += each.work;
  return work;
}
