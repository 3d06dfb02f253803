// SPDX-License-Identifier: Apache-2.0
/** Generates deploy/crds/signers.yaml. Run it after you change clustersigners.yaml. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signerCrd } from './signer-crd.ts';

const crds = join(import.meta.dirname, '../deploy/crds');
const clusterSigners = await readFile(join(crds, 'clustersigners.yaml'), 'utf8');
await writeFile(join(crds, 'signers.yaml'), signerCrd(clusterSigners));
