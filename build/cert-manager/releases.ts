// SPDX-License-Identifier: Apache-2.0
/**
 * Writes src/install/cert-manager-operator/releases.json:
 * `node build/cert-manager/releases.ts HELM`. Builds each `cert-manager.yaml` from the Go module of
 * its version, which Go checks against its database of sums. The file must have the SHA-256 that
 * the repositories of sources.json name. Review the difference: an operator installs the file with
 * this sum, with every permission of cert-manager.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { format, resolveConfig } from 'prettier';
import {
  isConfirmed,
  type KnownReleases,
  type ReleaseRow,
  type ReleaseSource,
} from '#install/cert-manager-operator/releases.ts';
import { releaseParts, releaseSum, unpackRelease } from '#install/cert-manager-operator/release.ts';
import { grantedBy } from '#install/cert-manager-operator/rules.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { publishedFile, sha256 } from './published.ts';
import list from './sources.json' with { type: 'json' };

const FILE = join(import.meta.dirname, '../../src/install/cert-manager-operator/releases.json');

/** Facts about a release in public repositories. */
interface Found {
  /** SHA-256 of `cert-manager.yaml`. Absent if no known repository names it. */
  readonly file?: string;
  readonly sources: readonly ReleaseSource[];
}

/** Every patch whose module is available. */
const FOUND: Readonly<Record<string, Found>> = list;

/** @throws Error if the file differs from the one that the sources name */
function rowOf(
  version: string,
  { file, sources }: Found,
  published: Uint8Array,
  objects: readonly ManagedObject[],
): ReleaseRow {
  const made = sha256(published);
  if (file !== undefined && file !== made)
    throw new Error(`${version}: the file has SHA-256 ${made}, and its sources name ${file}`);
  const state = isConfirmed({ sources }) ? 'confirmed' : 'unconfirmed';
  const row = { state, file: made, sum: releaseSum(objects), sources } as const;
  // Without a source, nothing proves that the file is the published one.
  return file === undefined ? row : { ...row, parts: releaseParts(objects) };
}

async function known(helm: string): Promise<KnownReleases> {
  const releases: (readonly ManagedObject[])[] = [];
  const rows: Record<string, ReleaseRow> = {};
  for (const [version, found] of Object.entries(FOUND)) {
    const published = await publishedFile(version, helm);
    const objects = await unpackRelease(gzipSync(published));
    if ('reason' in objects) throw new Error(`${version}: ${objects.message}`);
    rows[version] = rowOf(version, found, published, objects);
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
  return { rows, objects: [...identities.values()], granted: grantedBy(all) };
}

const [helm] = process.argv.slice(2);
if (helm === undefined) throw new Error('name the program helm');
const text = JSON.stringify(await known(helm));
await writeFile(FILE, await format(text, { ...(await resolveConfig(FILE)), parser: 'json' }));
