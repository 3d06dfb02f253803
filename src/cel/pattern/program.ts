// SPDX-License-Identifier: Apache-2.0
/** Compiled RE2 programs in the form of re2js 2.10, and the meaning of their instructions. */

/** One instruction of a compiled RE2 program, in the form of re2js. */
export interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  /** The lowest and highest character of each range, or one single character. */
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
export const ALT = 1;
export const ALT_MATCH = 2;
const CAPTURE = 3;
export const EMPTY_WIDTH = 4;
export const MATCH = 6;
const NOP = 7;
const RUNE = 8;
const RUNE_ANY_NOT_NL = 11;

// Conditions of EMPTY_WIDTH (class Utils).
export const BEGIN_LINE = 1;
export const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

/** The work to parse, copy and compile one instruction. */
const PER_COMPILED_INSTRUCTION = 10;
/** The work to copy one end of a range of characters. */
const PER_RANGE_END = 0.25;

/** Returns the work to compile a program, in visited instructions (automaton.ts). */
export function programWork(program: Program): number {
  let ranges = 0;
  for (let pc = 0; pc < program.numInst(); pc += 1) ranges += program.getInst(pc).runes.length;
  return PER_COMPILED_INSTRUCTION * program.numInst() + PER_RANGE_END * ranges;
}

/** Reports whether an instruction reads a character. */
export function isReader({ op }: Instruction): boolean {
  return op >= RUNE && op <= RUNE_ANY_NOT_NL;
}

/** Returns the conditions that a program depends on: flags of EMPTY_WIDTH. */
export function conditionsOf(program: Program): number {
  let conditions = 0;
  for (let pc = 0; pc < program.numInst(); pc += 1) {
    const { op, arg } = program.getInst(pc);
    if (op === EMPTY_WIDTH) conditions |= arg;
  }
  return conditions;
}

/** Returns the successors of an instruction that reads nothing, if exactly `flags` hold. */
export function successors({ op, out, arg }: Instruction, flags: number): readonly number[] {
  if (op === ALT || op === ALT_MATCH) return [out, arg];
  if (op === NOP || op === CAPTURE) return [out];
  return op === EMPTY_WIDTH && (arg & ~flags) === 0 ? [out] : [];
}

/** Word characters: 0-9, A-Z, _, a-z. */
export const WORD: readonly (readonly [number, number])[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];

/** Reports whether `\b` counts the character as part of a word. */
export function isWordRune(rune: number): boolean {
  return WORD.some(([lowest, highest]) => rune >= lowest && rune <= highest);
}

/** Returns the other cases of a character. With (?i), a program reads them without listing them. */
export function foldings(rune: number): readonly number[] {
  const text = String.fromCodePoint(rune);
  return [text.toLowerCase(), text.toUpperCase()].flatMap((each) => each.codePointAt(0) ?? []);
}
