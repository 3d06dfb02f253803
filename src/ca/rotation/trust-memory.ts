// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '#api/object/time.ts';
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
  CrossCertificateStatus,
  DistrustedCaStatus,
} from '#api/signer/cluster-signer.ts';
import { MAX_CROSS_CERTIFICATES, MAX_DISTRUSTED_CAS } from '#api/signer/cluster-signer-limits.ts';
import { RETIRING_MARGIN_MS } from './authorities.ts';
import type { CrossRecord } from './cross-records.ts';
import { certifiersOf, unrecordedDistrust } from './distrusted-cas.ts';
import { anchorsKnownTo, withSameKey } from './same-key.ts';

/** The trust records in a ClusterSigner's status, independent of the CAs' own entries. */
export type TrustMemory = Pick<ClusterSignerStatus, 'crossCertificates' | 'distrusted'>;

export interface TrustMemoryInput {
  readonly signer: Pick<ClusterSigner, 'spec' | 'status'>;
  /** Cross-certificates that the CA's Secret holds, records, or may have held (milliseconds). */
  readonly found: readonly CrossRecord[];
  /** True if the local clock contradicts the API server's. Nothing then expires. */
  readonly clocksApart: boolean;
  readonly now: number;
}

/**
 * Returns the records that trust depends on (ADR 0024). They list who certified whose key, until
 * that cross-certificate has expired, and which CAs were distrusted, until their own certificate
 * has expired.
 *
 * They never follow an entry of `status.authorities`, a profile or the list `distrusted`, all of
 * which may shrink.
 */
export function nextTrustMemory(input: TrustMemoryInput): TrustMemory {
  const { status } = input.signer;
  const crossCertificates = unlessShrunk(status?.crossCertificates, crossCertificatesOf(input));
  const distrusted = unlessShrunk(
    status?.distrusted,
    distrustedOf(input, { ...status, crossCertificates }),
  );
  return {
    ...(crossCertificates.length === 0 ? {} : { crossCertificates }),
    ...(distrusted.length === 0 ? {} : { distrusted }),
  };
}

/**
 * Keeps the previous records if none is new. Expired ones do no harm, and go with the next write
 * that adds something.
 */
function unlessShrunk<T extends object>(
  before: readonly T[] = [],
  now: readonly T[],
): readonly T[] {
  const known = new Set(before.map(textOf));
  return now.every((each) => known.has(textOf(each))) ? before : now;
}

/** Sorts the keys, because the API server may change their order. */
function textOf(record: object): string {
  return JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The places reserved for unrecorded cross-certificates. */
const RESERVE = 16;

/** Reports whether one more cross-certificate can be recorded. If not, none must be created. */
export function hasRoomForCross(status: ClusterSignerStatus | undefined): boolean {
  return (status?.crossCertificates ?? []).length < MAX_CROSS_CERTIFICATES - RESERVE;
}

function crossCertificatesOf(input: TrustMemoryInput): readonly CrossCertificateStatus[] {
  const { signer, found } = input;
  const authorities = signer.status?.authorities ?? [];
  const listed = authorities.flatMap(({ fingerprint: subject, crossSignedBy, notAfter }) =>
    crossSignedBy === undefined
      ? []
      : [
          {
            issuer: crossSignedBy,
            subject,
            notAfter: earlier(notAfter, authorities, crossSignedBy),
          },
        ],
  );
  const recorded = (signer.status?.crossCertificates ?? []).map((each) => ({
    ...each,
    notAfter: parseTime(each.notAfter),
  }));
  // The first source of a pair counts: a record from a certificate precedes one from entries.
  const byPair = new Map<string, CrossRecord>();
  for (const each of [...found, ...recorded, ...listed]) {
    const pair = `${each.issuer} ${each.subject}`;
    if (!byPair.has(pair)) byPair.set(pair, each);
  }
  return [...byPair]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each)
    .filter(({ notAfter }) => isAlive(input, notAfter))
    .slice(0, MAX_CROSS_CERTIFICATES)
    .map(({ issuer, subject, notAfter }) => ({ issuer, subject, notAfter: formatTime(notAfter) }));
}

/**
 * Returns the earlier end. If the certifier's entry is gone, the subject's end is the later of the
 * two, and so the safe one.
 */
function earlier(
  notAfter: string,
  authorities: readonly AuthorityStatus[],
  issuer: string,
): number {
  const known = authorities.find(({ fingerprint }) => fingerprint === issuer)?.notAfter;
  return Math.min(parseTime(notAfter), known === undefined ? Infinity : parseTime(known));
}

function distrustedOf(
  input: TrustMemoryInput,
  status: ClusterSignerStatus,
): readonly DistrustedCaStatus[] {
  const inSpec = new Set(input.signer.spec.authority.managed?.distrusted);
  const before = [...(status.distrusted ?? []), ...unrecordedDistrust(status)];
  const asked = new Set([
    ...inSpec,
    ...before.filter(({ reason }) => reason === 'Named').map((each) => each.fingerprint),
  ]);
  const known = anchorsKnownTo(input.signer.status);
  const named = new Set([...asked, ...withSameKey(known, asked)]);
  const certifiers = new Set([
    ...certifiersOf(status, named),
    ...before.map((each) => each.fingerprint),
  ]);
  return [...new Set([...named, ...certifiers, ...withSameKey(known, certifiers)])]
    .map((fingerprint) => {
      const reason = named.has(fingerprint) ? ('Named' as const) : ('Certifier' as const);
      const notAfter = endOf(fingerprint, status);
      return { fingerprint, reason, ...(notAfter === undefined ? {} : { notAfter }) };
    })
    .filter(({ notAfter }) => notAfter === undefined || isAlive(input, parseTime(notAfter)))
    .sort((a, b) => byNeed(inSpec, a, b))
    .slice(0, MAX_DISTRUSTED_CAS)
    .sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
}

/**
 * Returns the end of the CA's own certificate. Undefined if its entry was gone before it was named.
 */
function endOf(fingerprint: string, status: ClusterSignerStatus): string | undefined {
  const entries = [...(status.authorities ?? []), ...(status.distrusted ?? [])];
  const entry = entries.find(
    (each) => each.fingerprint === fingerprint && each.notAfter !== undefined,
  );
  if (entry !== undefined) return entry.notAfter;
  const retained = anchorsKnownTo(status).find((each) => each.fingerprint === fingerprint);
  return retained && formatTime(retained.notAfter);
}

/**
 * Sorts records by need, for the case that there is no room. The spec repeats the ones that it
 * names, and early ends matter least.
 */
function byNeed(inSpec: ReadonlySet<string>, a: DistrustedCaStatus, b: DistrustedCaStatus): number {
  const end = ({ notAfter = '' }: DistrustedCaStatus): string => notAfter;
  return (
    Number(inSpec.has(a.fingerprint)) - Number(inSpec.has(b.fingerprint)) ||
    (end(a) > end(b) ? -1 : Number(end(a) < end(b)))
  );
}

function isAlive({ clocksApart, now }: TrustMemoryInput, notAfter: number): boolean {
  // A verifier's clock may be late, as for the leaves of a CA that retires.
  return clocksApart || now < notAfter + RETIRING_MARGIN_MS;
}
