// SPDX-License-Identifier: Apache-2.0
/** The cases that several kinds of requests share, in the same words. */
import { areAllIssued, areWithinLatency, isAnswered } from './assertions/answer.ts';
import {
  chainsToAnchor,
  expiresBeforeCa,
  hasNoRoot,
  hasOnlyCertificateBlocks,
  isInOrder,
} from './assertions/chain.ts';
import {
  hasCriticalKeyUsage,
  hasExtKeyUsage,
  hasIssuerKeyIdentifier,
  hasLongSerial,
  hasRequestedKey,
  hasSubjectOrNames,
  isNotCa,
  lacksExtension,
} from './assertions/leaf.ts';
import {
  grantsNoReservedName,
  hasOnlyRequestedNames,
  isRefused,
  orRefused,
} from './assertions/names.ts';
import { hasAllRequestedUsages, hasOnlyRequestedUsages } from './assertions/usages.ts';
import { isValidAtDelivery, isWithinRequestedLifetime } from './assertions/validity.ts';
import {
  haveDifferentSerials,
  haveUniqueSerials,
  isNotWrittenAfterAnswer,
  issuesOnlyApproved,
  isUntouched,
  keepsImmutableFields,
} from './assertions/writes.ts';
import { must, should, type AssertionResult, type Case } from './case.ts';
import { UNKNOWN_EXTENSION } from './crafted-pkcs10.ts';
import {
  afterDeletion,
  onAll,
  onBurst,
  onLeaf,
  onOrdinary,
  onOrdinaryLeaf,
  onPair,
  onRequest,
} from './snapshot.ts';
import { CSR_SOURCES, CTB_SOURCES, WEAK_KEYS } from './sources.ts';

/**
 * Defines a case for one kind of request.
 *
 * @param from - the source of this kind alone
 */
type DefineFor<Snapshot> = (id: string, from?: string) => Case<Snapshot>;

function every<Snapshot>(
  level: typeof must,
  asserts: string,
  evaluate: (snapshot: Snapshot) => AssertionResult,
  source?: string,
): DefineFor<Snapshot> {
  return (id, from) => {
    const sources = [source, from].filter((each) => each !== undefined);
    return level(id, asserts, sources.join('; '), evaluate);
  };
}

