// SPDX-License-Identifier: Apache-2.0
import { KEY_TYPES } from '#base/vocabulary.ts';
import { hasReasonAndMessage, respectsKeyType } from '../assertions/answer.ts';
import {
  hasExtKeyUsage,
  hasRequestedKey,
  isNotCa,
  keyUsageFitsKey,
  lacksPurpose,
} from '../assertions/leaf.ts';
import {
  grantsNoOtherName,
  grantsNoReservedName,
  grantsNoSystemMasters,
  grantsNoUserUid,
  hasAllRequestedNames,
  hasOneCommonName,
  orRefused,
} from '../assertions/names.ts';
import {
  isBackdatedAtMostAnHour,
  isWithinProfileLifetime,
  isWithinRequestedLifetime,
} from '../assertions/validity.ts';
import {
  isAnsweredInOneWrite,
  isLeftDenied,
  refusesWithoutCertificate,
  waitsForApproval,
} from '../assertions/writes.ts';
import { type Case, fail, must, pass, should, skip } from '../case.ts';
import { isAssertionResult, issuedLeafOf } from '../issued-leaf.ts';
import { SHARED } from '../shared-cases.ts';
import { onAll, onLeaf, onOperation, onRequest } from '../snapshot.ts';
import { CSR_SOURCES, e2e, integration } from '../sources.ts';
import {
  CSR_OPERATIONS,
  type CsrOperation,
  type CsrScenario,
  type CsrSnapshot,
} from './snapshot.ts';

const CLIENT = e2e('certificates.go', 'should support building a client with a CSR');
const AUTHENTICATION =
  'kubernetes.io/docs/reference/access-authn-authz/authentication: X.509 client certificates';
const COPIES_NOTHING =
  'pkg/controller/certificates/authority/policies.go: extensions of a request are not copied';
const OPERATIONS = e2e('certificates.go', 'should support CSR API operations');

/** The requirement for each call. */
const ASSERTS: Readonly<Record<CsrOperation, string>> = {
  discoveryGroups: '/apis lists certificates.k8s.io with v1',
  discoveryGroup: '/apis/certificates.k8s.io lists v1',
  discoveryResources: 'v1 has certificatesigningrequests with /approval and /status',
  create: 'three requests are created from one template',
  get: 'a request is read as it was created, expirationSeconds included',
  list: 'a list with the field selector spec.signerName has the three, and only those',
  watch: 'a watch reports each change of a request',
  patch: 'a merge patch adds an annotation and raises the resourceVersion',
  update: 'an update adds an annotation',
  getApproval: '/approval is read as the request itself',
  patchApproval: 'a patch of /approval adds a condition and an annotation',
  updateApproval: 'an update of /approval adds Approved',
  getStatus: '/status is read as the request itself',
  patchStatus: 'a patch of /status sets the certificate and an annotation',
  updateStatus: 'an update of /status adds a condition',
  delete: 'a deleted request is gone, and the other two remain',
  deleteCollection: 'a deleted collection is empty',
};

/** The first id of the calls, which follow in their order. */
const FIRST_OPERATION = 67;

