// SPDX-License-Identifier: Apache-2.0
import { KubeError } from './kube-error.ts';

/** For `.catch`: a 404 becomes undefined, everything else stays an error. */
export function absent(error: unknown): undefined {
  if (error instanceof KubeError && error.status === 404) return undefined;
  throw error;
}
