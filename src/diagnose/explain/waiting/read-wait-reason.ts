// SPDX-License-Identifier: Apache-2.0
import { heldSigning } from '#operations/paused-signing.ts';
import { readSignerState, type ReadSignerStateInit } from '#operations/read-signer-state.ts';
import { readListingFault } from '../../check/reading/read-listing.ts';
import type { Diagnosis } from '../explanation.ts';
import type { EventReader, EventSubject } from '../read-events.ts';
import { signerText, type SignerView } from '../signer-view.ts';
import { withHeld, withLatestWarning } from './wait-reason.ts';

/**
 * Adds why a request waits although it could be answered: signing by its CA is paused, or a
 * component reported the reason. Adds also what lets a component serve a signer that none may.
 *
 * @param regarded - the object that Events about the request regard
 */
export async function keptWaiting(
  init: ReadSignerStateInit & { readonly events: EventReader },
  { signer }: SignerView,
  diagnosis: Diagnosis,
  regarded: EventSubject & { readonly creationTimestamp: string },
): Promise<Diagnosis> {
  if (diagnosis.state === 'WaitingForSigner') return withListing(init, signer, diagnosis);
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

/** Adds the finding and the fix of `countersign check` if no component may serve the signer. */
async function withListing(
  init: ReadSignerStateInit,
  signer: SignerView['signer'],
  diagnosis: Diagnosis,
): Promise<Diagnosis> {
  if (signer?.kind !== 'ClusterSigner') return diagnosis;
  const { signer: whole } = await readSignerState(init, signer.metadata.name);
  const fault = await readListingFault(init, whole);
  if (fault?.remediation === undefined) return diagnosis;
  const summary = `${signerText(signer)} is not Ready: ${fault.why}`;
  return { ...diagnosis, summary, remediation: [fault.remediation, 'countersign check'] };
}
