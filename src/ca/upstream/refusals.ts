// SPDX-License-Identifier: Apache-2.0
/**
 * Reasons of the condition AwaitingCertificate: why a chain is refused, or why an upstream CA signs
 * none.
 */
import { quote } from '#base/quote.ts';
import { MAX_UPSTREAM_CHAIN } from '#api/signer/cluster-signer-limits.ts';
import { formatTime } from '#api/object/time.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import type { Certificate } from '#pki/x509/certificate.ts';

const REFUSAL_REASONS = [
  'ChainMalformed',
  'KeyMismatch',
  'SubjectMismatch',
  'NotACa',
  'RootMissing',
  'RootMismatch',
  'CertificateExpired',
  'CertificateNotYetValid',
  'PathInvalid',
  'PathLengthExceeded',
  'OutlivesIssuer',
  'LifetimeTooShort',
  'ConstraintsExcludeProfile',
  'AnchorDistrusted',
  'ConsentMissing',
  'RequestDenied',
  'RequestFailed',
  'RequestForeign',
  'UpstreamUnavailable',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Returns the reason of a condition, if it is one of a refusal. */
export function refusalReason(text: string | undefined): RefusalReason | undefined {
  return REFUSAL_REASONS.find((each) => each === text);
}

/** A chain is refused with the first reason that applies. */
export interface ChainRefusal {
  readonly reason: RefusalReason;
  /** Subject, value and fix, for a condition. */
  readonly message: string;
}

export function refusal(reason: RefusalReason, message: string): ChainRefusal {
  return { reason, message };
}

const MAX_SHOWN_SUBJECT = 100;

/** Returns the subject of a certificate for a message. */
export function shown({ subject }: Certificate): string {
  return quote(nameText(subject), MAX_SHOWN_SUBJECT);
}

// Each function below returns the refusal with the reason of its name, and a message with the fix.
// The reasons are those of the condition AwaitingCertificate.

export function malformedChain(problem: string): ChainRefusal {
  return refusal(
    'ChainMalformed',
    `the chain cannot be read: ${problem}; write the certificate of this CA, then its issuers in order, the root last (PEM)`,
  );
}

/** Returns the refusal of a chain that is not read because of its length. */
export function chainTooLong(): ChainRefusal {
  return malformedChain(`it has more than ${MAX_UPSTREAM_CHAIN} characters`);
}

export function keyMismatch(certificate: Certificate): ChainRefusal {
  return refusal(
    'KeyMismatch',
    `${shown(certificate)} is not for the key of the request in status.upstream; have that request signed`,
  );
}

export function subjectMismatch(certificate: Certificate, commonName: string): ChainRefusal {
  return refusal(
    'SubjectMismatch',
    `${shown(certificate)} does not have the common name ${quote(commonName)} of the request, which distinguishes the CAs of this signer; have it signed with that name`,
  );
}

export function notACa(certificate: Certificate, problem: string): ChainRefusal {
  return refusal('NotACa', `${shown(certificate)} ${problem}; have it signed as a CA`);
}

export function rootMissing(last: Certificate): ChainRefusal {
  return refusal(
    'RootMissing',
    `the chain ends in ${shown(last)}, which is not a self-signed root; append the certificates up to the root`,
  );
}

export function rootMismatch(found: string, wanted: string): ChainRefusal {
  return refusal(
    'RootMismatch',
    `the root of the chain is ${found}, but rootFingerprint is ${wanted}; find out which of the two is right before you install it`,
  );
}

export function expired(certificate: Certificate): ChainRefusal {
  return refusal(
    'CertificateExpired',
    `${shown(certificate)} expired at ${formatTime(certificate.notAfter)}; have it renewed`,
  );
}

export function notYetValid(certificate: Certificate): ChainRefusal {
  return refusal(
    'CertificateNotYetValid',
    `${shown(certificate)} is valid from ${formatTime(certificate.notBefore)}; it is accepted then`,
  );
}

export function pathInvalid(problem: string): ChainRefusal {
  return refusal('PathInvalid', `${problem}; have the chain issued again, or correct its order`);
}

export function pathLengthExceeded(
  certificate: Certificate,
  below: number,
  isCrossSigned: boolean,
): ChainRefusal {
  const cross = isCrossSigned ? ', or set crossSigned to false' : '';
  return refusal(
    'PathLengthExceeded',
    `${shown(certificate)} allows ${certificate.pathLen ?? 0} CAs below itself (pathLenConstraint), but this signer needs ${below}; have it issued with a greater path length${cross}`,
  );
}

export function outlivesIssuer(certificate: Certificate, issuer: Certificate): ChainRefusal {
  return refusal(
    'OutlivesIssuer',
    `${shown(certificate)} ends at ${formatTime(certificate.notAfter)}, after its issuer ${shown(issuer)}, which ends at ${formatTime(issuer.notAfter)}; have it signed with an end before that`,
  );
}

export function lifetimeTooShort(certificate: Certificate, wanted: number): ChainRefusal {
  return refusal(
    'LifetimeTooShort',
    `${shown(certificate)} ends at ${formatTime(certificate.notAfter)}; this signer needs a CA until ${formatTime(wanted)} at least, twice its longest leaf from now`,
  );
}

export function constraintsExclude(problem: string): ChainRefusal {
  return refusal(
    'ConstraintsExcludeProfile',
    `no leaf of this signer would be valid below the chain: ${problem}; change the constraints of the chain, or the names and usages of the spec`,
  );
}

export function anchorDistrusted(anchor: string): ChainRefusal {
  return refusal(
    'AnchorDistrusted',
    `the anchor ${anchor} is distrusted, because distrusted names it or a CA that it certified; set anchor to Authority, or use another root`,
  );
}

export function requestDenied(request: string, problem: string): ChainRefusal {
  return refusal('RequestDenied', `the approver denied ${request}: ${problem}`);
}

export function requestFailed(request: string, problem: string): ChainRefusal {
  return refusal('RequestFailed', `${request} failed: ${problem}`);
}

export function requestForeign(request: string): ChainRefusal {
  return refusal(
    'RequestForeign',
    `${request} exists with another spec: another client created it, or it is for another key of this CA; find out who created it, and delete it`,
  );
}

export function upstreamUnavailable(problem: string): ChainRefusal {
  return refusal('UpstreamUnavailable', problem);
}

export function consentMissing(anchor: Certificate): ChainRefusal {
  return refusal(
    'ConsentMissing',
    `as an anchor, ${shown(anchor)} makes verifiers accept every certificate below it, also those of other CAs; consent with trustEverythingBelow: true, or set anchor to Authority`,
  );
}
