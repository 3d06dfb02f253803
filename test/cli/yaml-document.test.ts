// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml, readYaml } from '#cli/yaml-document.ts';

test('a fault of YAML has its line and column, and nothing of the text', () => {
  const faults = readYaml('passphrase: correct horse\n\tx: [').errors.map(({ message }) => message);
  assert.ok(faults.length > 0);
  for (const fault of faults) {
    assert.match(fault, / at line 2, column \d+$/);
    assert.doesNotMatch(fault, /horse/);
  }
});

test('aliases that expand a small file to a huge value are a usage error', () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const items =
      level === 0
        ? 'x'
        : Array(9)
            .fill(`*a${level - 1}`)
            .join(', ');
    return `a${level}: &a${level} [${items}]`;
  });
  assert.throws(() => parseYaml(levels.join('\n'), 'bomb.yaml'), {
    code: 'USAGE',
    message: /^bomb\.yaml: .*alias/,
  });
});
