// SPDX-License-Identifier: Apache-2.0
import { heldSigning } from '#operations/paused-signing.ts';
import { readSignerState, type ReadSignerStateInit } from '#operations/read-signer-state.ts';
import type { Diagnosis } from '../explanation.ts';
import type { EventReader, EventSubject } from '../read-events.ts';
import type { SignerView } from '../signer-view.ts';
import { withHeld, withLatestWarning } from './wait-reason.ts';

/**
 * Adds why a request waits although it could be answered: signing by its CA is paused, or a
 * component reported the reason.
 *
 * @param regarded - the object that Events about the request regard
 */
export async function keptWaiting(
  init: ReadSignerStateInit & { readonly events: EventReader },
  { signer }: SignerView,
  diagnosis: Diagnosis,
  regarded: EventSubject & { readonly creationTimestamp: string },
): Promise<Diagnosis> {
  if (diagnosis.state !== 'WaitingForComponent') return diagnosis;
  if (signer?.kind === 'ClusterSigner') {
    const held = heldSigning(await readSignerState(init, signer.metadata.name));
    if (held !== undefined) return withHeld(diagnosis, held);
  }
  const { latestWarning } = await init.events(regarded);
  // Earlier warnings are about a previous request of the same pod.
  return latestWarning === undefined || latestWarning.at < regarded.creationTimestamp
    ? diagnosis
    : withLatestWarning(diagnosis, latestWarning);
}
