// SPDX-License-Identifier: Apache-2.0
import manifest from '../../package.json' with { type: 'json' };
import { usageError } from '../errors.ts';

/** The version of this build. */
export const VERSION: string = manifest.version;

/**
 * The version that the bundle is built for. The minor version is the first without CVE-2026-48933 (and
 * CVE-2025-23166), by which a crafted key ends the process. It has OpenSSL 3.5, with ML-DSA.
 */
const LEAST_NODE = { major: 24, minor: 17 } as const;

/**
 * Fails early: older Node versions lack APIs that we use, and a remote client can crash them
 * (CVE-2026-48933).
 *
 * @param version - such as 24.17.0
 * @throws SignerError USAGE (`fail`)
 */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: leastMajor, minor: leastMinor } = LEAST_NODE;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw usageError(
    `Node.js ${version} is too old: use ${leastMajor}.${leastMinor} or later, such as node_modules/.bin/node in a checkout, or the image`,
  );
}
