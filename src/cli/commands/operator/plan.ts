// SPDX-License-Identifier: Apache-2.0
import type { OperatorFlags } from '#install/operator/flags.ts';
import { COUNTERSIGNS, type Countersign } from '#api/operator/countersign.ts';
import { SINGLETON, type InstallationObject } from '#api/operator/installation.ts';
import { isRefusal, type DesiredInstallation, type Refusal } from '#install/reconcile/desired.ts';
import { refuseServer } from '#install/reconcile/server-version.ts';
import { usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { desiredInstallation } from '#install/operator/desired.ts';
import { planObject } from '#kube/apply/objects/plan-object.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { MANAGED_BY, marked, superfluous } from '#kube/apply/objects/mark.ts';
import { createWriter } from '#kube/apply/writer.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { readCountersign } from './countersign-file.ts';
import { installedFlags } from './operator-flags.ts';
import { plannedChange, planText, type PlannedChange, type PlanReport } from './planned-changes.ts';

/** Flags of `countersign operator plan`. */
export interface PlanOptions extends UserOptions, OperatorFlags {
  readonly file?: string;
  readonly namespace: string;
  readonly secretNamespace: string;
  readonly output: Output;
}

/** A kind of singleton with its objects. */
export interface PlannedKind<T extends InstallationObject> {
  readonly kind: string;
  readonly resource: Resource;
  /** Value of the label on every object of the installation. */
  readonly label: string;
  /**
   * Reads one from a file.
   *
   * @throws SignerError USAGE (`fail`)
   */
  readonly readFile: (file: string) => Promise<T>;
  /**
   * Returns the objects of a spec, or a refusal.
   *
   * @throws KubeError
   */
  readonly desiredOf: (object: T) => Promise<DesiredInstallation | Refusal>;
}

/**
 * Prints one line for each object that differs from its desired state, and a summary. It changes
 * nothing.
 *
 * @param given - the names of the flags that the user wrote. The others have the values of a
 * running operator.
 * @returns the exit code: 0, or 3 if the operator would reject the spec
 * @throws SignerError USAGE (`fail`) without a Countersign
 */
export async function runPlan(options: PlanOptions, given: ReadonlySet<string>): Promise<number> {
  const { client } = await connectUser(options, 'operator');
  try {
    const flags = await flagsFor(client, options, given);
    const settings = {
      namespace: options.namespace,
      keysNamespace: flags.secretNamespace,
      image: flags.image,
      allowedImages: flags.allowImage,
      dangerZone: flags.allowDangerZone,
    };
    return await printPlan<Countersign>(client, options, {
      kind: 'Countersign',
      resource: resource(COUNTERSIGNS),
      label: 'countersign',
      readFile: readCountersign,
      desiredOf: ({ spec }) => Promise.resolve(desiredInstallation(spec, settings)),
    });
  } finally {
    await client.close();
  }
}

async function flagsFor(
  client: Client,
  options: PlanOptions,
  given: ReadonlySet<string>,
): Promise<PlanOptions> {
  const { namespace, image } = options;
  const installed = await installedFlags(client, namespace);
  if (installed === undefined && !given.has('image')) {
    printProgress(
      `there is no operator in namespace ${namespace} whose --image counts; images are planned from ${image}: write --image as it will have it`,
    );
  }
  const written = Object.entries(options).filter(([name]) => given.has(name));
  return { ...options, ...installed, ...Object.fromEntries(written) };
}

/**
 * Prints the plan of one kind of installation.
 *
 * @param options - `file`: file with the object. Without it, the object in the cluster.
 * @returns the exit code: 0, or 3 if the operator would reject the spec
 * @throws SignerError USAGE (`fail`) without such an object, or KubeError
 */
export async function printPlan<T extends InstallationObject>(
  client: Client,
  { file, output }: { readonly file?: string; readonly output: Output },
  planned: PlannedKind<T>,
): Promise<number> {
  const { kind, resource: singletons, readFile, desiredOf } = planned;
  const path = singletons.object({ name: SINGLETON });
  const inCluster = await client.request<T>({ method: 'GET', path }).catch(ignoreNotFound);
  const object = file === undefined ? inCluster : await readFile(file);
  if (object === undefined) {
    throw usageError(
      `there is no ${kind} ${SINGLETON} in the cluster; name one in a file with --file`,
    );
  }
  const wanted = await desiredOf(object);
  const desired = isRefusal(wanted) ? wanted : ((await refuseServer(client, wanted)) ?? wanted);
  const report = isRefusal(desired)
    ? { refused: { reason: desired.reason, message: desired.message }, changes: [], same: 0 }
    : await reportOf(client, desired, { object, inCluster, label: planned.label });
  if (output === 'text') printText(planText(report));
  else printDocument(structuredText(report, output));
  return report.refused === undefined ? 0 : EXIT_REFUSED;
}

async function reportOf(
  client: Client,
  desired: DesiredInstallation,
  {
    object,
    inCluster,
    label,
  }: {
    readonly object: InstallationObject;
    readonly inCluster: InstallationObject | undefined;
    readonly label: string;
  },
): Promise<PlanReport> {
  const owner = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name: SINGLETON,
    uid: inCluster?.metadata.uid ?? '',
    label,
  };
  const writer = createWriter(client, 'countersign-plan');
  const changes: PlannedChange[] = [];
  for (const each of desired.objects) {
    const wanted = marked(each, owner);
    const live = await writer.read(wanted);
    const change = plannedChange(planObject(wanted, live), live, owner);
    if (change !== undefined) changes.push(change);
  }
  const same = desired.objects.length - changes.length;
  const there = inCluster === undefined ? [] : await markedIn(client, desired.watched, label);
  const removed = superfluous(there, desired.objects, owner)
    .filter((each) => desired.removable.has(titleOf(each)))
    .map((each) => ({ action: 'remove', object: titleOf(each) }) as const);
  return { changes: [...changes, ...removed], same };
}

/** Returns the labelled objects in the collections of these. */
async function markedIn(
  client: Client,
  objects: readonly ManagedObject[],
  label: string,
): Promise<readonly ManagedObject[]> {
  const collections = new Map(
    objects
      .filter((each) => ruleOf(each).owned)
      .map((each) => [ruleOf(each).resource.collection(each.metadata.namespace), each]),
  );
  const lists = await Promise.all(
    [...collections].map(async ([path, { apiVersion, kind }]) => {
      const query = { labelSelector: `${MANAGED_BY}=${label}` };
      const list = await client
        .request<{ readonly items: readonly ManagedObject[] }>({ method: 'GET', path, query })
        .catch(ignoreNotFound);
      // Items of a list lack apiVersion and kind.
      return (list?.items ?? []).map((each) => ({ ...each, apiVersion, kind }));
    }),
  );
  return lists.flat();
}
