// SPDX-License-Identifier: Apache-2.0
import { columns } from '#operations/show/columns.ts';
import { spanText } from '#operations/show/table.ts';
import { printable } from '#base/quote.ts';
import type { FieldDifference } from './difference.ts';
import type {
  InspectedObject,
  InspectedExtensions,
  InspectedList,
  InspectedPrivateKey,
  InspectedPublicKey,
} from './inspected.ts';
import type { Relations } from './relations.ts';

type Field = readonly [name: string, text: string | undefined];

/**
 * Returns all fields of each object for people.
 *
 * @param now - milliseconds since 1970
 */
export function longText(all: readonly InspectedObject[], now: number): string {
  return all.map((each) => `${printable(titleOf(each))}\n${fieldLines(each, now)}\n`).join('');
}

/**
 * Returns one line for each object.
 *
 * @param now - milliseconds since 1970
 * @param width - columns of the terminal, or undefined without one
 */
export function shortText(all: readonly InspectedObject[], now: number, width?: number): string {
  const titles = ['KIND', 'SUBJECT', 'SERIAL', 'KEY', 'EXPIRES', 'IN', 'SOURCE'];
  return lines([...columns([titles, ...all.map((each) => cellsOf(each, now))], width)]);
}

/** Returns the relations for people, or '' if there are none. */
export function relationsText(relations: Relations): string {
  const { keys, signed, trusted = [], revoked = [] } = relations;
  const texts = new Map(revoked.map((each) => [each.certificate, each]));
  return lines([
    ...keys.map(({ key, of }) =>
      of.length === 0
        ? `key: ${key} is the key of nothing here`
        : `key: ${key} is the key of ${of.join(', ')}`,
    ),
    ...signed.map(({ certificate, by }) =>
      certificate === by ? `signed: ${by} by itself` : `signed: ${certificate} by ${by}`,
    ),
    ...revoked.map(
      ({ certificate, by, since, reason }) =>
        `revoked: ${certificate} since ${since} by Revocation ${by} (${reason}): verifiers reject it once a CRL that they read lists it`,
    ),
    ...trusted.map(({ certificate, by, why, signerWithoutBundle }) => {
      if (signerWithoutBundle !== undefined)
        return `not verified: ${certificate}: its signer ${signerWithoutBundle} has no ClusterTrustBundle, and no other bundle trusts it`;
      if (by.length === 0)
        return `not trusted: ${certificate} by any bundle${why === undefined ? '' : `: ${why}`}`;
      const bundles = by.join(', ');
      return texts.has(certificate)
        ? `not trusted: ${certificate} is revoked; verifiers that read no CRL trust it by ${bundles}`
        : `trusted: ${certificate} by ${bundles}`;
    }),
  ]);
}

/** Returns the differing fields for people. */
export function differenceText(fields: readonly FieldDifference[]): string {
  if (fields.length === 0) return 'nothing differs\n';
  return lines(
    fields.flatMap(({ field, left, right }) => [
      field,
      ...(left === undefined ? [] : [`  - ${left}`]),
      ...(right === undefined ? [] : [`  + ${right}`]),
    ]),
  );
}

function titleOf(each: InspectedObject): string {
  const alias = 'alias' in each ? ` (alias ${each.alias})` : '';
  return `${each.kind}  ${each.source}${alias}`;
}

function fieldLines(each: InspectedObject, now: number): string {
  const fields = fieldsOf(each, now).filter(([, text]) => text !== undefined && text !== '');
  return lines(fields.map(([name, text = '']) => `  ${name.padEnd(14)}${text}`));
}

