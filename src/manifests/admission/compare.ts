// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the admission policies of a cluster with what `countersign rbac` prints. The lists of names are taken from
 * the policy itself, everything else is rendered, so a policy that guards less than ours differs somewhere.
 */
import type { SecretReference } from '../../api/signer/cluster-signer.ts';
import { isDerivedName } from '../../api/signer/signer.ts';
import {
  whoCreatesPodCertificateRequests,
  whoWritesClusterSignerStatus,
  whoWritesClusterSigners,
  whoWritesSignerStatus,
  type Guarded,
} from './policies.ts';
import { whoWritesAcme } from './acme.ts';
import { whoAsksByCertificateRequests } from './certificate-requests.ts';
import {
  whatAnswersChange,
  whatTheAuthorityChangesOfApiServices,
  whichBundlesTheAttesterWrites,
  whichEventsAreWritten,
  whichRequestsAreAnswered,
  whichSecretsTheAuthorityMakes,
  type ComponentNames,
} from './components.ts';
import { whoWritesCertManagerDeployments } from './cert-manager-deployments.ts';
import { whoWritesCountersigns } from './countersigns.ts';
import { whichFederatedBundlesAreWritten } from './federation.ts';
import { whoWritesLeases } from './leases.ts';
import { whichConfigMapsTheAuthorityMakes, whoRevokes } from './revocations.ts';
import { crlConfigMapName } from '../../api/revocation/revocation.ts';
import { whatIsRefreshed } from './refreshed.ts';
import { whichCaBundlesAreWritten, whichTrustConfigMapsAreWritten } from './trust.ts';
import type { Manifest } from '../roles.ts';

/** The one policy that must name what is served: it guards no other signer name. */
const NAMES_SIGNERS = 'countersign-pod-certificate-requests';

/** A ValidatingAdmissionPolicy and the binding of the same name, as the API server has them. */
export interface LiveAdmission {
  /** Undefined: it does not exist. */
  readonly policy: { readonly spec?: Manifest } | undefined;
  /** Undefined: it does not exist. */
  readonly binding: { readonly spec?: Manifest } | undefined;
}

/** What the policies are rendered for. */
export interface AdmissionContext {
  /** Namespace of the components; undefined: the one that the policy itself names. */
  readonly namespace: string | undefined;
  /** Namespace of the keys of signers that have none of their own; undefined: the one that the policy itself names. */
  readonly secretNamespace: string | undefined;
  /** Signer names whose requests are answered; that of a Signer, or `signers.countersign.dev/*`, stands for all Signers. */
  readonly signerNames: readonly string[];
}

/**
 * Whether a policy has something to guard: the one for PodCertificateRequests guards nothing while nothing is served.
 *
 * @param name - of the policy
 */
export function isReliedOn(name: string, { signerNames }: AdmissionContext): boolean {
  return name !== NAMES_SIGNERS || signerNames.length > 0;
}

/**
 * Compares a policy and its binding with what `countersign rbac` prints. Defaults that the API server fills in are no
 * difference; neither are names in a list, but for a signer name that is served and not listed.
 *
 * @param name - of the policy and of its binding
 * @returns the differences, each a sentence that begins with the kind and the name; empty when there are none
 */
