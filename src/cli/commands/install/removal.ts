// SPDX-License-Identifier: Apache-2.0
/** The commands that remove what an uninstallation leaves. This module has no side effects. */
import { CERT_MANAGER_DEPLOYMENTS } from '#api/operator/cert-manager-deployment.ts';
import { SINGLETON } from '#api/operator/installation.ts';
import { installerOf, type Installer } from '#diagnose/check/installer.ts';
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';
import { shellWord } from '#base/quote.ts';
import { kindRules } from '#kube/apply/objects/kinds.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { kubectlName } from './run.ts';
import { OPERATORS, type LeftBehind } from './left-behind.ts';

/**
 * Names of kinds for kubectl. A definition includes its group, since other projects define kinds of
 * the same name.
 */
const KUBECTL_KINDS: Readonly<Record<string, string>> = {
  ClusterTrustBundle: 'clustertrustbundles.certificates.k8s.io',
  Challenge: 'challenges.acme.countersign.dev',
};

/**
 * Returns the arguments for kubectl:
 * `persistentvolumeclaim/countersign-ledger -n countersign-system`.
 */
function nameOf({ kind, metadata: { name, namespace } }: ManagedObject): string {
  const flag = namespace === undefined ? '' : ` -n ${shellWord(namespace)}`;
  return `${KUBECTL_KINDS[kind] ?? kind.toLowerCase()}/${shellWord(name)}${flag}`;
}

/** Returns all remaining objects but the Leases of components, which hold no state. */
export function objectsLeft(left: LeftBehind): readonly ManagedObject[] {
  return [
    left.definitions,
    left.signers,
    left.namespaces,
    left.claims,
    left.secrets,
    left.configMaps,
    left.bundles,
    left.challenges,
    left.foreignLeases,
  ].flat();
}

/**
 * Returns the command that deletes an installation applied by kubectl: all kinds except those that
 * hold keys, records or trust. Deployments go before the bindings, which name the namespaces to a
 * repeated uninstallation.
 */
function kubectlRemoval(): string {
  const kinds = kindRules().filter(
    ({ apiVersion, owned }) => owned && !apiVersion.startsWith('monitoring.coreos.com/'),
  );
  const names = kinds
    .toReversed()
    .map(({ resource: { plural, group } }) => (group === '' ? plural : `${plural}.${group}`));
  const selector = `${LABEL_NAME}=countersign,${LABEL_COMPONENT} notin (${OPERATORS.join()})`;
  return `kubectl delete ${names.join(',')} -A -l '${selector}'`;
}

/** Returns how each program that installed one of these Deployments removes it. */
export function stillInstalled(running: readonly ManagedObject[]): string {
  const ways = new Set(running.map(({ metadata }) => removalBy(installerOf([metadata]))));
  return `installed by another program: ${running.map(kubectlName).join(', ')}; ${[...ways].join(', and ')}`;
}

function removalBy(installer: Installer): string {
  switch (installer.kind) {
    case 'helm': {
      const release = `${shellWord(installer.release)} -n ${shellWord(installer.namespace)}`;
      return `Helm removes its release by: helm uninstall ${release}`;
    }
    case 'operator':
      return `the operator removes what it made by: kubectl delete countersigns/${SINGLETON}`;
    case 'install':
    case 'manifests':
      return `what kubectl applied goes by: ${kubectlRemoval()}`;
  }
}

/**
 * Returns the commands that remove the remaining objects for good, in a working order. It omits the
 * namespace and the definition of an operator that still runs.
 */
export function removalCommands(left: LeftBehind): readonly string[] {
  const definitions = removableDefinitions(left);
  const namespaces = removableNamespaces(left);
  const namespaced = [left.claims, left.secrets, left.configMaps].flat();
  const elsewhere = namespaced.filter(
    ({ metadata: { namespace } }) =>
      !namespaces.some(({ metadata }) => metadata.name === namespace),
  );
  return [
    ...left.challenges.map(
      (each) => `kubectl patch ${nameOf(each)} --type=merge -p '{"metadata":{"finalizers":null}}'`,
    ),
    ...(left.bundles.length === 0
      ? []
      : [`kubectl delete ${left.bundles.map(nameOf).sort().join(' ')}`]),
    ...(definitions.length === 0
      ? []
      : [`kubectl delete customresourcedefinitions ${words(definitions)}`]),
    ...elsewhere.map((each) => `kubectl delete ${nameOf(each)}`),
    ...(namespaces.length === 0 ? [] : [`kubectl delete namespaces ${words(namespaces)}`]),
  ];
}

function words(objects: readonly ManagedObject[]): string {
  return objects
    .map(({ metadata }) => shellWord(metadata.name))
    .sort()
    .join(' ');
}

function removableDefinitions({ definitions, operators }: LeftBehind): readonly ManagedObject[] {
  const runs = (component: string): boolean =>
    operators.some(({ metadata }) => metadata.labels?.[LABEL_COMPONENT] === component);
  const ofCertManager = CERT_MANAGER_DEPLOYMENTS.plural;
  return definitions.filter(({ metadata: { name } }) => {
    // The definition's deletion would delete its object, and with it the cert-manager that it
    // installs.
    if (name.startsWith(`${ofCertManager}.`)) return !runs('cert-manager-operator');
    return !(name.startsWith('countersigns.') && runs('operator'));
  });
}

function removableNamespaces({ namespaces, operators }: LeftBehind): readonly ManagedObject[] {
  const used = new Set(operators.map(({ metadata }) => metadata.namespace));
  return namespaces.filter(({ metadata }) => !used.has(metadata.name));
}
