// SPDX-License-Identifier: Apache-2.0
import type { Revocation } from '#api/revocation/revocation.ts';
import { REVOCATIONS } from '#api/revocation/names.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { ReadResult } from '#diagnose/check/finding.ts';
import { listVisible, mapSeen } from '#diagnose/check/reading/list-visible.ts';
import type { InspectedCertificate } from '#diagnose/inspect/inspected.ts';
import { readCertificateDer } from '#diagnose/inspect/read-der.ts';
import type { Client } from '#kube/client/client.ts';
import { wantedRows, type IssuedCertificateRow } from '#operations/issued.ts';
import type { IssuedEntry } from '../readings.ts';

/** The search of the page's address. */
export interface IssuedSearch {
  readonly signer?: string | undefined;
  readonly namespace?: string | undefined;
  readonly holder?: string | undefined;
  readonly san?: string | undefined;
  readonly serial?: string | undefined;
  /** `24h`: issued within a day. */
  readonly issued?: string | undefined;
  /** `yes`: also what has expired. */
  readonly expired?: string | undefined;
  /** First row, from 0. */
  readonly from: number;
}

/** The data of the page Issued. */
export interface IssuedModel {
  readonly search: IssuedSearch;
  readonly rows: readonly IssuedCertificateRow[];
  readonly total: number;
  readonly places: readonly string[];
  /** Number of records at which the search stopped, if the ledger has more. */
  readonly cutAt?: number | undefined;
}

/** Rows of one page. */
export const ISSUED_A_PAGE = 100;
const COUNTED_MS = 86_400_000;

/** Returns the matching rows, the first to expire first. @param now - milliseconds */
export function searchRows(
  entries: readonly IssuedEntry[],
  search: IssuedSearch,
  now: number,
): readonly IssuedCertificateRow[] {
  const { signer, namespace, holder, san, serial, issued, expired } = search;
  const rows = entries.map(({ row }) => row);
  const filter = { signer, namespace, holder, san, serial, expired: expired === 'yes' };
  const wanted = wantedRows(rows, filter, now);
  if (issued !== '24h') return wanted;
  return wanted.filter(({ notBefore }) => Date.parse(notBefore) > now - COUNTED_MS);
}

/** A Revocation that names a certificate. */
export interface NamedRevocation {
  readonly name: string;
  readonly reason: string;
  readonly revokedAt?: string;
  /** True once the CRLs of the CA have it. */
  readonly isListed: boolean;
}

/** The data of the page of one certificate. */
export interface CertificateModel {
  readonly row: IssuedCertificateRow;
  /** Leaf first. */
  readonly chain: readonly InspectedCertificate[];
  readonly revocations: ReadResult<readonly NamedRevocation[]>;
}

/** Reads what is known of a certificate. */
export async function readCertificate(
  client: Client,
  { row, found }: IssuedEntry,
): Promise<CertificateModel> {
  const all = await listVisible<Revocation & KubeObject, NamedRevocation>(
    client,
    REVOCATIONS,
    (each) => (names(each, row) ? [namedRevocation(each)] : []),
  );
  const chain = found.chain.flatMap(({ raw }) => {
    const { what } = readCertificateDer(raw, row.source);
    return what.kind === 'certificate' ? [what] : [];
  });
  return { row, chain, revocations: mapSeen(all, (revocations) => revocations) };
}

function names({ spec }: Revocation, { signerName, serial }: IssuedCertificateRow): boolean {
  return (
    spec.signerName === signerName &&
    spec.certificates.some((each) => sameSerial(each.serial, serial))
  );
}

function sameSerial(a: string, b: string): boolean {
  return a.replace(/^0+/, '') === b.replace(/^0+/, '');
}

function namedRevocation({ metadata, spec, status }: Revocation): NamedRevocation {
  const isListed = status?.crlNumber !== undefined;
  const { revokedAt, reason } = spec;
  return {
    name: metadata.name,
    reason,
    isListed,
    ...(revokedAt === undefined ? {} : { revokedAt }),
  };
}