/** The shared cases, from the answer to the contents of the leaf. */
export const SHARED = {
  answered: every(must, 'an approved request gets its certificate', onRequest('plain', isAnswered)),
  onlyApproved: every(
    must,
    'no certificate without the condition Approved',
    onAll(issuesOnlyApproved),
  ),
  foreignName: every(
    must,
    'the signer leaves a request for another signer name alone',
    onRequest('foreign', isUntouched),
  ),
  longerName: every(
    must,
    'the signer leaves a request alone whose signer name only starts with its own',
    onRequest('longerName', isUntouched),
  ),
  notRewritten: every(
    should,
    'an answered request is not written again',
    onOrdinary(isNotWrittenAfterAnswer),
  ),
  metadataStays: every(
    should,
    'the signer leaves labels, annotations, finalizers and owners unchanged',
    onOrdinary(keepsImmutableFields),
    'Kubernetes API conventions: metadata is the creator’s',
  ),
  annotated: every(
    must,
    'the signer ignores unknown labels and annotations',
    onRequest('annotated', isAnswered),
    'Kubernetes API conventions: unknown annotations are ignored',
  ),
  sameBytes: every(
    must,
    'two requests with the same bytes get two certificates',
    onPair('plain', 'again', haveDifferentSerials),
    'RFC 5280 §4.1.2.2',
  ),
  deleted: every(
    must,
    'a deleted request does not delay others',
    afterDeletion(onOrdinary(isAnswered)),
    'Kubernetes API conventions: objects may go at any time',
  ),
  burst: every(must, 'requests created at the same time are all answered', onBurst(areAllIssued)),
  latency: every(
    should,
    'each certificate arrives within the latency of the profile',
    onAll(areWithinLatency),
    'profile: latency (default 10 s)',
  ),
  requestedKey: every(
    must,
    'the first certificate has the key of the request',
    onLeaf('plain', hasRequestedKey),
  ),
  toAnchor: every(
    must,
    'the chain leads to a published anchor',
    onOrdinaryLeaf(chainsToAnchor),
    `RFC 5280 §6.1; ${CTB_SOURCES.spec}`,
  ),
  inOrder: every(
    must,
    'each certificate of the chain certifies its predecessor',
    onOrdinaryLeaf(isInOrder),
    'RFC 8446 §4.4.2',
  ),
  noRoot: every(should, 'the chain has no root', onOrdinaryLeaf(hasNoRoot), 'RFC 8446 §4.4.2'),
  plainPem: every(
    should,
    'the text is CERTIFICATE blocks and nothing else',
    onOrdinaryLeaf(hasOnlyCertificateBlocks),
    'RFC 7468 §5.1',
  ),
  notCa: every(
    must,
    'the leaf is not a CA',
    onOrdinaryLeaf(isNotCa),
    'RFC 5280 §4.2.1.9, §4.2.1.3',
  ),
  longSerial: every(
    must,
    'the serial has room for 64 random bits',
    onOrdinaryLeaf(hasLongSerial),
    'RFC 5280 §4.1.2.2; CA/Browser Forum BR §7.1',
  ),
  uniqueSerials: every(
    must,
    'no two leaves have the same serial',
    onAll(haveUniqueSerials),
    'RFC 5280 §4.1.2.2',
  ),
  issuerKey: every(
    must,
    'authorityKeyIdentifier matches the CA',
    onOrdinaryLeaf(hasIssuerKeyIdentifier),
    'RFC 5280 §4.2.1.1',
  ),
  subjectOrNames: every(
    must,
    'the leaf has a subject, or a critical subjectAltName',
    onOrdinaryLeaf(hasSubjectOrNames),
    'RFC 5280 §4.1.2.6',
  ),
  criticalUsage: every(
    should,
    'keyUsage is present and critical',
    onOrdinaryLeaf(hasCriticalKeyUsage),
    'RFC 5280 §4.2.1.3',
  ),
  purpose: every(
    should,
    'extKeyUsage is present and is not "any"',
    onOrdinaryLeaf(hasExtKeyUsage),
    'RFC 5280 §4.2.1.12',
  ),
  anHour: every(
    must,
    'a request for an hour gets at most an hour, plus five minutes of backdating',
    onLeaf('plain', isWithinRequestedLifetime),
  ),
  validNow: every(
    must,
    'the leaf is valid when it is delivered',
    onLeaf('plain', isValidAtDelivery),
    'RFC 5280 §4.1.2.5',
  ),
  beforeCa: every(
    must,
    'no leaf outlives its CA, even if ten years are requested',
    onLeaf('tenYears', expiresBeforeCa),
    'RFC 5280 §6.1.3 (a)(2)',
  ),
  allUsages: every(
    must,
    'the leaf has the requested usages',
    onLeaf('plain', hasAllRequestedUsages),
    CSR_SOURCES.usages,
  ),
  onlyUsages: every(
    must,
    'the leaf has no other usages',
    onLeaf('plain', hasOnlyRequestedUsages),
    CSR_SOURCES.usages,
  ),
  certSign: every(
    must,
    'a request for "cert sign" is refused, or the leaf lacks it',
    onRequest('certSign', orRefused(isNotCa)),
  ),
  onlyNames: every(
    must,
    'the leaf has no names but the requested ones',
    onLeaf('plain', hasOnlyRequestedNames),
  ),
  onlyAlternativeNames: every(
    must,
    'a leaf with subject alternative names has no names but the requested ones',
    onRequest('alternativeNames', orRefused(hasOnlyRequestedNames)),
  ),
  systemUser: every(
    should,
    'no leaf has a common name that starts with system:',
    onRequest('systemUser', grantsNoReservedName),
  ),
  caExtension: every(
    must,
    'CA:TRUE in the PKCS#10 body does not make the leaf a CA',
    onRequest('authorityExtension', orRefused(isNotCa)),
  ),
  unknownExtension: every(
    must,
    'an unknown extension in the PKCS#10 body is not copied',
    onRequest('unknownExtension', orRefused(lacksExtension(UNKNOWN_EXTENSION))),
  ),
  weakKey: every(
    should,
    'a weak key, RSA with 1024 bits, is refused',
    onRequest('RSA1024', isRefused),
    WEAK_KEYS,
  ),
};
