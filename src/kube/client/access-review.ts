// SPDX-License-Identifier: Apache-2.0
import { authorizingNames } from '#base/authorizing-names.ts';
import { inParallel } from '#base/in-parallel.ts';
import type { Client } from './client.ts';
import type { PermissionRule } from '../resource/permissions.ts';

/** One permission that the API server does not grant. */
export interface MissingPermission {
  readonly verb: string;
  /** `group/resource/subresource`, without the group for core. */
  readonly resource: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly verb: string;
  readonly name: string;
  readonly namespace: string;
}

/**
 * Reviews that a check sends at a time. Each one in flight has a connection of its own, and a TLS
 * handshake takes more of both processes than a review.
 */
const REVIEWS_AT_ONCE = 8;

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/**
 * Creates a SelfSubjectAccessReview for every verb × resource × name of `rules`. If a verb on a
 * signer name is denied, creates another one for all signers of the domain, as Kubernetes does.
 *
 * @returns the missing permissions
 * @throws KubeError when the API server does not answer a review
 */
export async function missingPermissions(
  client: Client,
  rules: readonly PermissionRule[],
): Promise<readonly MissingPermission[]> {
  const reviews = rules.flatMap(attributesOf);
  const review = rememberReviews(client);
  const allowed = await inParallel(
    reviews,
    (attributes) => isAllowed(review, attributes),
    REVIEWS_AT_ONCE,
  );
  return reviews.filter((_attributes, index) => allowed[index] !== true).map(missing);
}

const RULES = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';

/** `authorization.k8s.io/v1` SelfSubjectRulesReview, reduced to the fields that are read. */
interface RulesReview {
  readonly status?: { readonly resourceRules?: readonly unknown[] };
}

/**
 * Returns the user's rules in these namespaces, as a text that changes when a role does. It needs
 * one request for each namespace, however many names the roles have.
 *
 * It does not show whether a request is allowed, because authorizers other than RBAC may leave
 * rules out (authorization/v1, SubjectRulesReviewStatus.incomplete).
 *
 * @throws KubeError
 */
export async function ownRules(client: Client, namespaces: readonly string[]): Promise<string> {
  const reviews = await Promise.all(
    namespaces.map((namespace) =>
      client.request<RulesReview>({
        method: 'POST',
        path: RULES,
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace },
        },
      }),
    ),
  );
  return JSON.stringify(
    reviews.map(({ status }) =>
      (status?.resourceRules ?? []).map((rule) => JSON.stringify(rule)).sort(),
    ),
  );
}

function attributesOf(rule: PermissionRule): readonly ResourceAttributes[] {
  return rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        (rule.resourceNames ?? ['']).map((name) => {
          const [plural = '', subresource = ''] = resource.split('/');
          const namespace = rule.namespace ?? '';
          return { group, resource: plural, subresource, verb, name, namespace };
        }),
      ),
    ),
  );
}

type Review = (attributes: ResourceAttributes) => Promise<boolean>;

/** Returns a function that sends equal reviews once: the signers of a domain share its review. */
function rememberReviews(client: Client): Review {
  const sent = new Map<string, Promise<boolean>>();
  return (attributes) => {
    const key = JSON.stringify(attributes);
    const known = sent.get(key) ?? sendReview(client, attributes);
    sent.set(key, known);
    return known;
  };
}

/** Sends the second review only if the first one denies: most roles list each name. */
async function isAllowed(review: Review, attributes: ResourceAttributes): Promise<boolean> {
  for (const name of namesToReview(attributes)) {
    if (await review({ ...attributes, name })) return true;
  }
  return false;
}

function namesToReview({ group, resource, verb, name }: ResourceAttributes): readonly string[] {
  const isSigner = group === 'certificates.k8s.io' && resource === 'signers' && name !== '';
  return isSigner ? authorizingNames(verb, name) : [name];
}

async function sendReview(client: Client, attributes: ResourceAttributes): Promise<boolean> {
  const answer = await client.request<{ status?: { allowed?: boolean } }>({
    method: 'POST',
    path: REVIEWS,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: attributes },
    },
  });
  return answer.status?.allowed === true;
}

function missing(attributes: ResourceAttributes): MissingPermission {
  const { group, resource, subresource, verb, name, namespace } = attributes;
  return {
    verb,
    resource: [group, resource, subresource].filter((part) => part !== '').join('/'),
    name: name === '' ? undefined : name,
    namespace: namespace === '' ? undefined : namespace,
  };
}

/** `update certificates.k8s.io/certificatesigningrequests/approval "x" in namespace y` */
export function permissionText({ verb, resource, name, namespace }: MissingPermission): string {
  const named = name === undefined ? '' : ` "${name}"`;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  return `${verb} ${resource}${named}${where}`;
}
