// SPDX-License-Identifier: Apache-2.0
import type { OperatorFlags } from '../../../app/component-options.ts';
import { COUNTERSIGNS, type Countersign } from '../../../api/operator/countersign.ts';
import { SINGLETON, type InstallationObject } from '../../../api/operator/installation.ts';
import { isRefusal, type DesiredInstallation, type Refusal } from '../../../installing/desired.ts';
import { usageError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { resource, type Resource } from '../../../kube/resource/resource.ts';
import { desiredInstallation } from '../../../manifests/operator/desired.ts';
import { judge, type Judgement } from '../../../reconciling/objects/judge.ts';
import { ruleOf } from '../../../reconciling/objects/kinds.ts';
import { titleOf, type ManagedObject } from '../../../reconciling/objects/managed-object.ts';
import { MANAGED_BY, isMarked, marked, superfluous } from '../../../reconciling/objects/mark.ts';
import { printable } from '../../../quote.ts';
import { createWriter } from '../../../reconciling/writer.ts';
import { EXIT_REFUSED, structuredText, type Output } from '../../../operations/report.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { readCountersign } from './countersign-file.ts';
import { installedFlags } from './operator-flags.ts';

/** Flags of `countersign operator plan`. */
export interface PlanOptions extends UserOptions, OperatorFlags {
  readonly file?: string;
  readonly namespace: string;
  readonly secretNamespace: string;
  readonly output: Output;
}

/** What `-o json` and `-o yaml` print. */
interface PlanReport {
  /** Why the operator would refuse the spec; nothing else is there then. */
  readonly refused?: { readonly reason: string; readonly message: string };
  readonly changes: readonly PlannedChange[];
  /** Objects that are as they are desired. */
  readonly same: number;
}

/** One object that is not as it is desired. */
interface PlannedChange {
  readonly action: 'make' | 'change' | 'remake' | 'clean' | 'adopt' | 'report' | 'remove';
  /** `Deployment countersign-system/countersign-signer`. */
  readonly object: string;
  /** Fields that differ. */
  readonly paths?: readonly string[];
  /** Why nothing is done about it. */
  readonly problem?: string;
}

/** What is planned, and from which kind of singleton. */
export interface PlannedKind<T extends InstallationObject> {
  readonly kind: string;
  readonly resource: Resource;
  /** Value of the label on every object of the installation. */
  readonly label: string;
  /** Reads one from a file. @throws SignerError USAGE (`fail`) */
  readonly readFile: (file: string) => Promise<T>;
  /** Makes the objects of a spec, or says why not. @throws KubeError */
  readonly desiredOf: (object: T) => Promise<DesiredInstallation | Refusal>;
}

/**
 * Prints one line for each object that is not as it is desired, and a summary. Changes nothing.
 *
 * @param given - the names of the flags that the user wrote; for the others those of the operator count, where there is one
 * @returns the exit code: 0; 3 where the operator would refuse the spec
 * @throws SignerError USAGE (`fail`) where there is no Countersign
 */
export async function runPlan(options: PlanOptions, given: ReadonlySet<string>): Promise<number> {
  const { client } = await connectUser(options, 'operator');
  try {
    const flags = await flagsFor(client, options, given);
    const settings = {
      ...{ namespace: options.namespace, keysNamespace: flags.secretNamespace },
      ...{ image: flags.image, allowedImages: flags.allowImage },
      dangerZone: flags.allowDangerZone,
    };
    return await printPlan<Countersign>(client, options, {
      ...{ kind: 'Countersign', resource: resource(COUNTERSIGNS), label: 'countersign' },
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
 * @param options - `file`: with the object; without it the one in the cluster
 * @returns the exit code: 0; 3 where the operator would refuse the spec
 * @throws SignerError USAGE (`fail`) where there is no such object; KubeError
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
  const desired = await desiredOf(object);
  const report = isRefusal(desired)
    ? { refused: { reason: desired.reason, message: desired.message }, changes: [], same: 0 }
    : await reportOf(client, desired, { object, inCluster, label: planned.label });
  if (output === 'text') printText(textOf(report));
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
    ...{ apiVersion: object.apiVersion, kind: object.kind, name: SINGLETON },
    ...{ uid: inCluster?.metadata.uid ?? '', label },
  };
  const writer = createWriter(client, 'countersign-plan');
  const changes: PlannedChange[] = [];
  for (const each of desired.objects) {
    const wanted = marked(each, owner);
    const live = await writer.read(wanted);
    const change = changeOf(judge(wanted, live), live, label);
    if (change !== undefined) changes.push(change);
  }
  const same = desired.objects.length - changes.length;
  const there = inCluster === undefined ? [] : await markedIn(client, desired.watched, label);
  const removed = superfluous(there, desired.objects, owner)
    .filter((each) => desired.removable.has(titleOf(each)))
    .map((each) => ({ action: 'remove', object: titleOf(each) }) as const);
  return { changes: [...changes, ...removed], same };
}

/** Words of the same width, so that the objects stand below each other. */
const WIDTH = 'change '.length;

function textOf({ refused, changes, same }: PlanReport): string {
  if (refused !== undefined) {
    return `${printable(`refused, nothing would change: ${refused.reason}: ${refused.message}`)}\n`;
  }
  const lines = changes.map(({ action, object, paths = [], problem }) => {
    const detail = paths.length === 0 ? '' : `  ${paths.join(' ')}`;
    return printable(`${action.padEnd(WIDTH)} ${problem ?? object}${detail}`);
  });
  return [...lines, `${changes.length} to change, ${same} as desired`, ''].join('\n');
}

/** The objects with our label, in the collections of these. */
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
      // Items of a list do not say what they are.
      return (list?.items ?? []).map((each) => ({ ...each, apiVersion, kind }));
    }),
  );
  return lists.flat();
}

const ACTIONS: Readonly<Record<Judgement['action'], PlannedChange['action']>> = {
  make: 'make',
  apply: 'change',
  remake: 'remake',
  correct: 'clean',
  leave: 'report',
};

function changeOf(
  { action, desired, paths, problem }: Judgement,
  live: ManagedObject | undefined,
  label: string,
): PlannedChange | undefined {
  const object = titleOf(desired);
  // What the operator refuses to change is no change of its own, whatever else of the object differs.
  if (problem !== undefined) return { action: 'report', object, problem };
  if (action === 'leave') return undefined;
  const adopted = live !== undefined && action === 'apply' && !isMarked(live, label);
  if (adopted) return { action: 'adopt', object };
  return { action: ACTIONS[action], object, ...(paths.length === 0 ? {} : { paths }) };
}
