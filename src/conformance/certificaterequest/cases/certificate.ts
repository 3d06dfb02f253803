// SPDX-License-Identifier: Apache-2.0
import { must, should, type Case } from '../../case.ts';
import { leafCases } from '../../leaf-cases.ts';
import { chainsToAnchor, expiresBeforeCa, hasNoRoot } from '../../assertions/chain.ts';
import { hasRequestedKey } from '../../assertions/leaf.ts';
import {
  isValidAtDelivery,
  isWithinRequestedLifetime,
  isWithinProfileLifetime,
} from '../../assertions/validity.ts';
import { CR_SOURCES } from '../../sources.ts';
import { onLeaf } from '../../snapshot.ts';
import { chainsToStatusCa } from '../assertions.ts';
import type { CrSnapshot } from '../snapshot.ts';

const leaf = leafCases<CrSnapshot>((assertion) => onLeaf('plain', assertion));

/** What comes back: the chain, the leaf in it, and from when until when. */
export const CR_CERTIFICATES: readonly Case<CrSnapshot>[] = [
  must(
    'CR-17',
    'the first certificate has the key of the request',
    `${CR_SOURCES.status}.certificate`,
    onLeaf('plain', hasRequestedKey),
  ),
  must(
    'CR-18',
    'the chain leads to status.ca',
    `${CR_SOURCES.status}.ca; RFC 5280 §6.1`,
    chainsToStatusCa,
  ),
  must(
    'CR-19',
    'the chain leads to the anchors',
    'RFC 5280 §6.1; --anchors',
    onLeaf('plain', chainsToAnchor),
  ),
  leaf('CR-20', 'inOrder'),
  should(
    'CR-21',
    'the chain has no root: that is status.ca',
    'RFC 8446 §4.4.2',
    onLeaf('plain', hasNoRoot),
  ),
  leaf('CR-22', 'goodSerial'),
  leaf('CR-23', 'issuersKey'),
  leaf('CR-24', 'subjectOrNames'),
  must(
    'CR-25',
    'the leaf is valid when it is delivered',
    'RFC 5280 §4.1.2.5',
    onLeaf('plain', isValidAtDelivery),
  ),
  must(
    'CR-26',
    'a request for an hour gets at most an hour, plus five minutes of backdating',
    `${CR_SOURCES.spec}.duration`,
    onLeaf('plain', isWithinRequestedLifetime),
  ),
  must(
    'CR-27',
    "a request for ten years gets at most the issuer's maximum",
    `${CR_SOURCES.spec}.duration`,
    onLeaf('tenYears', isWithinProfileLifetime),
  ),
  must(
    'CR-28',
    'no leaf outlives its CA, even if ten years are requested',
    'RFC 5280 §6.1.3 (a)(2)',
    onLeaf('tenYears', expiresBeforeCa),
  ),
  must(
    'CR-29',
    "without a duration the leaf lives at most the issuer's maximum",
    `${CR_SOURCES.spec}.duration`,
    onLeaf('noDuration', isWithinProfileLifetime),
  ),
];
