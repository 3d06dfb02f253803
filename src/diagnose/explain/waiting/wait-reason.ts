// SPDX-License-Identifier: Apache-2.0
/** Reasons why a request waits although its spec allows an answer. Pure. */
import { shellWord } from '#base/quote.ts';
import type { PausedSigning } from '#operations/paused-signing.ts';
import type { Diagnosis } from '../explanation.ts';
import type { LatestWarning } from '../read-events.ts';

/**
 * Adds that signing is paused: verifiers or kubelets do not have the anchor of the CA yet.
 *
 * @param signer - name of the ClusterSigner
 */
export function withPausedSigning(
  diagnosis: Diagnosis,
  held: PausedSigning,
  signer: string,
): Diagnosis {
  if (diagnosis.state !== 'WaitingForComponent') return diagnosis;
  const { message, until } = held;
  if (until === undefined) {
    const remediation = ['countersign check   # is attester running, may it publish the bundle?'];
    return { ...diagnosis, state: 'WaitingForTrust', summary: message, remediation };
  }
  const remediation = [
    `no action is needed: the request is answered at that time. countersign authority show ${shellWord(signer)} prints since when the anchor is published`,
  ];
  const next = { what: 'the CA signs', at: until };
  return { ...diagnosis, state: 'WaitingForTrust', summary: message, next, remediation };
}

/**
 * Adds the reason that a component reported.
 *
 * @param latestWarning - the latest warning, if it is about this request
 */
export function withLatestWarning(
  diagnosis: Diagnosis,
  latestWarning: LatestWarning | undefined,
): Diagnosis {
  if (latestWarning === undefined || diagnosis.state !== 'WaitingForComponent') return diagnosis;
  const { at, component, reason, message } = latestWarning;
  const summary = `${reason}: ${message} (${component} reported this at ${at}; it answers within seconds once the cause has ended)`;
  return { ...diagnosis, summary };
}
