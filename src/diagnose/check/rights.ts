// SPDX-License-Identifier: Apache-2.0
/** Checks of roles and admission policies against the output of this version. Pure. */
import { membersOf } from '#base/record.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { byServedKind, secretOrNone } from '#api/signer/cluster-signer.ts';
import { authorizingNames } from '#base/authorizing-names.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { admissionDifferences, isReliedOn } from '#install/admission/compare.ts';
import { admissionRisk } from '#install/admission/risks.ts';
import { OPT_IN, admissionOf } from '#install/admission/policy-list.ts';
import { COMPONENTS } from '#install/component-list.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import type { Installation, ServedNames } from '#install/installation.ts';
import { keysNamespaceOf, permissionNamesOf } from '#install/names.ts';
import { unlistedSigners } from './access/listed-signers.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, error, whereSeen, type Outcome } from './finding.ts';
import { putBack } from './installer.ts';

/** `roles-complete` */
export function checkRoles(facts: InstallationFacts): readonly Outcome[] {
  const { roles, signers, installer } = facts;
  return whereSeen(roles, (granted) =>
    whereSeen(signers, ({ installation }) =>
      allWell(
        [...COMPONENTS.values()].flatMap((component) =>
          lacking(component, granted.get(component.name), {
            installation: withoutUnlisted(installation, facts),
            remediation: putBack(installer),
            isInstalled: hasDeployment(facts, component.name),
          }),
        ),
        'the roles grant what the components need',
      ),
    ),
  );
}

/** Returns the installation without unlisted signers, which signers-listed reports. */
function withoutUnlisted(installation: Installation, facts: InstallationFacts): Installation {
  const unlisted = unlistedSigners(facts);
  if (unlisted.length === 0) return installation;
  const names = new Set(unlisted.map(({ spec }) => spec.signerName));
  const bundles = new Set(
    unlisted.map(({ spec }) => bundleName(spec.signerName, spec.trustBundle?.name ?? '')),
  );
  const secrets = new Set(unlisted.map(({ spec }) => secretOrNone(spec)?.name));
  const listed = ({ signers, secrets: all }: ServedNames): ServedNames => ({
    signers: signers.filter((name) => !names.has(name)),
    secrets: all.filter(({ name }) => !secrets.has(name)),
  });
  const { served } = installation;
  const byKind = served && byServedKind((kind) => listed(served[kind]));
  return {
    ...installation,
    ...listed(installation),
    bundles: installation.bundles.filter((name) => !bundles.has(name)),
    ...(byKind === undefined ? {} : { served: byKind }),
  };
}

/** The requirements of a component. */
interface ComponentRequirements {
  readonly installation: Installation;
  readonly remediation: string;
  /** True if it has a Deployment. Then an optional component needs a role as well. */
  readonly isInstalled: boolean;
}

function hasDeployment({ deployments }: InstallationFacts, component: string): boolean {
  return 'value' in deployments && deployments.value.some((each) => each.component === component);
}

function lacking(
  component: ComponentDescriptor,
  granted: readonly PermissionRule[] | undefined,
  { installation, remediation, isInstalled }: ComponentRequirements,
): readonly Outcome[] {
  const subject = `clusterrole/countersign-${component.name}`;
  if (granted === undefined) {
    if (component.optional !== undefined && !isInstalled) return [];
    return [error('it does not exist', remediation, subject)];
  }
  const needed = component.permissions(permissionNamesOf(component, installation));
  const missing = needed.flatMap(singleRights).filter((right) => !isGranted(right, granted));
  if (missing.length === 0) return [];
  const shown = missing.slice(0, 3).map(rightText).join('; ');
  const more = missing.length > 3 ? `; and ${missing.length - 3} more` : '';
  return [error(`it does not grant ${shown}${more}`, remediation, subject)];
}

/** One verb on one resource, and one name if the rule has names. */
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

/**
 * Returns the names by which a role grants a permission. For a signer, Kubernetes also accepts
 * `<domain>/*`.
 */
function grantingNames({ group, resource, verb, name }: Right): readonly string[] {
  if (name === undefined) return [];
  const isSigner = group === 'certificates.k8s.io' && resource === 'signers';
  return isSigner ? authorizingNames(verb, name) : [name];
}

/**
 * Reports whether a rule grants the permission. A cluster-wide ClusterRole grants it in each
 * namespace as well.
 */
function isGranted(right: Right, granted: readonly PermissionRule[]): boolean {
  const names = grantingNames(right);
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
        names.some((name) => resourceNames.includes(name))),
  );
}

function rightText({ group, resource, verb, name, namespace }: Right): string {
  const named = name === undefined ? '' : ` "${name}"`;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${named}${where}`;
}

/** `policies-equal` */
export function checkPolicies(facts: InstallationFacts): readonly Outcome[] {
  const { policies, signers, installer } = facts;
  return whereSeen(policies, (live) =>
    whereSeen(signers, ({ installation: all }) => {
      const installation = withoutUnlisted(all, facts);
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
          return [error(why, putBack(installer), `validatingadmissionpolicy/${name}`)];
        }),
        `all ${wanted.length} admission policies are as Countersign prints them`,
      );
    }),
  );
}

/**
 * Maximum number of differences of a policy that are named. The others are counted, because one
 * command restores all of them.
 */
const MAX_DIFFERENCES = 3;

function differencesText(policy: string, found: readonly string[]): string {
  const [first = '', ...rest] = found.slice(0, MAX_DIFFERENCES);
  const whose = `ValidatingAdmissionPolicy ${policy}`;
  const others = rest.map((each) => each.replace(`${whose}: `, ''));
  const more = found.length - MAX_DIFFERENCES;
  return [first, ...others, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** Returns the names of the policies of an installation, without the opt-in policy. */
function policyNames(installation: Installation): readonly string[] {
  const manifests = [...admissionOf(installation)].flatMap(([file, each]) =>
    file === OPT_IN ? [] : each,
  );
  return manifests
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
    .map(({ metadata }) => String(membersOf(metadata)['name']));
}
