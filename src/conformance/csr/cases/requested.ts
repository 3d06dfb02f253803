// SPDX-License-Identifier: Apache-2.0
import { KEY_TYPES } from '../../../vocabulary.ts';
import { must, should, type Case } from '../../case.ts';
import { respectsKeyType } from '../../assertions/answer.ts';
import { isNotCa, lacksExtension, lacksPurpose } from '../../assertions/leaf.ts';
import {
  grantsNoSystemMasters,
  grantsNoOtherName,
  grantsNoReservedName,
  grantsNoUserUid,
  hasOneCommonName,
  isRefused,
  hasAllRequestedNames,
  hasOnlyRequestedNames,
  orRefused,
} from '../../assertions/names.ts';
import { hasAllRequestedUsages, hasOnlyRequestedUsages } from '../../assertions/usages.ts';
import { CSR_SOURCES, WEAK_KEYS } from '../../sources.ts';
import { onLeaf, onRequest } from '../../snapshot.ts';
import { UNKNOWN_EXTENSION } from '../../crafted-pkcs10.ts';
import type { CsrScenario, CsrSnapshot } from '../snapshot.ts';

const AUTHENTICATION =
  'kubernetes.io/docs/reference/access-authn-authz/authentication: X.509 client certificates';
const COPIES_NOTHING =
  'pkg/controller/certificates/authority/policies.go: extensions of a request are not copied';

/** What a requester asks for, and what he must not get. */
export const CSR_REQUESTED: readonly Case<CsrSnapshot>[] = [
  must(
    'CSR-39',
    'the leaf has the requested usages',
    CSR_SOURCES.usages,
    onLeaf('plain', hasAllRequestedUsages),
  ),
  must(
    'CSR-40',
    'the leaf has no other usages',
    CSR_SOURCES.usages,
    onLeaf('plain', hasOnlyRequestedUsages),
  ),
  must(
    'CSR-41',
    'a request for "cert sign" is refused, or the leaf lacks it',
    CSR_SOURCES.usages,
    onRequest('certSign', orRefused(isNotCa)),
  ),
  should(
    'CSR-42',
    'a request for "any" is refused, or the leaf lacks it',
    'RFC 5280 §4.2.1.12',
    onRequest('anyUsage', orRefused(lacksPurpose('2.5.29.37.0'))),
  ),
  must(
    'CSR-43',
    'the leaf has no names but the requested ones',
    CSR_SOURCES.signer,
    onLeaf('plain', hasOnlyRequestedNames),
  ),
  must(
    'CSR-44',
    'a leaf with subject alternative names has no names but the requested ones',
    CSR_SOURCES.signer,
    onRequest('alternativeNames', orRefused(hasOnlyRequestedNames)),
  ),
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
  should(
    'CSR-48',
    'no leaf has a common name that starts with system:',
    AUTHENTICATION,
    onRequest('systemUser', grantsNoReservedName),
  ),
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
  must(
    'CSR-52',
    'CA:TRUE in the PKCS#10 body does not make the leaf a CA',
    `RFC 5280 §4.2.1.9; ${COPIES_NOTHING}`,
    onRequest('authorityExtension', orRefused(isNotCa)),
  ),
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
  must(
    'CSR-55',
    'an unknown extension in the PKCS#10 body is not copied',
    COPIES_NOTHING,
    onRequest('unknownExtension', orRefused(lacksExtension(UNKNOWN_EXTENSION))),
  ),
  should(
    'CSR-56',
    'a weak key, RSA with 1024 bits, is refused',
    WEAK_KEYS,
    onRequest('RSA1024', isRefused),
  ),
  ...KEY_TYPES.map((keyType, index) =>
    must<CsrSnapshot>(
      `CSR-${57 + index}`,
      `${keyType} is issued, or refused with a reason`,
      CSR_SOURCES.signer,
      onRequest<CsrScenario>(keyType, respectsKeyType()),
    ),
  ),
];
