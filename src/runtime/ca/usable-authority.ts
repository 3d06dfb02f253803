// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { findCondition } from '../../api/request/conditions.ts';
import { isCaReady } from '../../api/serving/report.ts';
import { SIGNER_NAME, isGranted, signsAtOnce } from '../../api/signer/grant.ts';
import { keyOf, type Secret } from '../../api/object/object.ts';
import { CROSS_CERTIFICATE } from '../../api/signer/rotation-annotations.ts';
import type { Authority, AuthorityMaterial } from '../../authorities/contract.ts';
import { SignerError, attempt } from '../../errors.ts';
import { distrustedCas } from '../../rotation/distrusted-cas.ts';
import { requireGate } from './anchor-gate.ts';
import { checkMaterial, checkCa } from './namespaced-ca-limits.ts';

/** Everything that decides whether a CA may sign. */
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
 * The CA that a signer may sign with now. It checks again everything that the authority component checked: the
 * status may be forged or stale, and the Secret may have changed since.
 *
 * If the CA in the Secret cannot be used (it is half written, or its anchor was published too recently), the CA
 * that signed last continues while the status shows it as Active: until then, nothing assumes that its last leaf
 * was issued.
 *
 * @throws SignerError (`authority`) what is missing; the signer's requests wait
 */
export function usableAuthority(input: UsableInput): Authority {
  const { signer, secret } = input;
  requireReady(signer);
  if (secret === undefined) {
    throw unusable('AUTHORITY_MISSING', 'its CA Secret does not exist');
  }
  if (!isGranted(secret, signer.spec.signerName)) {
    throw unusable(
      'AUTHORITY_MISSING',
      `its CA Secret lacks the annotation ${SIGNER_NAME}: ${signer.spec.signerName}`,
    );
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
    throw unusable('AUTHORITY_INVALID', 'its CA is listed in spec.authority.managed.distrusted');
  }
  if (now >= facts.notAfter) {
    throw unusable('AUTHORITY_EXPIRED', 'its CA certificate has expired');
  }
  if (signer.spec.trustBundle === undefined) return;
  requireGate(facts, { bundle, atOnce, propagationSeconds, now });
}

function requireReady(signer: ClusterSigner): void {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready === undefined || signer.status?.observedGeneration !== signer.metadata.generation) {
    throw unusable(
      'AUTHORITY_MISSING',
      `${signer.kind} ${keyOf(signer.metadata)} has not been checked by the authority component yet`,
    );
  }
  if (!isCaReady(signer.status?.conditions)) {
    throw unusable(
      'AUTHORITY_MISSING',
      `${signer.kind} ${keyOf(signer.metadata)} is not ready: ${ready.reason ?? ''}: ${ready.message ?? ''}`,
    );
  }
}

/** The PEM of a `kubernetes.io/tls` Secret with an optional `ca.crt`. */
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

function unusable(
  code: 'AUTHORITY_MISSING' | 'AUTHORITY_INVALID' | 'AUTHORITY_EXPIRED',
  message: string,
): SignerError {
  return new SignerError({ code, disposition: 'authority', message });
}
