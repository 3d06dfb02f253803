// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import type { CertManagerOperatorFlags } from '#install/cert-manager-operator/flags.ts';
import { RELEASE_KEY, releaseMapOf } from '#api/operator/cert-manager-deployment.ts';
import { messageOf, usageError } from '#base/errors.ts';
import { isRefusal } from '#install/reconcile/desired.ts';
import { acceptedRelease } from '#install/cert-manager-operator/desired.ts';
import {
  MAX_RELEASE_BYTES,
  unpackRelease,
  versionNamedIn,
} from '#install/cert-manager-operator/release.ts';
import { EXIT_REFUSED } from '#operations/report.ts';
import { printProgress, printText } from '#cli/terminal.ts';

/** Flags of `countersign cert-manager-operator release`. */
export interface ReleaseMapOptions extends CertManagerOperatorFlags {
  /** Namespace of the operator and the ConfigMap. */
  readonly namespace: string;
}

/**
 * Prints the ConfigMap with a release for the operator, if the operator would accept the release.
 *
 * @param path - of cert-manager.yaml, compressed by gzip or not, or `-` for stdin
 * @returns the exit code: 0, or 3 if the operator would reject it, with the reason on stderr
 * @throws SignerError USAGE (`fail`) for a file that cannot be read, or without a version
 */
export async function runReleaseMap(path: string, options: ReleaseMapOptions): Promise<number> {
  const file = await plainFile(path);
  const compressed = gzipSync(file);
  const named = await unpackRelease(compressed);
  const version = isRefusal(named) ? '' : versionNamedIn(named);
  if (version === undefined) {
    throw usageError(`${path} names no version of cert-manager: name the file of a release`);
  }
  const settings = { moreReleases: options.allowRelease, dangerZone: options.allowDangerZone };
  const accepted = await acceptedRelease(version, compressed, settings);
  if (isRefusal(accepted)) {
    printProgress(`refused: ${accepted.reason}: ${accepted.message}`);
    return EXIT_REFUSED;
  }
  printText(stringify(releaseMap(version, options.namespace, file), { lineWidth: 0 }));
  return 0;
}

/**
 * Returns the ConfigMap in which the operator looks for a release.
 *
 * @param file - the published file
 */
function releaseMap(version: string, namespace: string, file: Uint8Array): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: releaseMapOf(version), namespace },
    binaryData: { [RELEASE_KEY]: gzipSync(file, { level: 9 }).toString('base64') },
  };
}

/** @throws SignerError USAGE (`fail`) */
async function plainFile(path: string): Promise<Uint8Array> {
  try {
    const bytes = path === '-' ? await buffer(process.stdin) : await readFile(path);
    const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return isCompressed ? gunzipSync(bytes, { maxOutputLength: MAX_RELEASE_BYTES }) : bytes;
  } catch (error) {
    throw usageError(`${path} cannot be read: ${messageOf(error)}`);
  }
}