export function admissionDifferences(
  name: string,
  { policy, binding }: LiveAdmission,
  context: AdmissionContext,
): readonly string[] {
  const ofPolicy = `ValidatingAdmissionPolicy ${name}`;
  if (policy === undefined) return [`${ofPolicy} is not installed`];
  const spec = policy.spec ?? {};
  const [printed] = render(spec, context).filter((each) => nameOf(each) === name);
  if (printed === undefined) return [`${ofPolicy} is none that countersign rbac prints`];
  return [
    ...differences(withoutDefaults(printed['spec']), withoutDefaults(spec), 'spec').map(
      (each) => `${ofPolicy}: ${each}`,
    ),
    ...(name === NAMES_SIGNERS ? unnamed(guardedBy(spec), context) : []).map(
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
    // The API server fills in neither: paramRef, and matchResources, by which it holds for some objects only.
    ...Object.keys(narrowing).map((field) => `does not deny everywhere: spec.${field} is set`),
  ];
}

/** Every policy, rendered with the lists of this one. Those that do not belong to it stay empty. */
function render(
  live: Manifest,
  { namespace: known, secretNamespace }: AdmissionContext,
): readonly Manifest[] {
  const namespace = known ?? namespaceIn(live);
  const names = componentNamesIn(live, namespace);
  const keys = secretNamespace ?? KEYS_NAMESPACE.exec(JSON.stringify(live))?.[1] ?? '';
  return [
    ...whoCreatesPodCertificateRequests(guardedBy(live)),
    ...whoWritesClusterSigners(),
    ...whoWritesClusterSignerStatus(namespace),
    ...whoWritesSignerStatus(namespace),
    ...whoAsksByCertificateRequests(),
    ...whoWritesAcme(namespace, keys),
    ...whichBundlesTheAttesterWrites(names),
    ...whichRequestsAreAnswered(namespace),
    ...whichSecretsTheAuthorityMakes(names),
    ...whoRevokes(),
    ...whichConfigMapsTheAuthorityMakes({ namespace, secrets: names.secrets.map(ofCrl) }),
    ...whatTheAuthorityChangesOfApiServices(namespace),
    ...whatAnswersChange(namespace),
    ...whichEventsAreWritten(namespace),
    ...whichFederatedBundlesAreWritten(namespace),
    ...whoWritesLeases(namespace),
    ...whoWritesCountersigns(),
    ...whoWritesCertManagerDeployments(namespace),
    ...whatIsRefreshed(namespace),
    // The rows of its own table: names of ConfigMaps already.
    ...whichTrustConfigMapsAreWritten(namespace, names.signers, names.bundles),
    ...whichCaBundlesAreWritten(namespace),
  ];
}

/** The CA Secret whose CRLs are in a ConfigMap of this name. */
function ofCrl({ namespace, name }: SecretReference): SecretReference {
  return { namespace, name: name.slice(0, -crlConfigMapName('').length) };
}

// What these find is rendered and compared as text. They match no quote and no backslash, so a list that
// renders to the same text is a list of plain names.
const QUOTED_NAME = /'([\w./:-]+)'/g;
const TABLE_ROW = /'([\w.:-]+)': '([\w./-]+)'/g;
const PLACE = /'([\w-]+)\/([\w.-]+)'/g;
const KEYS_NAMESPACE = /resource\('secrets'\)\.namespace\('([a-z0-9-]+)'\)/;
const COMPONENTS_PLACE =
  /(?:serviceaccount:|'ingresses'\)\.namespace\(')([a-z0-9-]+)(?::countersign-|'\))/;

/** The names in `object.spec.signerName in ['…']`, and whether those of all Signers are matched as well. */
function guardedBy(live: Manifest): Guarded {
  const [expression = ''] = expressionsOf(live, 'matchConditions');
  const [list = ''] = /\[[^\]]*\]/.exec(expression) ?? [];
  return {
    signers: [...list.matchAll(QUOTED_NAME)].map(([, name = '']) => name),
    namespacedSigners: expression.includes('\n|| '),
  };
}

/** The table of bundles and the list of Secrets in the policies that hold a component to its names. */
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
      // Never printed: who may create Secrets beside the components can mint their tokens.
      .filter((each) => each.namespace !== namespace),
  };
}

function namespaceIn(live: Manifest): string {
  return COMPONENTS_PLACE.exec(JSON.stringify(live))?.[1] ?? '';
}

function unnamed(
  { signers, namespacedSigners }: Guarded,
  { signerNames }: AdmissionContext,
): readonly string[] {
  return signerNames.filter((name) =>
    isDerivedName(name) ? !namespacedSigners : !signers.includes(name),
  );
}

function nameOf({ metadata }: Manifest): unknown {
  return isObject(metadata) ? metadata['name'] : undefined;
}

function expressionsOf(spec: Manifest, field: string): readonly string[] {
  const list = spec[field];
  if (!Array.isArray(list)) return [];
  return (list as readonly unknown[]).map((each) =>
    isObject(each) && typeof each['expression'] === 'string' ? each['expression'] : '',
  );
}

/** What the API server fills in where nothing was given. */
const DEFAULTS: Manifest = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', scope: '*' };

/** The value without fields that are empty or have their default. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (!isObject(value)) return value;
  const fields = Object.entries(value)
    .filter(([key, each]) => each !== DEFAULTS[key])
    .map(([key, each]) => [key, withoutDefaults(each)] as const);
  return Object.fromEntries(fields.filter(([, each]) => !isEmpty(each)));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Each place where `found` is not what was printed, by its path. */
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
  if (!isObject(printed) || !isObject(found)) return [`${path} differs`];
  const keys = new Set([...Object.keys(printed), ...Object.keys(found)]);
  return [...keys].flatMap((key) => differences(printed[key], found[key], `${path}.${key}`));
}

function isObject(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
