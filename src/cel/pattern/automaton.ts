// SPDX-License-Identifier: Apache-2.0
/**
 * A limit on the size of a pattern's automaton (DFA). RE2 creates the states of the DFA lazily,
 * while it reads a text, and then looks each character up in its current state. `[ab]*a[ab]{300}`
 * has 2³⁰⁰ states. Each character of a hostile text creates another one, which takes 500 times as
 * long as a lookup.
 *
 * The states counted here are exactly those of re2js's class DFA. A state is a set of instructions
 * with the facts about the position (after a word character, at the start of a line) that an
 * instruction of the set depends on. A simpler model that ignores these facts, for example for
 * `\b\B`, has other and fewer states.
 */

import {
  BEGIN_LINE,
  BEGIN_TEXT,
  EMPTY_WIDTH,
  END_LINE,
  END_TEXT,
  MATCH,
  NO_WORD_BOUNDARY,
  WORD,
  WORD_BOUNDARY,
  conditionsOf,
  foldings,
  isReader,
  isWordRune,
  successors,
  type Program,
} from './program.ts';

/**
 * Limit on visited instructions to create all states, about 100 ns each. This is the cost of a
 * hostile text once per pattern, in addition to the lookup of its characters. A common pattern for
 * SPIFFE IDs with `^` and `$` takes 112,000, or 68,000 if it matches whole values.
 */
export const MAX_WORK = 200_000;

/** Bytes that re2js allows an automaton, by its own count. Beyond it, re2js drops all states. */
const MAX_MEMORY = 8_388_608;
const STATE_MEMORY = 200;
const ELEMENT_MEMORY = 8;
/** Fixed work of a step: find it, then hash and look up its state. */
const PER_STEP = 2;
/** Work for one instruction of a state: add it to a set, sort, hash, and store it. */
const PER_INSTRUCTION = 1;
/** Work to look the cases of a character up, and to find the class of one between two borders. */
const PER_FOLDING = 3;
const PER_BORDER = 5;
/** The part of {@link PER_INSTRUCTION} that grows with the logarithm of the size. */
const PER_COMPARISON = 0.1;
/** The part of {@link PER_INSTRUCTION} to visit an instruction that another one has reached. */
const PER_REVISIT = 0.2;
/** Sets of flags of EMPTY_WIDTH, which has six conditions. */
const FLAG_SETS = 64;
/** States of one closure: a set of flags, whether after a word character, and whether a match. */
const STATES_OF_CLOSURE = 4 * FLAG_SETS;

/**
 * Enumerates the states of a pattern's DFA.
 *
 * @param isWhole - whether the pattern is anchored at the first character
 * @param spent - work to read and compile the pattern
 * @returns that work and the visited instructions, or undefined above {@link MAX_WORK}
 */
export function automatonWork(
  program: Program,
  isWhole: boolean,
  spent: number,
): number | undefined {
  return new Automaton(program, isWhole, spent).work();
}

/** A set of instructions. Each set has one object. */
interface Closure {
  readonly id: number;
  readonly pcs: readonly number[];
  /** Conditions (flags of EMPTY_WIDTH) of its instructions, whether they hold or not. */
  readonly needs: number;
}

interface State extends Omit<Closure, 'id'> {
  /** Equal for two states exactly if RE2 treats them as one. */
  readonly key: number;
  /** Conditions that held when its closure was computed: flags of EMPTY_WIDTH. */
  readonly known: number;
  readonly afterWord: boolean;
  readonly isMatch: boolean;
}

/** A class of characters that the program does not distinguish. */
interface Kind {
  readonly readers: ReadonlySet<number>;
  readonly isWord: boolean;
  readonly isNewline: boolean;
  readonly isEnd: boolean;
}

const END: Kind = { readers: new Set(), isWord: false, isNewline: false, isEnd: true };

class Automaton {
  readonly #program: Program;
  readonly #isWhole: boolean;
  /** Whether some instruction depends on a word boundary, or on the start or end of a line. */
  readonly #testsWords: boolean;
  readonly #testsLines: boolean;
  readonly #closures = new Map<number, Closure>();
  /**
   * Closures by the instructions from which they were reached: many states have the same
   * successors.
   */
  readonly #reached = new Map<string, { readonly closure: Closure; readonly work: number }>();
  readonly #interned = new Map<string, Closure>();
  #work: number;
  #memory = 0;

