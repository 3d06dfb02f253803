// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { renderRelease } from '../../build/cert-manager/render.ts';
import { unpackRelease } from '../../src/manifests/cert-manager/release.ts';
import type { ManagedObject } from '../../src/reconciling/objects/managed-object.ts';
import { buildHelm } from '../install/tools/build.ts';

/** The older one of the two minor versions, and the newer. */
export const OLD = '1.20.3';
export const NEW = '1.21.2';

/** A real release. */
export interface Release {
  readonly version: string;
  readonly text: string;
  readonly objects: readonly ManagedObject[];
}

export async function loadRelease(version: string): Promise<Release> {
  const helm = await buildHelm((line) => {
    console.error(line);
  });
  const text = await renderRelease(version, helm);
  const objects = await unpackRelease(gzipSync(text));
  assert.ok(!('reason' in objects));
  return { version, text, objects };
}
