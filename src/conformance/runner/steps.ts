// SPDX-License-Identifier: Apache-2.0
import { recordOf } from '#base/object-keys.ts';
import type { Operation } from '../snapshot.ts';
import { messageOf } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';

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
 * Runs the steps in order. After the first that does not succeed the rest are skipped, because they
 * build on it.
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
    else if (operation.skipped !== undefined) broken ??= `${name}, which was skipped`;
    found.push([name, operation]);
  }
  return recordOf(found);
}

export async function runStep(step: ApiStep): Promise<Operation> {
  try {
    return { seen: await step() };
  } catch (error) {
    if (error instanceof StepSkipped) return { skipped: error.message };
    return isNotServed(error) ? { skipped: notServedText(error) } : { fault: messageOf(error) };
  }
}

/**
 * HTTP status codes of an API server, or a proxy before it, that is away or throttles. 0: no
 * answer.
 */
const NOT_SERVED: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

/** Reports whether a call shows nothing, because the API server did not serve it. */
export function isNotServed(error: unknown): error is KubeError {
  return error instanceof KubeError && NOT_SERVED.has(error.status);
}

/** Returns the reason to skip a step or a case after such a call. */
export function notServedText(error: KubeError): string {
  return `the API server did not serve it: ${messageOf(error)}`;
}

/** Skips all steps for one reason. */
export function skipSteps<O extends string>(
  names: readonly O[],
  skipped: string,
): Readonly<Record<O, Operation>> {
  return recordOf(names.map((name) => [name, { skipped }]));
}
