// SPDX-License-Identifier: Apache-2.0
/** Asserts the names of a leaf. */
import { isReservedName } from '#api/signer/reserved-names.ts';
import { OID_COMMON_NAME, OID_ORGANIZATION } from '#pki/der/oids.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { commonNamesOf, nameText } from '#pki/names/distinguished-name.ts';
import { fail, pass, skip, unless, type AssertionResult } from '../case.ts';
import { isAssertionResult, issuedLeafOf, type IssuedLeaf } from '../issued-leaf.ts';
import type { LeafAssertion, RequestAssertion } from '../snapshot.ts';
import { refusedText } from './answer.ts';

/** Returns every name of a certificate as `KIND value`, such as `DNS a.example.com`. */
export function namesOf({ subject, sans }: Certificate): readonly string[] {
  return [
    ...subject.attributes.map(({ oid, value }) => `${kindOf(oid)} ${value}`),
    ...sans.dnsNames.map((name) => `DNS ${name}`),
    ...sans.ipAddresses.map((name) => `IP ${name}`),
    ...sans.uris.map((name) => `URI ${name}`),
    ...sans.emails.map((name) => `email ${name}`),
    ...(sans.other === 0 ? [] : [`${sans.other} names of other kinds`]),
  ];
}

function kindOf(oid: string): string {
  return { [OID_COMMON_NAME]: 'CN', [OID_ORGANIZATION]: 'O' }[oid] ?? oid;
}

function requestedNamesOf({ request }: IssuedLeaf): ReadonlySet<string> {
  const { names } = request.requested;
  return new Set([
    `CN ${names.commonName}`,
    ...names.organizations.map((name) => `O ${name}`),
    ...names.dnsNames.map((name) => `DNS ${name}`),
    ...names.ipAddresses.map((name) => `IP ${name}`),
    ...names.uris.map((name) => `URI ${name}`),
    ...names.emails.map((name) => `email ${name}`),
  ]);
}

/** Passes when the request contains every name of the leaf. */
export const hasOnlyRequestedNames: LeafAssertion = (issued) => {
  const requested = requestedNamesOf(issued);
  const names = namesOf(issued.leaf);
  const more = names.filter((name) => !requested.has(name));
  return unless(
    more.length === 0 ? undefined : `not requested: ${more.join(', ')}`,
    names.length === 0 ? 'no names' : names.join(', '),
  );
};

/** Passes when the leaf has every name of the request. */
export const hasAllRequestedNames: LeafAssertion = (issued) => {
  const names = new Set(namesOf(issued.leaf));
  const missing = [...requestedNamesOf(issued)].filter(
    (name) => name !== 'CN ' && !names.has(name),
  );
  return unless(
    missing.length === 0 ? undefined : `requested but missing: ${missing.join(', ')}`,
    [...names].join(', '),
  );
};

/**
 * Passes when the request is refused, or its leaf has no subject that Kubernetes reserves
 * (`system:`, `kubeadm:`). Skips signers of Kubernetes' own names.
 */
export const grantsNoReservedName: RequestAssertion = (request, { profile }) => {
  if (profile.kubernetesNames === true) return skip("its names are Kubernetes' own");
  return unlessIssued(request, ({ leaf }) => {
    const reserved = leaf.subject.attributes.filter(({ value }) => isReservedName(value, []));
    return unless(
      reserved.length === 0 ? undefined : `it signed ${nameText(leaf.subject)}`,
      `issued without it: "${nameText(leaf.subject)}"`,
    );
  });
};

/** The group of administrators, which bypasses every authorizer. */
const MASTERS = 'system:masters';

/**
 * Passes when the request is refused, or its leaf is not in the group `system:masters`, which
 * bypasses RBAC.
 */
export const grantsNoSystemMasters: RequestAssertion = (request) =>
  unlessIssued(request, ({ leaf }) => {
    const has = leaf.subject.attributes.some(({ value }) => value === MASTERS);
    const text = `it signed ${nameText(leaf.subject)}`;
    return has ? fail(text) : pass(`issued without it: "${nameText(leaf.subject)}"`);
  });

/** 1.3.6.1.4.1.57683.2: the API server reads a user's UID from it. */
const USER_UID = '1.3.6.1.4.1.57683.2';

/**
 * Passes when the request is refused, or its leaf lacks the subject attribute from which the API
 * server reads a user's UID (Kubernetes 1.34 and later).
 */
