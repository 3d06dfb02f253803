// SPDX-License-Identifier: Apache-2.0
import { authorities } from './authorities.ts';
import type { ChainCase } from './case.ts';
import { constraintCases } from './constraints.ts';
import { paths } from './paths.ts';

export const CHAINS: readonly ChainCase[] = [...paths(), ...authorities(), ...constraintCases()];
