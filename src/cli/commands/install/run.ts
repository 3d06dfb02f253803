// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { monotonic } from '../../../app/process.ts';
import { SignerError, messageOf } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { documentsOf } from '../../../manifests/render.ts';
import type { Manifest } from '../../../manifests/roles.ts';
import { structuredText } from '../../../operations/report.ts';
import { ruleOf } from '../../../reconciling/objects/kinds.ts';
import type { ManagedObject } from '../../../reconciling/objects/managed-object.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { plannedObjects } from './plan-objects.ts';

/** Under this name the API server notes what `install` has written, and by it `uninstall` finds it. */
export const INSTALL_MANAGER = 'countersign-install';

/** Flags of `countersign install`. */
export interface InstallOptions extends UserOptions {
  readonly values: readonly string[];
  readonly dryRun: 'none' | 'client' | 'server';
  readonly forceConflicts: boolean;
  readonly output: 'text' | 'json' | 'yaml' | 'name';
}

/** What became of one object: what `-o json` and `-o yaml` print, in a list. */
export interface InstalledObject {
  /** `deployment/countersign-signer -n countersign-system` */
  readonly object: string;
  readonly outcome: 'created' | 'configured' | 'unchanged' | 'deleted' | 'kept';
  readonly dryRun: boolean;
}

/** For new kinds to be served. */
const SERVED_MS = 60_000;
const APPLY_AGAIN_MS = 500;

/**
 * Runs `countersign install`: server-side apply of what `countersign manifests` prints, in the order that needs no second
 * try. Again with other values it changes what is there; what those values no longer have stays until `uninstall`.
 *
 * @returns the exit code
 * @throws SignerError USAGE for wrong values or a conflict; KubeError
 */
export async function install(options: InstallOptions): Promise<number> {
  const objects = await plannedObjects(options.values);
  if (options.dryRun === 'client') {
    printText(documentsOf(objects as readonly unknown[] as readonly Manifest[]));
    return 0;
  }
  const { client } = await connectUser(options, 'install');
  try {
    const done: InstalledObject[] = [];
    for (const object of objects) {
      const outcome = await applyWhenServed(client, object, options);
      const result = { object: kubectlName(object), outcome, dryRun: options.dryRun === 'server' };
      done.push(result);
      if (options.output === 'text') printText(lineOf(result));
      if (options.output === 'name') printText(`${result.object}\n`);
    }
    const { output } = options;
    if (output === 'json' || output === 'yaml') printDocument(structuredText(done, output));
    if (options.dryRun === 'none') printProgress('next: countersign check --wait 2m');
    return 0;
  } finally {
    await client.close();
  }
}

/** A kind is served some time after its definition is there. */
async function applyWhenServed(
  client: Client,
  object: ManagedObject,
  options: InstallOptions,
): Promise<InstalledObject['outcome']> {
  const until = monotonic() + SERVED_MS;
  for (;;) {
    try {
      return await apply(client, object, options);
    } catch (error) {
      const isOurs = object.apiVersion.includes('countersign.dev/');
      const isLate = error instanceof KubeError && error.status === 404 && isOurs;
      if (options.dryRun === 'server' && isLate) return 'created';
      if (!isLate || monotonic() > until) throw explained(error, object);
      await delay(APPLY_AGAIN_MS);
    }
  }
}

async function apply(
  client: Client,
  object: ManagedObject,
  { dryRun, forceConflicts }: InstallOptions,
): Promise<InstalledObject['outcome']> {
  const path = ruleOf(object).resource.object(object.metadata);
  const before = await versionOf(client, path);
  const isDry = dryRun === 'server';
  try {
    const after = await client.request<ManagedObject>({
      ...{ method: 'PATCH', path, body: object, contentType: 'application/apply-patch+yaml' },
      query: {
        ...{ fieldManager: INSTALL_MANAGER, force: forceConflicts },
        ...(isDry ? { dryRun: 'All' } : {}),
      },
    });
    if (before === undefined) return 'created';
    return before === after.metadata.resourceVersion ? 'unchanged' : 'configured';
  } catch (error) {
    // Its namespace would be made by this very command.
    const isInNewNamespace = isDry && error instanceof KubeError && error.status === 404;
    if (isInNewNamespace && before === undefined && object.metadata.namespace !== undefined) {
      return 'created';
    }
    throw error;
  }
}

async function versionOf(client: Client, path: string): Promise<string | undefined> {
  try {
    const { metadata } = await client.request<ManagedObject>({ method: 'GET', path });
    return metadata.resourceVersion;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return undefined;
    throw error;
  }
}

/** `kind/name -n namespace`, as kubectl would take it. */
export function kubectlName({ kind, metadata: { name, namespace } }: ManagedObject): string {
  const flag = namespace === undefined ? '' : ` -n ${namespace}`;
  return `${kind.toLowerCase()}/${name}${flag}`;
}

/** One line of an object, as kubectl prints it. */
export function lineOf({ object, outcome, dryRun }: InstalledObject): string {
  return `${object} ${outcome}${dryRun ? ' (server dry run)' : ''}\n`;
}

function explained(error: unknown, object: ManagedObject): unknown {
  if (!(error instanceof KubeError) || ![404, 409].includes(error.status)) return error;
  const what = kubectlName(object);
  const message =
    error.status === 409
      ? `${what}: ${messageOf(error)}; somebody else manages it, such as Helm or the operator: go on with that, or take it over by --force-conflicts`
      : `${what}: this API server does not serve ${object.apiVersion}: install what defines it, or turn that part off in the values`;
  return new SignerError({ code: 'USAGE', disposition: 'wait', message, cause: error });
}
