// SPDX-License-Identifier: Apache-2.0
/**
 * How large the automaton of a pattern can become. RE2 makes its states while it reads a text, each once,
 * and looks a character up in the state it is in. Of `[ab]*a[ab]{300}` there are 2³⁰⁰: then each character
 * of a hostile text makes a new one, which takes 500 times as long as looking it up.
 *
 * The states counted here are those of re2js's class DFA, one for one: a set of instructions together with
 * what is known of the place (the last character was a word's, a line begins) where an instruction of the set
 * asks for it. An automaton that lets through what RE2 does not, such as `\b\B`, has other and fewer states.
 */

import {
  BEGIN_LINE,
  BEGIN_TEXT,
  EMPTY_WIDTH,
  END_LINE,
  END_TEXT,
  MATCH,
  NO_WORD_BOUNDARY,
  WORD_BOUNDARY,
  askedFor,
  isReader,
  onwards,
  type Program,
} from './program.ts';

/**
 * Instructions looked at, some 100 ns each where RE2 makes a state of them: what a hostile text may cost
 * besides looking its characters up, once for a pattern. The usual one for SPIFFE IDs takes 60,000.
 */
const MAX_WORK = 200_000;

/** What re2js gives an automaton, in bytes by its own count: beyond it all states are made again. */
const MAX_MEMORY = 8_388_608;
const STATE_MEMORY = 200;
const ELEMENT_MEMORY = 8;

/** A step has to be found and its state to be hashed and looked up, however few instructions it has. */
const PER_STEP = 2;
/** Of a state, an instruction: it is put into a set, sorted, hashed and kept. */
const PER_INSTRUCTION = 1;
/** How much of {@link PER_INSTRUCTION} goes by the logarithm. */
const PER_COMPARISON = 0.1;

/**
 * How many instructions were looked at to find that there are so few states that RE2 soon has them all;
 * undefined where there are more.
 *
 * @param isWhole - whether the pattern must match from the first character on
 */
export function automatonWork(program: Program, isWhole: boolean): number | undefined {
  return new Automaton(program, isWhole).work();
}

/** Instructions, each once. */
interface Closure {
  readonly pcs: readonly number[];
  /** What the instructions among them ask for, held or not. */
  readonly needs: number;
}

interface State extends Closure {
  /** What was known when its closure was made: flags of EMPTY_WIDTH. */
  readonly known: number;
  readonly afterWord: boolean;
  readonly isMatch: boolean;
}

