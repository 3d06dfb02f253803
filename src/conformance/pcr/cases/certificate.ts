// SPDX-License-Identifier: Apache-2.0
import { POD_KEY_TYPES } from '../../../vocabulary.ts';
import { must, should, type Case } from '../../case.ts';
import { leafCases } from '../../leaf-cases.ts';
import { respectsKeyType } from '../../assertions/answer.ts';
import { chainsToAnchor, expiresBeforeCa } from '../../assertions/chain.ts';
import {
  hasRequestedKey,
  isNotCa,
  lacksExtension,
  keyUsageFitsKey,
} from '../../assertions/leaf.ts';
import {
  grantsNoReservedName,
  hasExpectedUris,
  namesOnlyThePod,
  orRefused,
} from '../../assertions/names.ts';
import { UNKNOWN_EXTENSION } from '../../crafted-pkcs10.ts';
import { CTB_SOURCES, PCR_SOURCES, e2e } from '../../sources.ts';
import { onLeaf, onRequest } from '../../snapshot.ts';
import {
  copiesNothingFromStub,
  isDenied,
  isDeniedFor,
  keyTypeReason,
  onOrdinary,
  onOrdinaryLeaf,
} from '../assertions.ts';
import type { PcrScenario, PcrSnapshot } from '../snapshot.ts';

const CHAIN = `${PCR_SOURCES.status}.certificateChain`;
const ANNOTATED = e2e(
  'projected_podcertificate.go',
  'should honor UserAnnotations for SPIFFE URI path',
);
const SHIPPED =
  'pkg/apis/certificates/validation: "signers shipped by Kubernetes should deny" a stub with contents';

const leaf = leafCases<PcrSnapshot>(onOrdinaryLeaf);

/** The chain, the leaf, whom it names, and what may not get into it. */
export const PCR_CERTIFICATES: readonly Case<PcrSnapshot>[] = [
  must(
    'PCR-27',
    'the first certificate has the key of the stub',
    PCR_SOURCES.stub,
    onOrdinaryLeaf(hasRequestedKey),
  ),
  must(
    'PCR-28',
    'the chain leads to a published anchor',
    `RFC 5280 §6.1; ${CTB_SOURCES.spec}`,
    onOrdinaryLeaf(chainsToAnchor),
  ),
  leaf('PCR-29', 'inOrder', CHAIN),
  leaf('PCR-30', 'noRoot'),
  leaf('PCR-31', 'plainPem', CHAIN),
  leaf('PCR-32', 'noAuthority'),
  leaf('PCR-33', 'goodSerial'),
  leaf('PCR-34', 'issuersKey'),
  leaf('PCR-35', 'subjectOrNames'),
  leaf('PCR-36', 'criticalUsage'),
  leaf('PCR-37', 'purpose'),
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
];
