// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the admission policies of a cluster with those that `countersign rbac` prints. The lists
 * of names come from the policy itself. Everything else is rendered, so a policy that guards less
 * differs somewhere.
 */
import { isRecord, membersOf } from '#base/record.ts';
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { everySignerBeside, everySignerOf } from '#base/authorizing-names.ts';
import { isDerivedName } from '#api/signer/signer.ts';
import { certManagerDeploymentsPolicy } from './cert-manager-deployments.ts';
import type { ComponentNames } from './components.ts';
import { countersignsPolicy } from './countersigns.ts';
import { LISTED } from './held/routes.ts';
import { policiesOf } from './policy-list.ts';
import {
  POD_REQUEST_POLICY,
  guardsPodRequests,
  podRequestsPolicy,
  type GuardedSigners,
} from './policies.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import type { Manifest } from '../roles.ts';

/** A ValidatingAdmissionPolicy and the binding of the same name, as the API server has them. */
export interface LiveAdmission {
  /** The policy, or undefined if it does not exist. */
  readonly policy: { readonly spec?: Manifest } | undefined;
  /** The binding, or undefined if it does not exist. */
  readonly binding: { readonly spec?: Manifest } | undefined;
}

/** The names for which the policies are rendered. */
export interface AdmissionContext {
  /** Namespace of the components, or undefined for the one in the policy itself. */
  readonly namespace: string | undefined;
  /**
   * Namespace of the CA Secrets of cluster-scoped signers, or undefined for the one in the policy
   * itself.
   */
  readonly secretNamespace: string | undefined;
  /**
   * Signer names of the served signers. The name of a Signer, or `signers.countersign.dev/*`,
   * stands for all Signers.
   */
  readonly signerNames: readonly string[];
}

/**
 * Reports whether a policy guards anything. The one for PodCertificateRequests guards nothing while
 * no signer is served.
 *
 * @param name - of the policy
 */
export function isReliedOn(name: string, { signerNames }: AdmissionContext): boolean {
  return name !== POD_REQUEST_POLICY || signerNames.length > 0;
}

/**
 * Compares a policy and its binding with those that `countersign rbac` prints. It ignores defaults
 * that the API server fills in. It also ignores names in a list, except a served signer name that
 * is not listed.
 *
 * @param name - of the policy and of its binding
 * @returns the differences, each a sentence that begins with the kind and the name, or an empty
 * array
 */
export function admissionDifferences(
  name: string,
  { policy, binding }: LiveAdmission,
  context: AdmissionContext,
): readonly string[] {
  const ofPolicy = `ValidatingAdmissionPolicy ${name}`;
  if (policy === undefined) return [`${ofPolicy} is not installed`];
  const spec = policy.spec ?? {};
  const [printed] = render(name, spec, context).filter((each) => nameOf(each) === name);
  if (printed === undefined) return [`${ofPolicy} is not one that countersign rbac prints`];
  return [
    ...differences(withoutDefaults(printed['spec']), withoutDefaults(spec), 'spec').map(
      (each) => `${ofPolicy}: ${each}`,
    ),
    ...(guardsPodRequests(name) ? unnamed(guardedBy(spec), context) : []).map(
      (each) => `${ofPolicy} does not name ${each}, which is served`,
    ),
    ...bindingDifferences(name, binding).map(
      (each) => `ValidatingAdmissionPolicyBinding ${name} ${each}`,
    ),
  ];
}

function bindingDifferences(name: string, binding: LiveAdmission['binding']): readonly string[] {
  if (binding === undefined) return ['is not installed'];
  const { policyName, validationActions, ...narrowing } = binding.spec ?? {};
  const denies = Array.isArray(validationActions) && validationActions.includes('Deny');
  return [
    ...(policyName === name ? [] : ['does not bind this policy']),
    ...(denies ? [] : ['does not deny']),
    // The API server fills in neither paramRef nor matchResources. matchResources restricts the
    // policy to some objects.
    ...Object.keys(narrowing).map((field) => `does not deny everywhere: spec.${field} is set`),
  ];
}

/**
 * Renders every policy with the lists of this one. Lists that the policy does not have stay empty.
 */
function render(
  name: string,
  live: Manifest,
  { namespace: known, secretNamespace }: AdmissionContext,
): readonly Manifest[] {
  const namespace = known ?? namespaceIn(live);
  const components = componentNamesIn(live, namespace);
  const guarded = guardedBy(live);
  const files = policiesOf({
    components,
    guarded,
    keysNamespace: secretNamespace ?? KEYS_NAMESPACE.exec(JSON.stringify(live))?.[1] ?? '',
    crls: components.secrets.map(ofCrl),
    // The rows of its own table are already names of ConfigMaps.
    trustConfigMaps: components.bundles,
    upstreamIssuers: upstreamIssuersIn(live),
    routeMetadata: routeMetadataIn(live),
  });
  return [
    // The policy of an author's process has a name of its own.
    ...(guardsPodRequests(name) ? podRequestsPolicy(guarded, name) : []),
    ...[...files.values()].flat(),
    ...countersignsPolicy(),
    ...certManagerDeploymentsPolicy(namespace),
  ];
}

/** Returns the CA Secret whose CRLs are in a ConfigMap of this name. */
function ofCrl({ namespace, name }: SecretReference): SecretReference {
  return { namespace, name: name.slice(0, -crlConfigMapName('').length) };
}

