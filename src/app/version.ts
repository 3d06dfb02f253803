// SPDX-License-Identifier: Apache-2.0
import manifest from '../../package.json' with { type: 'json' };
import { usageError } from '#base/errors.ts';

/** The version of this build. */
export const VERSION: string = manifest.version;

/**
 * Oldest supported Node.js. This minor version is the first without CVE-2026-48933 (and
 * CVE-2025-23166), through which a crafted key ends the process. It has OpenSSL 3.5, with ML-DSA.
 */
const MIN_NODE = { major: 24, minor: 17 } as const;

/**
 * Rejects an older Node.js at the start, because it lacks required APIs and a remote client can
 * crash it (CVE-2026-48933).
 * @param version - such as 24.17.0
 * @throws SignerError USAGE (`fail`)
 */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: minMajor, minor: minMinor } = MIN_NODE;
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return;
  throw usageError(oldNode(version));
}

/** Returns the error for an older Node.js. */
export function oldNode(version: string): string {
  return `Node.js ${version} is too old: use ${MIN_NODE.major}.${MIN_NODE.minor} or later, such as node_modules/.bin/node in a checkout, or the image`;
}
