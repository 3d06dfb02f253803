// SPDX-License-Identifier: Apache-2.0

/**
 * State of an object:
 * - `WaitingForApproval`: waits for a person.
 * - `WaitingForRule`: approved, but no rule of the signer allows it. Or the signer serves no such
 *   requests, and no approval helps.
 * - `WaitingForSigner`: no component serves its signer.
 * - `WaitingForService`: the evidence for its names does not exist.
 * - `WaitingForComponent`: a component can answer it now.
 * - `WaitingForTrust`: the anchor of the CA is not published, or kubelets do not have it yet.
 * - `WaitingForNode`: its node cannot request a certificate.
 * - `NotTrusted`: issued, but verifiers reject it now, or may.
 * - `WaitingForServer`: waits for an ACME server, or for the proof of a name.
 */
export type State =
  | 'Issued'
  | 'NotTrusted'
  | 'Denied'
  | 'Failed'
  | 'WaitingForApproval'
  | 'WaitingForRule'
  | 'WaitingForService'
  | 'WaitingForSigner'
  | 'WaitingForTrust'
  | 'WaitingForNode'
  | 'WaitingForComponent'
  | 'WaitingForServer'
  | 'Ready'
  | 'NotReady'
  | 'NotUsed';

/** Facts that an approver should know before an approval. */
export interface ApprovalOutlook {
  /** Reason that no approval helps the request, and its fix. */
  readonly noApprovalHelps?: string;
  /** Facts that do not prevent an approval. */
  readonly notices?: readonly string[];
}

/** Diagnosis of a request that no component of Countersign answers, approved or not. */
export interface Unapprovable
  extends Pick<Explanation, 'state' | 'summary' | 'remediation'>, ApprovalOutlook {}

/** Returns the diagnosis of an approved request, without the facts for an approver. */
export function withoutOutlook({
  state,
  summary,
  remediation,
}: Unapprovable): Pick<Explanation, 'state' | 'summary' | 'remediation'> {
  return { state, summary, remediation };
}

/** One event in the history of an object. */
export interface TimelineEntry {
  /** RFC 3339. Absent if no object records the time. */
  readonly at?: string;
  readonly what: string;
}

/** The verdict of one rule on a request. */
export interface RuleVerdict {
  readonly rule: string;
  readonly outcome: 'approve' | 'deny' | 'noOpinion';
  /** Parts that the rule does not allow, with their values. */
  readonly message: string;
  /** True for the rule that rejects the fewest parts of the request. */
  readonly nearest: boolean;
}

/** The explanation of one object, as `countersign explain` prints it. */
export interface Explanation extends ApprovalOutlook {
  /** Name for kubectl: `podcertificaterequest/NAME`. */
  readonly object: string;
  readonly namespace?: string;
  readonly state: State;
  /** One sentence. */
  readonly summary: string;
  /** Oldest first. */
  readonly timeline: readonly TimelineEntry[];
  readonly rules?: readonly RuleVerdict[];
  /** Next step and its time. */
  readonly next?: { readonly what: string; readonly at?: string };
  /** Fixes: commands and sentences. */
  readonly remediation: readonly string[];
  /** The reasons for which its signer would fail it for good. It is not approved yet. */
  readonly wouldFail?: readonly string[];
  /** Explanations of its parts: the requests of a pod, the Challenges of an Order. */
  readonly parts?: readonly Explanation[];
}

/** An explanation before the object's name and Events are added. */
export type Diagnosis = Omit<Explanation, 'object' | 'namespace'>;

/** Sorts entries, oldest first. An entry without a time stays after its predecessor. */
export function inOrder(moments: readonly TimelineEntry[]): readonly TimelineEntry[] {
  let last = '';
  const keyed = moments.map((moment) => {
    last = moment.at ?? last;
    return { moment, key: last };
  });
  return keyed.toSorted((a, b) => a.key.localeCompare(b.key)).map(({ moment }) => moment);
}

/** States, worst first. */
const ORDER: readonly State[] = [
  ...([
    'Failed',
    'Denied',
    'NotTrusted',
    'WaitingForSigner',
    'WaitingForTrust',
    'WaitingForRule',
    'WaitingForService',
  ] as const),
  ...(['WaitingForApproval', 'WaitingForComponent', 'Issued'] as const),
];

/** Returns the explanation with the worst state. */
export function worstOf(all: readonly Explanation[]): Explanation | undefined {
  return all.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))[0];
}
