// SPDX-License-Identifier: Apache-2.0
import { delimiter } from 'node:path';

/**
 * The one file that KUBECONFIG names; undefined where it names none or several, which are for the
 * official client to merge. Of a single file we read what that client drops: `tokenFile`.
 */
export function singleKubeconfig(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const files = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((each) => each !== '');
  return files.length === 1 ? files[0] : undefined;
}
