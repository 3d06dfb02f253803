// SPDX-License-Identifier: Apache-2.0

/**
 * Where a thing stands. `WaitsForApproval`: for a person. `WaitsForRule`: approved, and no rule of the signer allows it.
 * `WaitsForSigner`: nobody serves its signer. `WaitsForService`: what its names are proven by is not there. `WaitsForComponent`: it can be answered now.
 * `WaitsForTrust`: until the anchor of the CA is published, and kubelets have it. `WaitsForNode`: its node cannot ask.
 * `WaitsForServer`: for an ACME server, or for a name to be proved to it.
 */
export type State =
  | 'Issued'
  | 'Denied'
  | 'Failed'
  | 'WaitsForApproval'
  | 'WaitsForRule'
  | 'WaitsForService'
  | 'WaitsForSigner'
  | 'WaitsForTrust'
  | 'WaitsForNode'
  | 'WaitsForComponent'
  | 'WaitsForServer'
  | 'Ready'
  | 'NotReady'
  | 'NotUsed';

/** Something that happened. */
export interface TimelineEntry {
  /** RFC 3339; absent where nothing recorded it. */
  readonly at?: string;
  readonly what: string;
}

/** What one rule says of a request. */
export interface RuleVerdict {
  readonly rule: string;
  readonly outcome: 'approve' | 'deny' | 'noOpinion';
  /** What it does not allow, with the values. */
  readonly message: string;
  /** Of those that do not allow the request, the one that lacks least. */
  readonly nearest: boolean;
}

/** The journey of one thing: what `countersign explain` prints. */
export interface Explanation {
  /** As kubectl takes it: `podcertificaterequest/NAME`. */
  readonly object: string;
  readonly namespace?: string;
  readonly state: State;
  /** One sentence. */
  readonly summary: string;
  /** Oldest first. */
  readonly timeline: readonly TimelineEntry[];
  readonly rules?: readonly RuleVerdict[];
  /** What happens next, and when. */
  readonly next?: { readonly what: string; readonly at?: string };
  /** What you can do, a command or a sentence each. */
  readonly todo: readonly string[];
  /** Of the things that it consists of: a pod's requests, an Order's challenges. */
  readonly parts?: readonly Explanation[];
}

/** What a judge of a request says, before the object's name and its Events are put to it. */
export type Journey = Omit<Explanation, 'object' | 'namespace'>;

/** Oldest first; those without a time stay behind what they follow. */
export function inOrder(moments: readonly TimelineEntry[]): readonly TimelineEntry[] {
  let last = '';
  const keyed = moments.map((moment) => {
    last = moment.at ?? last;
    return { moment, key: last };
  });
  return keyed.toSorted((a, b) => a.key.localeCompare(b.key)).map(({ moment }) => moment);
}
