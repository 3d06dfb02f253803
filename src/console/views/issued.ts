// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import type { InspectedCertificate } from '#diagnose/inspect/inspected.ts';
import type { IssuedCertificateRow } from '#operations/issued.ts';
import {
  ISSUED_A_PAGE,
  type CertificateModel,
  type IssuedModel,
  type IssuedSearch,
} from '../pages/issued.ts';
import { addressOf, type PageQuery, type View } from './address.ts';
import { el, type Content } from './element.ts';
import {
  choiceOf,
  cutNote,
  fieldOf,
  lacksOf,
  linkTo,
  notesOf,
  pagerOf,
  tableOf,
  timeOf,
} from './parts.ts';

/** Returns the page Issued. */
export function issuedView(view: View, { search, rows, total, places, cutAt }: IssuedModel): VNode {
  const { from, ...fields } = search;
  const cells = rows.map((row) => [
    linkTo(view, ['certificate', certificateQuery(row)], row.names[0] ?? row.serial),
    row.signerName,
    row.holder ?? '',
    el('code', {}, row.serial),
    timeOf(row.notAfter, view),
    row.source,
  ]);
  const titles = ['Name', 'Signer name', 'Holder', 'Serial', 'Expires', 'Source'];
  return el(
    'div',
    {},
    searchForm(view, search),
    cutNote(cutAt),
    el('p', { role: 'status' }, total === 1 ? '1 certificate' : `${total} certificates`),
    tableOf('Certificates, the first to expire first', titles, cells),
    pagerOf(view, ['issued', fields], { from, size: ISSUED_A_PAGE, total }),
    notesOf('Searched', places),
  );
}

function certificateQuery({ serial, fingerprint }: IssuedCertificateRow): PageQuery {
  return { serial, fingerprint };
}

function searchForm(view: View, search: IssuedSearch): VNode {
  return el(
    'form',
    { method: 'get', action: addressOf(view, 'issued'), role: 'search' },
    fieldOf('san', 'Name', search.san),
    fieldOf('signer', 'Signer name', search.signer),
    fieldOf('namespace', 'Namespace', search.namespace),
    fieldOf('holder', 'Holder', search.holder),
    fieldOf('serial', 'Serial', search.serial),
    choiceOf(
      ['issued', 'Issued'],
      [
        ['', 'at any time'],
        ['24h', 'in the last day'],
      ],
      search.issued,
    ),
    choiceOf(
      ['expired', 'Expired'],
      [
        ['', 'hide'],
        ['yes', 'show'],
      ],
      search.expired,
    ),
    el('button', {}, 'Search'),
  );
}

/** Returns the page of one certificate. */
export function certificateView(view: View, { row, chain, revocations }: CertificateModel): VNode {
  return el(
    'div',
    {},
    el('h2', {}, 'Record'),
    fieldList([
      ['Signer name', linkTo(view, ['issued', { signer: row.signerName }], row.signerName)],
      ['Holder', row.holder ?? 'unknown'],
      ['Namespace', row.namespace ?? 'none'],
      ['Source', row.source],
      ['Expires', timeOf(row.notAfter, view)],
    ]),
    el('h2', {}, 'Revocations'),
    revokedPart(view, revocations),
    ...chain.flatMap((each, index) => [
      el('h2', {}, index === 0 ? 'Leaf' : `CA ${index}`),
      fieldList(certificateFields(each)),
    ]),
  );
}

function revokedPart(view: View, revocations: CertificateModel['revocations']): VNode {
  if ('lacks' in revocations) return lacksOf(revocations.lacks);
  if (revocations.value.length === 0) return el('p', {}, 'No Revocation names this certificate.');
  const rows = revocations.value.map(({ name, reason, revokedAt, isListed }) => [
    name,
    reason,
    revokedAt === undefined ? '' : timeOf(revokedAt, view),
    isListed ? 'yes' : 'not yet',
  ]);
  return tableOf('Revocations', ['Revocation', 'Reason', 'Revoked at', 'On the CRLs'], rows);
}

function certificateFields(
  certificate: InspectedCertificate,
): readonly (readonly [string, Content])[] {
  const { dnsNames, ipAddresses, uris, emails } = certificate.names;
  const { keyUsage = [], extKeyUsage = [] } = certificate;
  return [
    ['Subject', certificate.subject],
    ['Issuer', certificate.issuer],
    ['Names', [...uris, ...dnsNames, ...ipAddresses, ...emails].join(' ')],
    ['Serial', certificate.serial],
    ['Valid', `${certificate.notBefore} to ${certificate.notAfter}`],
    ['Key', `${certificate.key.type}, ${certificate.key.sha256}`],
    ['Signature', certificate.signatureAlgorithm],
    ['Usages', [...keyUsage, ...extKeyUsage].join(', ')],
    ['Fingerprint', certificate.fingerprint],
  ];
}

function fieldList(fields: readonly (readonly [string, Content])[]): VNode {
  return el(
    'dl',
    {},
    ...fields.flatMap(([title, value]) => [el('dt', {}, title), el('dd', {}, value)]),
  );
}
