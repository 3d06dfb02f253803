// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { RulesEngine } from '#console/rules-engine.ts';

/** The engine of a console whose page Rules is not opened. */
export const NO_RULES: RulesEngine = { yamlOf: () => assert.fail(), read: () => assert.fail() };
