// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { isReservedName } from '#api/signer/reserved-names.ts';
import { SignerError, messageOf } from '#base/errors.ts';
import { canonicalDnsName, canonicalIp } from '#pki/names/canonical.ts';
import { canonicalUri } from '#pki/names/canonical-uri.ts';
import { requireVisible } from '#pki/x509/requested-names.ts';
import { EMPTY_SUBJECT, namesNobody } from './leaf-subject.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import type { PodProfile } from './pod-profile.ts';
import { serviceNames, type NamedPod } from './service-names.ts';

/**
 * Returns the CEL variable `pod` of a request. NodeRestriction and the project's admission policy
 * ensure that the node reports its own pods truthfully. Only annotations that
 * `spec.pods.annotations` lists are visible, and only labels that `spec.pods.labels` lists.
 *
 * @param pod - the pod as the API server has it. Required if the profile `readsPod`.
 */
export function podVariables(
  request: PodCertificateRequest,
  profile: PodProfile,
  pod?: NamedPod,
): Readonly<Record<string, unknown>> {
  const { spec } = request;
  const labels = Object.entries(pod?.labels ?? {});
  const asked = Object.entries(spec.unverifiedUserAnnotations ?? {});
  return {
    pod: {
      namespace: request.metadata.namespace ?? '',
      name: spec.podName,
      uid: spec.podUID,
      serviceAccount: spec.serviceAccountName,
      serviceAccountUID: spec.serviceAccountUID,
      node: spec.nodeName,
      nodeUID: spec.nodeUID,
      annotations: Object.fromEntries(asked.filter(([key]) => profile.annotations.has(key))),
      labels: Object.fromEntries(labels.filter(([key]) => profile.labels?.includes(key) === true)),
      ip: pod?.ip ?? '',
    },
    services: (pod?.services ?? []).map(({ name }) => name),
  };
}

/**
 * Returns the names of a pod's leaf in canonical form, from the expressions and the Services of
 * `spec.pods` only.
 *
 * @throws SignerError CEL_EVALUATION, NAME_INVALID or NAME_RESERVED, always `wait`: the
 *   administrator can correct the signer's expressions, so the request must not fail
 */
export function podSubject(
  profile: PodProfile,
  variables: Readonly<Record<string, unknown>>,
  reservedPrefixes: readonly string[],
  pod?: NamedPod,
): LeafSubject {
  const commonName = profile.commonName.evaluate(variables);
  if (isReservedName(commonName, reservedPrefixes)) {
    throw specError(
      'NAME_RESERVED',
      `spec.pods.commonName evaluates to "${commonName.slice(0, 80)}", a name that is reserved for Kubernetes; change the expression`,
    );
  }
  if (commonName !== '') orWait('commonName', () => requireVisible(commonName, 'the result'));
  const subject: LeafSubject = {
    ...EMPTY_SUBJECT,
    commonName,
    uris: names(profile, 'uris', variables),
    dnsNames: [...new Set([...ofServices(profile, pod), ...names(profile, 'dnsNames', variables)])],
    ipAddresses: names(profile, 'ipAddresses', variables),
  };
  if (namesNobody(subject)) {
    throw specError(
      'NAME_INVALID',
      'the expressions of spec.pods yield no name for this pod; set commonName, uris, dnsNames or services',
    );
  }
  return subject;
}

function ofServices({ services }: PodProfile, pod: NamedPod | undefined): readonly string[] {
  if (services === undefined || pod === undefined) return [];
  return orWait('services', () => serviceNames(pod, services));
}

const CANONICAL = {
  uris: canonicalUri,
  dnsNames: canonicalDnsName,
  ipAddresses: canonicalIp,
} as const;

function names(
  profile: PodProfile,
  field: keyof typeof CANONICAL,
  variables: Readonly<Record<string, unknown>>,
): readonly string[] {
  const found = profile[field].map((expression, index) => {
    const text = expression.evaluate(variables);
    return text === '' ? '' : orWait(`${field}[${index}]`, () => CANONICAL[field](text));
  });
  return [...new Set(found)].filter((text) => text !== '');
}

/**
 * Turns an error into `wait`. An invalid result is a fault of the expression and not of the
 * request.
 */
function orWait<T>(field: string, spell: () => T): T {
  try {
    return spell();
  } catch (error) {
    throw specError('NAME_INVALID', `spec.pods.${field}: ${messageOf(error)}`, error);
  }
}

function specError(
  code: 'NAME_INVALID' | 'NAME_RESERVED',
  message: string,
  cause?: unknown,
): SignerError {
  return new SignerError({ code, disposition: 'wait', message, cause });
}
