// SPDX-License-Identifier: Apache-2.0
import { RE2JS } from 're2js';
import { BoundedMap } from '../../bounded-map.ts';
import { messageOf } from '../../errors.ts';
import { MAX_WORK, automatonWork } from './automaton.ts';
import { classWork } from './class-work.ts';
import { onePassWork } from './one-pass.ts';
import { programWork, type Program } from './program.ts';

/** A compiled RE2 expression. Matching takes time linear in the text, hostile texts included. */
export interface Regex {
  /** Its mode and pattern. */
  readonly key: string;
  /** Instructions of its program. Mode `place` may run all of them on each character. */
  readonly size: number;
  /** Compilation, plus the one-time cost of a hostile text; in instructions of up to 100 ns. */
  readonly work: number;
  /** Whether some part of the text matches (CEL's `matches()`). */
  test(text: string): boolean;
  /** Whether the whole text matches. */
  testWhole(text: string): boolean;
  /** The first match, or '' (Kubernetes' `find()`). */
  find(text: string): string;
  /** At most `limit` matches; all if `limit` is negative (Kubernetes' `findAll()`). */
  findAll(text: string, limit: number): readonly string[];
}

/**
 * Instructions of a program. RE2 compiles `x{n}` to n copies of x: a pattern for a SPIFFE ID with two
 * labels of 63 and 253 characters takes 662.
 */
const MAX_PROGRAM = 1_000;

/**
 * Weak references: a compiled expression holds its own patterns for as long as it may run. In a cache of
 * fixed size, one namespace with many patterns could evict those of all others, which would then be
 * compiled again for each request.
 */
const compiled = new Map<string, WeakRef<Regex>>();

const count = { compiled: 0 };

/** Removes the entries of patterns that were garbage-collected. */
const dropped = new FinalizationRegistry<string>((key) => {
  if (compiled.get(key)?.deref() === undefined) compiled.delete(key);
});

/** Error messages of invalid patterns: a check costs as much as a compilation, and controllers retry. */
const refused = new BoundedMap<string, string>(1_000);

/**
 * `part`: does some part of the text match? `whole`: does the whole text match? `place`: which part
 * matches? RE2 runs the first two on a DFA, the third on a slower engine.
 */
export type MatchMode = 'part' | 'whole' | 'place';

/**
 * Compiles a pattern, once for each mode.
 *
 * @throws Error with RE2's message if the pattern is not RE2 syntax (lookaround, back references), or
 * with ours if the program or its automaton is too large
 */
export function compileRegex(pattern: string, question: MatchMode): Regex {
  const key = `${question} ${pattern}`;
  const known = compiled.get(key)?.deref();
  if (known !== undefined) return known;
  const refusal = refused.get(key);
  if (refusal !== undefined) throw new Error(refusal);
  const made = compileOrRefuse(pattern, question, key);
  count.compiled += 1;
  compiled.set(key, new WeakRef(made));
  dropped.register(made, key);
  return made;
}

function compileOrRefuse(pattern: string, question: MatchMode, key: string): Regex {
  try {
    const reading = classWork(pattern);
    if (reading > MAX_WORK)
      throw new Error('its character classes are too large; use fewer of them');
    return wrap(RE2JS.compile(pattern), { question, key, reading });
  } catch (error) {
    refused.set(key, messageOf(error));
    throw error;
  }
}

/** Where a compiled pattern comes from. */
interface Origin {
  readonly question: MatchMode;
  readonly key: string;
  /** The work to read it. */
  readonly reading: number;
}

function wrap(re2: RE2JS, { question, key, reading }: Origin): Regex {
  if (re2.programSize() > MAX_PROGRAM) {
    throw new Error(
      `it compiles to ${re2.programSize()} instructions, more than the limit of ${MAX_PROGRAM}; use fewer and smaller repetitions`,
    );
  }
  const program = programOf(re2);
  const compiling = reading + programWork(program);
  const spent = compiling + onePassWork(program, MAX_WORK);
  if (spent > MAX_WORK) {
    throw new Error('too many of its parts may be left out one after the other; use fewer ? and *');
  }
  const work = question === 'place' ? spent : automatonWork(program, question === 'whole', spent);
  if (work === undefined) {
    throw new Error(
      'its automaton has too many states; start it with ^, or use fewer and smaller repetitions',
    );
  }
  const regex: Regex = {
    key,
    size: re2.programSize(),
    work,
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
        // An empty match right after a match does not count (Go's regexp, "All").
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

/** Like {@link compileRegex}, but returns the error message instead of throwing. */
export function tryRegex(pattern: string, question: MatchMode): Regex | string {
  try {
    return compileRegex(pattern, question);
  } catch (error) {
    return messageOf(error);
  }
}

/** The patterns of a part of a spec. A reference to this set keeps them compiled. */
export class PatternSet implements Iterable<Regex> {
  readonly #patterns = new Set<Regex>();
  #work = 0;

  /** Of all together, to compare with {@link MAX_COMPILE_WORK}. */
  get work(): number {
    return this.#work;
  }

  add(regex: Regex): void {
    if (!this.#patterns.has(regex)) this.#work += regex.work;
    this.#patterns.add(regex);
  }

  [Symbol.iterator](): Iterator<Regex> {
    return this.#patterns[Symbol.iterator]();
  }
}

/**
 * Maximum work to compile the patterns of one part of a spec, in instructions of about 100 ns: a user who
 * may write a spec can block the process for 200 ms at most. It allows sixteen common patterns for SPIFFE
 * IDs.
 */
export const MAX_COMPILE_WORK = 2_000_000;

/** Has them compiled again by the next who needs them: they were ended at their work. */
export function discardPatterns(patterns: Iterable<Regex>): void {
  for (const regex of patterns) {
    const { key } = regex;
    if (compiled.get(key)?.deref() === regex) compiled.delete(key);
  }
}

/** How many patterns this process has compiled so far; those that it knew do not count. */
export function compiledPatterns(): number {
  return count.compiled;
}
