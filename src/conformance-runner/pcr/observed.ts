// SPDX-License-Identifier: Apache-2.0
import { isTerminal } from '../../api/request/pod-certificate-request.ts';
import { pcrSnapshot } from '../../conformance/pcr/version.ts';
import type { Asked, Trial } from '../../conformance/observed-request.ts';
import { until } from '../run.ts';
import type { PcrKit } from './run.ts';

/** What became of a request, from the versions that were seen of it. */
export function trialOf(
  { kit, recorder }: PcrKit,
  asked: Asked,
  made: { readonly uid: string; readonly at: number } | { readonly refusal: string },
): Trial {
  const endedAt = kit.clock() - kit.client.clockOffset();
  const facts = {
    asked,
    watched: recorder.isWhole,
    ownWrites: 0,
    endedAt,
    waitedMs: kit.timeoutMs,
  };
  if ('refusal' in made) return { ...facts, versions: [], refusal: made.refusal };
  const versions = recorder
    .versionsOf(made.uid)
    .map(({ object, at }) => pcrSnapshot(object, Math.max(0, at - made.at)));
  return { ...facts, versions };
}

export async function answered({ kit, recorder }: PcrKit, uid: string): Promise<void> {
  const hasAnswer = (): boolean =>
    recorder.versionsOf(uid).some(({ object }) => isTerminal(object));
  await until(kit, hasAnswer, kit.timeoutMs);
}
