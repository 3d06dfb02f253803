// SPDX-License-Identifier: Apache-2.0
/**
 * What is fuzzed: every parser that reads bytes of strangers, or of tenants. Import instrument.ts
 * first.
 */
import type { Target } from '../engine.ts';
import { cel } from './cel.ts';
import { heldLeaf } from './held-leaf.ts';
import { certificate, pem, request } from './pki.ts';
import { signer } from './signer.ts';
import { watchBytes, watchFrame } from './watch.ts';

export const TARGETS: readonly Target[] = [
  certificate,
  request,
  pem,
  watchFrame,
  watchBytes,
  cel,
  signer,
  heldLeaf,
];
