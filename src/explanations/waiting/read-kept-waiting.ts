// SPDX-License-Identifier: Apache-2.0
import { heldSigning } from '../../operations/held-signing.ts';
import { readSignerState, type ReadSignerStateInit } from '../../operations/read-signer-state.ts';
import type { Journey } from '../explanation.ts';
import { readEvents } from '../read-events.ts';
import type { SignerView } from '../signer-view.ts';
import { withHeld, withSaid } from './kept-waiting.ts';

/**
 * Why a request that could be answered is not: its CA is held back, or what a component said of it.
 *
 * @param regarded - the object whose Events tell of the request
 */
export async function keptWaiting(
  init: ReadSignerStateInit,
  { signer }: SignerView,
  journey: Journey,
  regarded: Parameters<typeof readEvents>[1] & { readonly creationTimestamp: string },
): Promise<Journey> {
  if (journey.state !== 'WaitsForComponent') return journey;
  if (signer?.kind === 'ClusterSigner') {
    const held = heldSigning(await readSignerState(init, signer.metadata.name));
    if (held !== undefined) return withHeld(journey, held);
  }
  const { said } = await readEvents(init.client, regarded);
  // Those before are about an earlier request of the same pod.
  return said === undefined || said.at < regarded.creationTimestamp
    ? journey
    : withSaid(journey, said);
}
