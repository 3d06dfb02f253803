// SPDX-License-Identifier: Apache-2.0
import { must, should, type Case } from '../../case.ts';
import { leafCases } from '../../leaf-cases.ts';
import { chainsToAnchor, expiresBeforeCa } from '../../assertions/chain.ts';
import { hasRequestedKey, keyUsageFitsKey } from '../../assertions/leaf.ts';
import {
  isBackdatedAtMostAnHour,
  isValidAtDelivery,
  isWithinRequestedLifetime,
  isWithinProfileLifetime,
} from '../../assertions/validity.ts';
import { orRefused } from '../../assertions/names.ts';
import { haveUniqueSerials } from '../../assertions/writes.ts';
import { CSR_SOURCES, CTB_SOURCES, e2e } from '../../sources.ts';
import { onAll, onLeaf, onRequest } from '../../snapshot.ts';
import type { CsrSnapshot } from '../snapshot.ts';

const CLIENT = e2e('certificates.go', 'should support building a client with a CSR');

const leaf = leafCases<CsrSnapshot>((assertion) => onLeaf('plain', assertion));

/** What comes back: the chain, the leaf in it, and from when until when. */
export const CSR_CERTIFICATES: readonly Case<CsrSnapshot>[] = [
  must(
    'CSR-18',
    'the first certificate has the key of the request',
    CSR_SOURCES.certificate,
    onLeaf('plain', hasRequestedKey),
  ),
  must(
    'CSR-19',
    'of two PEM blocks the first counts, which the API server validates',
    'pkg/apis/certificates, ParseCSR',
    onRequest('twoBlocks', orRefused(hasRequestedKey)),
  ),
  must(
    'CSR-20',
    'the chain leads to a published anchor',
    `RFC 5280 §6.1; ${CTB_SOURCES.spec}`,
    onLeaf('plain', chainsToAnchor),
  ),
  leaf('CSR-21', 'inOrder'),
  leaf('CSR-22', 'noRoot'),
  leaf('CSR-23', 'plainPem'),
  leaf('CSR-24', 'noAuthority'),
  leaf('CSR-25', 'goodSerial'),
  must(
    'CSR-26',
    'no two leaves have the same serial',
    'RFC 5280 §4.1.2.2',
    onAll(haveUniqueSerials),
  ),
  leaf('CSR-27', 'issuersKey'),
  leaf('CSR-28', 'subjectOrNames'),
  leaf('CSR-29', 'criticalUsage'),
  leaf('CSR-30', 'purpose'),
  should(
    'CSR-31',
    'an ECDSA or Ed25519 leaf has no keyEncipherment, even if requested',
    'RFC 8813 §3; RFC 8410 §5',
    onRequest('encipherment', orRefused(keyUsageFitsKey)),
  ),
  must(
    'CSR-32',
    'a request for an hour gets at most an hour, plus five minutes of backdating',
    `${CLIENT}; ${CSR_SOURCES.expiration}`,
    onLeaf('plain', isWithinRequestedLifetime),
  ),
  must(
    'CSR-33',
    'a request for ten minutes, the minimum of the API, gets ten minutes',
    `${CSR_SOURCES.expiration}; test/integration/certificates/duration_test.go`,
    onLeaf('tenMinutes', isWithinRequestedLifetime),
  ),
  must(
    'CSR-34',
    "a request for ten years gets at most the signer's maximum",
    CSR_SOURCES.expiration,
    onLeaf('tenYears', isWithinProfileLifetime),
  ),
  must(
    'CSR-35',
    "without expirationSeconds the leaf lives at most the signer's maximum",
    CSR_SOURCES.expiration,
    onLeaf('noLifetime', isWithinProfileLifetime),
  ),
  must(
    'CSR-36',
    'the leaf is valid when it is delivered',
    'RFC 5280 §4.1.2.5',
    onLeaf('plain', isValidAtDelivery),
  ),
  should(
    'CSR-37',
    'notBefore is at most an hour in the past',
    'pkg/controller/certificates/authority: five minutes',
    onLeaf('plain', isBackdatedAtMostAnHour),
  ),
  must(
    'CSR-38',
    'no leaf outlives its CA, even if ten years are requested',
    'RFC 5280 §6.1.3 (a)(2)',
    onLeaf('tenYears', expiresBeforeCa),
  ),
];
