// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { structuredText } from '#operations/structured-text.ts';
import { isLasting } from '#install/lasting.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { readInstalled, removeLease, removeObject } from './installed-objects.ts';
import { readLeftBehind, type LeftBehind } from './left-behind.ts';
import { impactOf } from './impact.ts';
import { printAtEnd } from './print-at-end.ts';
import { objectsLeft, removalCommands, stillInstalled } from './removal.ts';
import { removalText } from './removal-text.ts';
import { kubectlName, type InstalledObject } from './run.ts';
import { markUnserved } from './unserved.ts';

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
    const { left, running } = await printAtEnd(
      () => {
        done.print();
      },
      () => removeAll(client, done, options),
    );
    if (running.length > 0) printProgress(stillInstalled(running));
    else await conclude(client, left, done.deleted, options);
    return 0;
  } finally {
    await client.close();
  }
}

interface Remainder {
  readonly left: LeftBehind;
  /** Deployments of components that another program installed. */
  readonly running: readonly ManagedObject[];
}

async function removeAll(
  client: Client,
  done: Report,
  { dryRun }: UninstallOptions,
): Promise<Remainder> {
  const { objects, namespaces } = await readInstalled(client);
  for (const object of objects) {
    const outcome = isLasting(object.kind, object.metadata.name) ? 'kept' : 'deleted';
    if (outcome === 'deleted') await removeObject(client, object, dryRun);
    done.add(object, outcome);
  }
  if (done.isEmpty) printProgress('countersign install has made nothing here');
  const left = await readLeftBehind(client);
  const running = left.components.filter(
    (each) => namespaces.has(each.metadata.namespace ?? '') && !done.has(each),
  );
  if (running.length > 0) return { left, running };
  for (const each of left.leases) done.add(each, await removeLease(client, each, dryRun));
  for (const each of objectsLeft(left)) done.add(each, 'kept');
  return { left, running };
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
    if (output === 'name') printText(`${result.object}\n`);
  }

  /** Prints all at once, unless each name was printed. */
  print(): void {
    const { output } = this.#options;
    const all = [...this.#done.values()];
    if (output === 'text') printText(removalText(all));
    if (output === 'json' || output === 'yaml') printDocument(structuredText(all, output));
  }
}

/**
 * Marks the signers as not served. Prints the effects of the uninstallation, and the commands that
 * remove the remaining objects.
 */
async function conclude(
  client: Client,
  left: LeftBehind,
  gone: readonly ManagedObject[],
  { dryRun, output }: UninstallOptions,
): Promise<void> {
  for (const kind of left.unseen)
    printProgress(`you may not list ${kind}: more of them may be left`);
  for (const each of impactOf(left, gone)) printProgress(each);
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
