// SPDX-License-Identifier: Apache-2.0
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import { outcomeOf, requesterOf } from '#ledger/ledger/api/kubectl-columns.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printable } from '#base/quote.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { namesOf, pemOf, serialOf, timeOf } from './formats.ts';
import { certificateOf, recordNamed } from '#cli/sources/ledger-records.ts';

/** Flags of `countersign ledger show` and `prove`. */
export interface ShowRecordOptions extends UserOptions {
  readonly namespace?: string;
  readonly output?: Output | 'pem';
}

/**
 * Runs `countersign ledger show`.
 *
 * @throws KubeError, or SignerError LEDGER_UNAVAILABLE
 */
export async function runShow(name: string, options: ShowRecordOptions): Promise<void> {
  const object = await read(name, options);
  const { output } = options;
  if (output === 'json' || output === 'yaml') printDocument(structuredText(object, output));
  else printText(output === 'pem' ? pemOf(object) : textOf(object));
}

async function read(name: string, options: ShowRecordOptions): Promise<RecordObject> {
  const { client } = await connectUser(options, 'ledger');
  try {
    return await recordNamed(client, name, options.namespace);
  } finally {
    await client.close();
  }
}

function textOf(object: RecordObject): string {
  const certificate = certificateOf(object);
  const rows = [
    ...aboutRecord(object),
    ...(certificate === undefined ? [] : aboutCertificate(certificate)),
    [
      'proof',
      object.proof === undefined ? 'no checkpoint covers it yet' : 'ledger prove prints it',
    ],
  ] as const;
  return rows
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([title, value]) => `${title.padEnd(WIDTH)}${printable(value ?? '')}\n`)
    .join('');
}

const WIDTH = 14;

type Row = readonly [title: string, value: string | undefined];

function aboutRecord(object: RecordObject): readonly Row[] {
  const { metadata, appended, record } = object;
  return [
    ['record', `${metadata.name}: ${record.kind}`],
    ['namespace', metadata.namespace ?? 'none'],
    ['appended', `${appended.at} by ${appended.by}`],
    ['signer', 'signer' in record ? signerOf(record.signer) : undefined],
    ...('request' in record ? aboutRequest(record) : []),
    ['result', outcomeOf(object)],
    ['message', 'message' in record ? record.message : undefined],
    ['CA', 'ca' in record ? record.ca : undefined],
  ];
}

type Record = RecordObject['record'];
type AskedRecord = Extract<Record, { readonly kind: 'issued' | 'approved' | 'denied' | 'failed' }>;

function signerOf({ name, kind, object, generation }: AskedRecord['signer']): string {
  const of = object === undefined ? '' : ` (${kind ?? 'object'} ${object.name}`;
  return `${name}${of}${of === '' ? '' : `, generation ${generation ?? 'unknown'})`}`;
}

function aboutRequest(record: AskedRecord): readonly Row[] {
  const { request, requester, decision = {} } = record;
  const { user, node } = requester;
  const { stated = {} } = decision;
  return [
    ['request', `${request.kind}/${request.name}, UID ${request.uid}`],
    ['for', requesterOf(record)],
    ['user', user?.username],
    ['groups', user?.groups?.join(', ')],
    ['node', node?.name],
    ['rule', decision.rule],
    ['approved by', decision.by],
    ['stated', [stated.reason, stated.message].filter(Boolean).join(': ')],
  ];
}

function aboutCertificate(certificate: Certificate): readonly Row[] {
  return [
    ['serial', serialOf(certificate)],
    ['fingerprint', fingerprint(certificate.raw)],
    ['names', namesOf(certificate).join(', ')],
    ['valid', `${timeOf(certificate.notBefore)} to ${timeOf(certificate.notAfter)}`],
  ];
}
