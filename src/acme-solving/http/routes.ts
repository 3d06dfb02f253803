// SPDX-License-Identifier: Apache-2.0
import type { AcmeSolver } from '../../api/acme/index.ts';
import { parseIp } from '../../ip.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { resource, type Resource } from '../../kube/resource/resource.ts';
import type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';

/** How a path is routed to `acme-responder`. */
export type RouteSettings = NonNullable<AcmeSolver['http01']>;

/** The Service of `acme-responder`, in the namespace of the components. */
const SERVICE = 'countersign-acme-challenges';

export const INGRESSES = resource({
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'ingresses',
});
export const HTTP_ROUTES = resource({
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  plural: 'httproutes',
});

/** Labels of every route that we make. */
export const ROUTE_LABELS = {
  'app.kubernetes.io/name': 'countersign',
  'app.kubernetes.io/component': 'acme-solver',
} as const;

/** Label: uid of the Challenge that a route is for. */
export const CHALLENGE_UID_LABEL = 'acme.countersign.dev/challenge-uid';

/**
 * Routes the path of a token to `acme-responder`, by one Ingress or HTTPRoute for each Challenge in the namespace of the
 * components. Server-side apply: a repeated `present` changes nothing.
 */
export function createRouteSolver(
  settings: RouteSettings,
  { client, ownNamespace }: Pick<SolverContext, 'client' | 'ownNamespace'>,
): ChallengeSolver {
  const { ingress, gateway } = settings;
  const [kind, spec] =
    gateway === undefined
      ? ([INGRESS, (challenge: ChallengeToSolve) => ingressSpec(challenge, ingress)] as const)
      : ([HTTP_ROUTE, (challenge: ChallengeToSolve) => routeSpec(challenge, gateway)] as const);
  const at = (challenge: ChallengeToSolve): string =>
    `${kind.kind} ${ownNamespace}/${routeName(challenge)}`;
  return {
    present: (challenge, signal) =>
      outcomeOf(at(challenge), async () => {
        const { kind: name, api } = kind;
        await client.request({
          method: 'PATCH',
          path: api.object({ namespace: ownNamespace, name: routeName(challenge) }),
          query: { fieldManager: 'countersign-acme-solver', force: true },
          contentType: 'application/apply-patch+yaml',
          body: JSON.stringify({
            apiVersion: api.apiVersion,
            kind: name,
            metadata: metadataOf(challenge, ownNamespace, ingress ?? gateway),
            spec: spec(challenge),
          }),
          signal,
        });
      }),
    cleanUp: (challenge, signal) =>
      outcomeOf(at(challenge), async () => {
        const path = kind.api.object({ namespace: ownNamespace, name: routeName(challenge) });
        try {
          await client.request({ method: 'DELETE', path, signal });
        } catch (error) {
          // Not there, or the Gateway API is not installed any more.
          if (!(error instanceof KubeError) || error.status !== 404) throw error;
        }
      }),
  };
}

interface RouteKind {
  readonly kind: string;
  readonly api: Resource;
}

const INGRESS: RouteKind = { kind: 'Ingress', api: INGRESSES };
const HTTP_ROUTE: RouteKind = { kind: 'HTTPRoute', api: HTTP_ROUTES };

/** Unique: a uid has 36 characters. */
function routeName({ uid }: ChallengeToSolve): string {
  return `countersign-acme-${uid}`;
}

/** What a signer says of its routes, and ours, by which they are found again. */
function metadataOf(
  challenge: ChallengeToSolve,
  namespace: string,
  { labels, annotations }: NonNullable<RouteSettings['ingress']> = {},
): object {
  return {
    name: routeName(challenge),
    namespace,
    labels: { ...labels, ...ROUTE_LABELS, [CHALLENGE_UID_LABEL]: challenge.uid },
    annotations: {
      ...annotations,
      'acme.countersign.dev/challenge': `${challenge.namespace}/${challenge.name}`,
    },
  };
}

function pathOf({ token = '' }: ChallengeToSolve): string {
  return `/.well-known/acme-challenge/${token}`;
}

/** An address is no host of a route: its rule is for all of them, and for the path of one token. */
function hostOf({ dnsName }: ChallengeToSolve): string | undefined {
  return parseIp(dnsName) === undefined ? dnsName : undefined;
}

/** `spec` of networking.k8s.io/v1 Ingress. */
function ingressSpec(challenge: ChallengeToSolve, ingress: RouteSettings['ingress']): object {
  const backend = { service: { name: SERVICE, port: { number: 80 } } };
  const { className, pathType = 'Exact' } = ingress ?? {};
  const paths = [{ path: pathOf(challenge), pathType, backend }];
  const host = hostOf(challenge);
  return {
    ...(className === undefined ? {} : { ingressClassName: className }),
    rules: [{ ...(host === undefined ? {} : { host }), http: { paths } }],
  };
}

/** `spec` of gateway.networking.k8s.io/v1 HTTPRoute. */
function routeSpec(
  challenge: ChallengeToSolve,
  { name, namespace, sectionName }: NonNullable<RouteSettings['gateway']>,
): object {
  const host = hostOf(challenge);
  return {
    parentRefs: [
      {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(sectionName === undefined ? {} : { sectionName }),
      },
    ],
    ...(host === undefined ? {} : { hostnames: [host] }),
    rules: [
      {
        matches: [{ path: { type: 'Exact', value: pathOf(challenge) } }],
        backendRefs: [{ name: SERVICE, port: 80 }],
      },
    ],
  };
}

async function outcomeOf(at: string, call: () => Promise<void>): Promise<SolverOutcome> {
  try {
    await call();
    return { kind: 'done', at };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const isAbsent = error.status === 404;
    const advice = isAbsent ? '; install the Gateway API, or let the solver make an Ingress' : '';
    return {
      kind: 'problem',
      reason: 'RouteFailed',
      message: `${at}: ${error.message}${advice}`,
      retryAfterMs: error.retryAfter,
    };
  }
}
