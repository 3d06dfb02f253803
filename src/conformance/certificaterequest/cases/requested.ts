// SPDX-License-Identifier: Apache-2.0
import { must, should, type Case } from '../../case.ts';
import { UNKNOWN_EXTENSION } from '../../crafted-pkcs10.ts';
import { respectsKeyType } from '../../assertions/answer.ts';
import { isNotCa, lacksExtension } from '../../assertions/leaf.ts';
import {
  grantsNoSystemMasters,
  grantsNoReservedName,
  isRefused,
  hasOnlyRequestedNames,
  orRefused,
} from '../../assertions/names.ts';
import { hasAllRequestedUsages, hasOnlyRequestedUsages } from '../../assertions/usages.ts';
import { CR_SOURCES, CSR_SOURCES, WEAK_KEYS } from '../../sources.ts';
import { onLeaf, onRequest } from '../../snapshot.ts';
import { CR_KEY_TYPES, type CrScenario, type CrSnapshot } from '../snapshot.ts';

/** What a requester asks for, and what he must not get. */
export const CR_REQUESTED: readonly Case<CrSnapshot>[] = [
  must(
    'CR-30',
    'the leaf has the requested usages',
    CSR_SOURCES.usages,
    onLeaf('plain', hasAllRequestedUsages),
  ),
  must(
    'CR-31',
    'the leaf has no other usages',
    CSR_SOURCES.usages,
    onLeaf('plain', hasOnlyRequestedUsages),
  ),
  should(
    'CR-32',
    'without usages the leaf has at most digital signature and key encipherment',
    `${CR_SOURCES.spec}.usages`,
    onRequest('defaultUsages', orRefused(hasOnlyRequestedUsages)),
  ),
  must(
    'CR-33',
    'a request with isCA is refused, or the leaf is not a CA',
    `${CR_SOURCES.spec}.isCA`,
    onRequest('isCa', orRefused(isNotCa)),
  ),
  must(
    'CR-34',
    'a request for "cert sign" is refused, or the leaf lacks it',
    `${CR_SOURCES.spec}.usages`,
    onRequest('certSign', orRefused(isNotCa)),
  ),
  must(
    'CR-35',
    'the leaf has no names but the requested ones',
    CR_SOURCES.spec,
    onLeaf('plain', hasOnlyRequestedNames),
  ),
  must(
    'CR-36',
    'a leaf with subject alternative names has no names but the requested ones',
    CR_SOURCES.spec,
    onRequest('alternativeNames', orRefused(hasOnlyRequestedNames)),
  ),
  should(
    'CR-37',
    'no leaf has the group system:masters',
    'system:masters bypasses all authorizers',
    onRequest('masters', grantsNoSystemMasters),
  ),
  should(
    'CR-38',
    'no leaf has a common name that starts with system:',
    'kubernetes.io: system: is Kubernetes’ own',
    onRequest('systemUser', grantsNoReservedName),
  ),
  must(
    'CR-39',
    'CA:TRUE in the PKCS#10 body does not make the leaf a CA',
    `${CR_SOURCES.spec}.request`,
    onRequest('authorityExtension', orRefused(isNotCa)),
  ),
  must(
    'CR-40',
    'an unknown extension in the PKCS#10 body is not copied',
    'RFC 2985 §5.4.2: a request, not a grant',
    onRequest('unknownExtension', orRefused(lacksExtension(UNKNOWN_EXTENSION))),
  ),
  ...CR_KEY_TYPES.map((keyType, index) =>
    must<CrSnapshot>(
      `CR-${41 + index}`,
      `${keyType} is issued, or refused with a reason`,
      CR_SOURCES.spec,
      onRequest<CrScenario>(keyType, respectsKeyType()),
    ),
  ),
  should(
    'CR-45',
    'a weak key, RSA with 1024 bits, is refused',
    WEAK_KEYS,
    onRequest('RSA1024', isRefused),
  ),
];
