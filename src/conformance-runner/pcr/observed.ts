// SPDX-License-Identifier: Apache-2.0
import { isTerminal } from '../../api/request/pod-certificate-request.ts';
import { pcrVersion } from '../../conformance/pcr/version.ts';
import type { RequestedLeaf, ObservedRequest } from '../../conformance/observed-request.ts';
import { until } from '../run.ts';
import type { PcrRun } from './run.ts';

/** What became of a request, from the versions that were seen of it. */
export function observedRequest(
  { run, recorder }: PcrRun,
  requested: RequestedLeaf,
  made: { readonly uid: string; readonly at: number } | { readonly rejection: string },
): ObservedRequest {
  const endedAt = run.clock() - run.client.clockOffset();
  const facts = {
    requested,
    isComplete: recorder.isComplete,
    runnerWrites: 0,
    endedAt,
    waitedMs: run.timeoutMs,
  };
  if ('rejection' in made) return { ...facts, versions: [], rejection: made.rejection };
  const versions = recorder
    .versionsOf(made.uid)
    .map(({ object, at }) => pcrVersion(object, Math.max(0, at - made.at)));
  return { ...facts, versions };
}

export async function answered({ run, recorder }: PcrRun, uid: string): Promise<void> {
  const hasAnswer = (): boolean =>
    recorder.versionsOf(uid).some(({ object }) => isTerminal(object));
  await until(run, hasAnswer, run.timeoutMs);
}
