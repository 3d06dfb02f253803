// SPDX-License-Identifier: Apache-2.0
/** RE2 patterns: what it takes to compile one, and to match a hostile text for the first time. */
import { MAX_VALUE } from '#cel/pattern/value-pattern.ts';
import { compileRegex, discardPatterns, tryRegex, type MatchMode } from '#cel/pattern/regex.ts';
import { UNIT_MS, minMs, type Finding } from './measure.ts';
import { oneOf, type Pick } from './random.ts';

const ATOMS = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '\\d',
  '\\b',
  '\\B',
  '^',
  '$',
  '\\pL',
  '[a-z]',
  'k',
  '\\A',
  '\\z',
  '[[:alpha:]]',
  '[^\\pL]',
  'x',
  '/',
  '[.]',
  '\\s',
  '(?i:k)',
  '\\x{10FFFF}',
];
const REPEATS = [
  '*',
  '+',
  '?',
  '{2}',
  '{0,9}',
  '{1,63}',
  '{30}',
  '{100}',
  '{200}',
  '{1,253}',
  '*?',
];
const FRONTS = ['', '^', '(?i)', '(?m)', '(?s)', '.*', '(?im)^', '[ab]*'];
const ENDS = ['', '$', '[cd]', '\\z', '.*', '\\b$'];

/** A pattern of this depth. */
export function pattern(pick: Pick, depth: number): string {
  return oneOf(pick, FRONTS) + part(pick, depth) + oneOf(pick, ENDS);
}

function part(pick: Pick, depth: number): string {
  const one = (): string => part(pick, depth - 1);
  if (depth <= 0) return oneOf(pick, ATOMS);
  const forms = [
    () => one() + one(),
    () => one() + one() + one(),
    () => `(?:${one()}|${one()})`,
    () => `(?:${one()})${oneOf(pick, REPEATS)}`,
    () => `${oneOf(pick, ATOMS)}${oneOf(pick, REPEATS)}`,
    () => `(${one()})`,
    () => row(pick),
  ];
  return oneOf(pick, forms)();
}

/** Different characters, each of which may be left out: what may come next grows with the row. */
function row(pick: Pick): string {
  const [first, repeat] = [0x4e00 + pick(64), oneOf(pick, ['?', '*', '??'])];
  return Array.from(
    { length: 1 + pick(200) },
    (_, index) => String.fromCodePoint(first + 2 * index) + repeat,
  ).join('');
}

/** A pattern, again, or one of the worst with something more. */
function next(pick: Pick, worst: readonly string[]): string {
  const before = worst[pick(Math.max(1, worst.length))];
  if (before === undefined || pick(3) === 0) return pattern(pick, 1 + pick(4));
  const at = pick(before.length + 1);
  const forms = [
    `(?:${before})${oneOf(pick, REPEATS)}`,
    `${oneOf(pick, FRONTS)}${before}`,
    `${before}${part(pick, 2)}`,
    `(?:${before}|${part(pick, 2)})`,
    before.slice(0, at) + oneOf(pick, ATOMS) + before.slice(at),
    before.replace(/\d+/, String(1 + pick(300))),
  ];
  return oneOf(pick, forms);
}

const ALPHABETS = ['ab', 'abx', 'ab ', 'a\nb', 'kK\u212A', 'ab_/.', 'aé', '0a', 'abcd'];

/** A text whose characters are random: it leads through many states. */
function hostileText(pick: Pick): string {
  const alphabet = oneOf(pick, ALPHABETS);
  return Array.from({ length: MAX_VALUE }, () => alphabet[pick(alphabet.length)]).join('');
}

/** An instruction of a pattern's work, in milliseconds. */
const INSTRUCTION_MS = 1e-4;
/** The library's own part of a compilation: each instruction once more, whatever the states are. */
const LOOKUP = 2;

/**
 * What it takes to compile a pattern, accepted or not, and to match with it; undefined if it is no
 * pattern.
 */
export async function tryPattern(
  pick: Pick,
  worst: readonly string[],
): Promise<readonly Finding[]> {
  const source = next(pick, worst).slice(0, 512);
  const mode = oneOf<MatchMode>(pick, ['part', 'whole', 'place']);
  const made = tryRegex(source, mode);
  if (typeof made === 'string') return tryRefused(pick, source, mode, made);
  const { work } = made;
  const compile = async (): Promise<Finding> => {
    const ms = await minMs(3, () => {
      discardPatterns([compileRegex(source, mode)]);
      return () => compileRegex(source, mode);
    });
    const ratio = ms / (work * INSTRUCTION_MS);
    return { kind: 'compile a pattern', source, ms, ratio, again: compile };
  };
  if (mode === 'place') return [await compile()];
  const subject = hostileText(pick);
  const price = LOOKUP * MAX_VALUE * UNIT_MS + work * INSTRUCTION_MS;
  const match = async (): Promise<Finding> => {
    const ms = await minMs(3, () => {
      discardPatterns([compileRegex(source, mode)]);
      const fresh = compileRegex(source, mode);
      return () => (mode === 'part' ? fresh.test(subject) : fresh.testWhole(subject));
    });
    return { kind: 'match a pattern', source, ms, ratio: ms / price, again: match };
  };
  return [await compile(), await match()];
}

/** To refuse a pattern takes no longer than to accept the largest. */
async function tryRefused(
  pick: Pick,
  source: string,
  mode: MatchMode,
  message: string,
): Promise<readonly Finding[]> {
  if (!/too many states|instructions, more than/.test(message)) return [];
  // A refusal is kept: a pattern that means the same is another one.
  const again = async (): Promise<Finding> => {
    const ms = await minMs(3, () => {
      const other = `${source}(?:${'|'.repeat(1 + pick(40))})`;
      return () => tryRegex(other, mode);
    });
    return { kind: 'refuse a pattern', source, ms, ratio: 0, again };
  };
  return [await again()];
}
