// SPDX-License-Identifier: Apache-2.0
import { extension, seq } from '../../support/pki/der.ts';
import { extensionRequest } from '../../support/pki/request-der.ts';
import { ALTERNATIVE_NAMES } from './alternative-names.ts';
import { IDENTIFIERS, LEAF_EXTENSIONS, NAMES, certificate, request } from './bases.ts';
import { casesOf, type Case } from './case.ts';
import { parseTree } from '../tree.ts';
import { LIMITS } from './limits.ts';
import { CRITICAL, OTHERS } from './other-extensions.ts';

/** Of the extensions of a leaf, those of other types than this one. */
function besides(own: Uint8Array): readonly Uint8Array[] {
  const typeOf = (der: Uint8Array): string =>
    Buffer.from(parseTree(der).children?.[0]?.content ?? []).toString('hex');
  const type = typeOf(own);
  return [...LEAF_EXTENSIONS, ...IDENTIFIERS, NAMES].filter((each) => typeOf(each) !== type);
}

const inRequest = (own: Uint8Array): Uint8Array => request({ attributes: [extensionRequest(own)] });
const inCertificate = (own: Uint8Array): Uint8Array =>
  certificate({ extensions: [...besides(own), own] });
const twice = extension('1.2.3.4', [1]);

/** The same extensions, wished for and issued. */
export function extensions(): readonly Case[] {
  return [
    ...casesOf('request', 'alternative-names', ALTERNATIVE_NAMES, inRequest),
    ...casesOf('certificate', 'alternative-names', ALTERNATIVE_NAMES, inCertificate),
    ...casesOf('request', 'limits', LIMITS, inRequest),
    ...casesOf('certificate', 'limits', LIMITS, inCertificate),
    ...casesOf('request', 'others', OTHERS, inRequest),
    ...casesOf('certificate', 'others', OTHERS, inCertificate),
    ...casesOf('certificate', 'critical', CRITICAL, inCertificate),
    ...casesOf(
      'request',
      'extensions',
      {
        twice: ['an extension occurs twice', 'RFC 5280 §4.2', [twice, twice]],
        many: [
          'there are 65 extensions',
          'own limit',
          Array.from({ length: 65 }, (_, i) => extension(`1.2.3.${i}`, [])),
        ],
      },
      (own) => request({ attributes: [extensionRequest(...own)] }),
    ),
    ...casesOf(
      'certificate',
      'extensions',
      {
        twice: ['an extension occurs twice', 'RFC 5280 §4.2', [twice, twice]],
        many: [
          'there are 65 extensions',
          'own limit',
          Array.from({ length: 65 }, (_, i) => extension(`1.2.3.${i}`, [])),
        ],
        'empty-sequence': ['the list of extensions is empty', 'RFC 5280 §4.1.2.9', [seq()]],
      },
      (own) => certificate({ extensions: own }),
    ),
  ];
}
