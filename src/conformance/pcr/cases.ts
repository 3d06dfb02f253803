// SPDX-License-Identifier: Apache-2.0
import { POD_KEY_TYPES } from '#base/vocabulary.ts';
import {
  areWithinLatency,
  hasReasonAndMessage,
  isAnswered,
  respectsKeyType,
} from '../assertions/answer.ts';
import { expiresBeforeCa } from '../assertions/chain.ts';
import { hasRequestedKey, isNotCa, keyUsageFitsKey, lacksExtension } from '../assertions/leaf.ts';
import {
  grantsNoReservedName,
  hasExpectedUris,
  namesOnlyThePod,
  orRefused,
} from '../assertions/names.ts';
import {
  hasLifetimeWithinBounds,
  hasRefreshMargins,
  leavesTimeToRefresh,
  respectsKubernetesMaximum,
  startsNearIssuance,
  statusTimesMatchLeaf,
} from '../assertions/times.ts';
import { hasExactLifetime, isWithinProfileLifetime } from '../assertions/validity.ts';
import { isAnsweredInOneWrite } from '../assertions/writes.ts';
import { type Case, must, should } from '../case.ts';
import { UNKNOWN_EXTENSION } from '../crafted-pkcs10.ts';
import { isSkipped } from '../observed-request.ts';
import { SHARED } from '../shared-cases.ts';
import { onAll, onLeaf, onOperation, onOrdinary, onOrdinaryLeaf, onRequest } from '../snapshot.ts';
import { e2e, PCR_SOURCES } from '../sources.ts';
import {
  copiesNothingFromStub,
  hasOneCondition,
  haveCompleteStatus,
  isDenied,
  isDeniedFor,
  keyTypeReason,
} from './assertions.ts';
import { PCR_SERVICES } from './services-cases.ts';
import {
  PCR_OPERATIONS,
  type PcrOperation,
  type PcrScenario,
  type PcrSnapshot,
} from './snapshot.ts';

const volumes = (test: string): string => e2e('projected_podcertificate.go', test);
const DEFAULT_LIFETIME = volumes(
  'should issue certificate with default life time (24h) when MaxExpirationSeconds is not set',
);
const ONE_HOUR = volumes(
  'should issue certificate with specified duration (1h) when MaxExpirationSeconds is set',
);

const CHAIN = `${PCR_SOURCES.status}.certificateChain`;
const ANNOTATED = volumes('should honor UserAnnotations for SPIFFE URI path');
const SHIPPED =
  'pkg/apis/certificates/validation: "signers shipped by Kubernetes should deny" a stub with contents';

const API = e2e('podcertificaterequest.go', 'should support PodCertificateRequest API operations');
const MTLS = volumes('should allow server and client pods to establish an mTLS connection');

/** The requirement for each call, and the name of upstream's test. */
const ASSERTS: Readonly<Record<PcrOperation, readonly [asserts: string, source: string]>> = {
  podStarts: ['a pod with podCertificate and clusterTrustBundle volumes starts', MTLS],
  annotationsArrive: ['userAnnotations of the volume arrive in the request unchanged', ANNOTATED],
  mutualTls: [
    'two pods authenticate each other by TLS with their leaves and the published bundle',
    MTLS,
  ],
  tooLong: [
    'a volume that requests more than 91 days is rejected',
    volumes('should reject pod creation when MaxExpirationSeconds exceeds maximum (91d)'),
  ],
  tooShort: [
    'a volume that requests less than an hour is rejected',
    volumes('should reject pod creation when MaxExpirationSeconds is less than minimum (1h)'),
  ],
  discoveryGroups: ['/apis lists certificates.k8s.io with v1', API],
  discoveryGroup: ['/apis/certificates.k8s.io lists v1', API],
  discoveryResources: ['v1 has podcertificaterequests and podcertificaterequests/status', API],
  create: ['a request is created', API],
  read: ['a request is read as it was created', API],
  listAndWatch: ['a list has it, and a watch reports it', API],
  update: ['an update adds a label', API],
  applyPatch: ['an apply patch adds a label', API],
  strategicPatch: ['a strategic merge patch adds a label', API],
  mergePatch: ['a JSON merge patch adds a label', API],
  jsonPatch: ['a JSON patch adds a label', API],
  readStatus: ['/status is read as the request itself', API],
  updateStatus: ['an update of /status issues a request', API],
  applyPatchStatus: ['an apply patch of /status issues a request', API],
  strategicPatchStatus: ['a strategic merge patch of /status issues a request', API],
  mergePatchStatus: ['a JSON merge patch of /status issues a request', API],
  jsonPatchStatus: ['a JSON patch of /status issues a request', API],
  delete: ['a deleted request is gone', API],
  deleteCollection: ['a deleted collection is empty', API],
};