  constructor(program: Program, isWhole: boolean, spent: number) {
    this.#work = spent;
    this.#program = program;
    this.#isWhole = isWhole;
    const conditions = conditionsOf(program);
    this.#testsWords = (conditions & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0;
    this.#testsLines = (conditions & (BEGIN_LINE | END_LINE)) !== 0;
  }

  /** Enumerates all states, and stops at the limit. */
  work(): number | undefined {
    const [kinds, classes] = this.#kinds();
    const seen = new Set<number>();
    const waiting: State[] = [];
    const add = (state: State): void => {
      if (seen.has(state.key)) return;
      seen.add(state.key);
      const size = STATE_MEMORY + ELEMENT_MEMORY * (state.pcs.length + classes);
      this.#memory += this.#copies(state) * size;
      if (!this.#ends(state)) waiting.push(state);
    };
    add(this.#state([this.#program.start], BEGIN_TEXT | BEGIN_LINE, false, false));
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      for (const kind of kinds) {
        if (this.#isTooMuch()) return undefined;
        const next = this.#step(state, kind);
        if (!kind.isEnd) add(next);
      }
    }
    return this.#isTooMuch() ? undefined : Math.ceil(this.#work);
  }

  #isTooMuch(): boolean {
    return this.#work > MAX_WORK || this.#memory > MAX_MEMORY;
  }

  /** Reports whether RE2 stops reading in this state, because the result is known. */
  #ends({ pcs, isMatch }: State): boolean {
    return this.#isWhole ? pcs.length === 0 : isMatch;
  }

  #step(state: State, kind: Kind): State {
    const { readers, isWord, isNewline, isEnd } = kind;
    const before = knownBefore(state, kind);
    const isConditional = (before & ~state.known & state.needs) !== 0;
    const { pcs } = isConditional ? this.#closure(state.pcs, before) : state;
    const next: number[] = [];
    let isMatch = false;
    for (const pc of pcs) {
      if (readers.has(pc)) next.push(this.#program.getInst(pc).out);
      else if (this.#program.getInst(pc).op === MATCH) isMatch = true;
    }
    if (!this.#isWhole && !isEnd) next.push(this.#program.start);
    this.#work += this.#copies(state) * (PER_STEP + pcs.length);
    return this.#state(next, isNewline ? BEGIN_LINE : 0, isWord, isMatch);
  }

  /**
   * Returns the number of states that RE2 stores for this one. For any state with a condition, RE2
   * stores whether the last character was a word character, even if the only condition is `$`. It
   * then stores two equivalent states.
   */
  #copies({ needs }: State): number {
    return needs !== 0 && !this.#testsWords ? 2 : 1;
  }

  /**
   * Returns a state. Facts about the position are part of it only if an instruction depends on
   * them.
   */
  #state(from: readonly number[], known: number, afterWord: boolean, isMatch: boolean): State {
    const { id, pcs, needs } = this.#closure(from, known);
    const facts = needs === 0 ? { known: 0, afterWord: false } : { known, afterWord };
    const bits = (facts.known * 2 + Number(facts.afterWord)) * 2 + Number(isMatch);
    return { key: id * STATES_OF_CLOSURE + bits, pcs, needs, ...facts, isMatch };
  }

  /** Returns all instructions reachable without reading, if exactly these flags hold. */
  #closure(from: readonly number[], flags: number): Closure {
    if (from.length === 1) return this.#closureOfOne(from[0] ?? 0, flags);
    // MAX_PROGRAM (regex.ts) keeps each instruction below 65,536, so it is one character.
    const key = String.fromCharCode(flags, ...from);
    const before = this.#reached.get(key);
    if (before !== undefined) {
      this.#work += before.work;
      return before.closure;
    }
    const found = new Set<number>();
    let needs = 0;
    let work = 0;
    for (const pc of new Set(from)) {
      if (this.#work + work > MAX_WORK) break;
      const each = this.#closureOfOne(pc, flags);
      needs |= each.needs;
      for (const reached of each.pcs) found.add(reached);
      // RE2 stops at instructions that it has reached before. This visits them again.
      work += PER_INSTRUCTION * PER_REVISIT * each.pcs.length;
    }
    work += sorting(found.size);
    this.#work += work;
    const closure = this.#intern(found, needs);
    this.#reached.set(key, { closure, work });
    return closure;
  }

