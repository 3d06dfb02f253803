// SPDX-License-Identifier: Apache-2.0
import { KEY_TYPES } from '../../../vocabulary.ts';
import { must, should, type Case } from '../../case.ts';
import { respectsKeyType } from '../../assertions/answer.ts';
import { isNoAuthority, lacksExtension, lacksPurpose } from '../../assertions/leaf.ts';
import {
  handsOutNoMasters,
  handsOutNoOtherName,
  handsOutNoReservedName,
  handsOutNoUserId,
  hasOneCommonName,
  isRefused,
  namesAllAsked,
  namesOnlyAsked,
  orRefused,
} from '../../assertions/names.ts';
import { hasAskedUsages, hasNoMoreUsages } from '../../assertions/usages.ts';
import { CSR_SIGNER, CSR_USAGES, WEAK_KEYS } from '../../sources.ts';
import { onLeaf, onTrial } from '../../snapshot.ts';
import { UNKNOWN_EXTENSION } from '../../crafted-pkcs10.ts';
import type { CsrScene, CsrWorld } from '../snapshot.ts';

const AUTHENTICATION =
  'kubernetes.io/docs/reference/access-authn-authz/authentication: X.509 client certificates';
const COPIES_NOTHING =
  'pkg/controller/certificates/authority/policies.go: extensions of a request are not copied';

/** What a requester asks for, and what he must not get. */
export const CSR_REQUESTED: readonly Case<CsrWorld>[] = [
  must(
    'CSR-39',
    'the leaf has the usages that were asked for',
    CSR_USAGES,
    onLeaf('plain', hasAskedUsages),
  ),
  must(
    'CSR-40',
    'the leaf has no usage that was not asked for',
    CSR_USAGES,
    onLeaf('plain', hasNoMoreUsages),
  ),
  must(
    'CSR-41',
    '"cert sign" makes no CA: refused, or left out',
    CSR_USAGES,
    onTrial('certSign', orRefused(isNoAuthority)),
  ),
  should(
    'CSR-42',
    '"any" is refused, or left out',
    'RFC 5280 §4.2.1.12',
    onTrial('anyUsage', orRefused(lacksPurpose('2.5.29.37.0'))),
  ),
  must(
    'CSR-43',
    'the leaf has no name that was not asked for',
    CSR_SIGNER,
    onLeaf('plain', namesOnlyAsked),
  ),
  must(
    'CSR-44',
    'nor has one with subject alternative names',
    CSR_SIGNER,
    onTrial('alternativeNames', orRefused(namesOnlyAsked)),
  ),
  should(
    'CSR-45',
    'the names that were asked for are all there',
    CSR_SIGNER,
    onLeaf('plain', namesAllAsked),
  ),
  must(
    'CSR-46',
    'system:masters is handed out to nobody',
    `${AUTHENTICATION}; plugin/pkg/admission/certificates/subjectrestriction`,
    onTrial('masters', handsOutNoMasters),
  ),
  should(
    'CSR-47',
    'kubeadm:cluster-admins is handed out to nobody',
    'kubeadm: the group of cluster administrators',
    onTrial('kubeadm', handsOutNoReservedName),
  ),
  should(
    'CSR-48',
    'a common name of system: is handed out to nobody',
    AUTHENTICATION,
    onTrial('systemUser', handsOutNoReservedName),
  ),
  should(
    'CSR-49',
    "the user's UID is handed out to nobody",
    'authentication: subject attribute 1.3.6.1.4.1.57683.2',
    onTrial('userId', handsOutNoUserId),
  ),
  should(
    'CSR-50',
    'names of kinds that no API field has are handed out to nobody',
    'RFC 5280 §4.2.1.6: otherName',
    onTrial('otherName', handsOutNoOtherName),
  ),
  should(
    'CSR-51',
    'of two common names at most one gets into a leaf',
    'RFC 5280 §4.1.2.4: verifiers differ in which they read',
    onTrial('twoNames', hasOneCommonName),
  ),
  must(
    'CSR-52',
    'CA:TRUE inside the PKCS#10 request makes no CA',
    `RFC 5280 §4.2.1.9; ${COPIES_NOTHING}`,
    onTrial('authorityExtension', orRefused(isNoAuthority)),
  ),
  must(
    'CSR-53',
    'keyCertSign inside the PKCS#10 request makes no CA',
    `RFC 5280 §4.2.1.3; ${COPIES_NOTHING}`,
    onTrial('usageExtension', orRefused(isNoAuthority)),
  ),
  must(
    'CSR-54',
    'a purpose inside the PKCS#10 request that spec.usages does not have is not given',
    COPIES_NOTHING,
    onTrial('purposeExtension', orRefused(lacksPurpose('1.3.6.1.5.5.7.3.3'))),
  ),
  must(
    'CSR-55',
    'an unknown extension inside the PKCS#10 request is not copied',
    COPIES_NOTHING,
    onTrial('unknownExtension', orRefused(lacksExtension(UNKNOWN_EXTENSION))),
  ),
  should(
    'CSR-56',
    'a key that can be broken, RSA with 1024 bits, is refused',
    WEAK_KEYS,
    onTrial('RSA1024', isRefused),
  ),
  ...KEY_TYPES.map((keyType, index) =>
    must<CsrWorld>(
      `CSR-${57 + index}`,
      `${keyType} is issued, or refused with a reason`,
      CSR_SIGNER,
      onTrial<CsrScene>(keyType, respectsKeyType()),
    ),
  ),
];
