// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import { differenceOf } from '#diagnose/inspect/difference.ts';
import type { InspectedItem } from '#diagnose/inspect/inspected.ts';
import { readMaterial } from '#diagnose/inspect/read-material.ts';
import { relationsOf, type NamedBundle, type Relations } from '#diagnose/inspect/relations.ts';
import { differenceText, longText, relationsText, shortText } from '#diagnose/inspect/text.ts';
import { readRevocations } from '#diagnose/explain/pods/trust.ts';
import type { Client } from '#kube/client/client.ts';
import { EXIT_REFUSED } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { encodePem } from '#pki/der/pem.ts';
import { pkcs12Password } from '#cli/pkcs12-password.ts';
import { listBundles } from '#cli/sources/cluster-objects.ts';
import { readSource, type SourceInit } from '#cli/sources/read-source.ts';
import { printDocument, printProgress, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign inspect`. */
export interface InspectOptions extends UserOptions {
  readonly namespace: string;
  readonly short: boolean;
  readonly diff: boolean;
  readonly bundle: readonly string[];
  readonly clusterBundles: boolean;
  readonly port?: number;
  readonly serverName?: string;
  readonly passwordFile?: string;
  readonly output: 'text' | 'json' | 'yaml' | 'pem';
}

/** The result that `-o json` and `-o yaml` print. */
export interface InspectReport {
  readonly items: readonly InspectedItem['what'][];
  readonly relations: Relations;
  /** Parts that could not be read. */
  readonly notes: readonly string[];
}

const LABELS: Readonly<Partial<Record<InspectedItem['what']['kind'], string>>> = {
  certificate: 'CERTIFICATE',
  request: 'CERTIFICATE REQUEST',
  crl: 'X509 CRL',
};

/**
 * Runs `countersign inspect`.
 *
 * @returns the exit code: with `--diff` 3 if something differs
 * @throws SignerError USAGE for an unreadable source, or KubeError
 */
export async function inspect(
  sources: readonly string[],
  options: InspectOptions,
): Promise<number> {
  if (options.diff && sources.length !== 2) throw usageError('--diff compares two: name two');
  let client: Client | undefined;
  const connect = async (): Promise<Client> =>
    (client ??= (await connectUser(options, 'inspect')).client);
  try {
    let bundlesRead: ReturnType<typeof listBundles> | undefined;
    const listed = async (): ReturnType<typeof listBundles> =>
      (bundlesRead ??= listBundles(await connect()));
    const init = { ...options, connect, listed };
    const read = await readAll(sources, options, init);
    if (options.diff) return printDifference(read.bySource, options);
    const found = read.bySource.flat();
    const bundles = await bundlesOf(options, read.isOfCluster, init);
    const now = Date.now() - (client?.clockOffset() ?? 0);
    const revocations = client === undefined ? [] : await readRevocations(client);
    const relations = relationsOf(found, bundles, now, revocations);
    print(
      { items: found.map(({ what }) => what), relations, notes: read.notes },
      found,
      options,
      now,
    );
    return 0;
  } finally {
    await client?.close();
  }
}

async function readAll(
  sources: readonly string[],
  { passwordFile }: InspectOptions,
  init: SourceInit,
): Promise<{
  readonly bySource: readonly (readonly InspectedItem[])[];
  readonly notes: readonly string[];
  readonly isOfCluster: boolean;
}> {
  const secrets = {
    pkcs12Password: (source: string) => pkcs12Password(passwordFile, source, process.env),
  };
  const bySource: InspectedItem[][] = [];
  const notes: string[] = [];
  let isOfCluster = false;
  for (const text of sources) {
    const read = await readSource(text, init);
    const found: InspectedItem[] = [];
    for (const each of read.materials) found.push(...(await readMaterial(each, secrets)));
    bySource.push(found);
    notes.push(...read.notes);
    isOfCluster ||= read.isOfCluster;
  }
  return { bySource, notes, isOfCluster };
}

/** Returns the named files, or the ClusterTrustBundles if the command reads the cluster anyway. */
async function bundlesOf(
  { bundle, clusterBundles, namespace }: InspectOptions,
  isOfCluster: boolean,
  { connect, listed: list }: Required<Pick<SourceInit, 'connect' | 'listed'>>,
): Promise<readonly NamedBundle[] | undefined> {
  const named: NamedBundle[] = [];
  for (const text of bundle) {
    const { materials } = await readSource(text, { namespace, connect });
    named.push(
      ...materials.map(({ source, bytes }) => ({
        name: source,
        pem: Buffer.from(bytes).toString(),
      })),
    );
  }
  if (!clusterBundles && (!isOfCluster || bundle.length > 0)) {
    return bundle.length > 0 ? named : undefined;
  }
  const listed = await list();
  if (listed === undefined && clusterBundles) {
    throw usageError('--cluster-bundles: this API server lists no ClusterTrustBundles to you');
  }
  return listed === undefined ? undefined : [...named, ...listed];
}

function printDifference(
  [left = [], right = []]: readonly (readonly InspectedItem[])[],
  { output }: InspectOptions,
): number {
  const [a, b] = [left[0]?.what, right[0]?.what];
  if (a === undefined || b === undefined)
    throw usageError('--diff: one of the two has nothing in it');
  const fields = differenceOf(a, b);
  if (output === 'json' || output === 'yaml') {
    printDocument(structuredText({ left: a.source, right: b.source, fields }, output));
  } else printText(differenceText(fields));
  return fields.length === 0 ? 0 : EXIT_REFUSED;
}

function print(
  report: InspectReport,
  found: readonly InspectedItem[],
  { output, short }: InspectOptions,
  now: number,
): void {
  if (output === 'json' || output === 'yaml') {
    printDocument(structuredText(report, output));
    return;
  }
  if (output === 'pem') printText(found.map(pemOf).join(''));
  else if (short) printText(shortText(report.items, now, terminalWidth()));
  else printText(longText(report.items, now) + relationsText(report.relations));
  for (const note of report.notes) printProgress(`note: ${note}`);
}

/** Returns PEM, or '' for keys. */
function pemOf({ what, der }: InspectedItem): string {
  const label = LABELS[what.kind];
  return label === undefined || der === undefined ? '' : encodePem(label, der);
}
