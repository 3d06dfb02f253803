// SPDX-License-Identifier: Apache-2.0
import { OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { type AssertionResult, type Case, must, pass, should, skip, unless } from '../case.ts';
import { isAssertionResult, issuedLeafOf } from '../issued-leaf.ts';
import type { RequestedLeaf } from '../observed-request.ts';
import { type LeafAssertion, onLeaf, onRequest, type RequestAssertion } from '../snapshot.ts';
import { PCR_OPERATIONS, type PcrScenario, type PcrSnapshot } from './snapshot.ts';

/**
 * Cases about names of Services in the leaves of pods, as expected of a signer of serving
 * certificates in the cluster.
 */

/**
 * The source. Its description is public, but its text was inaccessible. The names are those of the
 * DNS specification.
 */
const SERVING = 'kubernetes/enhancements#5784; Kubernetes DNS specification §2.3.1';
const EXTERNAL = 'core/v1 ServiceSpec.selector, ServiceSpec.type ExternalName';

/** Returns an assertion about a signer whose profile states that its leaves name Services. */
function ofServices(
  assertion: (names: readonly string[], services: Services) => AssertionResult,
): LeafAssertion {
  return ({ leaf, request }) => {
    const { services } = request.requested;
    return services === undefined ? skip(NOT_ASKED) : assertion(leaf.sans.dnsNames, services);
  };
}

type Services = NonNullable<RequestedLeaf['services']>;

const NOT_ASKED = 'the profile does not state that its leaves name Services';

const namesItsServices = ofServices((names, { selecting, namespace }) => {
  const missing = selecting
    .map((service) => `${service}.${namespace}.svc`)
    .filter((name) => !names.includes(name));
  return unless(
    missing.length === 0 ? undefined : `lacks ${missing.join(', ')}; has ${textOf(names)}`,
    textOf(names),
  );
});

const namesNoOther = ofServices((names, services) => {
  const wrong = namesOfOthers(names, services);
  return unless(wrong.length === 0 ? undefined : `names ${wrong.join(', ')}`, textOf(names));
});

const hasNoShortName = ofServices((names, { selecting, namespace }) => {
  const short = selecting.flatMap((service) => [service, `${service}.${namespace}`]);
  const found = names.filter((name) => short.includes(name));
  return unless(found.length === 0 ? undefined : `has ${found.join(', ')}`, textOf(names));
});

const isForServers: LeafAssertion = ({ leaf, request }) => {
  if (request.requested.services === undefined) return skip(NOT_ASKED);
  const purposes = leaf.extKeyUsage ?? [];
  const text = purposes.join(', ');
  return unless(purposes.includes(OID_SERVER_AUTH) ? undefined : `extKeyUsage has ${text}`, text);
};

/** Passes when the request waits, is refused, or gets a leaf without such names. */
const namesNoService: RequestAssertion = (request) => {
  const { services } = request.requested;
  if (services === undefined) return skip(NOT_ASKED);
  const issued = issuedLeafOf(request);
  if (isAssertionResult(issued)) return issued.outcome === 'skip' ? pass(issued.evidence) : issued;
  const { dnsNames } = issued.leaf.sans;
  const wrong = namesOfOthers(dnsNames, services);
  return unless(wrong.length === 0 ? undefined : `names ${wrong.join(', ')}`, textOf(dnsNames));
};

/**
 * Returns names of other Services. One of the labels of a name is the Service. For pods below a
 * headless one it is the second label.
 */
function namesOfOthers(names: readonly string[], { others }: Services): readonly string[] {
  return names.filter((name) => name.split('.').some((label) => others.includes(label)));
}

function textOf(names: readonly string[]): string {
  return names.length === 0 ? 'no DNS names' : names.join(', ');
}

/** The first id of these cases, which follow those of the calls. */
const FIRST = 57 + PCR_OPERATIONS.length;

/** Cases for profiles with `serviceNames`. Others skip them. */
export const PCR_SERVICES: readonly Case<PcrSnapshot>[] = [
  must(
    `PCR-${FIRST}`,
    'the leaf names each Service that selects the pod, headless ones too, as SERVICE.NAMESPACE.svc',
    SERVING,
    onLeaf<PcrScenario>('pod', namesItsServices),
  ),
  must(
    `PCR-${FIRST + 1}`,
    'the leaf names no Service that does not select the pod, and no alias for something else',
    EXTERNAL,
    onLeaf<PcrScenario>('pod', namesNoOther),
  ),
  must(
    `PCR-${FIRST + 2}`,
    'a pod that no Service selects gets the name of none',
    EXTERNAL,
    onRequest<PcrScenario>('podUnserved', namesNoService),
  ),
  should(
    `PCR-${FIRST + 3}`,
    'no leaf has the name SERVICE or SERVICE.NAMESPACE alone: Services of other namespaces and hosts elsewhere have it, too',
    'Kubernetes DNS specification §2.3.1; resolv.conf(5), search',
    onLeaf<PcrScenario>('pod', hasNoShortName),
  ),
  must(
    `PCR-${FIRST + 4}`,
    'a leaf that names Services is for server authentication',
    'kubernetes/enhancements#5784; RFC 5280 §4.2.1.12',
    onLeaf<PcrScenario>('pod', isForServers),
  ),
];
