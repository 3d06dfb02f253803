// SPDX-License-Identifier: Apache-2.0
import type {
  ClusterSigner,
  ClusterSignerStatus,
  DistrustedCaStatus,
} from '#api/signer/cluster-signer.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import { anchorsKnownTo, knownAnchors, withSameKey } from './same-key.ts';

/** Reports whether a CA is distrusted, by the `sha256:<hex>` fingerprint of its certificate. */
export type IsDistrusted = (fingerprint: string) => boolean;

const NONE: IsDistrusted = () => false;

/**
 * Returns the distrusted CAs. They sign no leaf, no bundle holds them, and no chain contains a
 * cross-certificate that they signed (ADR 0024). These are
 *
 * - the CAs that `spec.authority.managed.distrusted` names, or named once: `status.distrusted`,
 * - the CAs whose entry in `status.authorities` is Distrusted, in case those records are lost,
 * - the CAs that certified the key of one of those (`crossSigned`). Their root would restore trust:
 *   signers delivered the cross-certificate with leaves, and a thief of the key issues leaves below
 *   it,
 * - every other certificate of one of these keys: a root that was renewed with the same key is as
 *   bad.
 *
 * It ends there. A cross-certificate has path length 0, so a CA that certified a certifier leads
 * nowhere. A CA that a distrusted one certified keeps an anchor of its own (ADR 0022).
 */
export function distrustedCas({
  spec,
  status,
}: Pick<ClusterSigner, 'spec' | 'status'>): IsDistrusted {
  const remembered = [...(status?.distrusted ?? []), ...unrecordedDistrust(status)];
  const named = new Set([
    ...(spec.authority.managed?.distrusted ?? []),
    ...remembered.filter(({ reason }) => reason === 'Named').map((each) => each.fingerprint),
  ]);
  if (named.size === 0 && remembered.length === 0) return NONE;
  const known = anchorsKnownTo(status);
  const stolen = new Set([...named, ...withSameKey(known, named)]);
  const out = new Set([
    ...stolen,
    ...remembered.map((each) => each.fingerprint),
    ...certifiersOf(status, stolen),
  ]);
  const all = new Set([...out, ...withSameKey(known, out)]);
  return (fingerprint) => all.has(fingerprint);
}

/**
 * Returns the distrusted anchors of a text that the status may not list: those of
 * {@link distrustedCas}, and every other certificate of their keys, as far as the status or the
 * text shows the keys.
 *
 * @param pem - anchors that any client may have written
 */
export function distrustedAnchors(
  pem: string,
  signer: Pick<ClusterSigner, 'spec' | 'status'>,
): IsDistrusted {
  const isDistrusted = distrustedCas(signer);
  if (isDistrusted === NONE) return NONE;
  const known = [...anchorsKnownTo(signer.status), ...knownAnchors(publishedAnchors(pem))];
  const named = known.map((each) => each.fingerprint).filter(isDistrusted);
  const out = new Set(withSameKey(known, new Set(named)));
  return (fingerprint) => isDistrusted(fingerprint) || out.has(fingerprint);
}

/**
 * Returns the distrust in the entries of `status.authorities` that `status.distrusted` lacks,
 * because those records were lost. A CA counts as named unless a CA that certified its key is still
 * trusted: that one would be distrusted, too.
 */
export function unrecordedDistrust(
  status: ClusterSignerStatus | undefined,
): readonly DistrustedCaStatus[] {
  const authorities = status?.authorities ?? [];
  const recorded = new Set(status?.distrusted?.map(({ fingerprint }) => fingerprint));
  const trusted = new Set(
    authorities.filter(({ phase }) => phase !== 'Distrusted').map((each) => each.fingerprint),
  );
  return authorities
    .filter(({ phase, fingerprint }) => phase === 'Distrusted' && !recorded.has(fingerprint))
    .map(({ fingerprint, notAfter }) => {
      const certifiers = certifiersOf(status, new Set([fingerprint]));
      const isCertifier = certifiers.some((each) => trusted.has(each));
      return { fingerprint, reason: isCertifier ? 'Certifier' : 'Named', notAfter };
    });
}

/**
 * Returns fingerprints of the CAs that certified the key of one of `subjects`, as far as the status
 * lists them.
 */
export function certifiersOf(
  status: ClusterSignerStatus | undefined,
  subjects: ReadonlySet<string>,
): readonly string[] {
  const recorded = (status?.crossCertificates ?? [])
    .filter(({ subject }) => subjects.has(subject))
    .map(({ issuer }) => issuer);
  const listed = (status?.authorities ?? [])
    .filter(({ fingerprint }) => subjects.has(fingerprint))
    .flatMap(({ crossSignedBy }) => crossSignedBy ?? []);
  return [...new Set([...recorded, ...listed])];
}
