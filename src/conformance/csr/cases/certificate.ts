// SPDX-License-Identifier: Apache-2.0
import { must, should, type Case } from '../../case.ts';
import {
  chainsToAnchor,
  endsBeforeAuthority,
  hasNoRoot,
  isInOrder,
  isPlainPem,
} from '../../laws/chain.ts';
import {
  hasGoodSerial,
  hasPurpose,
  hasRequestedKey,
  isNoAuthority,
  namesIssuersKey,
  namesSomebody,
  usageFitsKey,
  usageIsCritical,
} from '../../laws/leaf.ts';
import {
  isBackdatedLittle,
  isValidAtDelivery,
  livesNoLongerThanAsked,
  livesNoLongerThanProfile,
} from '../../laws/validity.ts';
import { orRefused } from '../../laws/names.ts';
import { haveSerialsOfTheirOwn } from '../../laws/writes.ts';
import { CSR_CERTIFICATE, CSR_EXPIRATION, CTB_SPEC, e2e } from '../../sources.ts';
import { onAll, onLeaf, onTrial } from '../../world.ts';
import type { CsrWorld } from '../world.ts';

const CLIENT = e2e('certificates.go', 'should support building a client with a CSR');

/** What comes back: the chain, the leaf in it, and from when until when. */
export const CSR_CERTIFICATES: readonly Case<CsrWorld>[] = [
  must(
    'CSR-18',
    'the first certificate has the key of the request',
    CSR_CERTIFICATE,
    onLeaf('plain', hasRequestedKey),
  ),
  must(
    'CSR-19',
    'of a request with two PEM blocks, the key of the first, which the API server checked',
    'pkg/apis/certificates, ParseCSR',
    onTrial('twoBlocks', orRefused(hasRequestedKey)),
  ),
  must(
    'CSR-20',
    'the chain leads to a published anchor',
    `RFC 5280 §6.1; ${CTB_SPEC}`,
    onLeaf('plain', chainsToAnchor),
  ),
  must(
    'CSR-21',
    'each certificate of the chain certifies the one before it',
    'RFC 8446 §4.4.2',
    onLeaf('plain', isInOrder),
  ),
  should('CSR-22', 'the chain has no root', 'RFC 8446 §4.4.2', onLeaf('plain', hasNoRoot)),
  should(
    'CSR-23',
    'the text is CERTIFICATE blocks and nothing else',
    'RFC 7468 §5.1',
    onLeaf('plain', isPlainPem),
  ),
  must(
    'CSR-24',
    'the leaf is no CA',
    'RFC 5280 §4.2.1.9, §4.2.1.3',
    onLeaf('plain', isNoAuthority),
  ),
  must(
    'CSR-25',
    'the serial has room for 64 random bits',
    'RFC 5280 §4.1.2.2; CA/Browser Forum BR §7.1',
    onLeaf('plain', hasGoodSerial),
  ),
  must(
    'CSR-26',
    'no two leaves have the same serial',
    'RFC 5280 §4.1.2.2',
    onAll(haveSerialsOfTheirOwn),
  ),
  must(
    'CSR-27',
    'authorityKeyIdentifier is that of the CA',
    'RFC 5280 §4.2.1.1',
    onLeaf('plain', namesIssuersKey),
  ),
  must(
    'CSR-28',
    'the leaf names somebody; without a subject subjectAltName is critical',
    'RFC 5280 §4.1.2.6',
    onLeaf('plain', namesSomebody),
  ),
  should(
    'CSR-29',
    'keyUsage is there and critical',
    'RFC 5280 §4.2.1.3',
    onLeaf('plain', usageIsCritical),
  ),
  should(
    'CSR-30',
    'extKeyUsage is there, and is not "any"',
    'RFC 5280 §4.2.1.12',
    onLeaf('plain', hasPurpose),
  ),
  should(
    'CSR-31',
    'an ECDSA or Ed25519 leaf has no keyEncipherment, though it was asked for',
    'RFC 8813 §3; RFC 8410 §5',
    onTrial('encipherment', orRefused(usageFitsKey)),
  ),
  must(
    'CSR-32',
    'an hour asked for is an hour at the most, and five minutes of backdating',
    `${CLIENT}; ${CSR_EXPIRATION}`,
    onLeaf('plain', livesNoLongerThanAsked),
  ),
  must(
    'CSR-33',
    'ten minutes, the least that can be asked for, are ten minutes',
    `${CSR_EXPIRATION}; test/integration/certificates/duration_test.go`,
    onLeaf('tenMinutes', livesNoLongerThanAsked),
  ),
  must(
    'CSR-34',
    'ten years are cut to what the signer gives',
    CSR_EXPIRATION,
    onLeaf('tenYears', livesNoLongerThanProfile),
  ),
  must(
    'CSR-35',
    'without expirationSeconds a leaf has the lifetime that the signer gives',
    CSR_EXPIRATION,
    onLeaf('noLifetime', livesNoLongerThanProfile),
  ),
  must(
    'CSR-36',
    'the leaf is valid when it is delivered',
    'RFC 5280 §4.1.2.5',
    onLeaf('plain', isValidAtDelivery),
  ),
  should(
    'CSR-37',
    'notBefore lies back an hour at the most',
    'pkg/controller/certificates/authority: five minutes',
    onLeaf('plain', isBackdatedLittle),
  ),
  must(
    'CSR-38',
    'no leaf outlives its CA, ten years asked for or not',
    'RFC 5280 §6.1.3 (a)(2)',
    onLeaf('tenYears', endsBeforeAuthority),
  ),
];
