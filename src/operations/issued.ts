// SPDX-License-Identifier: Apache-2.0
/** Issued certificates, as the ledger or live objects show them. Pure. */
import { formatTime } from '#api/object/time.ts';
import { OID_COMMON_NAME } from '#pki/der/oids.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { canonicalSerial } from '#ca/revocation/serial.ts';
import { columns } from './show/columns.ts';

/** One certificate and its holder. `countersign issued -o json` prints a list of them. */
export interface IssuedCertificateRow {
  readonly signerName: string;
  /** Holder such as `pod team-a/web-0` or `user alice`. */
  readonly holder?: string;
  readonly namespace?: string;
  /** The common name, all alternative names, and then the other texts of the subject. */
  readonly names: readonly string[];
  /** Hexadecimal. */
  readonly serial: string;
  /** `sha256:…` */
  readonly fingerprint: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** Key identifier of its CA, in hexadecimal. */
  readonly authorityKeyIdentifier?: string;
  /** Object or record with the certificate: `csr alice`, `record 1-42`. */
  readonly source: string;
}

/** The holder of a certificate, and the source of this information. */
export interface CertificateHolding {
  readonly signerName: string;
  readonly holder?: string | undefined;
  readonly namespace?: string | undefined;
  readonly source: string;
}

/** A filter of rows. A row must meet all given conditions. */
export interface IssuedFilter {
  readonly signer?: string | undefined;
  readonly namespace?: string | undefined;
  /** Holder, spelled as in a row. */
  readonly holder?: string | undefined;
  /** One of its names in full, or `*.example.com` for all with this ending. */
  readonly san?: string | undefined;
  /** Serial number in any spelling of `canonicalSerial`. */
  readonly serial?: string | undefined;
  /** Key identifiers of the CA in hexadecimal. */
  readonly authorityKeyIdentifiers?: readonly string[] | undefined;
  /** Seconds. */
  readonly expiresIn?: number | undefined;
  readonly expired: boolean;
}

/** Returns the row of a certificate. */
export function issuedRow(
  certificate: Certificate,
  affected: CertificateHolding,
): IssuedCertificateRow {
  const { subject, sans, serial, authorityKeyIdentifier: id } = certificate;
  const { dnsNames, ipAddresses, uris, emails } = sans;
  const { commonNames = [], others = [] } = Object.groupBy(subject.attributes, ({ oid }) =>
    oid === OID_COMMON_NAME ? 'commonNames' : 'others',
  );
  const textsOf = (all: typeof commonNames): readonly string[] => all.map(({ value }) => value);
  const { holder, namespace, ...rest } = affected;
  return {
    ...rest,
    ...(holder === undefined ? {} : { holder }),
    ...(namespace === undefined ? {} : { namespace }),
    names: [
      ...new Set([
        ...textsOf(commonNames),
        ...uris,
        ...dnsNames,
        ...ipAddresses,
        ...emails,
        ...textsOf(others),
      ]),
    ],
    serial: Buffer.from(serial).toString('hex').replace(/^00/, ''),
    fingerprint: fingerprint(certificate.raw),
    notBefore: formatTime(certificate.notBefore),
    notAfter: formatTime(certificate.notAfter),
    ...(id === undefined ? {} : { authorityKeyIdentifier: Buffer.from(id).toString('hex') }),
  };
}

/**
 * Returns the matching rows, the first to expire first. A certificate has one row for each signer
 * name.
 *
 * @param rows - of a certificate, the first that matches is kept. A tenant may copy a certificate
 *   into a status of theirs, so rows of statuses that tenants write must come last.
 * @param now - milliseconds
 */
export function wantedRows(
  rows: readonly IssuedCertificateRow[],
  filter: IssuedFilter,
  now: number,
): readonly IssuedCertificateRow[] {
  const matching = rows.filter((row) => isWanted(row, filter, now));
  const same = Map.groupBy(matching, (row) => `${row.fingerprint} ${row.signerName}`);
  return [...same.values()]
    .flatMap(([first]) => first ?? [])
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
    given(filter.serial, (serial) => canonicalSerial(row.serial) === canonicalSerial(serial)),
    given(filter.authorityKeyIdentifiers, (ids) => ids.includes(id)),
    given(filter.expiresIn, (seconds) => left < seconds * 1000),
    filter.expired || left > 0,
  ];
  return tests.every(Boolean);
}

/** Reports whether a condition holds. An absent one does. */
function given<T>(value: T | undefined, holds: (value: T) => boolean): boolean {
  return value === undefined || holds(value);
}

function isNamed(name: string, wanted: string): boolean {
  return wanted.startsWith('*') ? name.endsWith(wanted.slice(1)) : name === wanted;
}

/** Formats rows as a table. @param width - columns of the terminal, if stdout is one */
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
