// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { publishedFile, sha256 } from '../../build/cert-manager/published.ts';
import type { CertManagerSettings } from '#install/cert-manager-operator/preflight.ts';
import { RELEASES } from '#install/cert-manager-operator/releases.ts';
import { unpackRelease } from '#install/cert-manager-operator/release.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { buildHelm } from '../helm/tools/build.ts';

/** The older one of the two minor versions, which is unconfirmed, and the newer. */
export const OLD = '1.20.3';
export const NEW = '1.21.2';

/** The sum that an administrator gives for {@link OLD}. */
const GIVEN: Readonly<Record<string, string>> = { [OLD]: RELEASES.rows[OLD]?.sum ?? '' };

/** What an administrator decides. */
export const SETTINGS: CertManagerSettings = { moreReleases: GIVEN, dangerZone: false };

/** The same as a flag of the operator and of its commands. */
export const ALLOWED = `--allow-release=${OLD}=${GIVEN[OLD] ?? ''}`;

/** A real release, as it was published. */
export interface Release {
  readonly version: string;
  readonly text: string;
  readonly objects: readonly ManagedObject[];
}

export async function loadRelease(version: string): Promise<Release> {
  const helm = await buildHelm((line) => {
    console.error(line);
  });
  const file = await publishedFile(version, helm);
  assert.equal(sha256(file), RELEASES.rows[version]?.file);
  const text = file.toString();
  const objects = await unpackRelease(gzipSync(text));
  assert.ok(!('reason' in objects));
  return { version, text, objects };
}
