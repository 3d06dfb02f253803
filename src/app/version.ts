// SPDX-License-Identifier: Apache-2.0
import manifest from '../../package.json' with { type: 'json' };

/** The version of this build. */
export const VERSION: string = manifest.version;
