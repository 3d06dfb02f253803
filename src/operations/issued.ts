// SPDX-License-Identifier: Apache-2.0
/** Certificates that somebody has, whoever knows of them: the ledger or live objects. Pure. */
import { formatTime } from '../api/object/time.ts';
import { fingerprint, type Certificate } from '../pki/x509/certificate.ts';
import { columns } from './show/columns.ts';

/** One certificate and who has it: what `countersign issued -o json` prints, in a list. */
export interface IssuedCertificateRow {
  readonly signerName: string;
  /** `pod team-a/web-0`, `user alice`. */
  readonly holder?: string;
  readonly namespace?: string;
  /** The common name and all alternative names. */
  readonly names: readonly string[];
  /** Hexadecimal. */
  readonly serial: string;
  /** `sha256:…` */
  readonly fingerprint: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** Key identifier of its CA, in hexadecimal. */
  readonly authorityKeyIdentifier?: string;
  /** Who knows of it: `csr alice`, `record 1-42`. */
  readonly source: string;
}

/** Who has a certificate, and who says so. */
export interface Holding {
  readonly signerName: string;
  readonly holder?: string | undefined;
  readonly namespace?: string | undefined;
  readonly source: string;
}

/** Which rows are wanted; all that are given must hold. */
export interface IssuedFilter {
  readonly signer?: string | undefined;
  readonly namespace?: string | undefined;
  /** As a row has it. */
  readonly holder?: string | undefined;
  /** One of its names, whole, or `*.example.com` for all that end so. */
  readonly san?: string | undefined;
  /** Hexadecimal digits, in any case, with colons or without. */
  readonly serial?: string | undefined;
  /** Key identifiers of the CA in hexadecimal. */
  readonly authorityKeyIdentifiers?: readonly string[] | undefined;
  /** Seconds. */
  readonly expiresIn?: number | undefined;
  readonly expired: boolean;
}

/** @returns the row of a certificate */
export function issuedRow(certificate: Certificate, holding: Holding): IssuedCertificateRow {
  const { subject, sans, serial, authorityKeyIdentifier: id } = certificate;
  const { dnsNames, ipAddresses, uris, emails } = sans;
  const texts = subject.attributes.map(({ value }) => value);
  const { holder, namespace, ...rest } = holding;
  return {
    ...rest,
    ...(holder === undefined ? {} : { holder }),
    ...(namespace === undefined ? {} : { namespace }),
    names: [...new Set([...texts, ...uris, ...dnsNames, ...ipAddresses, ...emails])],
    serial: Buffer.from(serial).toString('hex').replace(/^00/, ''),
    fingerprint: fingerprint(certificate.raw),
    notBefore: formatTime(certificate.notBefore),
    notAfter: formatTime(certificate.notAfter),
    ...(id === undefined ? {} : { authorityKeyIdentifier: Buffer.from(id).toString('hex') }),
  };
}

/** The rows that are wanted, each certificate once, the first to expire first. @param now - milliseconds */
export function wantedRows(
  rows: readonly IssuedCertificateRow[],
  filter: IssuedFilter,
  now: number,
): readonly IssuedCertificateRow[] {
  const once = new Map(rows.map((row) => [row.fingerprint, row]));
  return [...once.values()]
    .filter((row) => isWanted(row, filter, now))
    .sort((a, b) => (a.notAfter < b.notAfter ? -1 : 1));
}

function isWanted(row: IssuedCertificateRow, filter: IssuedFilter, now: number): boolean {
  const left = Date.parse(row.notAfter) - now;
  const { authorityKeyIdentifier: id = '', holder: who = '' } = row;
  const tests = [
    given(filter.signer, (signer) => row.signerName === signer),
    given(filter.namespace, (namespace) => row.namespace === namespace),
    given(filter.holder, (holder) => who === holder),
    given(filter.san, (san) => row.names.some((name) => isNamed(name, san))),
    given(filter.serial, (serial) => row.serial === digitsOf(serial)),
    given(filter.authorityKeyIdentifiers, (ids) => ids.includes(id)),
    given(filter.expiresIn, (seconds) => left < seconds * 1000),
    filter.expired || left > 0,
  ];
  return tests.every(Boolean);
}

/** What is not asked for holds. */
function given<T>(value: T | undefined, holds: (value: T) => boolean): boolean {
  return value === undefined || holds(value);
}

function isNamed(name: string, wanted: string): boolean {
  return wanted.startsWith('*') ? name.endsWith(wanted.slice(1)) : name === wanted;
}

function digitsOf(serial: string): string {
  return serial
    .replaceAll(':', '')
    .toLowerCase()
    .replace(/^(?:0x)?(?:00)?/, '');
}

/** For people. @param width - columns of the terminal; undefined: none reads it */
export function issuedTable(
  rows: readonly IssuedCertificateRow[],
  isWide: boolean,
  width?: number,
): string {
  const titles = ['SIGNER', 'HOLDER', 'NAME', 'SERIAL', 'EXPIRES', 'SOURCE'];
  const wide = ['NOT BEFORE', 'FINGERPRINT', 'OTHER NAMES'];
  const cells = rows.map((row) => {
    const [first = '-', ...others] = row.names;
    const narrow = [row.signerName, row.holder ?? '-', first, row.serial, row.notAfter, row.source];
    return isWide ? [...narrow, row.notBefore, row.fingerprint, others.join(' ')] : narrow;
  });
  return [...columns([isWide ? [...titles, ...wide] : titles, ...cells], width), ''].join('\n');
}
