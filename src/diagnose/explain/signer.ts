// SPDX-License-Identifier: Apache-2.0
import { findCondition, type Condition } from '#api/request/conditions.ts';
import { summarizeSigner, type AuthoritySummary } from '#operations/show/signer-summary.ts';
import { remedyCommand } from '#operations/signer-remedy.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { conditionMoments, conditionReasons, reasonText } from './conditions.ts';
import type { Diagnosis, TimelineEntry } from './explanation.ts';
import { describeCommand, signerText } from './signer-view.ts';

/** Finding of the check `signers-listed` about a signer. */
export interface ListingFault {
  readonly why: string;
  readonly remediation?: string;
}

/**
 * Explains a ClusterSigner or Signer, and the next step of its CAs. Pure.
 *
 * @param unlisted - present if no role names the signer, which is then the cause of every fault
 *   without a remedy of its own
 */
export function explainSigner(state: SignerState, unlisted?: ListingFault): Diagnosis {
  const { signer } = state;
  const summary = summarizeSigner(state);
  const ready = findCondition(signer.status?.conditions, 'Ready');
  const [soonest] = summary.authorities
    .flatMap(({ next }) => (next === undefined ? [] : [next]))
    .toSorted((a, b) => a.at.localeCompare(b.at));
  const isReady = ready?.status === 'True';
  const own = remedyCommand(signer);
  const whys = unlisted !== undefined && own === undefined ? [] : [whyNotReady(ready)];
  const why = [...whys, ...(unlisted === undefined ? [] : [unlisted.why])].join('; also, ');
  return {
    state: isReady ? 'Ready' : 'NotReady',
    summary: isReady
      ? `${signerText(signer)} serves ${signer.spec.signerName}${heldText(summary.heldKey)}`
      : `${signerText(signer)} does not serve ${signer.spec.signerName}${heldText(summary.heldKey)}: ${why}`,
    timeline: [
      { at: signer.metadata.creationTimestamp, what: `${signerText(signer)} is created` },
      ...momentsOf(signer, unlisted),
      ...summary.authorities.flatMap(authorityMoments),
    ],
    ...(soonest === undefined ? {} : { next: { what: `a CA ${soonest.what}`, at: soonest.at } }),
    remediation: [
      ...newWarnings(summary.warnings, ready, unlisted),
      ...(isReady ? [] : [...remediesOf(signer, unlisted), 'countersign check']),
    ],
  };
}

/** Returns the conditions. Messages that follow from a listing fault are omitted. */
function momentsOf(
  { status }: SignerState['signer'],
  unlisted: ListingFault | undefined,
): readonly TimelineEntry[] {
  const read = unlisted === undefined ? conditionMoments : conditionReasons;
  return read(status?.conditions);
}

/** Returns the warnings that the summary does not repeat. None if a listing fault causes them. */
function newWarnings(
  warnings: readonly string[],
  ready: Condition | undefined,
  unlisted: ListingFault | undefined,
): readonly string[] {
  return unlisted === undefined ? warnings.filter((each) => !repeats(each, ready)) : [];
}

function whyNotReady(ready: Condition | undefined): string {
  return ready === undefined ? 'authority has not looked at it yet' : reasonText(ready);
}

function remediesOf(
  signer: SignerState['signer'],
  unlisted: ListingFault | undefined,
): readonly string[] {
  const known = [remedyCommand(signer), unlisted?.remediation];
  const remedies = known.filter((each) => each !== undefined);
  return remedies.length === 0 ? [describeCommand(signer)] : remedies;
}

/** Reports whether a text has the message of the condition, which the summary has already. */
function repeats(text: string, { status, message = '' }: Partial<Condition> = {}): boolean {
  return status !== 'True' && message !== '' && text.includes(message);
}

/** Returns the diagnosis without what the summary has already, which may be long. */
export function withoutRepeats<T extends Diagnosis>(diagnosis: T, { signer }: SignerState): T {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  const { message = '' } = ready ?? {};
  const timeline = diagnosis.timeline.map((each) =>
    repeats(each.what, ready) ? { ...each, what: each.what.replace(`: ${message}`, '') } : each,
  );
  return { ...diagnosis, timeline };
}

/** Returns where the key of the CA is, if not in a Secret. */
function heldText(key: string | undefined): string {
  return key === undefined ? '' : `, with key ${key} of a key holder`;
}

function authorityMoments({
  fingerprint,
  phase,
  notBefore,
  notAfter,
}: AuthoritySummary): readonly TimelineEntry[] {
  return [
    { at: notBefore, what: `CA ${fingerprint} (${phase}) becomes valid` },
    { at: notAfter, what: `CA ${fingerprint} (${phase}) ends` },
  ];
}