/** The first id of the calls, which follow in their order. */
const FIRST = 57;

/** Kubernetes 1.37's own conformance tests of pod certificates. */
const PCR_UPSTREAM: readonly Case<PcrSnapshot>[] = PCR_OPERATIONS.map((name, index) =>
  must(`PCR-${FIRST + index}`, ...ASSERTS[name], onOperation<PcrOperation>(name)),
);

/** Every case of `--kind pcr`: PodCertificateRequests of certificates.k8s.io (KEP-4317). */
export const PCR_CASES: readonly Case<PcrSnapshot>[] = [
  // The signer's writes to a pod's request, and their times.
  must('PCR-01', 'a request is answered with Issued', PCR_SOURCES.status, onOrdinary(isAnswered)),
  must(
    'PCR-02',
    'there is one condition, Issued, Denied or Failed, which is True and has a reason and a time',
    `${PCR_SOURCES.status}.conditions`,
    onOrdinary(hasOneCondition),
  ),
  must(
    'PCR-03',
    'chain, notBefore, notAfter and beginRefreshAt come together, and only with Issued',
    PCR_SOURCES.status,
    onAll(haveCompleteStatus),
  ),
  SHARED.foreignName('PCR-04', `${PCR_SOURCES.spec}.signerName`),
  SHARED.longerName('PCR-05', `${PCR_SOURCES.spec}.signerName`),
  SHARED.notRewritten('PCR-06', `${PCR_SOURCES.status}: immutable once set`),
  should(
    'PCR-07',
    'one write answers a request',
    'Kubernetes API conventions: each write is an event for every watcher',
    onOrdinary(isAnsweredInOneWrite),
  ),
  SHARED.metadataStays('PCR-08'),
  must(
    'PCR-09',
    'the signer ignores unknown labels and annotations of the object',
    'Kubernetes API conventions: unknown annotations are ignored',
    onRequest('labelled', isAnswered),
  ),
  must(
    'PCR-10',
    'a second key of the same pod is answered as well: kubelets request one after a restart',
    'pkg/kubelet/podcertificate',
    onRequest('again', isAnswered),
  ),
  SHARED.deleted('PCR-11'),
  SHARED.burst('PCR-12', PCR_SOURCES.status),
  should(
    'PCR-13',
    'each certificate arrives within the latency of the profile, because the pod waits for it',
    'profile: latency (default 10 s)',
    onAll(areWithinLatency),
  ),
  should(
    'PCR-14',
    'a denial has a reason and a message',
    `${PCR_SOURCES.status}.conditions`,
    onRequest('unknownAnnotation', hasReasonAndMessage),
  ),
  SHARED.uniqueSerials('PCR-15'),
  must(
    'PCR-16',
    'notBefore and notAfter are the leaf’s own, to the second',
    PCR_SOURCES.validation,
    onOrdinaryLeaf(statusTimesMatchLeaf),
  ),
  must(
    'PCR-17',
    'notBefore is within five minutes of the API server’s clock',
    PCR_SOURCES.validation,
    onOrdinaryLeaf(startsNearIssuance),
  ),
  must(
    'PCR-18',
    'the leaf lives at least an hour and at most maxExpirationSeconds',
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onOrdinaryLeaf(hasLifetimeWithinBounds),
  ),
  must(
    'PCR-19',
    'beginRefreshAt is at least ten minutes from notBefore and from notAfter',
    PCR_SOURCES.validation,
    onOrdinaryLeaf(hasRefreshMargins),
  ),
  should(
    'PCR-20',
    'at least a tenth of the lifetime remains after beginRefreshAt',
    'KEP-4317; pkg/kubelet/podcertificate: jitter of five minutes',
    onTrialLeafOfDay(),
  ),
  must(
    'PCR-21',
    'a pod that requests an hour gets a leaf for exactly an hour',
    ONE_HOUR,
    onLeaf('pod', hasExactLifetime),
  ),
  must(
    'PCR-22',
    "a pod that requests no lifetime gets 24 hours, or the signer's maximum",
    DEFAULT_LIFETIME,
    onLeaf('podDefault', hasExactLifetime),
  ),
  must(
    'PCR-23',
    'a request of the runner for an hour gets exactly an hour',
    `${ONE_HOUR}; ${PCR_SOURCES.validation}`,
    onLeaf('plain', hasExactLifetime),
  ),
  must(
    'PCR-24',
    "a request of the runner without a lifetime gets 24 hours, or the signer's maximum",
    DEFAULT_LIFETIME,
    onLeaf('noLifetime', hasExactLifetime),
  ),
  must(
    'PCR-25',
    "a request for 91 days gets at most the signer's maximum",
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onLeaf('days91', isWithinProfileLifetime),
  ),
  must(
    'PCR-26',
    'a leaf of a kubernetes.io signer lives at most 24 hours',
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onLeaf('days91', respectsKubernetesMaximum),
  ),
  // The chain, the leaf, its names, and the contents that it must not get.
  must(
    'PCR-27',
    'the first certificate has the key of the stub',
    PCR_SOURCES.stub,
    onOrdinaryLeaf(hasRequestedKey),
  ),
  SHARED.toAnchor('PCR-28'),
  SHARED.inOrder('PCR-29', CHAIN),
  SHARED.noRoot('PCR-30'),
  SHARED.plainPem('PCR-31', CHAIN),
  SHARED.notCa('PCR-32'),
  SHARED.longSerial('PCR-33'),
  SHARED.issuerKey('PCR-34'),
  SHARED.subjectOrNames('PCR-35'),
  SHARED.criticalUsage('PCR-36'),
  SHARED.purpose('PCR-37'),
  should(
    'PCR-38',
    'an ECDSA or Ed25519 leaf has no keyEncipherment',
    'RFC 8813 §3; RFC 8410 §5',
    onOrdinaryLeaf(keyUsageFitsKey),
  ),
  must(
    'PCR-39',
    'no leaf outlives its CA',
    'RFC 5280 §6.1.3 (a)(2)',
    onLeaf('days91', expiresBeforeCa),
  ),
  must(
    'PCR-40',
    'a SPIFFE ID names the namespace and ServiceAccount that the API server verified',
    'SPIFFE-ID §2; KEP-4317: node restriction',
    onOrdinaryLeaf(namesOnlyThePod),
  ),
  must(
    'PCR-41',
    'the URIs are those of the profile',
    'profile: uris',
    onOrdinaryLeaf(hasExpectedUris('uris')),
  ),
  must(
    'PCR-42',
    'no leaf has a system: or kubeadm: name',
    'kubernetes.io: system: is Kubernetes’ own',
    onOrdinary(grantsNoReservedName),
  ),
  must(
    'PCR-43',
    'a subject in the stub is not copied',
    PCR_SOURCES.stub,
    onRequest('stubSubject', orRefused(copiesNothingFromStub)),
  ),
  must(
    'PCR-44',
    'names in the stub are not copied',
    PCR_SOURCES.stub,
    onRequest('stubNames', orRefused(copiesNothingFromStub)),
  ),
  must(
    'PCR-45',
    'CA:TRUE in the stub does not make the leaf a CA',
    `${PCR_SOURCES.stub}; RFC 5280 §4.2.1.9`,
    onRequest('stubAuthority', orRefused(isNotCa)),
  ),
  must(
    'PCR-46',
    'an unknown extension in the stub is not copied',
    PCR_SOURCES.stub,
    onRequest('stubUnknown', orRefused(lacksExtension(UNKNOWN_EXTENSION))),
  ),
  should('PCR-47', 'a stub with contents is denied', SHIPPED, onRequest('stubSubject', isDenied)),
  should(
    'PCR-48',
    'an annotation with an unknown key is denied as InvalidUnverifiedUserAnnotations',
    `${PCR_SOURCES.annotations}: "signers should deny requests that contain keys they do not recognize"`,
    onRequest('unknownAnnotation', isDeniedFor('InvalidUnverifiedUserAnnotations')),
  ),
  should(
    'PCR-49',
    'no annotation gives a pod the SPIFFE ID of another namespace',
    `${PCR_SOURCES.annotations}: unverified`,
    onRequest('foreignPath', orRefused(namesOnlyThePod)),
  ),
  must(
    'PCR-50',
    'the annotations of the profile give a pod the URIs of the profile',
    ANNOTATED,
    onLeaf('podAnnotated', hasExpectedUris('annotatedUris')),
  ),
  ...POD_KEY_TYPES.map((keyType, index) =>
    must<PcrSnapshot>(
      `PCR-${51 + index}`,
      `${keyType} is issued, or denied as UnsupportedKeyType`,
      PCR_SOURCES.stub,
      onRequest<PcrScenario>(keyType, respectsKeyType(keyTypeReason)),
    ),
  ),
  ...PCR_UPSTREAM,
  ...PCR_SERVICES,
];

/**
 * Evaluates the ordinary leaf of a day, of a kubelet or of the runner. A leaf of an hour has little
 * room.
 */
function onTrialLeafOfDay(): Case<PcrSnapshot>['evaluate'] {
  return (snapshot) => {
    const scenario = isSkipped(snapshot.scenarios.podDefault) ? 'noLifetime' : 'podDefault';
    return onLeaf<'noLifetime' | 'podDefault'>(scenario, leavesTimeToRefresh)(snapshot);
  };
}
