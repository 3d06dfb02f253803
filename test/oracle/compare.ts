// SPDX-License-Identifier: Apache-2.0
import { ACCEPTED, type Answer, type Oracle, type Question } from './oracle.ts';
import type { Verdict } from './ours.ts';

/** What a run over many inputs has found. */
export interface Findings {
  /** How many inputs came how far with us. */
  readonly levels: number[];
  /** What we accept and Go does not: bytes in base64, and Go's reason. */
  readonly wrong: string[];
  /** `CODE: message` of what we refuse and Go does not → how often. */
  readonly stricter: Map<string, number>;
}

export interface Made {
  readonly input: Uint8Array;
  readonly ours: Verdict;
}

/** Inputs of which each is judged by itself. */
export function judgedBy(
  input: (number: number) => Uint8Array,
  judge: (input: Uint8Array) => Verdict,
): Comparison['made'] {
  return (number) => {
    const made = input(number);
    return { input: made, ours: judge(made) };
  };
}

export interface Comparison {
  readonly count: number;
  readonly kind: Question;
  /** The data of the question of this number, and our own answer. */
  readonly made: (number: number) => Made;
  /** More to hold where both accept: what is wrong, or undefined. */
  readonly same?: (input: Uint8Array, answer: Answer) => string | undefined;
}

/** Questions that are open at once: enough to keep both sides busy. */
const BATCH = 1000;

export async function compare(oracle: Oracle, wanted: Comparison): Promise<Findings> {
  const found: Findings = { levels: [0, 0, 0], wrong: [], stricter: new Map() };
  let open: Promise<void> = Promise.resolve();
  for (let begin = 0; begin < wanted.count; begin += BATCH) {
    const numbers = Array.from(
      { length: Math.min(BATCH, wanted.count - begin) },
      (_, i) => begin + i,
    );
    const judged = numbers.map((number) => {
      const made = wanted.made(number);
      return { ...made, answer: oracle.ask(wanted.kind, made.input) };
    });
    // Go answers one batch while the next is made.
    await open;
    open = Promise.all(judged.map(({ answer }) => answer)).then((answers) =>
      judged.forEach(({ input, ours }, index) => {
        const answer = answers[index];
        if (answer !== undefined) note(found, { input, ours, answer, wanted });
      }),
    );
  }
  await open;
  return found;
}

interface Judged extends Made {
  readonly answer: Answer;
  readonly wanted: Comparison;
}

function note(found: Findings, { input, ours, answer, wanted }: Judged): void {
  found.levels[ours.level] = (found.levels[ours.level] ?? 0) + 1;
  const base64 = Buffer.from(input).toString('base64');
  if (ours.level > answer.level) found.wrong.push(`${base64}: ${answer.reason}`);
  if (ours.level < answer.level && ours.error !== undefined) {
    const { code, message } = ours.error;
    found.stricter.set(`${code}: ${message}`, (found.stricter.get(`${code}: ${message}`) ?? 0) + 1);
  }
  const difference = ours.level === ACCEPTED ? wanted.same?.(input, answer) : undefined;
  if (difference !== undefined) found.wrong.push(`${base64}: ${difference}`);
}
