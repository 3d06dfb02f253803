// SPDX-License-Identifier: Apache-2.0
/** RE2's programs as re2js 2.10 has them, and what its instructions mean. */

/** One instruction of a compiled RE2 program, as re2js has it. */
export interface Instruction {
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
export const EMPTY_WIDTH = 4;
export const MATCH = 6;
const NOP = 7;
const RUNE = 8;
const RUNE_ANY_NOT_NL = 11;

// What EMPTY_WIDTH asks for (class Utils).
export const BEGIN_LINE = 1;
export const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

/** Parsing, copying and compiling one instruction. */
const MADE = 10;
/** The same of one end of a range of characters. */
const RANGE = 0.25;

/** What a program took to make, in the same unit: of each instruction, and of each range that it copies. */
export function programWork(program: Program): number {
  let ranges = 0;
  for (let pc = 0; pc < program.numInst(); pc += 1) ranges += program.getInst(pc).runes.length;
  return MADE * program.numInst() + RANGE * ranges;
}

/** Whether an instruction reads a character. */
export function isReader({ op }: Instruction): boolean {
  return op >= RUNE && op <= RUNE_ANY_NOT_NL;
}

/** What the instructions of a program ask of places: flags of EMPTY_WIDTH. */
export function askedFor(program: Program): number {
  let asked = 0;
  for (let pc = 0; pc < program.numInst(); pc += 1) {
    const { op, arg } = program.getInst(pc);
    if (op === EMPTY_WIDTH) asked |= arg;
  }
  return asked;
}

/** Where an instruction leads that reads nothing, where `flags` hold. */
export function onwards({ op, out, arg }: Instruction, flags: number): readonly number[] {
  if (op === ALT || op === ALT_MATCH) return [out, arg];
  if (op === NOP || op === CAPTURE) return [out];
  return op === EMPTY_WIDTH && (arg & ~flags) === 0 ? [out] : [];
}