/** Characters that the program does not tell apart. */
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
  /** Whether some instruction asks for the border of a word, or of a line. */
  readonly #asksForWords: boolean;
  readonly #asksForLines: boolean;
  readonly #closures = new Map<number, Closure>();
  #work = 0;
  #memory = 0;

  constructor(program: Program, isWhole: boolean) {
    this.#program = program;
    this.#isWhole = isWhole;
    const asked = askedFor(program);
    this.#asksForWords = (asked & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0;
    this.#asksForLines = (asked & (BEGIN_LINE | END_LINE)) !== 0;
  }

  /** Makes every state that there is, until there are too many. */
  work(): number | undefined {
    const [kinds, classes] = this.#kinds();
    const seen = new Set<string>();
    const waiting: State[] = [];
    const add = (state: State): void => {
      const key = keyOf(state);
      if (seen.has(key)) return;
      seen.add(key);
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

  /** RE2 reads no further: it has its answer. */
  #ends({ pcs, isMatch }: State): boolean {
    return this.#isWhole ? pcs.length === 0 : isMatch;
  }

  #step(state: State, kind: Kind): State {
    const { readers, isWord, isNewline, isEnd } = kind;
    const before = knownBefore(state, kind);
    const asked = (before & ~state.known & state.needs) !== 0;
    const { pcs } = asked ? this.#closure(state.pcs, before) : state;
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
   * RE2 keeps with each state that asks for anything whether a word's character came last, also where `$` is
   * all that is asked for: two states that lead to the same.
   */
  #copies({ needs }: State): number {
    return needs !== 0 && !this.#asksForWords ? 2 : 1;
  }

  /** What is known of the place is part of a state only where it is asked for. */
  #state(from: readonly number[], known: number, afterWord: boolean, isMatch: boolean): State {
    const { pcs, needs } = this.#closure(from, known);
    if (needs === 0) return { pcs, needs, known: 0, afterWord: false, isMatch };
    return { pcs, needs, known, afterWord, isMatch };
  }

  /** Everything reached without reading, from where these flags hold and no others. */
  #closure(from: readonly number[], flags: number): Closure {
    if (from.length === 1) return this.#closureOf(from[0] ?? 0, flags);
    const found = new Set<number>();
    let needs = 0;
    for (const pc of new Set(from)) {
      if (this.#isTooMuch()) break;
      const each = this.#closureOf(pc, flags);
      needs |= each.needs;
      for (const reached of each.pcs) found.add(reached);
      // RE2 stops at what it has reached before; this goes through all of it again.
      this.#work += PER_INSTRUCTION * 0.2 * each.pcs.length;
    }
    this.#work += sorting(found.size);
    return { pcs: [...found].sort((a, b) => a - b), needs };
  }

  #closureOf(from: number, flags: number): Closure {
    const key = from * 64 + flags;
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
      stack.push(...onwards(instruction, flags));
    }
    this.#work += found.size + sorting(found.size);
    const made = { pcs: [...found].sort((a, b) => a - b), needs };
    this.#closures.set(key, made);
    return made;
  }

  /** Each kind of character that the program tells apart, and in how many classes RE2 has them. */
  #kinds(): readonly [readonly Kind[], number] {
    const readers = Array.from({ length: this.#program.numInst() }, (_, pc) => pc).filter((pc) =>
      isReader(this.#program.getInst(pc)),
    );
    // Of \pL there are 1,300 ends of ranges, and each place that reads it has them all.
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
      if (this.#isTooMuch()) break;
      const taken = sets.filter(([pc = 0]) => this.#reads(pc, rune));
      const isWord = this.#asksForWords && isWordRune(rune);
      const isNewline = this.#asksForLines && rune === 0x0a;
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

  /** One character between any two places where a set of the program, or of a word's characters, begins or ends. */
  #borders(sets: readonly (readonly number[])[]): ReadonlySet<number> {
    const found = new Set<number>([0, 0x0a, 0x0b]);
    for (const [lowest, highest] of WORD) found.add(lowest).add(highest + 1);
    for (const [pc = 0] of sets) {
      const { runes } = this.#program.getInst(pc);
      for (const rune of Array.from(runes)) {
        found.add(rune).add(rune + 1);
        for (const folded of foldings(rune)) found.add(folded).add(folded + 1);
      }
    }
    return found;
  }
}

/** What is known of a place once its next character is. */
function knownBefore({ known, afterWord }: State, { isWord, isNewline, isEnd }: Kind): number {
  const word = isWord === afterWord ? NO_WORD_BOUNDARY : WORD_BOUNDARY;
  const line = isNewline || isEnd ? END_LINE : 0;
  return known | word | line | (isEnd ? END_TEXT : 0);
}

/** Of two states that RE2 takes for one. */
function keyOf({ pcs, known, afterWord, isMatch }: State): string {
  return `${known} ${afterWord} ${isMatch} ${String.fromCharCode(...pcs)}`;
}

function sorting(size: number): number {
  return size * (PER_INSTRUCTION + PER_COMPARISON * Math.log2(size + 1));
}

/** Characters of words: 0-9, A-Z, _, a-z. */
const WORD: readonly (readonly [number, number])[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];

function isWordRune(rune: number): boolean {
  return WORD.some(([lowest, highest]) => rune >= lowest && rune <= highest);
}

/** Other cases of one character; with (?i) a program reads them without naming them. */
function foldings(rune: number): readonly number[] {
  const text = String.fromCodePoint(rune);
  return [text.toLowerCase(), text.toUpperCase()].flatMap((each) => each.codePointAt(0) ?? []);
}
