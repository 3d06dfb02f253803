// SPDX-License-Identifier: Apache-2.0
import { UNKNOWN_EXTENSION } from '../csr/odd.ts';
import { must, should, skip, type Case } from '../case.ts';
import { allAnswered, isAnswered, isFast, respectsKeyType } from '../laws/answer.ts';
import { chainsToAnchor, endsBeforeAuthority, hasNoRoot, isInOrder } from '../laws/chain.ts';
import {
  hasGoodSerial,
  hasRequestedKey,
  isNoAuthority,
  lacksExtension,
  namesIssuersKey,
  namesSomebody,
} from '../laws/leaf.ts';
import {
  handsOutNoMasters,
  handsOutNoReservedName,
  namesOnlyAsked,
  orRefused,
} from '../laws/names.ts';
import { hasAskedUsages, hasNoMoreUsages } from '../laws/usages.ts';
import {
  isValidAtDelivery,
  livesNoLongerThanAsked,
  livesNoLongerThanProfile,
} from '../laws/validity.ts';
import {
  haveSerialsOfTheirOwn,
  isNewCertificate,
  isUntouched,
  issuesOnlyApproved,
  leavesFrame,
  restsWhenAnswered,
  waitsForApproval,
} from '../laws/writes.ts';
import { CR_CONDITION, CR_SPEC, CR_STATUS, CSR_USAGES } from '../sources.ts';
import { onAll, onBurst, onLeaf, onTrial } from '../world.ts';
import {
  chainsToItsOwnAuthority,
  failuresHaveATime,
  isMarkedDenied,
  readyMeansCertificate,
  reasonsAreKnown,
} from './laws.ts';
import { CR_KEY_TYPES, type CrScene, type CrWorld } from './world.ts';

/** Waits without an approval; the issuer may say in Ready that it does. */
const isNotIssued: Parameters<typeof onTrial<CrScene>>[1] = (trial, around) => {
  const silent = waitsForApproval(trial, around);
  const states = new Set(trial.versions.map(({ state }) => state));
  const waits = states.size === 1 && states.has('pending');
  return silent.outcome === 'fail' && waits ? { outcome: 'pass', evidence: 'it waits' } : silent;
};

