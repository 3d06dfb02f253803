// SPDX-License-Identifier: Apache-2.0
import { recordOf } from '#base/object-keys.ts';
import type { Operation } from '../snapshot.ts';
import { messageOf } from '#base/errors.ts';

/** One call of upstream's tests. Returns the observation, or throws the fault. */
export type ApiStep = () => Promise<string>;

/** The fault of an answer. */
class StepFailed extends Error {}

/**
 * A condition outside the API server and the signer that prevents a step, such as a cluster without
 * nodes.
 */
export class StepSkipped extends Error {}

/** @throws StepFailed */
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
  return recordOf(found);
}

export async function runStep(step: ApiStep): Promise<Operation> {
  try {
    return { seen: await step() };
  } catch (error) {
    if (error instanceof StepSkipped) return { skipped: error.message };
    return { fault: messageOf(error) };
  }
}

/** Skips all steps for one reason. */
export function skipSteps<O extends string>(
  names: readonly O[],
  skipped: string,
): Readonly<Record<O, Operation>> {
  return recordOf(names.map((name) => [name, { skipped }]));
}
