// SPDX-License-Identifier: Apache-2.0
import type { Operation } from '../conformance/snapshot.ts';
import { messageOf } from '../errors.ts';

/** One call of upstream's tests: what was seen, or it throws what was wrong. */
export type ApiStep = () => Promise<string>;

/** What a step finds wrong with an answer. */
class StepFailed extends Error {}

/**
 * Something outside the API server and the signer keeps a step from running, such as a cluster
 * without nodes.
 */
export class StepSkipped extends Error {}

/** @throws Wrong */
export function check(holds: boolean, wrong: string): void {
  if (!holds) throw new StepFailed(wrong);
}

/**
 * Runs the steps in order. After the first fault the rest are skipped, because they build on it.
 */
export async function runSteps<O extends string>(
  names: readonly O[],
  steps: Readonly<Record<O, ApiStep>>,
): Promise<Readonly<Record<O, Operation>>> {
  const found: [O, Operation][] = [];
  let broken: string | undefined;
  for (const name of names) {
    const operation: Operation =
      broken === undefined ? await runStep(steps[name]) : { skipped: `after ${broken}` };
    if (operation.fault !== undefined) broken = `${name} failed`;
    found.push([name, operation]);
  }
  return Object.fromEntries(found) as Readonly<Record<O, Operation>>;
}

export async function runStep(step: ApiStep): Promise<Operation> {
  try {
    return { seen: await step() };
  } catch (error) {
    if (error instanceof StepSkipped) return { skipped: error.message };
    return { fault: messageOf(error) };
  }
}

/** Skips all of them for one reason. */
export function skipSteps<O extends string>(
  names: readonly O[],
  skipped: string,
): Readonly<Record<O, Operation>> {
  return Object.fromEntries(names.map((name) => [name, { skipped }])) as Readonly<
    Record<O, Operation>
  >;
}
