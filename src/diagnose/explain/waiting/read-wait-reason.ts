// SPDX-License-Identifier: Apache-2.0
import { pausedSigning } from '#operations/paused-signing.ts';
import type { ReadSignerStateInit } from '#operations/read-signer-state.ts';
import { remedyCommand } from '#operations/signer-remedy.ts';
import { readListingFault } from '../../check/reading/read-listing.ts';
import type { Diagnosis } from '../explanation.ts';
import type { EventReader, EventSubject } from '../read-events.ts';
import { readVisibleState } from '../read-signer-view.ts';
import { describeCommand, signerText, type SignerView } from '../signer-view.ts';
import { withPausedSigning, withLatestWarning } from './wait-reason.ts';

/**
 * Adds why a request waits although it could be answered: signing by its CA is paused, or a
 * component reported the reason. Adds also what lets a component serve a signer that none may.
 *
 * @param regarded - the object that Events about the request regard
 */
export async function withWaitReason(
  init: ReadSignerStateInit & { readonly events: EventReader },
  { signer }: SignerView,
  diagnosis: Diagnosis,
  regarded: EventSubject & { readonly creationTimestamp: string },
): Promise<Diagnosis> {
  if (diagnosis.state === 'WaitingForSigner') return withListing(init, signer, diagnosis);
  if (diagnosis.state !== 'WaitingForComponent') return diagnosis;
  const state = await readVisibleState(init, signer);
  const held = state === undefined ? undefined : pausedSigning(state);
  if (state !== undefined && held !== undefined)
    return withPausedSigning(diagnosis, held, state.signer.metadata.name);
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
  const state = await readVisibleState(init, signer);
  if (signer === undefined || state === undefined) return diagnosis;
  const fault = await readListingFault(init, state.signer);
  if (fault?.remediation === undefined) return diagnosis;
  const general = [describeCommand(signer), CHECK];
  // Faults with advice of their own have another cause than the roles.
  const known = [remedyCommand(state.signer) ?? CHECK, ...diagnosis.remediation];
  const own = [...new Set(known)].filter((each) => !general.includes(each));
  const summary =
    own.length === 0
      ? `${signerText(signer)} is not Ready: ${fault.why}`
      : `${diagnosis.summary}; also, ${fault.why}`;
  return { ...diagnosis, summary, remediation: [...own, fault.remediation, CHECK] };
}

const CHECK = 'countersign check';
