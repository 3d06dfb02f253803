// SPDX-License-Identifier: Apache-2.0
/** A ClusterSigner or Signer in a file. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseSignerFile } from '#cli/commands/policy/signer-file.ts';
import { SignerError } from '#base/errors.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import type { Target } from '../engine.ts';

const EXAMPLES = join(import.meta.dirname, '../../../deploy/examples');

export const signer: Target = {
  name: 'signer',
  seeds: readdirSync(EXAMPLES)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(EXAMPLES, name))),
  words: [
    'managed:',
    'secret:',
    'profile:',
    'keyTypes:',
    'pods:',
    'requests:',
    'rules:',
    'allow:',
    '&a',
    '*a',
    '<<: *a',
    '!!binary',
    '---\n',
    '? ',
    '"\\u0000"',
    '\n  - ',
    '{}',
    '[]',
    '|-\n',
  ],
  maxBytes: 16_384,
  isExpected: (error) => error instanceof SignerError,
  run: (input) => {
    const { spec } = parseSignerFile(Buffer.from(input).toString('utf8'), 'signer.yaml');
    compileProfile(spec);
    compilePolicy(spec);
  },
};
