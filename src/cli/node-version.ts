// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';

/** What the bundle is built for; npm itself gets by with 20. */
export const LEAST_NODE = 24;

/**
 * An older Node would fail later, in the middle, by a name that nobody knows.
 *
 * @param version - such as 24.1.0
 * @throws SignerError USAGE (`fail`)
 */
export function requireNode(version: string): void {
  if (Number.parseInt(version, 10) >= LEAST_NODE) return;
  throw new SignerError({
    code: 'USAGE',
    disposition: 'fail',
    message: `this is Node.js ${version}, and ${LEAST_NODE} or later is needed; a checkout has one in node_modules/.bin/node, and so has the image`,
  });
}
