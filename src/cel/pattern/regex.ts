// SPDX-License-Identifier: Apache-2.0
import { RE2JS } from 're2js';
import { BoundedMap } from '#base/bounded-map.ts';
import { messageOf } from '#base/errors.ts';
import { MAX_WORK, automatonWork } from './automaton.ts';
import { classWork } from './class-work.ts';
import { onePassWork } from './one-pass.ts';
import { programWork, type Program } from './program.ts';

/** A compiled RE2 expression. Matching takes time linear in the text, also for a hostile text. */
export interface Regex {
  readonly mode: MatchMode;
  /** The pattern as it was written. */
  readonly pattern: string;
  /** Instructions of its program. Mode `place` may run all of them on each character. */
  readonly size: number;
  /**
   * Cost of the compilation, plus the one-time cost of a hostile text, in instructions of up to 100
   * ns.
   */
  readonly work: number;
  /** Reports whether some part of the text matches (CEL's `matches()`). */
  test(text: string): boolean;
  /** Reports whether the whole text matches. */
  testWhole(text: string): boolean;
  /** Returns the first match, or '' (Kubernetes' `find()`). */
  find(text: string): string;
  /** Returns at most `limit` matches, or all if `limit` is negative (Kubernetes' `findAll()`). */
  findAll(text: string, limit: number): readonly string[];
}

/**
 * Limit on instructions of a program. RE2 compiles `x{n}` to n copies of x. A pattern for a SPIFFE
 * ID with two labels of 63 and 253 characters takes 662.
 */
const MAX_PROGRAM = 1_000;

/**
 * Compiled patterns as weak references: a compiled expression holds its own patterns for as long as
 * it may run. In a cache of fixed size, one namespace with many patterns could evict those of all
 * others. Each request would then compile them again. An evaluation looks its pattern up for each
 * text: a literal keeps its hash, and a key made of mode and pattern would be hashed each time.
 */
const compiled: Readonly<Record<MatchMode, Map<string, WeakRef<Regex>>>> = {
  part: new Map(),
  whole: new Map(),
  place: new Map(),
};

const count = { compiled: 0 };

/** Removes the entries of patterns that were garbage-collected. */
const dropped = new FinalizationRegistry<Pick<Regex, 'mode' | 'pattern'>>(({ mode, pattern }) => {
  if (compiled[mode].get(pattern)?.deref() === undefined) compiled[mode].delete(pattern);
});

/**
 * Error messages of invalid patterns. A check costs as much as a compilation, and controllers
 * retry.
 */
const refused = new BoundedMap<string, string>(1_000);

/**
 * Kind of a match. `part`: some part of the text matches. `whole`: the whole text matches. `place`:
 * the position of the match is needed. RE2 runs the first two on a DFA, the third on a slower
 * engine.
 */
export type MatchMode = 'part' | 'whole' | 'place';

/**
 * Compiles a pattern, once for each mode.
 *
 * @throws Error with RE2's message if the pattern is not RE2 syntax (lookaround, back references),
 *   or with ours if the program or its automaton is too large
 */
export function compileRegex(pattern: string, mode: MatchMode): Regex {
  const known = compiled[mode].get(pattern)?.deref();
  if (known !== undefined) return known;
  const made = compileOrRefuse(pattern, mode);
  count.compiled += 1;
  compiled[mode].set(pattern, new WeakRef(made));
  dropped.register(made, { mode, pattern });
  return made;
}

function compileOrRefuse(pattern: string, mode: MatchMode): Regex {
  const key = `${mode} ${pattern}`;
  const refusal = refused.get(key);
  if (refusal !== undefined) throw new Error(refusal);
  try {
    const reading = classWork(pattern);
    if (reading > MAX_WORK)
      throw new Error('its character classes are too large; use fewer of them');
    return wrap(RE2JS.compile(pattern), { mode, pattern, reading });
  } catch (error) {
    refused.set(key, messageOf(error));
    throw error;
  }
}

/** Source of a compiled pattern. */
interface Origin {
  readonly mode: MatchMode;
  readonly pattern: string;
  /** Work to read it. */
  readonly reading: number;
}

function wrap(re2: RE2JS, { mode, pattern, reading }: Origin): Regex {
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
  const work = mode === 'place' ? spent : automatonWork(program, mode === 'whole', spent);
  if (work === undefined) {
    throw new Error(
      'its automaton has too many states; start it with ^, or use fewer and smaller repetitions',
    );
  }
  const regex: Regex = {
    mode,
    pattern,
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
  // The package declares no type of it.
  return re2.re2().prog as Program;
}

/** Like {@link compileRegex}, but returns the error message instead of throwing. */
export function tryRegex(pattern: string, mode: MatchMode): Regex | string {
  try {
    return compileRegex(pattern, mode);
  } catch (error) {
    return messageOf(error);
  }
}

/** Patterns of a part of a spec. A reference to this set keeps them compiled. */
export class PatternSet implements Iterable<Regex> {
  readonly #patterns = new Set<Regex>();
  #work = 0;

  /** Work of all together, to compare with {@link MAX_COMPILE_WORK}. */
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
 * Limit on the work to compile the patterns of one part of a spec, in instructions of about 100 ns.
 * A user who may write a spec can block the process for 200 ms at most. It allows sixteen common
 * patterns for SPIFFE IDs.
 */
export const MAX_COMPILE_WORK = 2_000_000;

/** Discards compiled patterns whose work was stopped. The next caller compiles them again. */
export function discardPatterns(patterns: Iterable<Regex>): void {
  for (const regex of patterns) {
    const { mode, pattern } = regex;
    if (compiled[mode].get(pattern)?.deref() === regex) compiled[mode].delete(pattern);
  }
}

/** Returns the number of compilations in this process. Known patterns do not count. */
export function compiledPatterns(): number {
  return count.compiled;
}
