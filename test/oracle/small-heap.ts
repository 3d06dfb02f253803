// SPDX-License-Identifier: Apache-2.0
/** A worker with little memory: takes in what it is sent, and says so. */
import { parentPort } from 'node:worker_threads';
import type { Case } from './corpus/case.ts';
import { take } from './take.ts';

interface File {
  readonly kind: Case['kind'];
  readonly bytes: Uint8Array;
}

parentPort?.on('message', ({ kind, bytes }: File) => {
  parentPort?.postMessage(take(kind, bytes) ?? '');
});