// Names and lists in an expression, which are rendered again and compared as text. The patterns
// match no quote and no backslash, so a list that renders to the same text is a list of plain
// names.
const QUOTED_NAME = /'([\w./:-]+)'/g;
/** Lists of names or domains. An index such as `[0]` does not match. */
const LIST = / in \[([^\]]*)\]/g;
const TABLE_ROW = /'([\w.:-]+)': '([\w./-]+)'/g;
const PLACE = /'([\w-]+)\/([\w.-]+)'/g;
const ROUTE_METADATA = /'([\w.:/=,*+@-]+)'/g;
const UPSTREAM_ISSUER = /'([\w-]+\/[\w.-]+\/[\w.-]+)'/g;
const KEYS_NAMESPACE = /resource\('secrets'\)\.namespace\('([a-z0-9-]+)'\)/;
const COMPONENTS_PLACE =
  /(?:serviceaccount:|'ingresses'\)\.namespace\(')([a-z0-9-]+)(?::countersign-|'\))/;

/**
 * Reads the names and domains in the lists of `our-signers`, and whether it matches those of all
 * Signers.
 */
function guardedBy(live: Manifest): GuardedSigners {
  const [expression = ''] = expressionsOf(live, 'matchConditions');
  const [signers = [], signerDomains = []] = [...expression.matchAll(LIST)].map(([, list = '']) =>
    [...list.matchAll(QUOTED_NAME)].map(([, name = '']) => name),
  );
  return { signers, signerDomains, namespacedSigners: expression.includes('.startsWith(') };
}

/**
 * Reads the table of bundles and the list of Secrets in the policies that restrict a component to
 * its names.
 */
function componentNamesIn(live: Manifest, namespace: string): ComponentNames {
  const [expression = ''] = expressionsOf(live, 'validations');
  const rows = [...(/\{[^}]*\}/.exec(expression)?.[0] ?? '').matchAll(TABLE_ROW)];
  const places = (/\[[^\]]*\]/.exec(expression)?.[0] ?? '').matchAll(PLACE);
  return {
    namespace,
    bundles: rows.map(([, bundle = '']) => bundle),
    signers: [...new Set(rows.map(([, , signer = '']) => signer))],
    secrets: [...places]
      .map(([, where = '', name = '']) => ({ namespace: where, name }))
      // Never printed: a user who may create Secrets beside the components can mint their tokens.
      .filter((each) => each.namespace !== namespace),
  };
}

/** Reads the labels and annotations that an administrator listed. */
function routeMetadataIn(live: Manifest): readonly string[] {
  const [expression = ''] = expressionsOf(live, 'variables', LISTED);
  return [...expression.matchAll(ROUTE_METADATA)].map(([, entry = '']) => entry);
}

/** Reads the issuers that an administrator listed. */
function upstreamIssuersIn(live: Manifest): readonly string[] {
  const [expression = ''] = expressionsOf(live, 'validations');
  return [...expression.matchAll(UPSTREAM_ISSUER)].map(([, issuer = '']) => issuer);
}

function namespaceIn(live: Manifest): string {
  return COMPONENTS_PLACE.exec(JSON.stringify(live))?.[1] ?? '';
}

function unnamed(
  { signers, signerDomains, namespacedSigners }: GuardedSigners,
  { signerNames }: AdmissionContext,
): readonly string[] {
  const everyOf = signerDomains.map(everySignerOf);
  return signerNames.filter((name) => {
    if (isDerivedName(name)) return !namespacedSigners;
    return !signers.includes(name) && !everyOf.includes(everySignerBeside(name));
  });
}

function nameOf({ metadata }: Manifest): unknown {
  return membersOf(metadata)['name'];
}

function expressionsOf(spec: Manifest, field: string, name?: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(spec[field]) ? spec[field] : [];
  return list
    .map(membersOf)
    .filter((each) => name === undefined || each['name'] === name)
    .map(({ expression }) => (typeof expression === 'string' ? expression : ''));
}

/** Values that the API server fills in for absent fields. */
const DEFAULTS: Manifest = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', scope: '*' };

/** Returns the value without fields that are empty or have their default. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value)
    .filter(([key, each]) => each !== DEFAULTS[key])
    .map(([key, each]) => [key, withoutDefaults(each)] as const);
  return Object.fromEntries(fields.filter(([, each]) => !isEmpty(each)));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Returns the path of each place where `found` differs from `printed`. */
function differences(printed: unknown, found: unknown, path: string): readonly string[] {
  if (printed === found) return [];
  if (found === undefined) return [`${path} is missing`];
  if (printed === undefined) return [`${path} is not what countersign rbac prints`];
  if (Array.isArray(printed) && Array.isArray(found)) {
    const [left, right]: readonly (readonly unknown[])[] = [printed, found];
    return Array.from({ length: Math.max(printed.length, found.length) }, (_none, index) =>
      differences(left?.[index], right?.[index], `${path}[${index}]`),
    ).flat();
  }
  if (!isRecord(printed) || !isRecord(found)) return [`${path} differs`];
  const keys = new Set([...Object.keys(printed), ...Object.keys(found)]);
  return [...keys].flatMap((key) => differences(printed[key], found[key], `${path}.${key}`));
}