function fieldsOf(each: InspectedObject, now: number): readonly Field[] {
  switch (each.kind) {
    case 'certificate':
      return [
        ['subject', each.subject] as const,
        ['issuer', each.issuer] as const,
        ['serial', each.serial],
        ['valid', `${each.notBefore} until ${each.notAfter} (${remaining(each.notAfter, now)})`],
        ['key', `${each.key.type}, SHA-256 ${each.key.sha256}`],
        ['signature', each.signatureAlgorithm],
        ...extensionFields(each),
        ['fingerprint', each.fingerprint],
        ['refused', each.refusedBecause && `by Countersign: ${each.refusedBecause}`],
      ];
    case 'request':
      return [
        ['subject', each.subject],
        ['key', `${each.key.type}, SHA-256 ${each.key.sha256}`],
        [
          'signature',
          `${each.signatureAlgorithm}, ${each.isSignatureValid ? 'valid' : 'NOT VALID'}`,
        ],
        ...extensionFields(each),
        ['proves', each.isStub === true ? 'the key; the PodCertificateRequest has the names' : ''],
        ['refused', each.refusedBecause && `by Countersign: ${each.refusedBecause}`],
      ];
    case 'crl':
      return listFields(each, now);
    case 'private key':
    case 'public key':
      return keyFields(each);
  }
}

function listFields(each: InspectedList, now: number): readonly Field[] {
  return [
    ['issuer', each.issuer] as const,
    ['number', each.number] as const,
    ['issued', each.thisUpdate],
    ['next', each.nextUpdate && `${each.nextUpdate} (${remaining(each.nextUpdate, now)})`],
    ['signature', each.signatureAlgorithm],
    ['revoked', `${each.revokedCount}`],
    ...each.revoked.map(({ serial, at, reason = '' }): Field => [
      '',
      `${serial}  ${at}  ${reason}`.trimEnd(),
    ]),
  ];
}

function keyFields(each: InspectedPrivateKey | InspectedPublicKey): readonly Field[] {
  const { key } = each;
  return [
    ['key', key && `${key.type}, SHA-256 ${key.sha256}`],
    ['encrypted', 'isEncrypted' in each && each.isEncrypted ? 'yes; it was not opened' : ''],
  ];
}

function extensionFields(of: InspectedExtensions): readonly Field[] {
  const { names } = of;
  const critical = of.extensions.filter((each) => each.critical);
  return [
    ['CA', of.isCa ? `yes${of.pathLen === undefined ? '' : `, path length ${of.pathLen}`}` : ''],
    ['DNS', names.dnsNames.join(', ')],
    ['IP', names.ipAddresses.join(', ')],
    ['URI', names.uris.join(', ')],
    ['email', names.emails.join(', ')],
    ['other names', names.other === 0 ? '' : `${names.other}`],
    ['usages', [...(of.keyUsage ?? []), ...(of.extKeyUsage ?? [])].join(', ')],
    ['key id', of.subjectKeyIdentifier],
    ['issuer key id', of.authorityKeyIdentifier],
    ['CRL', of.crls?.join(', ')],
    ['OCSP', of.ocsp?.join(', ')],
    ['issuers', of.issuers?.join(', ')],
    ['extensions', of.extensions.map(({ name, oid }) => name ?? oid).join(', ')],
    ['critical', critical.map(({ name, oid }) => name ?? oid).join(', ')],
  ];
}

function cellsOf(each: InspectedObject, now: number): readonly string[] {
  const key = 'key' in each ? each.key.type : '-';
  switch (each.kind) {
    case 'certificate': {
      const left = remaining(each.notAfter, now);
      const subject = subjectOrName(each.subject, each);
      return ['certificate', subject, each.serial, key, each.notAfter, left, each.source];
    }
    case 'request':
      return [each.kind, subjectOrName(each.subject, each), '-', key, '-', '-', each.source];
    case 'crl': {
      const { issuer, nextUpdate } = each;
      const left = nextUpdate === undefined ? '-' : remaining(nextUpdate, now);
      return [each.kind, issuer, '-', '-', nextUpdate ?? '-', left, each.source];
    }
    case 'private key':
    case 'public key':
      return [each.kind, '-', '-', key, '-', '-', each.source];
  }
}

/** Returns the subject, or the first name: leaves of pods have no subject. */
function subjectOrName(subject: string, { names }: InspectedExtensions): string {
  if (subject !== '') return subject;
  const { uris, dnsNames, ipAddresses, emails } = names;
  return [...uris, ...dnsNames, ...ipAddresses, ...emails][0] ?? '-';
}

/** Returns `23h left` or `expired 2d ago`. */
function remaining(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  return seconds >= 0 ? `${spanText(seconds)} left` : `expired ${spanText(seconds)} ago`;
}

function lines(all: readonly string[]): string {
  return all.map((each) => `${printable(each)}\n`).join('');
}
