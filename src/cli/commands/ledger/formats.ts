// SPDX-License-Identifier: Apache-2.0
/** Formats records as text. All their content is untrusted. */
import { outcomeOf, requesterOf } from '#ledger/ledger/api/kubectl-columns.ts';
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import { columns } from '#operations/show/columns.ts';
import { encodePem } from '#pki/der/pem.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { printable } from '#base/quote.ts';
import { certificateOf } from '#cli/sources/ledger-records.ts';

/** Returns all names of a certificate, including its common name. */
export function namesOf({ subject, sans }: Certificate): readonly string[] {
  const { dnsNames, ipAddresses, uris, emails } = sans;
  const texts = subject.attributes.map(({ value }) => value);
  return [...new Set([...texts, ...uris, ...dnsNames, ...ipAddresses, ...emails])];
}

/** Returns the serial number in hexadecimal, as searches take it. */
export function serialOf({ serial }: Certificate): string {
  return Buffer.from(serial).toString('hex').replace(/^00/, '');
}

/** Returns the names as kubectl prints them, one a line. */
export function namesText(records: readonly RecordObject[]): string {
  return records.map(({ metadata }) => `record.ledger.countersign.dev/${metadata.name}\n`).join('');
}

/**
 * Returns a table for people.
 *
 * @param width - columns of the terminal, or undefined for a file or program
 */
export function tableText(
  records: readonly RecordObject[],
  isWide: boolean,
  width: number | undefined,
): string {
  const titles = ['NAME', 'KIND', 'NAMESPACE', 'SIGNER', 'FOR', 'RESULT', 'SERIAL', 'EXPIRES'];
  const wide = ['APPENDED', 'RULE', 'FINGERPRINT', 'NAMES'];
  const rows = records.map((each) => {
    const certificate = certificateOf(each);
    const more =
      certificate === undefined
        ? ['-', '-']
        : [fingerprint(certificate.raw), namesOf(certificate).join(' ')];
    const rule = 'decision' in each.record ? each.record.decision?.rule : undefined;
    return [
      each.metadata.name,
      each.record.kind,
      each.metadata.namespace ?? '-',
      'signer' in each.record ? each.record.signer.name : '-',
      orDash(requesterOf(each.record)),
      orDash(outcomeOf(each)),
      certificate === undefined ? '-' : serialOf(certificate),
      certificate === undefined ? '-' : timeOf(certificate.notAfter),
      ...(isWide ? [each.appended.at, rule ?? '-', ...more] : []),
    ];
  });
  return [...columns([isWide ? [...titles, ...wide] : titles, ...rows], width), ''].join('\n');
}

function orDash(text: string): string {
  return text === '' ? '-' : text;
}

/** Returns RFC 3339 in whole seconds. */
export function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

const CSV_TITLES = [
  'name',
  'kind',
  'namespace',
  'appended',
  'signer',
  'requester',
  'user',
  'node',
  'rule',
  'request',
  'result',
  'serial',
  'fingerprint',
  'names',
  'notBefore',
  'notAfter',
  'ca',
];

/** Returns the title line of a CSV file (RFC 4180). */
export function csvHead(): string {
  return csvLine(CSV_TITLES);
}

/** Returns the CSV line of a record. */
export function csvOf(object: RecordObject): string {
  const { metadata, appended, record } = object;
  const found = certificateOf(object);
  return csvLine([
    metadata.name,
    record.kind,
    metadata.namespace,
    appended.at,
    'signer' in record ? record.signer.name : undefined,
    requesterOf(record),
    ...requestCells(record),
    outcomeOf(object),
    ...(found === undefined ? Array<undefined>(5).fill(undefined) : certificateCells(found)),
    'ca' in record ? record.ca : undefined,
  ]);
}

function requestCells(record: RecordObject['record']): readonly (string | undefined)[] {
  if (!('request' in record)) return Array<undefined>(4).fill(undefined);
  const { request, requester, decision } = record;
  const of = `${request.kind}/${request.name}`;
  return [requester.user?.username, requester.node?.name, decision?.rule, of];
}

function certificateCells(certificate: Certificate): readonly string[] {
  const { raw, notBefore, notAfter } = certificate;
  return [
    serialOf(certificate),
    fingerprint(raw),
    namesOf(certificate).join(' '),
    timeOf(notBefore),
    timeOf(notAfter),
  ];
}

/**
 * Returns a CSV line. An apostrophe precedes text that a spreadsheet would compute (OWASP, CSV
 * injection).
 */
function csvLine(cells: readonly (string | undefined)[]): string {
  const texts = cells.map((cell = '') => {
    const text = printable(cell);
    const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${texts.join(',')}\n`;
}

/** Returns the certificates, each after the name of its record. */
export function pemOf(object: RecordObject): string {
  const { metadata, record } = object;
  if (!('certificate' in record)) return '';
  const pem = encodePem('CERTIFICATE', Buffer.from(record.certificate, 'base64'));
  return `# ${metadata.name} ${printable(requesterOf(record))}\n${pem}`;
}
