// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { monotonic } from '#app/process.ts';
import { quantity } from '#base/quantity.ts';
import { SignerError, messageOf } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { documentsOf } from '#install/documents.ts';
import { structuredText } from '#operations/structured-text.ts';
import { withLiveRules } from '#kube/apply/objects/kept-rules.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { rolloutOf, type Rollout } from '#kube/apply/objects/rollout.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { INSTALL_MANAGER } from '#diagnose/check/installer.ts';
import { forgetCommand, refuseOtherInstaller, takenOver } from './hand-over.ts';
import { removeObject, supersededObjects } from './installed-objects.ts';
import { plannedObjects } from './plan-objects.ts';

/** Flags of `countersign install`. */
export interface InstallOptions extends UserOptions {
  readonly values: readonly string[];
  readonly dryRun: 'none' | 'client' | 'server';
  readonly forceConflicts: boolean;
  readonly output: 'text' | 'json' | 'yaml' | 'name';
}

/** Result for one object: `-o json` and `-o yaml` print a list of these. */
export interface InstalledObject {
  /** Name, such as `deployment/countersign-signer -n countersign-system` */
  readonly object: string;
  readonly outcome: 'created' | 'configured' | 'unchanged' | 'deleted' | 'kept';
  readonly dryRun: boolean;
}

/** Time until new kinds must be served. */
const SERVED_MS = 60_000;
const APPLY_AGAIN_MS = 500;

/**
 * Runs `countersign install`: applies the objects of `countersign manifests` by server-side apply,
 * in an order that needs no retry. With other values it changes existing objects, and deletes those
 * that the new values do not have, except keys, records and trust.
 *
 * @returns the exit code
 * @throws SignerError USAGE for wrong values or a conflict, or KubeError
 */
export async function install(options: InstallOptions): Promise<number> {
  const objects = await plannedObjects(options.values);
  if (options.dryRun === 'client') {
    printText(documentsOf(objects.map((each) => ({ ...each }))));
    return 0;
  }
  const { client } = await connectUser(options, 'install');
  try {
    const installer = await refuseOtherInstaller(client, objects, options);
    const own = { ...options, isOwn: installer.kind === 'install' };
    const done: InstalledObject[] = [];
    const report = (result: InstalledObject): void => {
      done.push(result);
      const isListed = options.output === 'text' && result.outcome !== 'unchanged';
      if (isListed) printText(lineOf(result));
      if (options.output === 'name') printText(`${result.object}\n`);
    };
    const { wide, rollouts } = await applyAll(client, objects, own, report);
    await removeSuperseded(client, objects, options, report);
    const { output } = options;
    if (output === 'text') printText(unchangedLine(done));
    if (output === 'json' || output === 'yaml') printDocument(structuredText(done, output));
    if (options.dryRun !== 'none') return 0;
    if (!rollouts.some(({ hasOldPods }) => hasOldPods))
      for (const object of wide) await apply(client, object, own);
    else if (wide.length > 0)
      printProgress(
        `${wide.length} roles keep what pods of the version before may need; when countersign check --wait 2m succeeds, the same install again removes it: ${wide.map(kubectlName).join(', ')}`,
      );
    if (installer.kind === 'helm')
      printProgress(
        `Helm still has the record of release ${installer.release}, and helm uninstall would delete the components. Delete the record: ${forgetCommand(installer)}`,
      );
    printProgress('next: countersign check --wait 2m');
    return 0;
  } finally {
    await client.close();
  }
}

/** Deletes what `install` has applied for other values, such as a component that is now off. */
async function removeSuperseded(
  client: Client,
  objects: readonly ManagedObject[],
  options: InstallOptions,
  onDone: (result: InstalledObject) => void,
): Promise<void> {
  const dryRun = options.dryRun === 'server';
  for (const object of await supersededObjects(client, objects)) {
    await removeObject(client, object, dryRun);
    onDone({ object: kubectlName(object), outcome: 'deleted', dryRun });
  }
}

/** The flags, and whether `install` made the live installation. */
type ApplyOptions = InstallOptions & { readonly isOwn: boolean };

/** Remaining work of an installation. */
interface RemainingWork {
  /** Desired roles whose live versions still have rules to remove. */
  readonly wide: readonly ManagedObject[];
  readonly rollouts: readonly Rollout[];
}

/**
 * Applies all objects in their order. Roles gain rules before the Deployments change, and lose none
 * yet.
 */
async function applyAll(
  client: Client,
  objects: readonly ManagedObject[],
  options: ApplyOptions,
  onDone: (result: InstalledObject) => void,
): Promise<RemainingWork> {
  const wide: ManagedObject[] = [];
  const rollouts: Rollout[] = [];
  for (const object of objects) {
    const isRole = ruleOf(object).step === 'roles';
    const live = isRole ? await readObject(client, object) : undefined;
    const kept = withLiveRules(object, live);
    if (kept !== undefined) wide.push(object);
    const { outcome, after } = await applyWhenServed(client, kept ?? object, options);
    const rollout = after && rolloutOf(after);
    if (rollout !== undefined) rollouts.push(rollout);
    onDone({ object: kubectlName(object), outcome, dryRun: options.dryRun === 'server' });
  }
  return { wide, rollouts };
}

