// SPDX-License-Identifier: Apache-2.0
/** A file has no API server before it that checks its shape. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  readCertManagerDeployment,
  readCountersign,
} from '#cli/commands/operator/countersign-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-file-'));
});
after(() => rm(folder, { recursive: true }));

async function fileOf(kind: string, spec: object): Promise<string> {
  const file = join(folder, `${kind}.yaml`);
  const apiVersion = 'operator.countersign.dev/v1alpha1';
  await writeFile(file, JSON.stringify({ apiVersion, kind, spec: { version: '0.1.0', ...spec } }));
  return file;
}

const SHAPES: readonly (readonly [at: string, spec: object])[] = [
  ['spec.components', { components: 5 }],
  ['spec.components.signer', { components: { signer: 'x' } }],
  ['spec.components.signer.extraArgs', { components: { signer: { extraArgs: 5 } } }],
  ['spec.components.signer.extraArgs.0', { components: { signer: { extraArgs: [5] } } }],
  ['spec.components.signer.extraEnv', { components: { signer: { extraEnv: {} } } }],
  ['spec.components.signer.extraEnv.0', { components: { signer: { extraEnv: [null] } } }],
  ['spec.dangerZone', { dangerZone: 'all' }],
  ['spec.dangerZone.extraArgs.signer', { dangerZone: { extraArgs: { signer: '--x' } } }],
  ['spec.defaults', { defaults: [] }],
  ['spec.image', { image: 'x' }],
];

for (const [at, spec] of SHAPES) {
  test(`a value of another shape is named by its path: ${at}`, async () => {
    const message = new RegExp(`"${at.replaceAll('.', '\\.')}": `);
    const failed = { code: 'USAGE', message };
    await assert.rejects(readCountersign(await fileOf('Countersign', spec)), failed);
    const other = await fileOf('CertManagerDeployment', spec);
    await assert.rejects(readCertManagerDeployment(other), failed);
  });
}

test('what the chart checks itself is left to it', async () => {
  const spec = { signers: 5, components: { signer: { replicas: 'x', extraArgs: ['--a=b'] } } };
  assert.deepEqual((await readCountersign(await fileOf('Countersign', spec))).spec, {
    version: '0.1.0',
    ...spec,
  });
});

// The API server drops it, and the operator would install another thing than was planned.
test('a field that the definition does not have is refused by its path', async () => {
  const failed = { code: 'USAGE', message: /"spec\.signerz"/ };
  const file = await fileOf('Countersign', { signerz: [] });
  await assert.rejects(readCountersign(file), failed);
  const other = await fileOf('CertManagerDeployment', { signerz: [] });
  await assert.rejects(readCertManagerDeployment(other), failed);
});
