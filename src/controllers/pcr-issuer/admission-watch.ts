// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Component } from '../../runtime/component/component.ts';
import { poll } from '../../runtime/component/poll.ts';
import { policyGaps } from './admission-policy.ts';

/** Warns while the admission policy does not guard what is served. */
export interface AdmissionWatch {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly warnings: () => readonly string[];
}

const RECHECK_GAPS_MS = 30_000;
const RECHECK_GUARDED_MS = 5 * 60_000;

/** @param signerNames - what is served now */
export function createAdmissionWatch(
  { client, delay, log }: Pick<Component, 'client' | 'delay' | 'log'>,
  signerNames: () => readonly string[],
): AdmissionWatch {
  let gaps: readonly string[] = [];

  async function look(): Promise<number> {
    const before = gaps;
    gaps = await policyGaps(client, signerNames()).catch((error: unknown) => [
      `cannot check the admission policy: ${messageOf(error)}`,
    ]);
    for (const gap of gaps.filter((each) => !before.includes(each))) log.warn({}, gap);
    return gaps.length > 0 ? RECHECK_GAPS_MS : RECHECK_GUARDED_MS;
  }

  return {
    run: (signal) => poll({ subject: () => signerNames().join(), look, delay }, signal),
    warnings: () => gaps,
  };
}
