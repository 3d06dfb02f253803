// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { secretOrNone } from '#api/signer/cluster-signer.ts';
import type { Condition } from '#api/request/conditions.ts';
import { parseDuration } from '#api/object/duration.ts';
import { parseTime } from '#api/object/time.ts';
import { requestedRotationOf, successorAwaitedSince } from '#ca/rotation/requested-rotation.ts';
import { desiredCaOf } from '#ca/rotation/desired-ca.ts';
import { latestStart, renewalTime } from '#ca/rotation/renewal-time.ts';
import { SignatureBudget } from '#pki/x509/issuers.ts';
import { judgeTrust } from '#pki/x509/verifier-rules.ts';
import { maxSignaturesOf } from '#requests/ca/namespaced-ca-limits.ts';
import { ANCHOR_REJECTED } from '#api/serving/report.ts';
import type { Observation } from './observe.ts';
import type { ManagedRotation } from './managed-rotation.ts';
import { ownCaReplacementTime } from './own-ca.ts';
import type { SignerSnapshot } from './snapshot.ts';
import type { UpstreamFinding } from './upstream.ts';
import * as messages from '../messages.ts';

/** Inputs of the conditions other than Ready. */
export interface ConditionInput {
  readonly snapshot: SignerSnapshot;
  readonly finding: Observation;
  readonly managed: ManagedRotation | undefined;
  readonly authorities: readonly AuthorityStatus[];
  /** Milliseconds at which the CA in `tls.*` may sign. Undefined if there is none, or not known. */
  readonly begins: number | undefined;
}

/** A condition without its time. */
export type ConditionContent = Required<Pick<Condition, 'type' | 'status' | 'reason' | 'message'>>;

/**
 * Reports whether the CA is due for replacement, and the reason. The text depends only on the CA,
 * not on the bundle, so that each phase change is one write.
 */
export function rotationDue(input: ConditionInput): ConditionContent {
  const type = 'RotationDue';
  const { managed } = input;
  if (managed === undefined) return ownRotationDue(input);
  const { due, waitsFor, deadline } = managed;
  if (due === undefined)
    return withPendingSuccessor(input, notDue(deadline, messages.SUCCESSOR_DUE));
  const isPrepared = input.authorities.some(({ phase }) => phase === 'Prepared');
  const waits = waitsFor === undefined || isPrepared ? '' : messages.waiting(waitsFor);
  return { type, status: 'True', reason: due.reason, message: due.message + waits };
}

/** Adds the reason why a successor requested by `prepare-at` waits. */
function withPendingSuccessor(
  { snapshot, authorities, managed }: ConditionInput,
  content: ConditionContent,
): ConditionContent {
  const waitsFor = managed?.waitsFor;
  const since = successorAwaitedSince(snapshot.signer, authorities, snapshot.now);
  if (waitsFor === undefined || since === undefined) return content;
  const message = messages.successorWaits(content.message, since, waitsFor);
  return { ...content, message };
}

function notDue(at: number | undefined, what: string): ConditionContent {
  const message = at === undefined ? '' : messages.dueAt(what, at);
  return { type: 'RotationDue', status: 'False', reason: 'NotDue', message };
}

/** Returns the condition of a CA that a user manages. Only its owner can replace it. */
function ownRotationDue({ snapshot, authorities }: ConditionInput): ConditionContent {
  const { signer, now } = snapshot;
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active === undefined) return notDue(undefined, '');
  const { at, reason } = ownCaReplacementTime(active, snapshot.propagationSeconds);
  if (now < at) return notDue(at, messages.OWN_SUCCESSOR_DUE);
  const secret = secretOrNone(signer.spec);
  const message =
    secret === undefined
      ? messages.heldCaEnds(active.notAfter)
      : messages.ownCaEnds(active.notAfter, secret.namespace, secret.name);
  return { type: 'RotationDue', status: 'True', reason, message };
}

/** Reasons of AwaitingCertificate while no chain is refused. */
export const PENDING_REASONS: readonly string[] = ['CertificateRequested', 'CertificateLate'];

/**
 * Reports whether the certificate of a CA is awaited from its upstream CA, and why an installed
 * chain is refused. Undefined if the CA signs its own certificate.
 */
export function awaitingCertificate(input: ConditionInput): ConditionContent | undefined {
  const type = 'AwaitingCertificate';
  const { snapshot, managed } = input;
  const { pending, refusal } = managed?.upstream ?? {};
  if (managed?.upstream === undefined) return undefined;
  if (pending === undefined) {
    return {
      type,
      status: 'False',
      reason: 'NotAwaited',
      message: messages.NO_CERTIFICATE_AWAITED,
    };
  }
  const window = installWindow(input);
  const by = window === undefined ? '' : messages.installBy(window.until);
  if (refusal !== undefined) {
    const message = refusedText(managed.upstream, refusal.message) + by;
    return { type, status: 'True', reason: refusal.reason, message };
  }
  const isLate = window !== undefined && snapshot.now >= window.lateFrom;
  const reason = isLate ? 'CertificateLate' : 'CertificateRequested';
  const message = awaitedText(input) + by;
  return { type, status: 'True', reason, message };
}

/** Returns why the chain of a user, or the answer of an upstream CA, is refused. */
function refusedText({ answer, retryAt }: UpstreamFinding, problem: string): string {
  return answer === undefined
    ? messages.chainRefused(problem)
    : messages.upstreamRefused(problem, retryAt);
}

/**
 * Returns what is awaited: the next step of a user, or of an upstream CA that `authority` calls.
 */
