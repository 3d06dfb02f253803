// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '../api/object/time.ts';
import { authoritiesOf, servedSinceOf, type Situation } from './situation.ts';

/**
 * From when on a successor may be made, where that is later than now: the CA that signs must be known to
 * every kubelet first (rotation/next-step.ts).
 */
export function settlesAt(situation: Situation): string | undefined {
  const { now, propagationSeconds } = situation;
  const active = authoritiesOf(situation).find(({ phase }) => phase === 'Active');
  const since = active === undefined ? undefined : servedSinceOf(situation, active);
  if (since === undefined) return undefined;
  const from = since + propagationSeconds * 1000;
  return now < from ? formatTime(from) : undefined;
}

/** The same, for whoever orders one. */
export function settling(situation: Situation): readonly string[] {
  const from = settlesAt(situation);
  return from === undefined
    ? []
    : [
        `the successor is made from ${from} on: the CA that signs now must be published that long first`,
      ];
}