export const grantsNoUserUid: RequestAssertion = (request) =>
  unlessIssued(request, ({ leaf }) => {
    const has = leaf.subject.attributes.some(({ oid }) => oid === USER_UID);
    return has ? fail(`the subject has ${USER_UID}, the user's UID`) : pass('issued without it');
  });

/**
 * Passes when the request is refused, or its leaf has no otherName in subjectAltName (RFC 5280
 * §4.2.1.6).
 */
export const grantsNoOtherName: RequestAssertion = (request) =>
  unlessIssued(request, ({ leaf }) =>
    leaf.sans.other > 0
      ? fail(`${leaf.sans.other} subject alternative names of other kinds`)
      : pass('issued without it'),
  );

/**
 * Passes when the request is refused, or its leaf has at most one common name. Verifiers differ on
 * which of two they read.
 */
export const hasOneCommonName: RequestAssertion = (request) =>
  unlessIssued(request, ({ leaf }) => {
    const names = commonNamesOf(leaf.subject);
    const text = names.join(', ');
    return names.length > 1 ? fail(`common names: ${text}`) : pass(`one common name: ${text}`);
  });

/** Passes a refused request and evaluates a certificate. Otherwise returns why there is neither. */
function unlessIssued(
  request: Trial,
  assertion: (issued: IssuedLeaf) => AssertionResult,
): AssertionResult {
  const refused = refusedText(request);
  if (refused !== undefined) return pass(refused);
  const issued = issuedLeafOf(request);
  return isAssertionResult(issued) ? issued : assertion(issued);
}

/** Passes when the request is refused, whatever its leaf would have held. */
export const isRefused: RequestAssertion = (request) =>
  unlessIssued(request, () => fail('it was issued'));

/**
 * Turns an assertion about a leaf into one about a request: a refusal passes, a certificate must
 * pass `assertion`.
 */
export function orRefused(assertion: LeafAssertion): RequestAssertion {
  return (request, context) => unlessIssued(request, (issued) => assertion(issued, context));
}

type Trial = Parameters<RequestAssertion>[0];

/**
 * Passes when each SPIFFE ID of a pod's leaf names the pod's own namespace and ServiceAccount
 * (SPIFFE-ID §2, KEP-4317).
 */
export const namesOnlyThePod: LeafAssertion = ({ leaf, request }) => {
  const { pod } = request.requested;
  const ids = leaf.sans.uris.filter((uri) => uri.startsWith('spiffe://'));
  if (pod === undefined || ids.length === 0) return skip('the leaf has no SPIFFE ID');
  const own = [`/ns/${pod.namespace}`, `/sa/${pod.serviceAccount}`];
  const foreign = ids.filter((id) => {
    const parts = identityParts(id);
    return !own.every((part) => parts.includes(part)) || parts.some((part) => !own.includes(part));
  });
  return unless(
    foreign.length === 0 ? undefined : `${foreign.join(', ')} is not ${own.join(' and ')}`,
    ids.join(', '),
  );
};

/** Returns the parts `/ns/NAMESPACE` and `/sa/SERVICEACCOUNT` of the path of a SPIFFE ID. */
function identityParts(id: string): readonly string[] {
  // A trust domain follows two slashes, and may be `ns` as well.
  return id.match(/(?<!\/)\/(?:ns|sa)\/[^/]+/g) ?? [];
}

/**
 * Passes when the URIs of the leaf are those of `profile[of]`, with `{namespace}` and
 * `{serviceAccount}` filled in.
 */
export function hasExpectedUris(of: 'uris' | 'annotatedUris'): LeafAssertion {
  return ({ leaf, request }, { profile }) => {
    const { pod } = request.requested;
    const templates = profile[of];
    if (templates === undefined || pod === undefined) return skip(`the profile names no ${of}`);
    const wanted = templates.map((each) =>
      each
        .replaceAll('{namespace}', pod.namespace)
        .replaceAll('{serviceAccount}', pod.serviceAccount),
    );
    const found = leaf.sans.uris;
    const same = wanted.length === found.length && wanted.every((each) => found.includes(each));
    return unless(
      same ? undefined : `URIs ${found.join(', ')}, not ${wanted.join(', ')}`,
      `URIs ${found.join(', ')}`,
    );
  };
}
