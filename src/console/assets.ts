// SPDX-License-Identifier: Apache-2.0

/** The files that a page loads. */
export interface ConsoleAssets {
  readonly script: string;
  readonly style: string;
}

/**
 * The files of the pages. The bundle replaces this file (build/console-assets.ts). A checkout
 * has no script, and pages work without one.
 */
export const ASSETS: ConsoleAssets = { script: '', style: '' };
