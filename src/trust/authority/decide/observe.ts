// SPDX-License-Identifier: Apache-2.0
import { isNamespaced } from '#api/signer/signer.ts';
import { secretOf, type AuthorityStatus, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { MAX_AUTHORITIES } from '#api/signer/cluster-signer-limits.ts';
import { KEY_LOST } from '#api/serving/report.ts';
import { SIGNER_NAME, isGranted } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { SignerError } from '#base/errors.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { fingerprint as fingerprintOf } from '#pki/x509/certificate.ts';
import { hasCa } from '#requests/ca/usable-authority.ts';
import { checkMaterial, checkCa } from '#requests/ca/namespaced-ca-limits.ts';
import { hasNext, type Inspect } from './inspect.ts';
import { isPreviousKeyLost, lossCause } from './lost-key.ts';
import type { SignerSnapshot } from './snapshot.ts';
import * as messages from '../messages.ts';

/** Reasons of Ready. docs/reference/cluster-signer.md explains each. */
export type ReadyReason =
  | 'Checked'
  | 'Propagating'
  | 'KeyLost'
  | 'NotServed'
  | 'AwaitingComponents'
  | 'Initializing'
  | 'AwaitingCertificate'
  | 'SignerNameTaken'
  | 'InvalidSpec'
  | 'CelBudgetSpent'
  | 'CelThrottled'
  | 'SecretNotFound'
  | 'SecretNotGranted'
  | 'NoTrustAnchor'
  | 'AuthorityUnavailable';

/** Observed state of a ClusterSigner and its CA, before time and rotation are considered. */
export interface Observation {
  readonly reason: ReadyReason;
  readonly message: string;
  readonly isReady: boolean;
  /** True if the Secret was inspected or is known to be missing. */
  readonly inspected: boolean;
  /** The CA in `tls.*`, if it is usable and trusted. */
  readonly active?: AuthorityFacts;
  /** The CA in `next.*`, if there is one. */
  readonly next?: AuthorityFacts;
  /** Reason why the Secret's CA cannot be used. The CA that was read before may continue. */
  readonly fault?: SignerError;
}

/** Returns the first fault of a signer and its CA, or that the CA can sign. */
export function observe(snapshot: SignerSnapshot): Observation {
  const { signer, elder, specError, deferred, secret } = snapshot;
  if (elder !== undefined) {
    return unready('SignerNameTaken', messages.signerNameTaken(elder, signer.spec.signerName));
  }
  if (specError !== undefined) return unready('InvalidSpec', specError.message);
  if (deferred !== undefined) return unready(deferred.reason, deferred.message);
  if (secret.kind === 'unknown') {
    // Before the first list is complete there is no fault, so no warning is due.
    const reason = secret.failure === undefined ? 'Initializing' : 'AuthorityUnavailable';
    const why = secret.failure ?? 'not listed yet';
    const advice = isNamespaced(signer) || !FORBIDDEN.test(why) ? '' : messages.GRANT_ADVICE;
    return unready(reason, messages.secretUnread(where(signer), why, advice));
  }
  return secret.kind === 'missing'
    ? observeDeleted(snapshot)
    : observePresent(snapshot, secret.secret);
}

/** The API server's words for a missing permission, as `KubeError` repeats them. */
const FORBIDDEN = /\b403 Forbidden\b/;

/** Observes a deleted CA Secret. With it, a managed CA loses its key. */
function observeDeleted({ signer, now }: SignerSnapshot): Observation {
  const lost = stillUsable(signer, now);
  if (lost === undefined || !isMadeByAuthority(signer)) return observeMissing(signer);
  return { ...unready(KEY_LOST, untilReplaced(signer, lost)), inspected: true };
}

/** Reports whether `authority` makes the whole CA, not only its key. */
function isMadeByAuthority({ spec: { authority } }: ClusterSigner): boolean {
  return authority.managed !== undefined && authority.managed.upstream === undefined;
}

function untilReplaced(signer: ClusterSigner, { fingerprint }: AuthorityStatus): string {
  return messages.keyLost(fingerprint, lossCause(signer), messages.CA_REPLACED);
}

function observeMissing(signer: ClusterSigner): Observation {
  return { ...unready(...missingCa(signer)), inspected: true };
}

function missingCa(signer: ClusterSigner): readonly [reason: ReadyReason, message: string] {
  const { managed } = signer.spec.authority;
  if (managed === undefined) {
    return ['SecretNotFound', messages.secretNotFound(where(signer), signer.spec.signerName)];
  }
  if (managed.upstream === undefined) return ['Initializing', messages.creatingCa(where(signer))];
  const text =
    managed.upstream.manual === undefined
      ? messages.REQUESTING_CERTIFICATE
      : messages.howToInstall(signer.metadata.name);
  return ['AwaitingCertificate', text];
}

function observePresent(snapshot: SignerSnapshot, secret: Secret): Observation {
  const { signer, inspect } = snapshot;
  if (!isGranted(secret, signer.spec.signerName)) {
    return unready(
      'SecretNotGranted',
      messages.secretNotGranted(where(signer), grantedTo(signer, secret), signer.spec.signerName),
    );
  }
  if (signer.spec.authority.managed !== undefined && !hasCa(secret)) return observeMissing(signer);
  const facts = checkMaterial(signer, secret) ?? inspect(secret, 'tls');
  const fault = facts instanceof SignerError ? facts : faultOf(signer, facts);
  if (fault !== undefined) return observeUnusable(snapshot, fault);
  if (facts instanceof SignerError) return observeUnusable(snapshot, facts);
  const found: Observation = {
    reason: 'Checked',
    message: messages.signing(facts.fingerprint),
    isReady: true,
    inspected: true,
    active: facts,
  };
  const next = observeNext(signer, secret, inspect);
  return next === undefined ? found : { ...found, next };
}

/**
 * Names the signer in the annotation, most often this one with a typing error. Omitted for a
 * Signer: its author may lack permission to read the Secret, while the author of a ClusterSigner
 * must hold `use` on it.
 */
function grantedTo(signer: ClusterSigner, secret: Secret): string {
  const named = secret.metadata.annotations?.[SIGNER_NAME];
  return named === undefined || isNamespaced(signer) ? '' : messages.grantee(named);
}

/** Returns why a CA, or each of its anchors, is distrusted. */
function distrustOf(
  signer: ClusterSigner,
  { fingerprint, anchors }: AuthorityFacts,
): string | undefined {
  const isDistrusted = distrustedCas(signer);
  if (isDistrusted(fingerprint)) {
    const isNamed = signer.spec.authority.managed?.distrusted?.includes(fingerprint) === true;
    return isNamed
      ? messages.distrustedBySpec(fingerprint)
      : messages.distrustedBefore(fingerprint);
  }
  const prints = anchors.map(({ raw }) => fingerprintOf(raw));
  return prints.every(isDistrusted) ? messages.anchorsDistrusted(fingerprint, prints) : undefined;
}

/** Returns the fault of a CA that could sign. */
function faultOf(signer: ClusterSigner, facts: AuthorityFacts): SignerError | undefined {
  const { fingerprint } = facts;
  const distrusted = distrustOf(signer, facts);
  if (distrusted !== undefined) return unusable(distrusted);
  const costly = checkCa(signer, facts);
  if (costly !== undefined) return costly;
  const known = signer.status?.authorities ?? [];
  const isNew = known.every((each) => each.fingerprint !== fingerprint);
  if (!isNew || known.length < MAX_AUTHORITIES) return undefined;
  return unusable(messages.authoritiesFull(fingerprint));
}

/**
 * Keeps the signer ready while signers still hold the CA that they read earlier, until it expires.
 */
function observeUnusable(snapshot: SignerSnapshot, fault: SignerError): Observation {
  const { signer, secret, now } = snapshot;
  const message =
    signer.spec.authority.keyHolder === undefined
      ? messages.unusableSecret(where(signer), fault.message)
      : messages.unusableChain(fault.message);
  const kept = stillUsable(signer, now);
  const isLost = kept !== undefined && isPreviousKeyLost(secret, kept);
  if (isLost && isMadeByAuthority(signer)) {
    return { ...unready(KEY_LOST, untilReplaced(signer, kept)), inspected: true, fault };
  }
  if (kept === undefined || isLost) {
    const reason = fault.code === 'ANCHOR_MISSING' ? 'NoTrustAnchor' : 'AuthorityUnavailable';
    return { ...unready(reason, message), inspected: true, fault };
  }
  return {
    reason: 'Checked',
    message: messages.signingEarlierRead(kept.fingerprint, message),
    isReady: true,
    inspected: true,
    fault,
  };
}

function stillUsable(signer: ClusterSigner, now: number): AuthorityStatus | undefined {
  const isDistrusted = distrustedCas(signer);
  return signer.status?.authorities?.find(
    ({ fingerprint, phase, notAfter }) =>
      phase === 'Active' && now < parseTime(notAfter) && !isDistrusted(fingerprint),
  );
}

function observeNext(
  signer: ClusterSigner,
  secret: Secret,
  inspect: Inspect,
): AuthorityFacts | undefined {
  if (signer.spec.authority.managed === undefined || !hasNext(secret)) return undefined;
  const facts = inspect(secret, 'next');
  if (facts instanceof SignerError) return undefined;
  return distrustedCas(signer)(facts.fingerprint) ? undefined : facts;
}

function unready(reason: ReadyReason, message: string): Observation {
  return { reason, message, isReady: false, inspected: false };
}

function unusable(message: string): SignerError {
  return new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message });
}

/** Returns `namespace/name` of the CA Secret. */
function where(signer: ClusterSigner): string {
  const { namespace, name } = secretOf(signer.spec);
  return `${namespace}/${name}`;
}
