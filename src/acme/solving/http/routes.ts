// SPDX-License-Identifier: Apache-2.0
import type { AcmeSolver } from '#api/acme/acme-signer.ts';
import {
  CHALLENGE_ANNOTATION,
  CHALLENGE_SERVICE,
  CHALLENGE_UID_LABEL,
  ROUTE_LABELS,
  ROUTE_NAME_PREFIX,
} from '#api/acme/route-names.ts';
import type { Condition } from '#api/request/conditions.ts';
import { parseIp } from '#base/ip.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';
import * as messages from '../messages.ts';

/** Settings of the route to `acme-responder`. */
export type RouteSettings = NonNullable<AcmeSolver['http01']>;

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

/**
 * Routes the path of a token to `acme-responder`. Each Challenge gets one Ingress or HTTPRoute in
 * the namespace of the components. Server-side apply makes a repeated `present` change nothing.
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
  const apply = (challenge: ChallengeToSolve, signal: AbortSignal): Promise<AppliedRoute> => {
    const { kind: name, api } = kind;
    return client.request<AppliedRoute>({
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
  };
  return {
    present: (challenge, signal) => outcomeOf(at(challenge), () => apply(challenge, signal)),
    // The answer to an apply has the status, so this needs no right to read routes.
    ...(gateway === undefined
      ? {}
      : {
          look: async (challenge: ChallengeToSolve, signal: AbortSignal) =>
            notAdmitted(at(challenge), gateway.name, await apply(challenge, signal)),
        }),
    cleanUp: (challenge, signal) =>
      outcomeOf(at(challenge), async () => {
        const path = kind.api.object({ namespace: ownNamespace, name: routeName(challenge) });
        try {
          await client.request({ method: 'DELETE', path, signal });
        } catch (error) {
          // The route is gone, or the Gateway API is no longer installed.
          if (!(error instanceof KubeError) || error.status !== 404) throw error;
        }
      }),
  };
}

/** Part of gateway.networking.k8s.io/v1 HTTPRoute. An Ingress has no conditions. */
interface AppliedRoute {
  readonly status?: { readonly parents?: readonly RouteParent[] };
}

interface RouteParent {
  readonly controllerName?: string;
  readonly conditions?: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
}

/** Conditions without which a Gateway serves no route (RouteConditionType of the Gateway API). */
const ADMISSION: readonly string[] = ['Accepted', 'ResolvedRefs'];

/** Returns the conditions by which a Gateway does not serve the route, or undefined. */
function notAdmitted(route: string, gateway: string, { status }: AppliedRoute): string | undefined {
  const { parents = [] } = status ?? {};
  if (parents.length === 0) return messages.routeUnseen(route, gateway);
  const faults = parents.flatMap(({ controllerName = '', conditions = [] }) =>
    conditions
      .filter((each) => ADMISSION.includes(each.type) && each.status === 'False')
      .map((each) => messages.routeCondition(controllerName, each)),
  );
  return faults.length === 0 ? undefined : messages.routeNotAdmitted(route, gateway, faults);
}

interface RouteKind {
  readonly kind: string;
  readonly api: Resource;
}

const INGRESS: RouteKind = { kind: 'Ingress', api: INGRESSES };
const HTTP_ROUTE: RouteKind = { kind: 'HTTPRoute', api: HTTP_ROUTES };

/** Returns a unique name: a uid has 36 characters. */
function routeName({ uid }: ChallengeToSolve): string {
  return ROUTE_NAME_PREFIX + uid;
}

/** Returns the signer's metadata for its routes, and our labels, which find the routes again. */
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
      [CHALLENGE_ANNOTATION]: `${challenge.namespace}/${challenge.name}`,
    },
  };
}

function pathOf({ token = '' }: ChallengeToSolve): string {
  return `/.well-known/acme-challenge/${token}`;
}

/**
 * Returns the host, or undefined for an address, which a route cannot have. The rule then applies
 * to all hosts, for the path of one token.
 */
function hostOf({ dnsName }: ChallengeToSolve): string | undefined {
  return parseIp(dnsName) === undefined ? dnsName : undefined;
}

/** Returns `spec` of networking.k8s.io/v1 Ingress. */
function ingressSpec(challenge: ChallengeToSolve, ingress: RouteSettings['ingress']): object {
  const backend = { service: { name: CHALLENGE_SERVICE, port: { number: 80 } } };
  const { className, pathType = 'Exact' } = ingress ?? {};
  const paths = [{ path: pathOf(challenge), pathType, backend }];
  const host = hostOf(challenge);
  return {
    ...(className === undefined ? {} : { ingressClassName: className }),
    rules: [{ ...(host === undefined ? {} : { host }), http: { paths } }],
  };
}

/** Returns `spec` of gateway.networking.k8s.io/v1 HTTPRoute. */
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
        backendRefs: [{ name: CHALLENGE_SERVICE, port: 80 }],
      },
    ],
  };
}

async function outcomeOf(at: string, call: () => Promise<unknown>): Promise<SolverOutcome> {
  try {
    await call();
    return { kind: 'done', at };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const isAbsent = error.status === 404;
    const advice = isAbsent ? messages.INSTALL_GATEWAY_API : '';
    return {
      kind: 'problem',
      reason: 'RouteFailed',
      message: `${at}: ${error.message}${advice}`,
      retryAfterMs: error.retryAfter,
    };
  }
}
