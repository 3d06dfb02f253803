// SPDX-License-Identifier: Apache-2.0
/**
 * Estimate of re2js's work to decide whether a pattern is "one-pass". It decides this when it
 * compiles a pattern that starts with `^` (class OnePass). After each character it merges the sets
 * of all possible next characters. A sequence of 250 different characters, each with a `?`, takes
 * 110 ms, a hundred times as long as all the rest.
 */
import {
  ALT,
  ALT_MATCH,
  BEGIN_TEXT,
  EMPTY_WIDTH,
  END_TEXT,
  MATCH,
  foldings,
  isReader,
  type Program,
} from './program.ts';

/**
 * Work to read or merge one end of a range of characters, in instructions (automaton.ts). It counts
 * twice: re2js does it, and {@link Search} repeats that.
 */
const PER_END = 0.8;
/** Size from which re2js does not try. */
const MAX_INSTRUCTIONS = 1_000;
/** Range of all characters. */
const ANY = [0, 0x10ffff];

interface Node {
  readonly op: number;
  out: number;
  arg: number;
}

/**
 * Returns the work to decide whether a program is one-pass, in instructions. It repeats re2js's
 * steps and counts them.
 *
 * @param most - limit above which the exact number does not matter
 */
export function onePassWork(program: Program, most: number): number {
  if (program.numInst() >= MAX_INSTRUCTIONS || !isCandidate(program)) return 0;
  return PER_END * new Search(program, most / PER_END).run();
}

function isCandidate(program: Program): boolean {
  const start = program.getInst(program.start);
  if (start.op !== EMPTY_WIDTH || (start.arg & BEGIN_TEXT) === 0) return false;
  const all = Array.from({ length: program.numInst() }, (_, pc) => program.getInst(pc));
  const hasAlt = all.some(isAlt);
  return all.every((each) => {
    const { op, out, arg } = each;
    const isLast = program.getInst(out).op === MATCH;
    if (isAlt(each)) return !isLast && program.getInst(arg).op !== MATCH;
    if (op === EMPTY_WIDTH) return !isLast || (arg & END_TEXT) !== 0;
    return !isLast || !hasAlt;
  });
}

function isAlt({ op }: Pick<Node, 'op'>): boolean {
  return op === ALT || op === ALT_MATCH;
}

class Search {
  readonly #program: Program;
  readonly #most: number;
  readonly #nodes: readonly Node[];
  /** Ends of the ranges that may come next, by instruction. */
  readonly #runes = new Map<number, readonly number[]>();
  readonly #matches = new Set<number>();
  readonly #queue = new Set<number>();
  #visited = new Set<number>();
  #ends = 0;

  constructor(program: Program, most: number) {
    this.#program = program;
    this.#most = most;
    this.#nodes = withoutLoops(program);
  }

  /**
   * Returns the number of read, merged or copied ends, until the pattern is accepted, rejected, or
   * above the limit.
   */
  run(): number {
    this.#queue.add(this.#program.start);
    for (const each of this.#queue) {
      this.#visited = new Set();
      if (!this.#check(each) || this.#ends > this.#most) break;
    }
    return this.#ends;
  }

  #check(pc: number): boolean {
    if (this.#visited.has(pc) || this.#ends > this.#most) return true;
    this.#visited.add(pc);
    const node = this.#nodes[pc];
    if (node === undefined) return true;
    if (isAlt(node)) return this.#merge(pc, node);
    if (isReader(this.#program.getInst(pc))) this.#read(pc, node);
    else if (node.op === MATCH) this.#matches.add(pc);
    else return this.#copy(pc, node);
    return true;
  }

  #merge(pc: number, { out, arg }: Node): boolean {
    const isFine = this.#check(out) && this.#check(arg);
    if (this.#matches.has(out) && this.#matches.has(arg)) return false;
    if (this.#matches.has(out) || this.#matches.has(arg)) this.#matches.add(pc);
    const merged = mergedRanges(this.#runes.get(out) ?? [], this.#runes.get(arg) ?? []);
    this.#ends += merged.ends.length;
    if (merged.overlaps) return false;
    this.#runes.set(pc, merged.ends);
    return isFine;
  }

  #copy(pc: number, { out }: Node): boolean {
    const isFine = this.#check(out);
    if (this.#matches.has(out)) this.#matches.add(pc);
    const runes = this.#runes.get(out) ?? [];
    this.#ends += runes.length;
    this.#runes.set(pc, runes);
    return isFine;
  }

  #read(pc: number, { out }: Node): void {
    this.#queue.add(out);
    if (this.#runes.has(pc)) return;
    const { runes } = this.#program.getInst(pc);
    const [only] = Array.from(runes);
    const ends = runes.length === 1 && only !== undefined ? cased(only) : Array.from(runes);
    this.#ends += ends.length;
    this.#runes.set(pc, ends.length === 0 ? ANY : ends);
  }
}

/**
 * Returns a single character with its other cases. It always includes them, because more ranges are
 * more work.
 */
function cased(rune: number): readonly number[] {
  const all = [...new Set([rune, ...foldings(rune)])].sort((a, b) => a - b);
  return all.flatMap((each) => [each, each]);
}

function mergedRanges(
  left: readonly number[],
  right: readonly number[],
): { readonly ends: readonly number[]; readonly overlaps: boolean } {
  const ends: number[] = [];
  let last = -1;
  const at = { left: 0, right: 0 };
  while (at.left < left.length || at.right < right.length) {
    const [lowLeft, lowRight] = [left[at.left] ?? Infinity, right[at.right] ?? Infinity];
    const low = Math.min(lowLeft, lowRight);
    if (low <= last) return { ends, overlaps: true };
    last = (lowLeft <= lowRight ? left[at.left + 1] : right[at.right + 1]) ?? low;
    ends.push(low, last);
    at[lowLeft <= lowRight ? 'left' : 'right'] += 2;
  }
  return { ends, overlaps: false };
}

/**
 * Removes loops around an alternative that starts with itself, as re2js does in its copy
 * (`onePassCopy`).
 */
function withoutLoops(program: Program): readonly Node[] {
  const nodes = Array.from({ length: program.numInst() }, (_, pc): Node => {
    const { op, out, arg } = program.getInst(pc);
    return { op, out, arg };
  });
  for (const [pc, node] of nodes.entries()) if (isAlt(node)) patch(nodes, pc, node);
  return nodes;
}

function patch(nodes: readonly Node[], pc: number, node: Node): void {
  const isAltAt = (at: number): boolean => isAlt(nodes[at] ?? { op: MATCH });
  const [other, alt] = isAltAt(node.arg) ? (['out', 'arg'] as const) : (['arg', 'out'] as const);
  const inner = nodes[node[alt]];
  if (inner === undefined || !isAlt(inner) || isAltAt(node[other])) return;
  const isBack = inner.out === pc || inner.arg === pc;
  const [back, rest] =
    inner.out !== pc && inner.arg === pc ? (['arg', 'out'] as const) : (['out', 'arg'] as const);
  if (isBack) inner[back] = node[other];
  if (node[other] === inner[back]) node[alt] = inner[rest];
}
