// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import { parseTime } from '#api/object/time.ts';
import { revokedSince, type Revocation } from '#api/revocation/revocation.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { canonicalSerial } from '#ca/revocation/serial.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import type { InspectedItem } from './inspected.ts';

/** Named trust anchors: a ClusterTrustBundle, or a file. */
export interface NamedBundle {
  readonly name: string;
  readonly pem: string;
  /**
   * Signer name of a ClusterTrustBundle, empty for one without a signer. Absent from anchors that
   * the user named.
   */
  readonly signer?: string;
}

/** Relations between the inspected objects. */
export interface Relations {
  /** Each standalone key, and the objects with the same key. */
  readonly keys: readonly { readonly key: string; readonly of: readonly string[] }[];
  /** Each certificate whose issuer is among the objects, or that is self-signed. */
  readonly signed: readonly { readonly certificate: string; readonly by: string }[];
  /** Bundles to which each leaf has a valid path now. Present only if bundles were read. */
  readonly trusted?: readonly {
    readonly certificate: string;
    readonly by: readonly string[];
    /** Error of the verifier for the first bundle, if no bundle trusts the leaf. */
    readonly why?: string;
    /** Signer of the leaf, if it has no bundle and no other bundle trusts the leaf. */
    readonly signerWithoutBundle?: string;
  }[];
  /** Leaves with the serial number of a Revocation. Present only if there is one. */
  readonly revoked?: readonly {
    readonly certificate: string;
    /** Name of the Revocation. */
    readonly by: string;
    /** RFC 3339. */
    readonly since: string;
    readonly reason: string;
  }[];
}

/**
 * Relates all objects to each other: keys by their SubjectPublicKeyInfo, certificates by their
 * signatures.
 *
 * @param bundles - trust anchors of paths, or undefined if none were read
 * @param revocations - those of the cluster that has the objects
 * @param now - milliseconds since 1970
 */
export function relationsOf(
  found: readonly InspectedItem[],
  bundles: readonly NamedBundle[] | undefined,
  now: number,
  revocations: readonly Revocation[] = [],
): Relations {
  const certificates = found.flatMap(({ what, der, signer }) =>
    what.kind === 'certificate' && der !== undefined ? [{ what, der, signer }] : [],
  );
  const trusted =
    bundles &&
    certificates
      .filter(({ what }) => !what.isCa)
      .map(({ what, der, signer }) => ({
        certificate: what.source,
        ...ofSigner(
          isValidAt(what, now) ? signer : undefined,
          bundles,
          trustOf(
            der,
            certificates.map((each) => each.der),
            bundles,
            now,
          ),
        ),
      }));
  const revoked = revokedOf(found, revocations);
  return {
    ...(revoked.length === 0 ? {} : { revoked }),
    keys: keysOf(found),
    signed: certificates.flatMap((child) =>
      certificates
        .filter((issuer) => child.what.issuer === issuer.what.subject && isSigned(child, issuer))
        .slice(0, 1)
        .map((issuer) => ({ certificate: child.what.source, by: issuer.what.source })),
    ),
    ...(trusted === undefined ? {} : { trusted }),
  };
}

/** A serial number of Countersign is random, so no certificate of another CA shares it. */
function revokedOf(
  found: readonly InspectedItem[],
  revocations: readonly Revocation[],
): NonNullable<Relations['revoked']> {
  return found.flatMap(({ what }) => {
    if (what.kind !== 'certificate' || what.isCa) return [];
    const serial = canonicalSerial(what.serial);
    const by = revocations.find(({ spec }) =>
      spec.certificates.some((each) => canonicalSerial(each.serial) === serial),
    );
    if (by === undefined) return [];
    const { reason } = by.spec;
    const since = revokedSince(by);
    return [{ certificate: what.source, by: by.metadata.name, since, reason }];
  });
}

function keysOf(found: readonly InspectedItem[]): Relations['keys'] {
  return found.flatMap(({ what }) => {
    if (what.kind !== 'private key' && what.kind !== 'public key') return [];
    if (what.key === undefined) return [];
    const { sha256 } = what.key;
    const same = found.filter(
      (each) => each.what !== what && 'key' in each.what && each.what.key.sha256 === sha256,
    );
    return [{ key: what.source, of: same.map((each) => each.what.source) }];
  });
}

function isSigned(
  child: Required<Pick<InspectedItem, 'what' | 'der'>>,
  issuer: Required<Pick<InspectedItem, 'what' | 'der'>>,
): boolean {
  try {
    return new X509Certificate(child.der).verify(new X509Certificate(issuer.der).publicKey);
  } catch {
    return false;
  }
}

type Trust = Omit<NonNullable<Relations['trusted']>[number], 'certificate'>;

function isValidAt(
  { notBefore, notAfter }: { readonly notBefore: string; readonly notAfter: string },
  now: number,
): boolean {
  return parseTime(notBefore) <= now && now <= parseTime(notAfter);
}

/** Replaces the fault by the signer's name if it has no bundle and no bundle covers the leaf. */
function ofSigner(
  signer: string | undefined,
  bundles: readonly NamedBundle[],
  trust: Trust,
): Trust {
  if (signer === undefined || trust.by.length > 0) return trust;
  const isNamed = bundles.some((each) => each.signer === undefined);
  if (isNamed || bundles.some((each) => each.signer === signer)) return trust;
  return { by: [], signerWithoutBundle: signer };
}

function trustOf(
  der: Uint8Array,
  others: readonly Uint8Array[],
  bundles: readonly NamedBundle[],
  now: number,
): Trust {
  const leaf = attempt(() => decodeCertificate(der));
  if (leaf instanceof SignerError) return { by: [], why: leaf.message };
  const intermediates = others.flatMap((each) => {
    const read = attempt(() => decodeCertificate(each));
    return read instanceof SignerError ? [] : [read];
  });
  const by: string[] = [];
  let why: string | undefined;
  for (const { name, pem } of bundles) {
    const anchors = [...publishedAnchors(pem).values()].filter(
      (each): each is Certificate => each !== undefined,
    );
    const path = attempt(() => verifyPath({ leaf, intermediates, anchors, now }));
    if (path instanceof SignerError) why ??= path.message;
    else by.push(name);
  }
  return by.length > 0 || why === undefined ? { by } : { by, why };
}
