// SPDX-License-Identifier: Apache-2.0
import { isNamespaced } from '../../../api/signer/signer.ts';
import {
  secretOf,
  type AuthorityStatus,
  type ClusterSigner,
} from '../../../api/signer/cluster-signer.ts';
import { MAX_AUTHORITIES } from '../../../api/signer/cluster-signer-limits.ts';
import { SIGNER_NAME, isGranted } from '../../../api/signer/grant.ts';
import type { Secret } from '../../../api/object/object.ts';
import { parseTime } from '../../../api/object/time.ts';
import type { AuthorityFacts } from '../../../authorities/contract.ts';
import { SignerError } from '../../../errors.ts';
import { quote } from '../../../quote.ts';
import { distrustedCas } from '../../../rotation/distrusted-cas.ts';
import { checkMaterial, checkCa } from '../../../runtime/ca/namespaced-ca-limits.ts';
import { hasNext, type Inspect } from './inspect.ts';
import type { SignerSnapshot } from './snapshot.ts';

/** Reasons of Ready, in one place; docs/reference/cluster-signer.md explains each. */
export type ReadyReason =
  | 'Checked'
  | 'Propagating'
  | 'NotServed'
  | 'AwaitingComponents'
  | 'Initializing'
  | 'SignerNameTaken'
  | 'InvalidSpec'
  | 'CelBudgetSpent'
  | 'CelTurnsTaken'
  | 'SecretNotFound'
  | 'SecretNotGranted'
  | 'NoTrustAnchor'
  | 'AuthorityUnavailable';

/** The observed state of a ClusterSigner and its CA, before time and rotation are considered. */
export interface Observation {
  readonly reason: ReadyReason;
  readonly message: string;
  readonly isReady: boolean;
  /** The Secret was inspected, or is known to be missing. */
  readonly inspected: boolean;
  /** The CA in `tls.*`, if it is usable and trusted. */
  readonly active?: AuthorityFacts;
  /** The CA in `next.*`, if there is one. */
  readonly next?: AuthorityFacts;
  /** Why the Secret's CA cannot be used; the CA that was read before may continue all the same. */
  readonly fault?: SignerError;
}

export function observe(snapshot: SignerSnapshot): Observation {
  const { signer, elder, specError, putOff, secret } = snapshot;
  if (elder !== undefined) {
    return unready(
      'SignerNameTaken',
      `ClusterSigner "${elder}" is older and serves ${signer.spec.signerName}; choose another signer name or delete one of the two`,
    );
  }
  if (specError !== undefined) return unready('InvalidSpec', specError.message);
  if (putOff !== undefined) return unready(putOff.reason, putOff.message);
  if (secret.kind === 'unknown') {
    // Before the first list is complete nothing is wrong, and no warning is due.
    const reason = secret.failure === undefined ? 'Initializing' : 'AuthorityUnavailable';
    const why = secret.failure ?? 'not listed yet';
    const advice = isNamespaced(signer) || !FORBIDDEN.test(why) ? '' : grantAdvice(signer);
    return unready(reason, `Secret ${where(signer)} is not read yet: ${why}${advice}`);
  }
  return secret.kind === 'missing'
    ? observeMissing(signer)
    : observePresent(snapshot, secret.secret);
}

/** The API server's words for a missing permission, as `KubeError` repeats them. */
const FORBIDDEN = /\b403 Forbidden\b/;

function grantAdvice(signer: ClusterSigner): string {
  return `; a permission is missing in Role countersign-authority: apply what countersign rbac --from-cluster prints, or add --signer ${signer.spec.signerName} --secret ${where(signer)} to all your other names`;
}

function observeMissing(signer: ClusterSigner): Observation {
  const isManaged = signer.spec.authority.managed !== undefined;
  const found = isManaged
    ? unready('Initializing', `creating the CA in Secret ${where(signer)}`)
    : unready(
        'SecretNotFound',
        `Secret ${where(signer)} does not exist; create it (type kubernetes.io/tls) with the annotation ${SIGNER_NAME}: ${signer.spec.signerName}`,
      );
  return { ...found, inspected: true };
}

function observePresent(snapshot: SignerSnapshot, secret: Secret): Observation {
  const { signer, inspect } = snapshot;
  if (!isGranted(secret, signer.spec.signerName)) {
    return unready(
      'SecretNotGranted',
      `Secret ${where(signer)} does not grant its key to this signer${grantedTo(signer, secret)}; its owner does that with the annotation ${SIGNER_NAME}: ${signer.spec.signerName}`,
    );
  }
  const facts = checkMaterial(signer, secret) ?? inspect(secret, 'tls');
  const fault = facts instanceof SignerError ? facts : faultOf(signer, facts);
  if (fault !== undefined) return observeUnusable(snapshot, fault);
  if (facts instanceof SignerError) return observeUnusable(snapshot, facts);
  const found: Observation = {
    reason: 'Checked',
    message: `signing with ${facts.fingerprint}`,
    isReady: true,
    inspected: true,
    active: facts,
  };
  const next = observeNext(signer, secret, inspect);
  return next === undefined ? found : { ...found, next };
}

/**
 * Whom the annotation names instead: most often this signer, misspelt. Not for a Signer: who writes one need not be
 * allowed to read the Secret, while the writer of a ClusterSigner must hold `use` on it.
 */
function grantedTo(signer: ClusterSigner, secret: Secret): string {
  const named = secret.metadata.annotations?.[SIGNER_NAME];
  return named === undefined || isNamespaced(signer) ? '' : `, but to ${quote(named)}`;
}

/** What is wrong with a CA that could sign. */
function faultOf(signer: ClusterSigner, facts: AuthorityFacts): SignerError | undefined {
  const { fingerprint } = facts;
  if (distrustedCas(signer)(fingerprint)) {
    const isNamed = signer.spec.authority.managed?.distrusted?.includes(fingerprint) === true;
    return unusable(
      isNamed
        ? `it holds ${fingerprint}, which spec.authority.managed.distrusted names`
        : `it holds ${fingerprint}, which left trust by distrust (status.distrusted) and never returns`,
    );
  }
  const costly = checkCa(signer, facts);
  if (costly !== undefined) return costly;
  const known = signer.status?.authorities ?? [];
  const isNew = known.every((each) => each.fingerprint !== fingerprint);
  if (!isNew || known.length < MAX_AUTHORITIES) return undefined;
  return unusable(
    `it holds ${fingerprint}, and status.authorities is full: leaves of all ${MAX_AUTHORITIES} CAs may be valid`,
  );
}

/** Signers that still hold the CA that they read earlier continue with it until it expires. */
function observeUnusable({ signer, now }: SignerSnapshot, fault: SignerError): Observation {
  const message = `Secret ${where(signer)}: ${fault.message}`;
  const kept = stillUsable(signer, now);
  if (kept === undefined) {
    const reason = fault.code === 'ANCHOR_MISSING' ? 'NoTrustAnchor' : 'AuthorityUnavailable';
    return { ...unready(reason, message), inspected: true, fault };
  }
  return {
    reason: 'Checked',
    message: `signing with ${kept.fingerprint}, which was read earlier; ${message}`,
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

function where(signer: ClusterSigner): string {
  const { namespace, name } = secretOf(signer.spec);
  return `${namespace}/${name}`;
}
