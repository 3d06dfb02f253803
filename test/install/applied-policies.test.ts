// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { OPT_IN, renderAdmission } from '#install/render.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Opt-in: an installation has the second only for its profiles of injection. */
const LEFT_OUT = [OPT_IN, 'injection.yaml'];

const PLACES: readonly (readonly [file: string, policy: RegExp])[] = [
  ['docs/how-to/install-with-the-command-line.md', /-f mine\/admission\/(\S+\.yaml)/g],
  ['docs/how-to/let-a-team-sign.md', /-f mine\/admission\/(\S+\.yaml)/g],
  ['deploy/kustomization.yaml', /^ {2}- admission\/(\S+\.yaml)$/gm],
];

for (const [file, policy] of PLACES) {
  test(`${file} applies every admission policy that is not opt-in`, () => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const applied = [...text.matchAll(policy)].map(([, name = '']) => name);
    const printed = [...renderAdmission(DEMO).keys()].filter((name) => !LEFT_OUT.includes(name));
    assert.deepEqual(applied.sort(), printed.sort());
  });
}
