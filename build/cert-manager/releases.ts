// SPDX-License-Identifier: Apache-2.0
/**
 * Writes src/manifests/cert-manager/releases.json anew: `node build/cert-manager/releases.ts HELM`. Each version is rendered
 * from the chart of its Go module, which Go checks against its database of sums. Review the difference: a sum decides what
 * an operator installs with every permission of cert-manager.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { format, resolveConfig } from 'prettier';
import type { KnownReleases } from '../../src/manifests/cert-manager/releases.ts';
import { releaseSum, unpackRelease } from '../../src/manifests/cert-manager/release.ts';
import { grantedBy } from '../../src/manifests/cert-manager/rules.ts';
import { titleOf, type ManagedObject } from '../../src/reconciling/objects/managed-object.ts';
import { renderRelease } from './render.ts';

const FILE = join(import.meta.dirname, '../../src/manifests/cert-manager/releases.json');

/** Every patch whose module can be had. */
const VERSIONS = ['1.20.0', '1.20.1', '1.20.2', '1.20.3', '1.21.0', '1.21.1', '1.21.2'];

async function known(helm: string): Promise<KnownReleases> {
  const releases: (readonly ManagedObject[])[] = [];
  const sums: Record<string, string> = {};
  for (const version of VERSIONS) {
    const objects = await unpackRelease(gzipSync(await renderRelease(version, helm)));
    if ('reason' in objects) throw new Error(`${version}: ${objects.message}`);
    sums[version] = releaseSum(objects);
    releases.push(objects);
  }
  const all = releases.flat();
  const identities = new Map(
    all.map((object) => {
      const { apiVersion, kind, metadata } = object;
      const { name, namespace } = metadata;
      const named = { name, ...(namespace === undefined ? {} : { namespace }) };
      return [titleOf(object), { apiVersion, kind, metadata: named }] as const;
    }),
  );
  return { sums, objects: [...identities.values()], granted: grantedBy(all) };
}

const [helm] = process.argv.slice(2);
if (helm === undefined) throw new Error('name the program helm');
const text = JSON.stringify(await known(helm));
await writeFile(FILE, await format(text, { ...(await resolveConfig(FILE)), parser: 'json' }));