/** Kubernetes 1.37's own conformance tests of CertificateSigningRequests. */
const CSR_UPSTREAM: readonly Case<CsrSnapshot>[] = [
  must(
    'CSR-64',
    'the API server accepts the leaf as a client certificate, with its common name as the user',
    CLIENT,
    ({ clientAuthentication: login, profile, scenarios }) => {
      if (login.skipped !== undefined) return skip(login.skipped);
      if (profile.clientAuthentication !== true) {
        return skip(
          'the profile does not state that the API server accepts this CA (clientAuthentication)',
        );
      }
      const issued = issuedLeafOf(scenarios.plain);
      if (isAssertionResult(issued)) return issued;
      if (login.fault !== undefined) return fail(login.fault);
      const name = issued.request.requested.names.commonName;
      return login.username === name
        ? pass(`it is ${name}`)
        : fail(`the user is ${login.username ?? 'unknown'}, not ${name}`);
    },
  ),
  must(
    'CSR-65',
    'kubernetes.io/kube-apiserver-client issues exactly one certificate',
    CLIENT,
    ({ signerName, scenarios }) => {
      if (signerName !== 'kubernetes.io/kube-apiserver-client')
        return skip(`${signerName} may send intermediates`);
      const issued = issuedLeafOf(scenarios.plain);
      if (isAssertionResult(issued)) return issued;
      return issued.chain.length === 1
        ? pass('one certificate')
        : fail(`${issued.chain.length} certificates`);
    },
  ),
  must(
    'CSR-66',
    'the API server rejects system:masters for kubernetes.io/kube-apiserver-client',
    integration('certificates/admission_subjectrestriction_test.go'),
    ({ signerName, scenarios }) => {
      if (signerName !== 'kubernetes.io/kube-apiserver-client')
        return skip(`the admission plugin does not guard ${signerName}`);
      if ('skipped' in scenarios.masters) return skip(scenarios.masters.skipped);
      const { rejection: refusal } = scenarios.masters;
      return refusal === undefined ? fail('the API server accepted it') : pass(refusal);
    },
  ),
  ...CSR_OPERATIONS.map((name, index) =>
    must<CsrSnapshot>(
      `CSR-${FIRST_OPERATION + index}`,
      ASSERTS[name],
      OPERATIONS,
      onOperation<CsrOperation>(name),
    ),
  ),
];

