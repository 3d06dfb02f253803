// SPDX-License-Identifier: Apache-2.0
import { POD_KEY_TYPES } from '../../../vocabulary.ts';
import { must, should, type Case } from '../../case.ts';
import { respectsKeyType } from '../../laws/answer.ts';
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
  lacksExtension,
  namesIssuersKey,
  namesSomebody,
  usageFitsKey,
  usageIsCritical,
} from '../../laws/leaf.ts';
import {
  handsOutNoReservedName,
  hasExpectedUris,
  namesThePodOnly,
  orRefused,
} from '../../laws/names.ts';
import { UNKNOWN_EXTENSION } from '../../csr/odd.ts';
import { CTB_SPEC, PCR_ANNOTATIONS, PCR_STATUS, PCR_STUB, e2e } from '../../sources.ts';
import { onLeaf, onTrial } from '../../world.ts';
import { namesNothingOf } from '../stub.ts';
import { isDenied, isDeniedFor, keyTypeReason } from '../status.ts';
import { onOrdinary, onOrdinaryLeaf } from '../ordinary.ts';
import type { PcrScene, PcrWorld } from '../world.ts';

const ANNOTATED = e2e(
  'projected_podcertificate.go',
  'should honor UserAnnotations for SPIFFE URI path',
);
const SHIPPED =
  'pkg/apis/certificates/validation: "signers shipped by Kubernetes should deny" a stub with contents';

/** The chain, the leaf, whom it names, and what may not get into it. */
export const PCR_CERTIFICATES: readonly Case<PcrWorld>[] = [
  must(
    'PCR-27',
    'the first certificate has the key of the stub',
    PCR_STUB,
    onOrdinaryLeaf(hasRequestedKey),
  ),
  must(
    'PCR-28',
    'the chain leads to a published anchor',
    `RFC 5280 §6.1; ${CTB_SPEC}`,
    onOrdinaryLeaf(chainsToAnchor),
  ),
  must(
    'PCR-29',
    'each certificate of the chain certifies the one before it',
    `RFC 8446 §4.4.2; ${PCR_STATUS}.certificateChain`,
    onOrdinaryLeaf(isInOrder),
  ),
  should('PCR-30', 'the chain has no root', 'RFC 8446 §4.4.2', onOrdinaryLeaf(hasNoRoot)),
  should(
    'PCR-31',
    'the text is CERTIFICATE blocks and nothing else',
    `RFC 7468 §5.1; ${PCR_STATUS}.certificateChain`,
    onOrdinaryLeaf(isPlainPem),
  ),
  must('PCR-32', 'the leaf is no CA', 'RFC 5280 §4.2.1.9, §4.2.1.3', onOrdinaryLeaf(isNoAuthority)),
  must(
    'PCR-33',
    'the serial has room for 64 random bits',
    'RFC 5280 §4.1.2.2; CA/Browser Forum BR §7.1',
    onOrdinaryLeaf(hasGoodSerial),
  ),
  must(
    'PCR-34',
    'authorityKeyIdentifier is that of the CA',
    'RFC 5280 §4.2.1.1',
    onOrdinaryLeaf(namesIssuersKey),
  ),
  must(
    'PCR-35',
    'the leaf names somebody; without a subject subjectAltName is critical',
    'RFC 5280 §4.1.2.6',
    onOrdinaryLeaf(namesSomebody),
  ),
  should(
    'PCR-36',
    'keyUsage is there and critical',
    'RFC 5280 §4.2.1.3',
    onOrdinaryLeaf(usageIsCritical),
  ),
  should(
    'PCR-37',
    'extKeyUsage is there, and is not "any"',
    'RFC 5280 §4.2.1.12',
    onOrdinaryLeaf(hasPurpose),
  ),
  should(
    'PCR-38',
    'an ECDSA or Ed25519 leaf has no keyEncipherment',
    'RFC 8813 §3; RFC 8410 §5',
    onOrdinaryLeaf(usageFitsKey),
  ),
  must(
    'PCR-39',
    'no leaf outlives its CA',
    'RFC 5280 §6.1.3 (a)(2)',
    onLeaf('days91', endsBeforeAuthority),
  ),
  must(
    'PCR-40',
    'a SPIFFE ID is of the namespace and ServiceAccount that the API server vouches for',
    'SPIFFE-ID §2; KEP-4317: node restriction',
    onOrdinaryLeaf(namesThePodOnly),
  ),
  must(
    'PCR-41',
    'the URIs are those that the profile expects',
    'profile: uris',
    onOrdinaryLeaf(hasExpectedUris('uris')),
  ),
  must(
    'PCR-42',
    'no leaf hands out a system: or kubeadm: name',
    'kubernetes.io: system: is Kubernetes’ own',
    onOrdinary(handsOutNoReservedName),
  ),
  must(
    'PCR-43',
    'a subject in the stub gets into no leaf',
    PCR_STUB,
    onTrial('stubSubject', orRefused(namesNothingOf)),
  ),
  must(
    'PCR-44',
    'names in the stub get into no leaf',
    PCR_STUB,
    onTrial('stubNames', orRefused(namesNothingOf)),
  ),
  must(
    'PCR-45',
    'CA:TRUE in the stub makes no CA',
    `${PCR_STUB}; RFC 5280 §4.2.1.9`,
    onTrial('stubAuthority', orRefused(isNoAuthority)),
  ),
  must(
    'PCR-46',
    'an unknown extension in the stub is not copied',
    PCR_STUB,
    onTrial('stubUnknown', orRefused(lacksExtension(UNKNOWN_EXTENSION))),
  ),
  should('PCR-47', 'a stub with contents is denied', SHIPPED, onTrial('stubSubject', isDenied)),
  should(
    'PCR-48',
    'an annotation with an unknown key is denied as InvalidUnverifiedUserAnnotations',
    `${PCR_ANNOTATIONS}: "signers should deny requests that contain keys they do not recognize"`,
    onTrial('unknownAnnotation', isDeniedFor('InvalidUnverifiedUserAnnotations')),
  ),
  should(
    'PCR-49',
    'no annotation gets a pod the SPIFFE ID of another namespace',
    `${PCR_ANNOTATIONS}: unverified`,
    onTrial('foreignPath', orRefused(namesThePodOnly)),
  ),
  must(
    'PCR-50',
    'annotations of the profile in a pod’s volume do what the profile says',
    ANNOTATED,
    onLeaf('podAnnotated', hasExpectedUris('annotatedUris')),
  ),
  ...POD_KEY_TYPES.map((keyType, index) =>
    must<PcrWorld>(
      `PCR-${51 + index}`,
      `${keyType} is issued, or denied as UnsupportedKeyType`,
      PCR_STUB,
      onTrial<PcrScene>(keyType, respectsKeyType(keyTypeReason)),
    ),
  ),
];
