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
import { mergedValues } from '#install/values/defaults.ts';
import { installerOf, type Installer } from '#diagnose/check/installer.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

/** Field manager of `install`, by which `uninstall` finds its objects. */
export const INSTALL_MANAGER = 'countersign-install';

/** A record of who manages which fields of an object, with the fields of several merged. */
type FieldsEntry = Omit<ManagedFieldsEntry, 'fieldsV1'> & { readonly fieldsV1?: unknown };

/** The operator writes nothing without its singleton. */
const ABANDONED = ['countersign-operator'];
/** These programs apply again whenever a person runs them. */
const OF_PEOPLE = ['helm', 'kubectl', 'kubectl-client-side-apply'];

type HelmInstaller = Extract<Installer, { kind: 'helm' }>;

/**
 * Refuses an installation that another program manages.
 *
 * @returns the Helm release that the installation is taken over from, or undefined
 * @throws SignerError USAGE with the command that hands the installation over, or KubeError
 */
export async function refuseOtherInstaller(
  client: Client,
  objects: readonly ManagedObject[],
  { forceConflicts }: { readonly forceConflicts: boolean },
): Promise<HelmInstaller | undefined> {
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
  if (installer.kind !== 'helm') return undefined;
  if (!forceConflicts) throw usageError(managedByHelm(installer));
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
 */
export function takenOver(
  live: ManagedObject,
  { forceConflicts }: { readonly forceConflicts: boolean },
): readonly FieldsEntry[] | undefined {
  const isFilled = ruleOf(live).care === 'made' && live.kind !== 'ServiceAccount';
  if (isFilled) return undefined;
  const former = forceConflicts ? [...ABANDONED, ...OF_PEOPLE] : ABANDONED;
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

function isOf({ manager = '', operation, subresource }: FieldsEntry, managers: readonly string[]) {
  if (subresource !== undefined || !managers.includes(manager)) return false;
  // Other commands of kubectl, such as edit, write by Update under the same name as apply. The
  // operator corrects a changed object by a patch, which is an Update.
  return operation === 'Apply' || manager !== 'kubectl';
}
