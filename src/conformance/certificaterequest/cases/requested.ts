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
    'the leaf has the usages that were asked for',
    CSR_SOURCES.usages,
    onLeaf('plain', hasAllRequestedUsages),
  ),
  must('CR-31', 'and no other', CSR_SOURCES.usages, onLeaf('plain', hasOnlyRequestedUsages)),
  should(
    'CR-32',
    'without usages they are digital signature and key encipherment, or fewer',
    `${CR_SOURCES.spec}.usages`,
    onRequest('defaultUsages', orRefused(hasOnlyRequestedUsages)),
  ),
  must(
    'CR-33',
    'isCA makes no CA: refused, or left out',
    `${CR_SOURCES.spec}.isCA`,
    onRequest('isCa', orRefused(isNotCa)),
  ),
  must(
    'CR-34',
    '"cert sign" makes no CA: refused, or left out',
    `${CR_SOURCES.spec}.usages`,
    onRequest('certSign', orRefused(isNotCa)),
  ),
  must(
    'CR-35',
    'the leaf has no name that was not asked for',
    CR_SOURCES.spec,
    onLeaf('plain', hasOnlyRequestedNames),
  ),
  must(
    'CR-36',
    'nor has one with subject alternative names',
    CR_SOURCES.spec,
    onRequest('alternativeNames', orRefused(hasOnlyRequestedNames)),
  ),
  should(
    'CR-37',
    'system:masters is handed out to nobody',
    'the group of administrators whom no authorizer asks',
    onRequest('masters', grantsNoSystemMasters),
  ),
  should(
    'CR-38',
    'a common name of system: is handed out to nobody',
    'kubernetes.io: system: is Kubernetes’ own',
    onRequest('systemUser', grantsNoReservedName),
  ),
  must(
    'CR-39',
    'CA:TRUE inside the PKCS#10 request makes no CA',
    `${CR_SOURCES.spec}.request`,
    onRequest('authorityExtension', orRefused(isNotCa)),
  ),
  must(
    'CR-40',
    'an unknown extension inside the PKCS#10 request is not copied',
    'RFC 2985 §5.4.2: a wish',
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
    'a key that can be broken, RSA with 1024 bits, is refused',
    WEAK_KEYS,
    onRequest('RSA1024', isRefused),
  ),
];
