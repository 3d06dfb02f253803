// SPDX-License-Identifier: Apache-2.0
import type { Client } from './client.ts';
import type { PermissionRule } from '../resource/permissions.ts';

/** One right that the API server says we lack. */
export interface MissingPermission {
  readonly verb: string;
  /** `group/resource/subresource`, without the group for core. */
  readonly resource: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

interface Question {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly verb: string;
  readonly name: string;
  readonly namespace: string;
}

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/**
 * Asks a SelfSubjectAccessReview for every verb × resource × name of `rules`.
 *
 * @returns the rights that are not granted
 * @throws KubeError when the API server cannot be asked
 */
export async function missingPermissions(
  client: Client,
  rules: readonly PermissionRule[],
): Promise<readonly MissingPermission[]> {
  const questions = rules.flatMap(questionsOf);
  const answers = await Promise.all(questions.map((question) => ask(client, question)));
  return questions.filter((_question, index) => answers[index] !== true).map(missing);
}

function questionsOf(rule: PermissionRule): readonly Question[] {
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

async function ask(client: Client, question: Question): Promise<boolean> {
  const answer = await client.request<{ status?: { allowed?: boolean } }>({
    method: 'POST',
    path: REVIEWS,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: question },
    },
  });
  return answer.status?.allowed === true;
}

function missing(question: Question): MissingPermission {
  const { group, resource, subresource, verb, name, namespace } = question;
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
