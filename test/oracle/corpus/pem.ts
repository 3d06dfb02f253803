// SPDX-License-Identifier: Apache-2.0
import { rdn, seq, utf8 } from '../../support/pki/der.ts';
import { COMMON_NAME, request } from './bases.ts';
import { casesOf, type Case, type Table } from './case.ts';

const PEM = 'RFC 7468 §3';
const REQUEST = 'RFC 7468 §7';
const ONE = 'the text is what the API server reads';
const LABEL = 'CERTIFICATE REQUEST';

const base64 = (der: Uint8Array): string => Buffer.from(der).toString('base64');
const body = (): string => base64(request());
const lines = (text = body(), width = 64): string =>
  text.replaceAll(new RegExp(`.{1,${width}}`, 'g'), '$&\n');
const block = (inner: string, label = LABEL): string =>
  `-----BEGIN ${label}-----\n${inner}-----END ${label}-----\n`;
const good = (): string => block(lines());

const TEXTS: Table<() => string> = {
  plain: ['', PEM, good],
  'windows-lines': ['', PEM, () => good().replaceAll('\n', '\r\n')],
  'no-last-newline': ['', PEM, () => good().trimEnd()],
  'one-long-line': ['', PEM, () => block(lines(body(), 100_000))],
  'lines-of-76': ['', PEM, () => block(lines(body(), 76))],
  'blank-lines-around': ['', PEM, () => `\n\n${good()}\n`],
  empty: ['there is no text', PEM, () => ''],
  blanks: ['there are only blanks', PEM, () => ' \n\n'],
  base64: ['there is base64 alone', PEM, body],
  der: ['it is DER', PEM, () => Buffer.from(request()).toString('latin1')],
  'new-request': [
    'the label is NEW CERTIFICATE REQUEST (kubernetes#68677)',
    REQUEST,
    () => block(lines(), 'NEW CERTIFICATE REQUEST'),
  ],
  certificate: ['the label is CERTIFICATE', REQUEST, () => block(lines(), 'CERTIFICATE')],
  'lower-case': [
    'the label is in lower case',
    REQUEST,
    () => block(lines(), 'certificate request'),
  ],
  'no-label': ['there is no label', REQUEST, () => block(lines(), '')],
  'labels-differ': [
    'the labels differ',
    PEM,
    () => good().replace('END CERTIFICATE REQUEST', 'END CERTIFICATE'),
  ],
  'no-end': ['there is no END', PEM, () => good().replace(/-----END.*/, '')],
  'no-begin': ['there is no BEGIN', PEM, () => good().replace(/-----BEGIN.*/, '')],
  'four-dashes': ['BEGIN has four dashes', PEM, () => good().replace('-----BEGIN', '----BEGIN')],
  'six-dashes': ['BEGIN has six dashes', PEM, () => good().replace('-----BEGIN', '------BEGIN')],
  'begin-in-line': ['BEGIN stands inside a line', PEM, () => `x${good()}`],
  'end-in-line': ['END stands inside a line', PEM, () => good().replace('\n-----END', '-----END')],
  'text-after-begin': [
    'something follows BEGIN on its line',
    PEM,
    () => good().replace('REQUEST-----\n', 'REQUEST----- x\n'),
  ],
  'text-after-end': ['something follows END on its line', PEM, () => `${good().trimEnd()} x\n`],
  headers: [
    'there are headers',
    'RFC 1421 §4.6',
    () => good().replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\n\n'),
  ],
  preamble: ['a text stands before it, which readers skip', ONE, () => `hello\n${good()}`],
  postamble: ['a text stands behind it, which readers skip', ONE, () => `${good()}hello\n`],
  two: [
    'there are two requests, of which readers take the first or the last',
    ONE,
    () => good() + good(),
  ],
  'certificate-first': [
    'a certificate stands before it',
    ONE,
    () => block(lines(), 'CERTIFICATE') + good(),
  ],
  'broken-first': [
    'a broken block stands before it, which readers skip',
    ONE,
    () => block('!!!\n') + good(),
  ],
  nested: [
    'a block begins inside the block',
    ONE,
    () => block(`${lines().slice(0, 65)}-----BEGIN ${LABEL}-----\n${lines()}`),
  ],
  'no-body': ['there is nothing inside', PEM, () => block('')],
  'blank-body': ['there is a blank line inside', PEM, () => block('\n')],
  'bad-letter': [
    'there is a ! in the base64',
    'RFC 4648 §3.3',
    () => good().replace('MII', 'M!II'),
  ],
  'url-alphabet': [
    'the base64 has the alphabet of URLs',
    'RFC 4648 §5',
    () => block(lines(`${body().replace(/=*$/, '').slice(0, -4)}-_-_`)),
  ],
  'no-padding': [
    'the padding is missing',
    'RFC 4648 §3.2',
    () => block(lines(padded().replaceAll('=', ''))),
  ],
  'more-padding': [
    'there is padding too many',
    'RFC 4648 §3.2',
    () => block(lines(`${body()}====`)),
  ],
  'padding-inside': ['padding stands inside', 'RFC 4648 §3.2', () => block(lines(`TQ==${body()}`))],
  'unused-bits': [
    'bits that are not used are set',
    'RFC 4648 §3.5',
    () => block(lines(padded().replace(/.==$/, withUnusedBit))),
  ],
  'one-letter-short': [
    'a letter is missing',
    'RFC 4648 §3.2',
    () => block(lines(body().slice(0, -1))),
  ],
  nul: ['there is a NUL', PEM, () => good().replace('MII', 'MI\0I')],
  'byte-order-mark': ['there is a byte order mark', PEM, () => `\ufeff${good()}`],
  'no-break-space': ['there is a no-break space', PEM, () => good().replace('MII', 'MI\u00a0I')],
  'form-feed': ['there is a form feed', PEM, () => good().replace('\n', '\f\n')],
  'vertical-tab-between': ['a vertical tab stands behind it', PEM, () => `${good()}\v`],
  'carriage-returns': [
    'lines end with carriage returns alone',
    PEM,
    () => good().replaceAll('\n', '\r'),
  ],
  'blanks-in-body': ['', PEM, () => good().replace('MII', 'M I\tI')],
  'bomb-of-begins': [
    'BEGIN 30,000 times (CVE-2024-12401, CVE-2025-61723)',
    ONE,
    () => `-----BEGIN ${LABEL}-----\n`.repeat(30_000),
  ],
  'bomb-of-dashes': ['a megabyte of dashes', ONE, () => '-'.repeat(1_000_000)],
  'bomb-of-blocks': ['10,000 blocks', ONE, () => block('AAAA\n').repeat(10_000)],
  'bomb-of-ends': [
    'END 30,000 times',
    ONE,
    () => `-----BEGIN ${LABEL}-----\n${`-----END X-----\n`.repeat(30_000)}`,
  ],
  'two-megabytes': [
    'there are 2 MB, more than an object can hold',
    'own limit',
    () => block(lines('A'.repeat(2_000_000))),
  ],
};

/** The base64 of a whole request that needs two characters of padding. */
function padded(): string {
  const found = ['a', 'aa', 'aaa']
    .map((name) => base64(request({ subject: seq(rdn(COMMON_NAME, utf8(name))) })))
    .find((text) => text.endsWith('=='));
  if (found === undefined) throw new Error('no request needs two characters of padding');
  return found;
}

/**
 * Of the six bits before `==` the first two belong to the last octet; the other four should be
 * zero.
 */
function withUnusedBit(end: string): string {
  return `${{ A: 'B', Q: 'R', g: 'h', w: 'x' }[end[0] ?? ''] ?? ''}==`;
}

export function pem(): readonly Case[] {
  return casesOf('pem', 'text', TEXTS, (text) => Buffer.from(text(), 'utf8'));
}
