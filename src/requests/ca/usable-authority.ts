// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { findCondition } from '#api/request/conditions.ts';
import { isCaReady } from '#api/serving/report.ts';
import { isGranted, signsAtOnce } from '#api/signer/grant.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import { CROSS_CERTIFICATE } from '#api/signer/rotation-annotations.ts';
import type { Authority, AuthorityMaterial } from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { requireGate } from './anchor-gate.ts';
import { checkMaterial, checkCa } from './namespaced-ca-limits.ts';
import * as messages from './messages.ts';

/** Inputs of the decision whether a CA may sign. */
export interface UsableInput {
  readonly signer: ClusterSigner;
  readonly secret: Secret | undefined;
  readonly bundle: ClusterTrustBundle | undefined;
  readonly open: (secret: Secret, signer: ClusterSigner) => Authority;
  /** The CA that last signed from this Secret. */
  readonly last: (secret: Secret) => Authority | undefined;
  readonly propagationSeconds: number;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/**
 * Returns the CA that a signer may sign with now. Repeats every check of the authority component:
 * the status may be forged or stale, and the Secret may have changed since.
 *
 * If the CA in the Secret is unusable (half written, or its anchor published too recently), the CA
 * that signed last continues while the status shows it as Active. Until then, nothing assumes that
 * its last leaf was issued.
 *
 * @throws SignerError (`authority`) with the cause for which the signer's requests wait
 */
export function usableAuthority(input: UsableInput): Authority {
  const { signer, secret } = input;
  requireReady(signer);
  if (secret === undefined) {
    throw unusable('AUTHORITY_MISSING', messages.SECRET_MISSING);
  }
  if (!isGranted(secret, signer.spec.signerName)) {
    throw unusable('AUTHORITY_MISSING', messages.secretNotGranted(signer.spec.signerName));
  }
  const current = attempt(() => {
    const large = checkMaterial(signer, secret);
    if (large !== undefined) throw large;
    const opened = input.open(secret, signer);
    requireUsable(input, opened, signsAtOnce(secret, opened.facts.fingerprint));
    return opened;
  });
  if (!(current instanceof SignerError)) return current;
  const last = input.last(secret);
  if (last === undefined || !isActive(signer, last)) throw current;
  const usable = attempt(() => requireUsable(input, last, false));
  if (usable instanceof SignerError) throw current;
  return last;
}

function isActive({ status }: ClusterSigner, { facts }: Authority): boolean {
  return (status?.authorities ?? []).some(
    ({ fingerprint: print, phase }) => print === facts.fingerprint && phase === 'Active',
  );
}

function requireUsable(input: UsableInput, authority: Authority, atOnce: boolean): void {
  const { signer, bundle, propagationSeconds, now } = input;
  const { facts } = authority;
  const costly = checkCa(signer, facts);
  if (costly !== undefined) throw costly;
  if (distrustedCas(signer)(facts.fingerprint)) {
    throw unusable('AUTHORITY_INVALID', messages.CA_DISTRUSTED);
  }
  if (now >= facts.notAfter) {
    throw unusable('AUTHORITY_EXPIRED', messages.CA_EXPIRED);
  }
  if (signer.spec.trustBundle === undefined) return;
  requireGate(facts, { bundle, atOnce, propagationSeconds, now });
}

function requireReady(signer: ClusterSigner): void {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready === undefined || signer.status?.observedGeneration !== signer.metadata.generation) {
    throw unusable(
      'AUTHORITY_MISSING',
      messages.signerNotChecked(signer.kind, keyOf(signer.metadata)),
    );
  }
  if (!isCaReady(signer.status?.conditions)) {
    throw unusable(
      'AUTHORITY_MISSING',
      messages.signerNotReady(signer.kind, keyOf(signer.metadata), ready.reason, ready.message),
    );
  }
}

/** Reports whether a Secret holds a CA. That of a first CA without a certificate holds none yet. */
export function hasCa({ data = {} }: Secret): boolean {
  return data['tls.crt'] !== '' || data['tls.key'] !== '';
}

/** Returns the PEM of a `kubernetes.io/tls` Secret with an optional `ca.crt`. */
export function materialOf(secret: Secret): AuthorityMaterial {
  const text = (key: string): string =>
    Buffer.from(secret.data?.[key] ?? '', 'base64').toString('latin1');
  const [anchors, cross] = [text('ca.crt'), text(CROSS_CERTIFICATE)];
  return {
    certificate: text('tls.crt'),
    key: text('tls.key'),
    anchors: anchors === '' ? undefined : anchors,
    ...(cross === '' ? {} : { cross }),
  };
}

/** Returns the PEM of a signer's Secret, with the key that the spec names in a key holder. */
export function materialFor(secret: Secret, { spec }: ClusterSigner): AuthorityMaterial {
  const { keyHolder, managed } = spec.authority;
  const material = { ...materialOf(secret), anchorChosen: managed !== undefined };
  if (keyHolder === undefined) return material;
  return { ...material, heldKey: { name: keyHolder.key, signerName: spec.signerName } };
}

function unusable(
  code: 'AUTHORITY_MISSING' | 'AUTHORITY_INVALID' | 'AUTHORITY_EXPIRED',
  message: string,
): SignerError {
  return new SignerError({ code, disposition: 'authority', message });
}