/**
 * Result for an object, and its new version in the API server. `after` is undefined in a dry run of
 * a new object.
 */
interface Outcome {
  readonly outcome: InstalledObject['outcome'];
  readonly after?: ManagedObject;
}

/**
 * Applies an object again until the API server serves its kind, some time after it accepts the
 * definition.
 */
async function applyWhenServed(
  client: Client,
  object: ManagedObject,
  options: ApplyOptions,
): Promise<Outcome> {
  const until = monotonic() + SERVED_MS;
  for (;;) {
    try {
      return await apply(client, object, options);
    } catch (error) {
      const isManaged = object.apiVersion.includes('countersign.dev/');
      const isLate = error instanceof KubeError && error.status === 404 && isManaged;
      if (options.dryRun === 'server' && isLate) return { outcome: 'created' };
      if (!isLate || monotonic() > until) throw explained(error, object);
      await delay(APPLY_AGAIN_MS);
    }
  }
}

async function apply(
  client: Client,
  object: ManagedObject,
  options: ApplyOptions,
): Promise<Outcome> {
  const live = await readObject(client, object);
  if (live === undefined) return create(client, object, options);
  const tookOver = await takeOver(client, { ...object, ...live }, options);
  const forceConflicts = options.forceConflicts || tookOver;
  const after = await patch(client, object, { ...options, forceConflicts });
  const isSame = live.metadata.resourceVersion === after.metadata.resourceVersion;
  return { outcome: isSame ? 'unchanged' : 'configured', after };
}

async function create(
  client: Client,
  object: ManagedObject,
  options: ApplyOptions,
): Promise<Outcome> {
  try {
    return { outcome: 'created', after: await patch(client, object, options) };
  } catch (error) {
    // The command itself would create the namespace.
    const isMissing = error instanceof KubeError && error.status === 404;
    const isInNewNamespace = isMissing && object.metadata.namespace !== undefined;
    if (options.dryRun === 'server' && isInNewNamespace) return { outcome: 'created' };
    throw error;
  }
}

function patch(
  client: Client,
  object: ManagedObject,
  options: ApplyOptions,
): Promise<ManagedObject> {
  return client.request<ManagedObject>({
    method: 'PATCH',
    path: ruleOf(object).resource.object(object.metadata),
    body: object,
    contentType: 'application/apply-patch+yaml',
    query: applyQuery(options),
  });
}

/**
 * Makes `install` the manager of what former managers applied. A dry run only reports whether it
 * would.
 */
async function takeOver(
  client: Client,
  live: ManagedObject,
  options: ApplyOptions,
): Promise<boolean> {
  const value = takenOver(live, options);
  if (value === undefined || options.dryRun === 'server') return value !== undefined;
  const { uid, resourceVersion } = live.metadata;
  await client.request({
    method: 'PATCH',
    path: ruleOf(live).resource.object(live.metadata),
    contentType: 'application/json-patch+json',
    body: [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'replace', path: '/metadata/managedFields', value },
    ],
  });
  return true;
}

function applyQuery({ dryRun, forceConflicts }: InstallOptions): Record<string, string | boolean> {
  const query = { fieldManager: INSTALL_MANAGER, force: forceConflicts };
  return dryRun === 'server' ? { ...query, dryRun: 'All' } : query;
}

async function readObject(
  client: Client,
  object: ManagedObject,
): Promise<ManagedObject | undefined> {
  const path = ruleOf(object).resource.object(object.metadata);
  try {
    return await client.request<ManagedObject>({ method: 'GET', path });
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return undefined;
    throw error;
  }
}

/** Returns the arguments for kubectl: `kind/name -n namespace`. */
export function kubectlName({ kind, metadata: { name, namespace } }: ManagedObject): string {
  const flag = namespace === undefined ? '' : ` -n ${namespace}`;
  return `${kind.toLowerCase()}/${name}${flag}`;
}

/** Returns the line of an object, in kubectl's format. */
export function lineOf({ object, outcome, dryRun }: InstalledObject): string {
  return `${object} ${outcome}${dryRun ? ' (server dry run)' : ''}\n`;
}

/** Returns one line for all objects that needed no change, or '' without any. */
export function unchangedLine(done: readonly InstalledObject[]): string {
  const same = done.filter(({ outcome }) => outcome === 'unchanged');
  const [first] = same;
  if (first === undefined) return '';
  const objects = quantity(same.length, 'object');
  return `${objects} unchanged${first.dryRun ? ' (server dry run)' : ''}; -o yaml lists all\n`;
}

function explained(error: unknown, object: ManagedObject): unknown {
  if (!(error instanceof KubeError) || ![404, 409].includes(error.status)) return error;
  const what = kubectlName(object);
  const message =
    error.status === 409
      ? `${what}: ${messageOf(error)}; another program manages it, such as kubectl: continue with that program, or take it over by --force-conflicts`
      : `${what}: this API server does not serve ${object.apiVersion}: install what defines it, or turn that part off in the values`;
  return new SignerError({ code: 'USAGE', disposition: 'wait', message, cause: error });
}
