// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { AuditEvent, Cluster } from '../../cluster/cluster.ts';
import { SYSTEM_NAMESPACE } from './installation.ts';

const OWN_RIGHTS = new Set(['selfsubjectaccessreviews', 'selfsubjectrulesreviews']);
const PREFIX = `system:serviceaccount:${SYSTEM_NAMESPACE}:countersign-`;

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  /** Of a Role. */
  readonly namespace?: string | undefined;
}

/** Every finished call of our users in the audit log. */
export async function componentCalls(cluster: Cluster): Promise<readonly AuditEvent[]> {
  const events = await cluster.readAudit();
  return events.filter(
    ({ user, stage }) => user.username.startsWith(PREFIX) && stage !== 'ResponseStarted',
  );
}

/** Calls of our users that RBAC or a policy refused: `user verb URI`. */
export async function refusedCalls(cluster: Cluster): Promise<readonly string[]> {
  return (await componentCalls(cluster))
    .filter(({ responseStatus }) => responseStatus?.code === 403)
    .map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`);
}

/**
 * What a user wrote with success, by the audit log, oldest first:
 * `patch services countersign-system/web`. Leases, Events and reviews of its own permissions are
 * left out.
 */
export async function auditedWrites(
  cluster: Cluster,
  username: string,
): Promise<readonly string[]> {
  return (await cluster.readAudit())
    .filter(({ user, verb, stage, responseStatus, objectRef }) => {
      const own = /^(?:leases|events|selfsubject)/.test(objectRef?.resource ?? '');
      const write = ['create', 'update', 'patch', 'delete'].includes(verb);
      const taken = (responseStatus?.code ?? 500) < 300 && stage === 'ResponseComplete';
      return user.username === username && write && taken && !own;
    })
    .map(({ verb, objectRef = {} }) => {
      const { resource = '', subresource, namespace, name = '' } = objectRef;
      const what = subresource === undefined ? resource : `${resource}/${subresource}`;
      return `${verb} ${what} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    });
}

/**
 * Calls that no rule of the caller's roles allows: `user verb URI`.
 *
 * @param textOf - the YAML of a component's roles; default: its file in rbac/
 */
export function outsideRoles(
  calls: readonly AuditEvent[],
  textOf: (component: string) => string = shipped,
): readonly string[] {
  const rules = new Map<string, readonly Rule[]>();
  const outside = calls.filter((call) => {
    const component = call.user.username.slice(PREFIX.length);
    const known = rules.get(component) ?? rulesOf(textOf(component));
    rules.set(component, known);
    return !isDiscovery(call) && !known.some((rule) => allows(rule, call));
  });
  return outside.map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`);
}

/** Discovery and the reviews of one's own rights are granted to everybody. */
function isDiscovery({ requestURI, objectRef }: AuditEvent): boolean {
  return OWN_RIGHTS.has(objectRef?.resource ?? '') || /^\/apis\/[^/]+\/[^/?]+$/.test(requestURI);
}

function allows(rule: Rule, { verb, objectRef }: AuditEvent): boolean {
  const { resource = '', subresource, apiGroup = '', name, namespace } = objectRef ?? {};
  const asked = subresource === undefined ? resource : `${resource}/${subresource}`;
  const named = rule.resourceNames === undefined || rule.resourceNames.includes(name ?? '');
  return (
    rule.verbs.includes(verb) &&
    (rule.namespace === undefined || rule.namespace === namespace) &&
    (rule.apiGroups ?? []).includes(apiGroup) &&
    (rule.resources ?? []).includes(asked) &&
    named
  );
}

function shipped(component: string): string {
  return readFileSync(join(import.meta.dirname, `../../../rbac/${component}.yaml`), 'utf8');
}

interface Role {
  readonly metadata: { readonly namespace?: string };
  readonly kind: string;
  readonly rules?: readonly Rule[];
}

function rulesOf(text: string): readonly Rule[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Role)
    .flatMap(({ kind, metadata, rules = [] }) =>
      rules.map((rule) => (kind === 'Role' ? { ...rule, namespace: metadata.namespace } : rule)),
    );
}
