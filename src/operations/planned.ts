// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '../api/object/time.ts';
import type { Situation } from './situation.ts';

/** Says that an order for later is lost when the annotation is written now. */
export function planned({ signer, now }: Situation, annotation: string): readonly string[] {
  const at = parseTime(signer.metadata.annotations?.[annotation] ?? '');
  return at > now ? [`this takes the place of the one planned for ${formatTime(at)}`] : [];
}
