// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '../../../api/object/duration.ts';
import type { Secret } from '../../../api/object/object.ts';
import { parseTime } from '../../../api/object/time.ts';
import type { AuthorityStatus, ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import {
  RETIRED_CERTIFICATE,
  RETIRED_KEY,
  retiredUntil,
} from '../../../api/signer/rotation-annotations.ts';
import { isNamespaced } from '../../../api/signer/signer.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { fingerprint, readCertificates } from '../../../pki/x509/certificate.ts';
import { LATE_SIGNING_MS, RETIRING_MARGIN_MS } from '../../../rotation/authorities.ts';

/** The key of a CA that retired, in its Secret: CRLs of its leaves are signed with it (ADR 0049). */
export interface RetiredKey {
  /** In the names of its two entries. */
  readonly id: string;
  /** Undefined: its certificate cannot be read, so no CRL can be signed. */
  readonly fingerprint: string | undefined;
  /** Milliseconds, as the Secret records it; undefined where it does not. */
  readonly keepUntil: number | undefined;
}

export interface RetiredKeysInput {
  readonly retired: readonly RetiredKey[];
  /** Whether the signer has CRLs at all. */
  readonly isWanted: boolean;
  /** `status.authorities` as it is. */
  readonly authorities: readonly AuthorityStatus[];
  /** Of the CA in `tls.*`. */
  readonly active: string | undefined;
  readonly isDistrusted: (fingerprint: string) => boolean;
  readonly now: number;
}

/** Which keys of CAs that retired go now, by id. */
export interface DroppedKeys {
  /** For a reason that no clock has a part in. */
  readonly atOnce: readonly string[];
  /** Their last leaf has expired. */
  readonly byTime: readonly string[];
  /** Milliseconds: when time alone may let another go. */
  readonly lookAt: number | undefined;
}

/**
 * Which keys of CAs that retired go. Those of a CA that is distrusted go at once, since who stole one signs CRLs as
 * well. The others go when both the status and the Secret say that no leaf lives: a status may be lost.
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

/** Whether the CRLs of a signer are signed, for which keys of CAs that retire are kept. */
export function keepsRetiredKeys(signer: ClusterSigner): boolean {
  return signer.spec.profile.crl !== undefined && !isNamespaced(signer);
}

/** The CAs that retired and whose keys, or parts of them, are in a Secret. */
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
 * Until when the key of a CA that stops signing now is kept at least: as long as its anchor, as far as is known now.
 *
 * @param now - milliseconds, as is the result
 * @param longestLeaf - Go duration: of what the CA ever signed
 * @param notAfter - milliseconds: the end of the CA
 */
export function keepUntil(now: number, longestLeaf: string, notAfter: number): number {
  const lastLeaf = now + LATE_SIGNING_MS + parseDuration(longestLeaf) * 1000;
  return Math.min(lastLeaf, notAfter) + RETIRING_MARGIN_MS;
}
