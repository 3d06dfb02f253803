// SPDX-License-Identifier: Apache-2.0
import { createPrivateKey, randomBytes, sign } from 'node:crypto';
import type { Issue, Work } from './work.ts';

/** As many bytes as the to-be-signed part of these leaves has. */
const TBS_BYTES = 430;

/** The limit: node:crypto's signature and nothing else. */
export function signBare(work: Work): Issue {
  const key = createPrivateKey(work.key);
  const tbs = randomBytes(TBS_BYTES);
  return () => sign('sha256', tbs, key);
}
