// SPDX-License-Identifier: Apache-2.0
import { isTerminal, type PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { until, type Run } from '../run.ts';
import type { Recorder } from '../recorder.ts';

/** The common state of all scenarios of PodCertificateRequests. */
export interface PcrRun {
  readonly run: Run;
  readonly requests: Resource;
  readonly recorder: Recorder<PodCertificateRequest>;
}

/**
 * Waits until the request has a terminal condition. @param timeoutMs - the limit. Default: that of
 * the run.
 */
export async function untilAnswered(
  { run, recorder }: PcrRun,
  uid: string,
  timeoutMs = run.timeoutMs,
): Promise<void> {
  const isAnswered = (): boolean =>
    recorder.versionsOf(uid).some(({ object }) => isTerminal(object));
  await until(run, isAnswered, timeoutMs);
}
