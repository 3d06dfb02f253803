// SPDX-License-Identifier: Apache-2.0
/** Generates deploy/crds/signers.yaml and deploy/crds/acme. Run it after you change clustersigners.yaml or build/acme-crds. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acmeCrds } from './acme-crds/files.ts';
import { signerCrd } from './signer-crd.ts';

const crds = join(import.meta.dirname, '../deploy/crds');
const clusterSigners = await readFile(join(crds, 'clustersigners.yaml'), 'utf8');
await writeFile(join(crds, 'signers.yaml'), signerCrd(clusterSigners));
for (const [name, text] of acmeCrds(clusterSigners))
  await writeFile(join(crds, 'acme', name), text);
