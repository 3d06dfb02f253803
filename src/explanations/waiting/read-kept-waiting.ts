// SPDX-License-Identifier: Apache-2.0
import { heldSigning } from '../../operations/held-signing.ts';
import { readSignerState, type ReadSignerStateInit } from '../../operations/read-signer-state.ts';
import type { Journey } from '../explanation.ts';
import type { EventReader, Regarded } from '../read-events.ts';
import type { SignerView } from '../signer-view.ts';
import { withHeld, withSaid } from './kept-waiting.ts';

/**
 * Why a request that could be answered is not: its CA is held back, or what a component said of it.
 *
 * @param regarded - the object whose Events tell of the request
 */
export async function keptWaiting(
  init: ReadSignerStateInit & { readonly events: EventReader },
  { signer }: SignerView,
  journey: Journey,
  regarded: Regarded & { readonly creationTimestamp: string },
): Promise<Journey> {
  if (journey.state !== 'WaitsForComponent') return journey;
  if (signer?.kind === 'ClusterSigner') {
    const held = heldSigning(await readSignerState(init, signer.metadata.name));
    if (held !== undefined) return withHeld(journey, held);
  }
  const { said } = await init.events(regarded);
  // Those before are about an earlier request of the same pod.
  return said === undefined || said.at < regarded.creationTimestamp
    ? journey
    : withSaid(journey, said);
}
