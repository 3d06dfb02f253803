// SPDX-License-Identifier: Apache-2.0
import { performance } from 'node:perf_hooks';
import type { Monotonic } from '../ports.ts';

/** Goes on while the process is stopped, and nobody sets it. */
export const monotonic: Monotonic = () => performance.now();
