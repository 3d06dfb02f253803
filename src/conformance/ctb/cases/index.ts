// SPDX-License-Identifier: Apache-2.0
import type { Case } from '../../case.ts';
import type { CtbWorld } from '../snapshot.ts';
import { CTB_PUBLISHED } from './published.ts';
import { CTB_UPSTREAM } from './upstream.ts';

export const CTB_CASES: readonly Case<CtbWorld>[] = [...CTB_PUBLISHED, ...CTB_UPSTREAM];