function awaitedText({ snapshot, managed }: ConditionInput): string {
  const { signer } = snapshot;
  const answer = managed?.upstream?.answer;
  if (answer?.kind === 'waiting') return answer.message;
  return signer.spec.authority.managed?.upstream?.manual === undefined
    ? messages.REQUESTING_CERTIFICATE
    : messages.howToInstall(signer.metadata.name);
}

/**
 * Returns when the certificate must be installed, so that no leaf gets shorter than the profile
 * allows, and from when it is late: half of the time after the rotation was due. In milliseconds.
 * Undefined while no CA signs or no certificate is awaited.
 */
export function installWindow({
  snapshot,
  managed,
}: ConditionInput): { readonly lateFrom: number; readonly until: number } | undefined {
  const { active, upstream } = managed ?? {};
  const desired = desiredCaOf(snapshot.signer.spec);
  if (active === undefined || desired === undefined || upstream?.pending === undefined) {
    return undefined;
  }
  const until = latestStart(active, desired, snapshot.propagationSeconds);
  const from = renewalTime(active, desired, snapshot.propagationSeconds).at;
  return { lateFrom: until - Math.max(0, until - from) / 2, until };
}

/** Reports whether a published CA does not sign yet, and the reason. */
export function rotating({ authorities, managed, finding }: ConditionInput): ConditionContent {
  const type = 'Rotating';
  const prepared = authorities.filter(({ phase }) => phase === 'Prepared');
  const [first] = prepared;
  if (first === undefined) {
    return { type, status: 'False', reason: 'Idle', message: messages.NO_CA_PREPARED };
  }
  const { fingerprint } = first;
  if (fingerprint === finding.next?.fingerprint && managed?.due === undefined) {
    const message = messages.preparedAndHeld(fingerprint);
    return { type, status: 'False', reason: 'Held', message };
  }
  const message = messages.publishing(fingerprint);
  return { type, status: 'True', reason: 'Publishing', message };
}

/** Reports a fault that needs attention although requests are answered. */
export function degraded(input: ConditionInput): ConditionContent {
  const type = 'Degraded';
  const [reason, message] = faultOf(input) ?? [];
  return reason === undefined || message === undefined
    ? { type, status: 'False', reason: 'AsExpected', message: '' }
    : { type, status: 'True', reason, message };
}

function faultOf(input: ConditionInput): Fault | undefined {
  const { snapshot, finding, authorities } = input;
  const ofSecret = secretFaultOf(input);
  if (ofSecret !== undefined) return ofSecret;
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active !== undefined && snapshot.now >= fullLeavesUntil(active)) {
    return ['LeavesCutShort', messages.leavesCutShort(active.notAfter)];
  }
  return (
    omissionOf(finding) ??
    attentionOf(snapshot) ??
    rejectedTrust(snapshot, finding) ??
    chainOmissionOf(finding)
  );
}

function secretFaultOf({ snapshot, finding, managed }: ConditionInput): Fault | undefined {
  if (managed?.isImmutable === true) {
    return ['SecretImmutable', messages.IMMUTABLE_CA];
  }
  if (finding.fault !== undefined) return ['SecretUnusable', finding.fault.message];
  if (managed?.isManaged === false) {
    return ['SecretNotOwned', messages.foreignSecret(snapshot.signer.metadata.uid)];
  }
  return undefined;
}

/**
 * Returns which verifiers reject leaves of the CA although it issues them. The spec of a managed CA
 * may choose an anchor other than a root, whose warning is at its installation.
 */
function rejectedTrust(
  { signer, now }: SignerSnapshot,
  { active }: Observation,
): Fault | undefined {
  if (active === undefined) return undefined;
  const { certificate, intermediates, anchors } = active;
  const isChosen = signer.spec.authority.managed !== undefined;
  const signatures = new SignatureBudget(maxSignaturesOf(signer));
  const chain = [certificate, ...intermediates];
  const found = judgeTrust({ chain, anchors, now, signatures }).find(
    ({ rule }) => !(isChosen && rule === 'anchor-is-root'),
  );
  return found === undefined ? undefined : [ANCHOR_REJECTED, messages.rejectedTrust(found.message)];
}

/** Returns the fault of certificates of `ca.crt` that are left out of the anchors. */
function omissionOf({ active }: Observation): Fault | undefined {
  const omitted = active?.omittedAnchors ?? [];
  return omitted.length === 0 ? undefined : ['AnchorsOmitted', messages.anchorsOmitted(omitted)];
}

/** Returns the fault of certificates of `tls.crt` that no leaf comes with. */
function chainOmissionOf({ active }: Observation): Fault | undefined {
  const omitted = active?.omittedCertificates ?? [];
  if (omitted.length === 0) return undefined;
  return ['CertificatesOmitted', messages.certificatesOmitted(omitted)];
}

/** Returns a fault that does not concern the CA. */
function attentionOf({ signer, serving }: SignerSnapshot): Fault | undefined {
  const { attention } = serving ?? {};
  if (attention !== undefined) return [attention.reason, attention.message];
  const { unread } = requestedRotationOf(signer);
  if (unread.length === 0) return undefined;
  return ['AnnotationUnread', messages.unreadTimes(unread)];
}

type Fault = readonly [reason: string, message: string];

/** Returns the time in milliseconds until which a leaf may be as long as the profile allows. */
export function fullLeavesUntil({ notAfter, longestLeaf }: AuthorityStatus): number {
  return parseTime(notAfter) - parseDuration(longestLeaf) * 1000;
}