/** Every case of `--kind csr`: CertificateSigningRequests of certificates.k8s.io/v1. */
export const CSR_CASES: readonly Case<CsrSnapshot>[] = [
  // The signer's writes to a request, their times and their number.
  SHARED.answered('CSR-01', CSR_SOURCES.certificate),
  SHARED.onlyApproved('CSR-02', CSR_SOURCES.certificate),
  must(
    'CSR-03',
    'the signer leaves an unapproved request alone',
    CSR_SOURCES.conditions,
    onRequest('unapproved', waitsForApproval),
  ),
  must(
    'CSR-04',
    'the signer leaves a denied request alone',
    CSR_SOURCES.conditions,
    onRequest('denied', isLeftDenied),
  ),
  SHARED.foreignName('CSR-05', CSR_SOURCES.signer),
  SHARED.longerName('CSR-06', CSR_SOURCES.signer),
  must(
    'CSR-07',
    'a refused request has no certificate',
    CSR_SOURCES.certificate,
    onAll(refusesWithoutCertificate),
  ),
  SHARED.notRewritten('CSR-08', CSR_SOURCES.certificate),
  should(
    'CSR-09',
    'one write adds the certificate to an approved request',
    'Kubernetes API conventions: each write is an event for every watcher',
    onRequest('plain', isAnsweredInOneWrite),
  ),
  SHARED.metadataStays('CSR-10'),
  SHARED.annotated('CSR-11'),
  SHARED.sameBytes('CSR-12'),
  SHARED.deleted('CSR-13'),
  SHARED.burst('CSR-14', CSR_SOURCES.certificate),
  SHARED.latency('CSR-15'),
  should(
    'CSR-16',
    'the refusal of a CA certificate has a reason and a message',
    CSR_SOURCES.conditions,
    onRequest('certSign', hasReasonAndMessage),
  ),
  should(
    'CSR-17',
    'the refusal of a key type has a reason and a message',
    CSR_SOURCES.conditions,
    onRequest('RSA1024', hasReasonAndMessage),
  ),
  // The result: the chain, its leaf, and the validity.
  SHARED.requestedKey('CSR-18', CSR_SOURCES.certificate),
  must(
    'CSR-19',
    'of two PEM blocks the first counts, which the API server validates',
    'pkg/apis/certificates, ParseCSR',
    onRequest('twoBlocks', orRefused(hasRequestedKey)),
  ),
  SHARED.toAnchor('CSR-20'),
  SHARED.inOrder('CSR-21'),
  SHARED.noRoot('CSR-22'),
  SHARED.plainPem('CSR-23'),
  SHARED.notCa('CSR-24'),
  SHARED.longSerial('CSR-25'),
  SHARED.uniqueSerials('CSR-26'),
  SHARED.issuerKey('CSR-27'),
  SHARED.subjectOrNames('CSR-28'),
  SHARED.criticalUsage('CSR-29'),
  SHARED.purpose('CSR-30'),
  should(
    'CSR-31',
    'an ECDSA or Ed25519 leaf has no keyEncipherment, even if requested',
    'RFC 8813 §3; RFC 8410 §5',
    onRequest('encipherment', orRefused(keyUsageFitsKey)),
  ),
  SHARED.anHour('CSR-32', `${CLIENT}; ${CSR_SOURCES.expiration}`),
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
  SHARED.validNow('CSR-36'),
  should(
    'CSR-37',
    'notBefore is at most an hour in the past',
    'pkg/controller/certificates/authority: five minutes',
    onLeaf('plain', isBackdatedAtMostAnHour),
  ),
  SHARED.beforeCa('CSR-38'),
  // Requested properties, and those that no leaf may get.
  SHARED.allUsages('CSR-39'),
  SHARED.onlyUsages('CSR-40'),
  SHARED.certSign('CSR-41', CSR_SOURCES.usages),
  should(
    'CSR-42',
    'a request for "any" is refused, or the leaf lacks it',
    'RFC 5280 §4.2.1.12',
    onRequest('anyUsage', orRefused(hasExtKeyUsage)),
  ),
  SHARED.onlyNames('CSR-43', CSR_SOURCES.signer),
  SHARED.onlyAlternativeNames('CSR-44', CSR_SOURCES.signer),
  should(
    'CSR-45',
    'the leaf has all requested names',
    CSR_SOURCES.signer,
    onLeaf('plain', hasAllRequestedNames),
  ),
  must(
    'CSR-46',
    'no leaf has the group system:masters',
    `${AUTHENTICATION}; plugin/pkg/admission/certificates/subjectrestriction`,
    onRequest('masters', grantsNoSystemMasters),
  ),
  should(
    'CSR-47',
    'no leaf has the group kubeadm:cluster-admins',
    'kubeadm: the group of cluster administrators',
    onRequest('kubeadm', grantsNoReservedName),
  ),
  SHARED.systemUser('CSR-48', AUTHENTICATION),
  should(
    'CSR-49',
    "no leaf has the subject attribute for a user's UID",
    'authentication: subject attribute 1.3.6.1.4.1.57683.2',
    onRequest('userId', grantsNoUserUid),
  ),
  should(
    'CSR-50',
    'no leaf has names of kinds that the API has no field for',
    'RFC 5280 §4.2.1.6: otherName',
    onRequest('otherName', grantsNoOtherName),
  ),
  should(
    'CSR-51',
    'no leaf has two common names',
    'RFC 5280 §4.1.2.4: verifiers differ in which they read',
    onRequest('twoNames', hasOneCommonName),
  ),
  SHARED.caExtension('CSR-52', `RFC 5280 §4.2.1.9; ${COPIES_NOTHING}`),
  must(
    'CSR-53',
    'keyCertSign in the PKCS#10 body is not copied',
    `RFC 5280 §4.2.1.3; ${COPIES_NOTHING}`,
    onRequest('usageExtension', orRefused(isNotCa)),
  ),
  must(
    'CSR-54',
    'a purpose in the PKCS#10 body that spec.usages lacks is not copied',
    COPIES_NOTHING,
    onRequest('purposeExtension', orRefused(lacksPurpose('1.3.6.1.5.5.7.3.3'))),
  ),
  SHARED.unknownExtension('CSR-55', COPIES_NOTHING),
  SHARED.weakKey('CSR-56'),
  ...KEY_TYPES.map((keyType, index) =>
    must<CsrSnapshot>(
      `CSR-${57 + index}`,
      `${keyType} is issued, or refused with a reason`,
      CSR_SOURCES.signer,
      onRequest<CsrScenario>(keyType, respectsKeyType()),
    ),
  ),
  ...CSR_UPSTREAM,
];
