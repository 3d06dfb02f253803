// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { listPages } from '../../../kube/watch/list-pages.ts';
import { structuredText } from '../../../operations/report.ts';
import { STEPS, kindRules, type KindRule } from '../../../reconciling/objects/kinds.ts';
import type { ManagedObject } from '../../../reconciling/objects/managed-object.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { INSTALL_MANAGER, lineOf, kubectlName, type InstalledObject } from './run.ts';

/** Flags of `countersign uninstall`. */
export interface UninstallOptions extends UserOptions {
  readonly dryRun: boolean;
  readonly output: 'text' | 'json' | 'yaml' | 'name';
}

/**
 * What stays: with a definition all its objects go, with a namespace its Secrets, and with them the keys of CAs. Storage
 * has records, and signers own what they are the source of.
 */
const KEPT: ReadonlySet<string> = new Set([
  ...['CustomResourceDefinition', 'Namespace', 'Secret', 'PersistentVolumeClaim'],
  'ClusterSigner',
]);

interface ManagedFields {
  readonly managedFields?: readonly { readonly manager?: string; readonly operation?: string }[];
}

/**
 * Runs `countersign uninstall`: deletes what `install` has made, the last first, whatever the values were.
 *
 * @returns the exit code
 * @throws KubeError
 */
export async function uninstall(options: UninstallOptions): Promise<number> {
  const { client } = await connectUser(options, 'uninstall');
  try {
    const done: InstalledObject[] = [];
    for (const [rule, object] of await installed(client)) {
      const outcome = KEPT.has(rule.kind) ? 'kept' : 'deleted';
      if (outcome === 'deleted') await remove(client, rule, object, options.dryRun);
      const result = { object: kubectlName(object), outcome, dryRun: options.dryRun } as const;
      done.push(result);
      if (options.output === 'text') printText(lineOf(result));
      if (options.output === 'name') printText(`${result.object}\n`);
    }
    const { output } = options;
    if (output === 'json' || output === 'yaml') printDocument(structuredText(done, output));
    if (done.length === 0) {
      printProgress(
        'countersign install has made nothing here; helm uninstall removes what Helm made',
      );
    } else if (!options.dryRun) {
      printProgress('definitions, namespaces, Secrets, signers and ClusterTrustBundles stay');
    }
    return 0;
  } finally {
    await client.close();
  }
}

/** What the API server notes that `install` has applied, the last step first. */
async function installed(client: Client): Promise<readonly (readonly [KindRule, ManagedObject])[]> {
  const found: (readonly [KindRule, ManagedObject])[] = [];
  // Secrets are never made by it, and nobody's are read.
  for (const rule of kindRules().filter(({ kind }) => kind !== 'Secret')) {
    for (const object of await objectsOf(client, rule)) found.push([rule, object]);
  }
  return found.toSorted(([a], [b]) => STEPS.indexOf(b.step) - STEPS.indexOf(a.step));
}

async function objectsOf(client: Client, rule: KindRule): Promise<readonly ManagedObject[]> {
  const { apiVersion, kind, resource } = rule;
  const mine: ManagedObject[] = [];
  try {
    await listPages({ client, path: resource.collection() }, (each) => {
      const { metadata } = each as unknown as { readonly metadata: ManagedFields };
      const isMine = metadata.managedFields?.some(
        ({ manager, operation }) => manager === INSTALL_MANAGER && operation === 'Apply',
      );
      if (isMine === true) mine.push({ ...(each as object), apiVersion, kind } as ManagedObject);
    });
  } catch (error) {
    // The API is not served: nothing of it was made.
    if (!(error instanceof KubeError) || error.status !== 404) throw error;
  }
  return mine;
}

async function remove(
  client: Client,
  { resource }: KindRule,
  { metadata }: ManagedObject,
  dryRun: boolean,
): Promise<void> {
  const options = {
    ...{ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' },
    preconditions: { uid: metadata.uid },
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
  try {
    await client.request({ method: 'DELETE', path: resource.object(metadata), body: options });
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 404) throw error;
  }
}
