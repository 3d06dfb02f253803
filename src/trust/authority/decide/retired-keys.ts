// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import type { Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  RETIRED_CERTIFICATE,
  RETIRED_KEY,
  retiredUntil,
} from '#api/signer/rotation-annotations.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, readCertificates } from '#pki/x509/certificate.ts';
import { LATE_SIGNING_MS, RETIRING_MARGIN_MS } from '#ca/rotation/authorities.ts';

/** The key of a retired CA in its Secret, which signs CRLs of its leaves (ADR 0049). */
export interface RetiredKey {
  /** Part of the names of its two entries. */
  readonly id: string;
  /** Undefined if its certificate cannot be read, so no CRL can be signed. */
  readonly fingerprint: string | undefined;
  /** Milliseconds as recorded in the Secret, or undefined if not recorded. */
  readonly keepUntil: number | undefined;
}

export interface RetiredKeysInput {
  readonly retired: readonly RetiredKey[];
  /** True if the signer has CRLs. */
  readonly isWanted: boolean;
  /** The current `status.authorities`. */
  readonly authorities: readonly AuthorityStatus[];
  /** Fingerprint of the CA in `tls.*`. */
  readonly active: string | undefined;
  readonly isDistrusted: (fingerprint: string) => boolean;
  readonly now: number;
}

/** Keys of retired CAs to remove now, by id. */
export interface DroppedKeys {
  /** Keys whose removal does not depend on a clock. */
  readonly atOnce: readonly string[];
  /** Keys of CAs whose last leaf has expired. */
  readonly byTime: readonly string[];
  /** Time in milliseconds at which another key may be removed. */
  readonly lookAt: number | undefined;
}

/**
 * Decides which keys of retired CAs to remove. Those of a distrusted CA go at once, since a thief
 * of the key can also sign CRLs. The others go when both the status and the Secret show that no
 * leaf is valid, since a status may be lost.
 */
export function droppedKeys(input: RetiredKeysInput): DroppedKeys {
  const { retired, authorities, now } = input;
  const listed = new Set(authorities.map(({ fingerprint }) => fingerprint));
  const atOnce = retired.filter((each) => isUseless(input, each));
  const others = retired.filter((each) => !atOnce.includes(each));
  const isKept = ({ fingerprint = '', keepUntil = 0 }: RetiredKey): boolean =>
    listed.has(fingerprint) || now < keepUntil;
  const coming = others.flatMap(({ keepUntil = 0 }) => (keepUntil > now ? [keepUntil] : []));
  return {
    atOnce: atOnce.map(({ id }) => id),
    byTime: others.filter((each) => !isKept(each)).map(({ id }) => id),
    lookAt: coming.length === 0 ? undefined : Math.min(...coming),
  };
}

function isUseless(
  { isWanted, isDistrusted, active }: RetiredKeysInput,
  { fingerprint }: RetiredKey,
): boolean {
  if (fingerprint === undefined || !isWanted) return true;
  return isDistrusted(fingerprint) || fingerprint === active;
}

/** Reports whether the signer has CRLs, so that keys of retiring CAs are kept. */
export function keepsRetiredKeys(signer: ClusterSigner): boolean {
  return signer.spec.profile.crl !== undefined && !isNamespaced(signer);
}

/** Returns the retired CAs whose keys, or parts of them, are in a Secret. */
export function retiredKeysOf({ data = {}, metadata }: Secret): readonly RetiredKey[] {
  const ids = Object.keys(data).flatMap(
    (key) => RETIRED_CERTIFICATE.idOf(key) ?? RETIRED_KEY.idOf(key) ?? [],
  );
  return [...new Set(ids)].map((id) => {
    const pem = Buffer.from(data[RETIRED_CERTIFICATE.of(id)] ?? '', 'base64').toString();
    const read = attempt(() => readCertificates(pem));
    const [first] = read instanceof SignerError ? [] : read;
    const until = parseTime(metadata.annotations?.[retiredUntil(id)] ?? '');
    return {
      id,
      fingerprint: first === undefined ? undefined : fingerprint(first.raw),
      keepUntil: Number.isNaN(until) ? undefined : until,
    };
  });
}

/**
 * Returns the minimum time to keep the key of a CA that stops signing now: as long as its anchor,
 * as far as is known.
 *
 * @param now - milliseconds, like the result
 * @param longestLeaf - Go duration of the longest leaf that the CA ever signed
 * @param notAfter - milliseconds: the end of the CA
 */
export function keepUntil(now: number, longestLeaf: string, notAfter: number): number {
  const lastLeaf = now + LATE_SIGNING_MS + parseDuration(longestLeaf) * 1000;
  return Math.min(lastLeaf, notAfter) + RETIRING_MARGIN_MS;
}
