// SPDX-License-Identifier: Apache-2.0
/**
 * How large the automaton of a pattern can become. RE2 makes its states while it reads a text, each once,
 * and looks a character up in the state it is in. Of `[ab]*a[ab]{300}` there are 2³⁰⁰: then each character
 * of a hostile text makes a new one, which takes 500 times as long as looking it up.
 */

/** One instruction of a compiled RE2 program, as re2js has it. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  /** Lowest and highest of each range, or one character. */
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
}

/** A compiled RE2 program. */
export interface Program {
  readonly start: number;
  numInst(): number;
  getInst(pc: number): Instruction;
}

// Operations of re2js 2.10 (class Inst).
const ALT = 1;
const ALT_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const NOP = 7;
const RUNE = 8;
const RUNE_ANY_NOT_NL = 11;

/** Of EMPTY_WIDTH: only where the text begins. */
const BEGIN_TEXT = 4;

/**
 * Instructions looked at, some 100 ns each where RE2 makes a state of them: what a hostile text may cost
 * besides looking its characters up, once for a pattern. The usual one for SPIFFE IDs takes 60,000.
 */
const MAX_WORK = 200_000;

/** Parsing, copying and compiling one instruction. */
const MADE = 10;
/** The same of one end of a range of characters. */
const RANGE = 0.25;

/**
 * How many instructions were looked at to find that there are so few states that RE2 soon has them all;
 * undefined where there are more.
 *
 * @param isWhole - whether the pattern must match from the first character on
 */
export function automatonWork(program: Program, isWhole: boolean): number | undefined {
  return new Automaton(program, isWhole).work();
}

/** What a program took to make, in the same unit: of each instruction, and of each range that it copies. */
export function programWork(program: Program): number {
  let ranges = 0;
  for (let pc = 0; pc < program.numInst(); pc += 1) ranges += program.getInst(pc).runes.length;
  return MADE * program.numInst() + RANGE * ranges;
}

type Pcs = readonly number[];
/** For one kind of character: instruction → those that follow it. */
type Step = ReadonlyMap<number, Pcs>;

class Automaton {
  readonly #program: Program;
  readonly #isWhole: boolean;
  #work = 0;

  constructor(program: Program, isWhole: boolean) {
    this.#program = program;
    this.#isWhole = isWhole;
  }

  /** Makes every state that there is, until there are too many. */
  work(): number | undefined {
    const { start } = this.#program;
    const steps = this.#steps();
    const first = this.#closure([start], true);
    const again = this.#isWhole ? [] : this.#closure([start], false);
    const seen = new Set<string>([first.join()]);
    const waiting: Pcs[] = [first];
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      for (const step of steps) {
        if (this.#work > MAX_WORK) return undefined;
        const next = sorted([...state.flatMap((pc) => step.get(pc) ?? []), ...again]);
        this.#work += 1 + state.length + next.length;
        const key = next.join();
        if (!seen.has(key)) waiting.push(next);
        seen.add(key);
      }
    }
    return this.#work <= MAX_WORK ? this.#work : undefined;
  }

  /** One for each kind of character that the program tells apart. */
  #steps(): readonly Step[] {
    const readers = Array.from({ length: this.#program.numInst() }, (_, pc) => pc).filter((pc) => {
      const { op } = this.#program.getInst(pc);
      return op >= RUNE && op <= RUNE_ANY_NOT_NL;
    });
    // Of \pL there are 1,300 ends of ranges, and each place that reads it has them all.
    for (const pc of readers) this.#work += this.#program.getInst(pc).runes.length;
    if (this.#work > MAX_WORK) return [];
    const sets = Map.groupBy(readers, (pc) => {
      const { op, arg, runes } = this.#program.getInst(pc);
      return `${op} ${arg} ${Array.from(runes).join()}`;
    });
    const kinds = new Map<string, readonly Pcs[]>();
    for (const rune of this.#borders(readers)) {
      const taken = [...sets.values()].filter(([pc = 0]) => this.#reads(pc, rune));
      kinds.set(taken.map(([pc]) => pc).join(), taken);
    }
    const after = new Map(readers.map((pc) => [pc, this.#after(pc)] as const));
    return [...kinds.values()].map(
      (taken) => new Map(taken.flat().map((pc) => [pc, after.get(pc) ?? []])),
    );
  }

  #after(pc: number): Pcs {
    return this.#closure([this.#program.getInst(pc).out], false);
  }

  #reads(pc: number, rune: number): boolean {
    this.#work += 1;
    return this.#program.getInst(pc).matchRune(rune);
  }

  /** One character between any two places where a set of the program begins or ends. */
  #borders(readers: Pcs): ReadonlySet<number> {
    const found = new Set<number>([0, 0x0a, 0x0b]);
    for (const pc of readers) {
      const { runes } = this.#program.getInst(pc);
      for (const rune of Array.from(runes)) found.add(rune).add(rune + 1);
    }
    return found;
  }

  /** Everything reached without reading; what depends on the next character is taken to hold. */
  #closure(from: Pcs, atStart: boolean): Pcs {
    const found = new Set<number>();
    const stack = [...from];
    while (this.#work <= MAX_WORK) {
      const pc = stack.pop();
      if (pc === undefined) break;
      if (pc === 0 || found.has(pc)) continue;
      found.add(pc);
      this.#work += 1;
      stack.push(...onwards(this.#program.getInst(pc), atStart));
    }
    return sorted([...found]);
  }
}

/** Where an instruction leads that reads nothing. */
function onwards({ op, out, arg }: Instruction, atStart: boolean): Pcs {
  if (op === ALT || op === ALT_MATCH) return [out, arg];
  if (op === NOP || op === CAPTURE) return [out];
  return op === EMPTY_WIDTH && (atStart || (arg & BEGIN_TEXT) === 0) ? [out] : [];
}

function sorted(pcs: Pcs): Pcs {
  return [...new Set(pcs)].sort((a, b) => a - b);
}
