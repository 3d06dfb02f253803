// SPDX-License-Identifier: Apache-2.0
/**
 * The rules for requests of CAs of other clusters that no spec and no approval can turn off. A
 * request has exactly the parts that a member of a fleet writes, so that rules judge all of it.
 */
import { INTERMEDIATE_USAGES, type IntermediateUsage } from '#api/signer/cluster-signer.ts';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import type { KeyType } from '#base/vocabulary.ts';
import {
  OID_BASIC_CONSTRAINTS,
  OID_COMMON_NAME,
  OID_EXTENSION_REQUEST,
  OID_KEY_USAGE,
  OID_ORGANIZATION,
} from '#pki/der/oids.ts';
import { usageBits } from '#pki/extensions/usages.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { decodeSpecRequest } from './decode.ts';
import { criticalExtensions } from './violations/extensions.ts';
import { keyType, weakKey } from './violations/keys.ts';
import { malformedName, nameKinds, reservedSubject, userIdAttribute } from './violations/names.ts';
import {
  refusalOf,
  type RequestRefusal,
  type Violation,
  type ViolationInput,
  type ViolationRule,
} from './violations/violation.ts';
import * as messages from './intermediate-messages.ts';

export interface IntermediateInput {
  readonly csr: ReviewableRequest;
  /** `spec.profile.keyTypes` of the signer. */
  readonly keyTypes: readonly KeyType[];
  readonly reservedPrefixes: readonly string[];
}

/** The parts of a valid request. It has no others. */
export interface IntermediateRequest {
  /** Name of the cluster: a DNS label. */
  readonly cluster: string;
  readonly commonName: string;
  readonly usages: readonly IntermediateUsage[];
  readonly request: CertificationRequest;
}

export type ValidatedIntermediate =
  { readonly kind: 'valid'; readonly asked: IntermediateRequest } | RequestRefusal;

const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** ub-common-name (RFC 5280 appendix A.1). */
const MAX_COMMON_NAME = 64;

/** Extensions that a request may have. */
const EXTENSIONS: readonly string[] = [OID_KEY_USAGE, OID_BASIC_CONSTRAINTS];

const subjectShape: ViolationRule = ({ request }) => {
  const { attributes } = request.subject;
  const [organizations, commonNames] = [OID_ORGANIZATION, OID_COMMON_NAME].map((type) =>
    attributes.filter(({ oid }) => oid === type).map(({ value }) => value),
  );
  const [cluster, ...more] = organizations ?? [];
  const [commonName = ''] = commonNames ?? [];
  if (attributes.length !== 2 || cluster === undefined || more.length > 0 || commonName === '') {
    return { reason: 'SubjectNotAllowed', message: messages.SUBJECT_SHAPE };
  }
  if (!CLUSTER_NAME.test(cluster)) {
    return { reason: 'SubjectNotAllowed', message: messages.notAClusterName(cluster) };
  }
  if (commonName.length <= MAX_COMMON_NAME) return undefined;
  const message = messages.commonNameTooLong(commonName.length, MAX_COMMON_NAME);
  return { reason: 'SubjectNotAllowed', message };
};

const alternativeNames: ViolationRule = ({ request: { sans } }) => {
  const { dnsNames, ipAddresses, uris, emails, other } = sans;
  const count = dnsNames.length + ipAddresses.length + uris.length + emails.length + other;
  return count === 0
    ? undefined
    : { reason: 'AlternativeNamesNotAllowed', message: messages.ALTERNATIVE_NAMES };
};

const isIntermediate: ViolationRule = ({ request: { isCa, pathLen } }) =>
  isCa && pathLen === 0 ? undefined : { reason: 'NotAnIntermediate', message: messages.NOT_A_CA };

const otherParts: ViolationRule = ({ request: { extensions, attributes } }) => {
  const others = [
    ...extensions.map(({ oid }) => oid).filter((oid) => !EXTENSIONS.includes(oid)),
    ...attributes.filter((oid) => oid !== OID_EXTENSION_REQUEST),
  ];
  if (others.length === 0) return undefined;
  return { reason: 'PartsNotAllowed', message: messages.otherParts(others) };
};

const caUsages: ViolationRule = ({ csr, request }) => {
  const requested = csr.spec.usages ?? [];
  const usages = intermediateUsages(requested);
  if (usages.length !== requested.length || !usages.includes('cert sign')) {
    const message = messages.usagesNotOfCa(requested, INTERMEDIATE_USAGES);
    return { reason: 'UsageNotAllowed', message };
  }
  const named = usageBits(usages).keyUsage;
  const unnamed = [...(request.keyUsage ?? [])].filter((bit) => !named.includes(bit));
  if (unnamed.length === 0) return undefined;
  return { reason: 'UsageNotAllowed', message: messages.keyUsagesDiffer(unnamed) };
};

/** The most severe first. The first violation gives the condition its reason. */
const RULES: readonly ViolationRule[] = [
  reservedSubject,
  userIdAttribute,
  malformedName,
  nameKinds,
  isIntermediate,
  subjectShape,
  alternativeNames,
  criticalExtensions,
  otherParts,
  caUsages,
  keyType,
  weakKey,
];

/**
 * Decodes a request for the CA of another cluster and runs every rule that no spec can turn off. A
 * valid request is not yet approved.
 *
 * @throws SignerError with another disposition than `fail`, if the request may become readable
 */
export function validateIntermediate(input: IntermediateInput): ValidatedIntermediate {
  const decoded = decodeSpecRequest(input.csr);
  if (decoded.kind === 'invalid') return refusalOf([decoded.violation]);
  const { request } = decoded;
  const [first, ...others] = violationsOf({
    csr: input.csr,
    request,
    profile: { keyTypes: input.keyTypes, usages: [], copy: [] },
    reservedPrefixes: input.reservedPrefixes,
  });
  if (first === undefined) return { kind: 'valid', asked: partsOf(input.csr, request) };
  return refusalOf([first, ...others]);
}

function violationsOf(input: ViolationInput): readonly Violation[] {
  return RULES.map((rule) => rule(input)).filter((found) => found !== undefined);
}

function partsOf({ spec }: ReviewableRequest, request: CertificationRequest): IntermediateRequest {
  const valueOf = (type: string): string =>
    request.subject.attributes.find(({ oid }) => oid === type)?.value ?? '';
  return {
    cluster: valueOf(OID_ORGANIZATION),
    commonName: valueOf(OID_COMMON_NAME),
    usages: intermediateUsages(spec.usages ?? []),
    request,
  };
}

/** Returns the usages of a CA among those of a request, each once. */
function intermediateUsages(requested: readonly string[]): readonly IntermediateUsage[] {
  return INTERMEDIATE_USAGES.filter((usage) => requested.includes(usage));
}