/** The contract of cert-manager's API for external issuers. */
export const CR_CASES: readonly Case<CrWorld>[] = [
  must(
    'CR-01',
    'an approved request gets its certificate',
    CR_STATUS,
    onTrial('plain', isAnswered),
  ),
  must(
    'CR-02',
    'no certificate without the condition Approved',
    `${CR_CONDITION}: Approved`,
    onAll(issuesOnlyApproved),
  ),
  must(
    'CR-03',
    'a request that nobody approved is not issued',
    `${CR_CONDITION}: Approved`,
    onTrial('unapproved', isNotIssued),
  ),
  must(
    'CR-04',
    'a denied request is never issued, and Ready is False with reason Denied',
    `${CR_CONDITION}: Denied`,
    onTrial('denied', isMarkedDenied),
  ),
  must(
    'CR-05',
    'a request of another issuer is left alone',
    `${CR_SPEC}.issuerRef`,
    onTrial('foreign', isUntouched),
  ),
  must(
    'CR-06',
    'a request of an issuer of another API group with the same name is left alone',
    `${CR_SPEC}.issuerRef`,
    onTrial('otherGroup', isUntouched),
  ),
  must(
    'CR-07',
    'the certificate is there exactly when Ready is True',
    `${CR_CONDITION}: Ready`,
    onAll(readyMeansCertificate),
  ),
  must(
    'CR-08',
    'a refused request has failureTime',
    `${CR_STATUS}.failureTime`,
    onAll(failuresHaveATime),
  ),
  should(
    'CR-09',
    'reasons of Ready are Pending, Issued, Failed and Denied',
    `${CR_CONDITION}: reasons`,
    onAll(reasonsAreKnown),
  ),
  should(
    'CR-10',
    'an answered request is not written again',
    'cert-manager issuer-lib: Ready, Failed and Denied requests are left as they are',
    onTrial('plain', restsWhenAnswered),
  ),
  should(
    'CR-11',
    'spec, labels and annotations stay as the requester wrote them',
    'cert-manager webhook: spec and annotations are immutable',
    onTrial('plain', leavesFrame),
  ),
  must(
    'CR-12',
    'labels and annotations that nobody knows are no obstacle',
    'Kubernetes API conventions: unknown annotations are ignored',
    onTrial('annotated', isAnswered),
  ),
  must(
    'CR-13',
    'the same bytes requested twice are two certificates',
    'RFC 5280 §4.1.2.2',
    ({ scenes: { plain, again } }) => {
      if ('skipped' in plain) return skip(plain.skipped);
      return 'skipped' in again ? skip(again.skipped) : isNewCertificate(plain, again);
    },
  ),
  must('CR-14', 'requests made at once are all answered', CR_STATUS, onBurst(allAnswered)),
  must(
    'CR-15',
    'no two leaves have the same serial',
    'RFC 5280 §4.1.2.2',
    onAll(haveSerialsOfTheirOwn),
  ),
  should(
    'CR-16',
    'each certificate comes within the latency of the profile',
    'profile: latency (default 10 s)',
    onAll((trials, { profile }) => isFast(trials, profile.latency)),
  ),
  must(
    'CR-17',
    'the first certificate has the key of the request',
    `${CR_STATUS}.certificate`,
    onLeaf('plain', hasRequestedKey),
  ),
  must(
    'CR-18',
    'the chain leads to status.ca',
    `${CR_STATUS}.ca; RFC 5280 §6.1`,
    chainsToItsOwnAuthority,
  ),
  must(
    'CR-19',
    'the chain leads to the anchors',
    'RFC 5280 §6.1; --anchors',
    onLeaf('plain', chainsToAnchor),
  ),
  must(
    'CR-20',
    'each certificate of the chain certifies the one before it',
    'RFC 8446 §4.4.2',
    onLeaf('plain', isInOrder),
  ),
  should(
    'CR-21',
    'the chain has no root: that is status.ca',
    'RFC 8446 §4.4.2',
    onLeaf('plain', hasNoRoot),
  ),
  must(
    'CR-22',
    'the serial has room for 64 random bits',
    'RFC 5280 §4.1.2.2; CA/Browser Forum BR §7.1',
    onLeaf('plain', hasGoodSerial),
  ),
  must(
    'CR-23',
    'authorityKeyIdentifier is that of the CA',
    'RFC 5280 §4.2.1.1',
    onLeaf('plain', namesIssuersKey),
  ),
  must(
    'CR-24',
    'the leaf names somebody; without a subject subjectAltName is critical',
    'RFC 5280 §4.1.2.6',
    onLeaf('plain', namesSomebody),
  ),
  must(
    'CR-25',
    'the leaf is valid when it is delivered',
    'RFC 5280 §4.1.2.5',
    onLeaf('plain', isValidAtDelivery),
  ),
  must(
    'CR-26',
    'an hour asked for is an hour at the most, and five minutes of backdating',
    `${CR_SPEC}.duration`,
    onLeaf('plain', livesNoLongerThanAsked),
  ),
  must(
    'CR-27',
    'ten years are cut to what the issuer gives',
    `${CR_SPEC}.duration`,
    onLeaf('tenYears', livesNoLongerThanProfile),
  ),
  must(
    'CR-28',
    'no leaf outlives its CA, ten years asked for or not',
    'RFC 5280 §6.1.3 (a)(2)',
    onLeaf('tenYears', endsBeforeAuthority),
  ),
  must(
    'CR-29',
    'without a duration a leaf has the lifetime that the issuer gives',
    `${CR_SPEC}.duration`,
    onLeaf('noDuration', livesNoLongerThanProfile),
  ),
  must(
    'CR-30',
    'the leaf has the usages that were asked for',
    CSR_USAGES,
    onLeaf('plain', hasAskedUsages),
  ),
  must('CR-31', 'and no other', CSR_USAGES, onLeaf('plain', hasNoMoreUsages)),
  should(
    'CR-32',
    'without usages they are digital signature and key encipherment, or fewer',
    `${CR_SPEC}.usages`,
    onTrial('defaultUsages', orRefused(hasNoMoreUsages)),
  ),
  must(
    'CR-33',
    'isCA makes no CA: refused, or left out',
    `${CR_SPEC}.isCA`,
    onTrial('isCa', orRefused(isNoAuthority)),
  ),
  must(
    'CR-34',
    '"cert sign" makes no CA: refused, or left out',
    `${CR_SPEC}.usages`,
    onTrial('certSign', orRefused(isNoAuthority)),
  ),
  must(
    'CR-35',
    'the leaf has no name that was not asked for',
    CR_SPEC,
    onLeaf('plain', namesOnlyAsked),
  ),
  must(
    'CR-36',
    'nor has one with subject alternative names',
    CR_SPEC,
    onTrial('alternativeNames', orRefused(namesOnlyAsked)),
  ),
  should(
    'CR-37',
    'system:masters is handed out to nobody',
    'the group of administrators whom no authorizer asks',
    onTrial('masters', handsOutNoMasters),
  ),
  should(
    'CR-38',
    'a common name of system: is handed out to nobody',
    'kubernetes.io: system: is Kubernetes’ own',
    onTrial('systemUser', handsOutNoReservedName),
  ),
  must(
    'CR-39',
    'CA:TRUE inside the PKCS#10 request makes no CA',
    `${CR_SPEC}.request`,
    onTrial('authorityExtension', orRefused(isNoAuthority)),
  ),
  must(
    'CR-40',
    'an unknown extension inside the PKCS#10 request is not copied',
    'RFC 2985 §5.4.2: a wish',
    onTrial('unknownExtension', orRefused(lacksExtension(UNKNOWN_EXTENSION))),
  ),
  ...CR_KEY_TYPES.map((keyType, index) =>
    must<CrWorld>(
      `CR-${41 + index}`,
      `${keyType} is issued, or refused with a reason`,
      CR_SPEC,
      onTrial<CrScene>(keyType, respectsKeyType()),
    ),
  ),
];