  #intern(found: ReadonlySet<number>, needs: number): Closure {
    const pcs = [...found].sort((a, b) => a - b);
    // The key has one character for the conditions, and one for the number of each instruction.
    const key = String.fromCharCode(needs, ...pcs);
    const known = this.#interned.get(key);
    if (known !== undefined) return known;
    const made = { id: this.#interned.size, pcs, needs };
    this.#interned.set(key, made);
    return made;
  }

  #closureOfOne(from: number, flags: number): Closure {
    const key = from * FLAG_SETS + flags;
    const known = this.#closures.get(key);
    if (known !== undefined) return known;
    const found = new Set<number>();
    const stack = [from];
    let needs = 0;
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (pc === 0 || found.has(pc)) continue;
      found.add(pc);
      const instruction = this.#program.getInst(pc);
      if (instruction.op === EMPTY_WIDTH) needs |= instruction.arg;
      stack.push(...successors(instruction, flags));
    }
    this.#work += found.size + sorting(found.size);
    const made = this.#intern(found, needs);
    this.#closures.set(key, made);
    return made;
  }

  /**
   * Returns the classes of characters that the program distinguishes, and the number of RE2's
   * classes.
   */
  #kinds(): readonly [readonly Kind[], number] {
    const readers = Array.from({ length: this.#program.numInst() }, (_, pc) => pc).filter((pc) =>
      isReader(this.#program.getInst(pc)),
    );
    // \pL alone has 1,300 ends of ranges, and each instruction that reads it has its own copy.
    for (const pc of readers) this.#work += this.#program.getInst(pc).runes.length;
    if (this.#isTooMuch()) return [[], 0];
    const sets = [
      ...Map.groupBy(readers, (pc) => {
        const { op, arg, runes } = this.#program.getInst(pc);
        return `${op} ${arg} ${Array.from(runes).join()}`;
      }).values(),
    ];
    const borders = this.#borders(sets);
    const kinds = new Map<string, Kind>();
    for (const rune of borders) {
      this.#work += PER_BORDER;
      if (this.#isTooMuch()) break;
      const taken = sets.filter(([pc = 0]) => this.#reads(pc, rune));
      const isWord = this.#testsWords && isWordRune(rune);
      const isNewline = this.#testsLines && rune === 0x0a;
      const key = `${isWord} ${isNewline} ${taken.map(([pc]) => pc).join()}`;
      if (kinds.has(key)) continue;
      this.#work += readers.length;
      kinds.set(key, { readers: new Set(taken.flat()), isWord, isNewline, isEnd: false });
    }
    return [[...kinds.values(), END], borders.size];
  }

  #reads(pc: number, rune: number): boolean {
    this.#work += 1;
    return this.#program.getInst(pc).matchRune(rune);
  }

  /** Returns one character between any two ends of ranges, including those of word characters. */
  #borders(sets: readonly (readonly number[])[]): ReadonlySet<number> {
    const found = new Set<number>([0, 0x0a, 0x0b]);
    for (const [lowest, highest] of WORD) found.add(lowest).add(highest + 1);
    for (const [pc = 0] of sets) {
      const { runes } = this.#program.getInst(pc);
      this.#work += PER_FOLDING * runes.length;
      if (this.#isTooMuch()) break;
      for (const rune of Array.from(runes)) {
        found.add(rune).add(rune + 1);
        for (const folded of foldings(rune)) found.add(folded).add(folded + 1);
      }
    }
    return found;
  }
}

/** Returns the conditions that hold at a position, after its next character is known. */
function knownBefore({ known, afterWord }: State, { isWord, isNewline, isEnd }: Kind): number {
  const word = isWord === afterWord ? NO_WORD_BOUNDARY : WORD_BOUNDARY;
  const line = isNewline || isEnd ? END_LINE : 0;
  return known | word | line | (isEnd ? END_TEXT : 0);
}

function sorting(size: number): number {
  return size * (PER_INSTRUCTION + PER_COMPARISON * Math.log2(size + 1));
}
