// SPDX-License-Identifier: Apache-2.0
import manifest from '../../package.json' with { type: 'json' };
import { SignerError } from '../errors.ts';

/** The version of this build. */
export const VERSION: string = manifest.version;

/**
 * What the bundle is built for; npm itself gets by with 20. The minor version is the first without
 * CVE-2026-48933, by which a hostile key ends the process (and far beyond CVE-2025-23166, which did the
 * same); it has OpenSSL 3.5, which knows ML-DSA.
 */
export const LEAST_NODE = { major: 24, minor: 17 } as const;

/**
 * An older Node would fail later, in the middle, by a name that nobody knows or by a key that somebody
 * sends.
 *
 * @param version - such as 24.17.0
 * @throws SignerError USAGE (`fail`)
 */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: leastMajor, minor: leastMinor } = LEAST_NODE;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new SignerError({
    code: 'USAGE',
    disposition: 'fail',
    message: `this is Node.js ${version}, and ${leastMajor}.${leastMinor} or later is needed; a checkout has one in node_modules/.bin/node, and so has the image`,
  });
}
