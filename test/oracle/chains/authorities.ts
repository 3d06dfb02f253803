// SPDX-License-Identifier: Apache-2.0
import { ca, keyIds, link, purposes, usage } from '../../support/pki/chain.ts';
import { extension, seq } from '../../support/pki/der.ts';
import {
  CLIENT,
  SERVER,
  authority,
  chain,
  chainsOf,
  leaf,
  long,
  three,
  type ChainCase,
  type ChainTable,
} from './case.ts';

const ISSUERS = 'RFC 5280 §6.1.4';
const root = authority('root');

const AUTHORITIES: ChainTable = {
  'not-a-ca': [
    'the issuer is no CA',
    ISSUERS,
    () => {
      const end = leaf(root);
      return chain(link('x', { by: end, extensions: keyIds('x', 'leaf') }), [end], [root]);
    },
  ],
  'ca-false': [
    'the issuer has CA:FALSE',
    ISSUERS,
    () => three({}, { constraints: extension('2.5.29.19', seq(), true) }),
  ],
  'no-basic-constraints': [
    'the issuer has no basicConstraints',
    ISSUERS,
    () => three({}, { constraints: extension('1.2.3.4', []) }),
  ],
  'anchor-not-a-ca': [
    'the anchor is no CA',
    ISSUERS,
    () => {
      const end = leaf(root);
      return chain(link('x', { by: end, extensions: keyIds('x', 'leaf') }), [], [end]);
    },
  ],
  'no-cert-sign': [
    'the issuer may sign CRLs only',
    ISSUERS,
    () => three({}, { usage: usage([0x02], 1) }),
  ],
  'root-no-cert-sign': [
    'the root may sign CRLs only',
    ISSUERS,
    () => three({ usage: usage([0x02], 1) }, {}),
  ],
  'no-key-usage': [
    '',
    'RFC 5280 §4.2.1.3',
    () => {
      const open = link('open', { extensions: [ca(), ...keyIds('open')] });
      return chain(leaf(open), [], [open]);
    },
  ],
  'path-length-0': ['', ISSUERS, () => three({}, { constraints: ca(0) })],
  'path-length-1': ['', ISSUERS, () => three({ constraints: ca(1) }, { constraints: ca(0) })],
  'path-length-exceeded': [
    'the root allows no CA below it',
    ISSUERS,
    () => three({ constraints: ca(0) }, {}),
  ],
  'path-length-exceeded-by-one': [
    'the root allows 2 CAs, and there are 3',
    ISSUERS,
    () => long(3, { constraints: ca(2) }),
  ],
  'path-length-reached': ['', ISSUERS, () => long(3, { constraints: ca(3) })],
  'purposes-of-a-ca': [
    '',
    'RFC 5280 §4.2.1.12',
    () => three({}, { more: [purposes(SERVER, CLIENT)] }),
  ],
  'any-purpose-of-a-ca': [
    '',
    'RFC 5280 §4.2.1.12',
    () => three({}, { more: [purposes('2.5.29.37.0')] }),
  ],
  'purpose-missing': [
    'a CA is for clients only',
    'RFC 5280 §4.2.1.12',
    () => three({}, { more: [purposes(CLIENT)] }),
  ],
  'purpose-missing-in-root': [
    'the root is for clients only',
    'RFC 5280 §4.2.1.12',
    () => three({ more: [purposes(CLIENT)] }, {}),
  ],
  'no-purpose-below': [
    'a CA is for clients only, the leaf is for anything',
    'RFC 5280 §4.2.1.12',
    () => {
      const top = authority('root', { more: [purposes(CLIENT)] });
      return chain(link('x', { by: top, extensions: keyIds('x', 'root') }), [], [top]);
    },
  ],
};

/** What a CA may. */
export function authorities(): readonly ChainCase[] {
  return chainsOf('authority', AUTHORITIES);
}
