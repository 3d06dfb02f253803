// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { structuredText } from '#operations/structured-text.ts';
import { isLasting } from '#install/lasting.ts';
import { STEPS, kindRules, type KindRule } from '#kube/apply/objects/kinds.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { installerOf, isInstalled } from '#diagnose/check/installer.ts';
import { readLeftBehind, type LeftBehind } from './left-behind.ts';
import { impactOf, readListedSigners } from './impact.ts';
import { kubectlRemoval, objectsLeft, removalCommands } from './removal.ts';
import { isAppliedRbac, isOfInstallation } from './hand-over.ts';
import { lineOf, kubectlName, type InstalledObject } from './run.ts';
import { markUnserved } from './unserved.ts';
import type { KubeObject } from '#api/object/object.ts';

/** Flags of `countersign uninstall`. */
export interface UninstallOptions extends UserOptions {
  readonly dryRun: boolean;
  readonly output: 'text' | 'json' | 'yaml' | 'name';
}

/**
 * Runs `countersign uninstall`: deletes the objects of `install`, the last first, independent of
 * the values. Once no component of any installation is left, it lists the remaining objects, with
 * the commands that remove them.
 *
 * @returns the exit code
 * @throws KubeError
 */
export async function uninstall(options: UninstallOptions): Promise<number> {
  const { client } = await connectUser(options, 'uninstall');
  try {
    const done = new Report(options);
    for (const [rule, object] of await installed(client)) {
      const outcome = isLasting(rule.kind, object.metadata.name) ? 'kept' : 'deleted';
      if (outcome === 'deleted') await remove(client, rule, object, options.dryRun);
      done.add(object, outcome);
    }
    if (done.isEmpty) printProgress('countersign install has made nothing here');
    const left = await readLeftBehind(client);
    const running = left.components.filter((each) => !done.has(each));
    if (running.length === 0) for (const each of objectsLeft(left)) done.add(each, 'kept');
    done.print();
    if (running.length > 0) printProgress(stillInstalled(running.map(kubectlName)));
    else await conclude(client, left, done.deleted, options);
    return 0;
  } finally {
    await client.close();
  }
}

/** Collects the result of each object once. */
class Report {
  readonly #done = new Map<string, InstalledObject>();
  readonly #deleted: ManagedObject[] = [];
  readonly #options: UninstallOptions;

  constructor(options: UninstallOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#done.size === 0;
  }

  get deleted(): readonly ManagedObject[] {
    return this.#deleted;
  }

  has(object: ManagedObject): boolean {
    return this.#done.has(kubectlName(object));
  }

  add(each: ManagedObject, outcome: 'kept' | 'deleted'): void {
    if (this.has(each)) return;
    const { dryRun, output } = this.#options;
    const result = { object: kubectlName(each), outcome, dryRun };
    this.#done.set(result.object, result);
    if (outcome === 'deleted') this.#deleted.push(each);
    if (output === 'text') printText(lineOf(result));
    if (output === 'name') printText(`${result.object}\n`);
  }

  /** Prints all at once, for programs. */
  print(): void {
    const { output } = this.#options;
    if (output !== 'json' && output !== 'yaml') return;
    printDocument(structuredText([...this.#done.values()], output));
  }
}

/** Returns the hint for an installation by another program. */
function stillInstalled(running: readonly string[]): string {
  return `installed by another program: ${running.join(', ')}; helm list -A finds a release for helm uninstall, kubectl delete countersigns/cluster removes what the operator made, and what kubectl applied goes by: ${kubectlRemoval()}`;
}

/**
 * Marks the signers as not served once no component is left, and prints what that affects and how
 * to remove the rest.
 */
async function conclude(
  client: Client,
  left: LeftBehind,
  gone: readonly ManagedObject[],
  { dryRun, output }: UninstallOptions,
): Promise<void> {
  for (const kind of left.unseen)
    printProgress(`you may not list ${kind}: more of them may be left`);
  // The list of signers is empty if the user may not list them.
  const listed = left.signers.length === 0 ? [] : await readListedSigners(client);
  for (const each of impactOf(left, gone, listed)) printProgress(each);
  const marked = dryRun ? 0 : await markUnserved(client, new Date());
  if (marked > 0) printProgress(`Ready=False: ${marked} signers that no component serves now`);
  const commands = removalCommands(left);
  if (commands.length === 0 || output !== 'text') return;
  printText(
    [
      '',
      'A new installation uses what is kept. The deletion of a definition deletes its signers, Revocations and Orders. These commands remove all of it for good, with every CA key, record and bundle:',
      ...commands.map((each) => `  ${each}`),
      '',
    ].join('\n'),
  );
}

/**
 * Returns the objects that `install` has applied by their managed fields, the last step first, and
 * what `kubectl apply` made of the output of `countersign rbac` beside them. None if the operator
 * or a Helm release has adopted the components since: the others are in use by that installation.
 */
async function installed(client: Client): Promise<readonly (readonly [KindRule, ManagedObject])[]> {
  const found: (readonly [KindRule, ManagedObject])[] = [];
  // `install` never creates Secrets, so read none.
  for (const rule of kindRules().filter(({ kind }) => kind !== 'Secret')) {
    for (const object of await objectsOf(client, rule)) found.push([rule, object]);
  }
  const own = found.filter(([, { metadata }]) => isInstalled(metadata));
  if (own.length === 0) return [];
  const deployments = found.flatMap(([, each]) => (each.kind === 'Deployment' ? [each] : []));
  const { kind } = installerOf(deployments.map(({ metadata }) => metadata));
  if (kind === 'helm' || kind === 'operator') return [];
  // The Deployments of another program need the roles that were applied with them.
  const isAlone = deployments.every(({ metadata }) => isInstalled(metadata));
  const all = isAlone ? found.filter((each) => own.includes(each) || isAppliedRbac(each[1])) : own;
  return all.toSorted(([a], [b]) => STEPS.indexOf(b.step) - STEPS.indexOf(a.step));
}

async function objectsOf(client: Client, rule: KindRule): Promise<readonly ManagedObject[]> {
  const { apiVersion, kind, resource } = rule;
  const keep = (each: ManagedObject): boolean =>
    isInstalled(each.metadata) || isOfInstallation(each);
  const ours = await listObjects<ManagedObject & KubeObject>(client, resource, { keep }).catch(
    ignoreNotFound,
  );
  // Without the API, `install` created none of its objects.
  return (ours ?? []).map((each) => ({ ...each, apiVersion, kind }));
}

async function remove(
  client: Client,
  { resource }: KindRule,
  { metadata }: ManagedObject,
  dryRun: boolean,
): Promise<void> {
  const options = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Background',
    preconditions: { uid: metadata.uid },
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
  try {
    await client.request({ method: 'DELETE', path: resource.object(metadata), body: options });
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 404) throw error;
  }
}
