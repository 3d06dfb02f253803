// SPDX-License-Identifier: Apache-2.0
/**
 * The installer of Countersign, which decides the advice: only the manager of an object should
 * write it.
 */
import { OPERATOR_RBAC_FLAGS } from '#install/operator/flags.ts';
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import type { ManagedFieldsEntry } from '#kube/protobuf/object-meta.ts';
import type { ObjectOwner } from '#kube/apply/objects/managed-object.ts';
import { shellWord } from '#base/quote.ts';

/** The manager of an installation. */
export type Installer =
  | { readonly kind: 'helm'; readonly release: string; readonly namespace: string }
  /** `countersign operator`, by the object `countersign/cluster`. */
  | { readonly kind: 'operator' }
  /** `countersign install`, by the field manager {@link INSTALL_MANAGER}. */
  | { readonly kind: 'install' }
  /** `kubectl apply` of the output of `countersign rbac` and kustomize, or unknown. */
  | { readonly kind: 'manifests' };

/** Field manager of `countersign install`, by which `uninstall` finds its objects. */
export const INSTALL_MANAGER = 'countersign-install';

/** Owners, annotations and managers of an installed object, which identify the installer. */
export interface InstalledMetadata {
  readonly ownerReferences?: readonly Pick<ObjectOwner, 'apiVersion' | 'kind'>[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
}

/**
 * Returns the installer, judged by the Deployments of the components. The operator adopts objects
 * of Helm, so the owner takes precedence, and Helm those of `countersign install`, whose managed
 * fields stay. The label of the operator decides nothing: it stays when the installation is handed
 * over.
 */
export function installerOf(all: readonly InstalledMetadata[]): Installer {
  if (all.some(({ ownerReferences = [] }) => ownerReferences.some(isCountersign)))
    return { kind: 'operator' };
  for (const { annotations = {} } of all) {
    const release = annotations['meta.helm.sh/release-name'];
    const namespace = annotations['meta.helm.sh/release-namespace'];
    if (release !== undefined && namespace !== undefined) {
      return { kind: 'helm', release, namespace };
    }
  }
  return { kind: all.some(isInstalled) ? 'install' : 'manifests' };
}

/** Reports whether `countersign install` has applied an object. */
export function isInstalled({ managedFields = [] }: InstalledMetadata): boolean {
  return managedFields.some(
    ({ manager, operation }) => manager === INSTALL_MANAGER && operation === 'Apply',
  );
}

function isCountersign({ apiVersion, kind }: Pick<ObjectOwner, 'apiVersion' | 'kind'>): boolean {
  return kind === 'Countersign' && apiVersion.startsWith(`${COUNTERSIGNS.group}/`);
}

/**
 * Returns the advice that restores the desired objects of the installation.
 *
 * @param next - a command for a person to run after it, which the operator does not need
 */
export function putBack(installer: Installer, next?: string): string {
  const then = next === undefined ? '' : ` && ${next}`;
  switch (installer.kind) {
    case 'helm':
      return `${upgradeCommand(installer)} --force-conflicts${then}`;
    case 'operator':
      return 'the operator puts it back by itself, for the signers in spec.signers of countersigns/cluster; kubectl describe countersigns cluster says what is in its way';
    case 'install':
      return `${INSTALL_AGAIN}${then}`;
    case 'manifests':
      return `${REPLACE_AGAIN}${then}   # ${WITHOUT_VALUES}`;
  }
}

/**
 * Applies the values of the installation again. Another client, such as kubectl edit, may own a
 * field by now.
 */
const INSTALL_AGAIN = 'countersign install --values values.yaml --force-conflicts';

/** Applies the values of the installation again, also to fields of another client. */
const REPLACE_AGAIN =
  'countersign manifests --values values.yaml | kubectl apply --server-side --force-conflicts -f -';

/** `--from-cluster` alone would take the permissions of all but the ClusterSigners. */
const WITHOUT_VALUES =
  'without values: countersign rbac --from-cluster with all other flags of the installation, because its output replaces the roles';

/** Applies manifests of one version with the values of the installation. */
const APPLY_AGAIN =
  'countersign manifests --values values.yaml | kubectl apply -f -   # or apply the manifests that you installed again';

/** Returns the advice that completes an upgrade. */
export function finishUpgrade(installer: Installer): string {
  switch (installer.kind) {
    case 'helm':
    case 'install':
      // Another client, such as kubectl set image, may own the field by now.
      return putBack(installer);
    case 'operator':
      return 'kubectl describe countersigns cluster';
    case 'manifests':
      return APPLY_AGAIN;
  }
}

/** Returns the advice that recreates a deleted Deployment. */
export function deployAgain(installer: Installer): string {
  return installer.kind === 'manifests' ? APPLY_AGAIN : putBack(installer);
}

/** Returns the advice that installs an optional component. */
export function enableComponent(installer: Installer, component: string): string {
  const setting = `components.${component}.enabled`;
  switch (installer.kind) {
    case 'helm':
      return `${upgradeCommand(installer)} --set ${setting}=true`;
    case 'operator':
      return `set spec.${setting}: true in countersign.yaml, apply the output of countersign rbac --operator countersign.yaml with the flags of the first time (${OPERATOR_RBAC_FLAGS}), then kubectl apply -f countersign.yaml`;
    case 'install':
    case 'manifests':
      return `set ${setting}: true in your values, then ${installer.kind === 'install' ? INSTALL_AGAIN : APPLY_AGAIN}`;
  }
}

/**
 * Returns the command that restores the replicas of a component. The manager of the Deployment may
 * do it sooner.
 */
export function scaleCommand(deployment: string, namespace: string, replicas: number): string {
  return `kubectl -n ${shellWord(namespace)} scale deployment ${shellWord(deployment)} --replicas=${replicas}`;
}

/** Returns the command that gives a component new pods with new credentials. */
export function restartCommand(deployment: string, namespace: string): string {
  return `kubectl -n ${shellWord(namespace)} rollout restart deployment ${shellWord(deployment)}`;
}

/** Returns the advice that installs a definition of this version. */
export function installDefinition(installer: Installer, name: string): string {
  return installer.kind === 'operator' || installer.kind === 'install'
    ? putBack(installer)
    : `kubectl apply --server-side --force-conflicts -f deploy/crds${folderOf(name)}`;
}

/** Returns the folder of a definition below `deploy/crds`. kubectl reads no folders in folders. */
function folderOf(name: string): string {
  const [, group = ''] = /\.(acme|operator)\.countersign\.dev$/.exec(name) ?? [];
  return group === '' ? '' : `/${group}`;
}

/**
 * Returns the advice that upgrades an older definition to this version. Helm's definitions are
 * templates of the chart, and helm upgrade fails if there are none.
 */
export function upgradeDefinition(installer: Installer, name: string): string {
  return installer.kind === 'helm' ? putBack(installer) : installDefinition(installer, name);
}

/** Returns the `helm upgrade` of the release, which keeps its values. */
export function upgradeCommand({
  release,
  namespace,
}: Extract<Installer, { kind: 'helm' }>): string {
  return `helm upgrade ${shellWord(release)} deploy/chart --namespace ${shellWord(namespace)} --reset-then-reuse-values`;
}
