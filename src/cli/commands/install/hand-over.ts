// SPDX-License-Identifier: Apache-2.0
/**
 * Hands an installation over from the operator, Helm or kubectl to `install`: refuses while that
 * program still manages it, and then takes its fields over.
 */
import type { ManagedFieldsEntry } from '#kube/protobuf/object-meta.ts';
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import { SINGLETON } from '#api/operator/installation.ts';
import { usageError } from '#base/errors.ts';
import { shellWord } from '#base/quote.ts';
import { LABELS } from '#install/names.ts';
import { mergedValues } from '#install/values/defaults.ts';
import { INSTALL_MANAGER, installerOf, type Installer } from '#diagnose/check/installer.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { OPERATORS } from './left-behind.ts';

/** A record of who manages which fields of an object, with the fields of several merged. */
type FieldsEntry = Omit<ManagedFieldsEntry, 'fieldsV1'> & { readonly fieldsV1?: unknown };

/** The operator writes nothing without its singleton. */
const ABANDONED = ['countersign-operator'];
/** `kubectl apply`, server-side and client-side. */
const KUBECTL = ['kubectl', 'kubectl-client-side-apply'];
/** These programs apply again whenever a person runs them. */
const OF_PEOPLE = ['helm', ...KUBECTL];
/** The steps of the objects that `countersign rbac` prints. */
const RBAC_STEPS: readonly string[] = ['roles', 'bindings', 'policies'];

type HelmInstaller = Extract<Installer, { kind: 'helm' }>;

/**
 * Refuses an installation that another program manages.
 *
 * @returns the installer of the live components. It is Helm only with `forceConflicts`.
 * @throws SignerError USAGE with the command that hands the installation over, or KubeError
 */
export async function refuseOtherInstaller(
  client: Client,
  objects: readonly ManagedObject[],
  { forceConflicts }: { readonly forceConflicts: boolean },
): Promise<Installer> {
  const path = resource(COUNTERSIGNS).object({ name: SINGLETON });
  const singleton = await client.request<unknown>({ method: 'GET', path }).catch(ignoreNotFound);
  if (singleton !== undefined) throw usageError(HANDED_OVER_BY_THE_OPERATOR);
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  const live = await Promise.all(
    deployments.map((each) =>
      client
        .request<ManagedObject>({
          method: 'GET',
          path: ruleOf(each).resource.object(each.metadata),
        })
        .catch(ignoreNotFound),
    ),
  );
  const installer = installerOf(live.flatMap((each) => each?.metadata ?? []));
  if (installer.kind === 'helm' && !forceConflicts) throw usageError(managedByHelm(installer));
  return installer;
}

const HANDED_OVER_BY_THE_OPERATOR = `the operator manages this installation: change countersigns/${SINGLETON} instead. To hand it over, make the operator let go, and install again: kubectl delete countersigns ${SINGLETON} --cascade=orphan`;

function managedByHelm(installer: HelmInstaller): string {
  const { release, namespace } = installer;
  return `Helm release ${release} in namespace ${namespace} manages this installation: run helm upgrade instead. To hand it over, install with --force-conflicts, and then make Helm forget the release: ${forgetCommand(installer)}`;
}

/** Returns the command that deletes the record of a release, and nothing that it installed. */
export function forgetCommand({ release, namespace }: HelmInstaller): string {
  return `kubectl delete secrets -n ${shellWord(namespace)} -l ${shellWord(`owner=helm,name=${release}`)}`;
}

/**
 * Returns the managed fields with which `install` is also the manager of what former managers
 * applied, or undefined if there are none. The next apply then removes what `install` does not
 * have, the marks of the former manager included.
 *
 * @param live - not one that components fill with data: its fields stay with who created it
 * @param forceConflicts - take over from programs that people run, too
 * @param isOwn - whether `install` made this installation. If so, it also takes over objects that
 *   people applied by kubectl from the output of `countersign rbac`.
 */
export function takenOver(
  live: ManagedObject,
  { forceConflicts, isOwn = false }: { readonly forceConflicts: boolean; readonly isOwn?: boolean },
): readonly FieldsEntry[] | undefined {
  const isFilled = ruleOf(live).care === 'made' && live.kind !== 'ServiceAccount';
  if (isFilled) return undefined;
  const ofRbac = isOwn && isAppliedRbac(live) ? KUBECTL : [];
  const former = [...ABANDONED, ...(forceConflicts ? OF_PEOPLE : ofRbac)];
  const { managedFields = [] } = live.metadata;
  const taken = managedFields.filter((each) => isOf(each, former));
  const [first] = taken;
  if (first === undefined) return undefined;
  const own = managedFields.filter((each) => isOf(each, [INSTALL_MANAGER]));
  const all = [...own, ...taken].map(({ fieldsV1 }) => fieldsV1);
  const fieldsV1 = all.reduce<unknown>(mergedValues, {});
  return [
    { ...first, manager: INSTALL_MANAGER, operation: 'Apply', fieldsV1 },
    ...managedFields.filter((each) => !own.includes(each) && !taken.includes(each)),
  ];
}

/**
 * Reports whether kubectl applied an object that `countersign rbac` printed: a role, a binding or a
 * policy with the labels of an installation.
 */
export function isAppliedRbac(live: ManagedObject): boolean {
  const { managedFields = [] } = live.metadata;
  const { step, owned } = ruleOf(live);
  const isPrinted = owned && RBAC_STEPS.includes(step) && isOfInstallation(live);
  return isPrinted && managedFields.some((each) => isOf(each, KUBECTL));
}

/** Reports whether an object has the labels of an installation, and is not an operator's own. */
export function isOfInstallation({ metadata: { labels = {} } }: ManagedObject): boolean {
  return (
    labels[LABEL_NAME] === LABELS[LABEL_NAME] && !OPERATORS.includes(labels[LABEL_COMPONENT] ?? '')
  );
}

function isOf({ manager = '', operation, subresource }: FieldsEntry, managers: readonly string[]) {
  if (subresource !== undefined || !managers.includes(manager)) return false;
  // Other commands of kubectl, such as edit, write by Update under the same name as apply. The
  // operator corrects a changed object by a patch, which is an Update.
  return operation === 'Apply' || manager !== 'kubectl';
}
