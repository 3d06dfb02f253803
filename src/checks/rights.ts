// SPDX-License-Identifier: Apache-2.0
/** Checks of roles and admission policies, compared with what this version prints. Pure. */
import type { PermissionRule } from '../kube/resource/permissions.ts';
import { admissionDifferences, isReliedOn } from '../manifests/admission/compare.ts';
import { admissionRisk } from '../manifests/admission/risks.ts';
import { OPT_IN, admissionOf } from '../manifests/admission/installed.ts';
import { COMPONENTS } from '../manifests/components.ts';
import type { ComponentDescription } from '../manifests/components/description.ts';
import type { Installation } from '../manifests/installation.ts';
import { keysNamespaceOf, permissionNamesOf } from '../manifests/names.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, error, warning, whereSeen, type Outcome } from './finding.ts';
import { putBack } from './installer.ts';

/** `roles-complete` */
export function checkRoles({ roles, signers, installer }: InstallationFacts): readonly Outcome[] {
  return whereSeen(roles, (granted) =>
    whereSeen(signers, ({ installation }) =>
      allWell(
        [...COMPONENTS].flatMap(([component, description]) =>
          lacking({ component, ...description }, granted.get(component), {
            installation,
            todo: putBack(installer),
          }),
        ),
        'the roles grant what the components need',
      ),
    ),
  );
}

function lacking(
  { component, ...description }: ComponentDescription & { readonly component: string },
  granted: readonly PermissionRule[] | undefined,
  { installation, todo }: { readonly installation: Installation; readonly todo: string },
): readonly Outcome[] {
  const subject = `clusterrole/countersign-${component}`;
  if (granted === undefined) {
    if (description.optional !== undefined) return [];
    return [error('it does not exist', todo, subject)];
  }
  const needed = description.permissions(permissionNamesOf(description, installation));
  const missing = needed.flatMap(singleRights).filter((right) => !isGranted(right, granted));
  if (missing.length === 0) return [];
  const shown = missing.slice(0, 3).map(rightText).join('; ');
  const more = missing.length > 3 ? `; and ${missing.length - 3} more` : '';
  return [error(`it does not grant ${shown}${more}`, todo, subject)];
}

/** One verb on one resource, and one name where the rule has names. */
interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

function singleRights(rule: PermissionRule): readonly Right[] {
  const { apiGroups, resources, verbs, resourceNames = [undefined], namespace } = rule;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        resourceNames.map((name) => ({ group, resource, verb, name, namespace })),
      ),
    ),
  );
}

/** A ClusterRole, bound for the whole cluster, grants in each namespace, too. */
function isGranted(right: Right, granted: readonly PermissionRule[]): boolean {
  const has = (list: readonly string[], value: string): boolean =>
    list.includes(value) || list.includes('*');
  return granted.some(
    ({ apiGroups, resources, verbs, resourceNames, namespace }) =>
      (namespace === undefined || namespace === right.namespace) &&
      has(apiGroups, right.group) &&
      has(resources, right.resource) &&
      has(verbs, right.verb) &&
      (resourceNames === undefined ||
        resourceNames.length === 0 ||
        (right.name !== undefined && resourceNames.includes(right.name))),
  );
}

function rightText({ group, resource, verb, name, namespace }: Right): string {
  const named = name === undefined ? '' : ` "${name}"`;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${named}${where}`;
}

/** `policies-equal` */
export function checkPolicies({
  policies,
  signers,
  installer,
}: InstallationFacts): readonly Outcome[] {
  return whereSeen(policies, (live) =>
    whereSeen(signers, ({ installation }) => {
      const { namespace, signers: signerNames } = installation;
      const secretNamespace = keysNamespaceOf(installation);
      const context = { namespace, secretNamespace, signerNames };
      const wanted = policyNames(installation).filter((name) => isReliedOn(name, context));
      const none = { policy: undefined, binding: undefined };
      return allWell(
        wanted.flatMap((name) => {
          const found = admissionDifferences(name, live.get(name) ?? none, context);
          if (found.length === 0) return [];
          const why = `${differencesText(name, found)}: ${admissionRisk(name)}`;
          return [warning(why, putBack(installer), `validatingadmissionpolicy/${name}`)];
        }),
        `all ${wanted.length} admission policies are as Countersign prints them`,
      );
    }),
  );
}

/** Differences of a policy that are named; the rest is counted, as one command puts all of them back. */
const MOST_DIFFERENCES = 3;

function differencesText(policy: string, found: readonly string[]): string {
  const [first = '', ...rest] = found.slice(0, MOST_DIFFERENCES);
  const whose = `ValidatingAdmissionPolicy ${policy}`;
  const others = rest.map((each) => each.replace(`${whose}: `, ''));
  const more = found.length - MOST_DIFFERENCES;
  return [first, ...others, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** The names of the policies of an installation, without the opt-in one. */
function policyNames(installation: Installation): readonly string[] {
  const manifests = [...admissionOf(installation)].flatMap(([file, each]) =>
    file === OPT_IN ? [] : each,
  );
  return manifests
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
    .map(({ metadata }) => (metadata as { readonly name: string }).name);
}
