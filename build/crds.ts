// SPDX-License-Identifier: Apache-2.0
/**
 * Generates deploy/crds/signers.yaml, externalclustersigners.yaml, acme and operator, and
 * docs/reference/acme-kinds.md. Run it after you change clustersigners.yaml, build/acme-crds,
 * build/external-crd.ts or build/operator.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acmeCrds } from './acme-crds/files.ts';
import { acmeReference } from './acme-crds/reference.ts';
import { externalCrd } from './external-crd.ts';
import { certManagerCrd } from './operator/cert-manager-crd.ts';
import { countersignCrd } from './operator/countersign-crd.ts';
import { signerCrd } from './signer-crd.ts';

const crds = join(import.meta.dirname, '../deploy/crds');
const clusterSigners = await readFile(join(crds, 'clustersigners.yaml'), 'utf8');
await writeFile(join(crds, 'signers.yaml'), signerCrd(clusterSigners));
await writeFile(join(crds, 'externalclustersigners.yaml'), externalCrd(clusterSigners));
const acme = acmeCrds(clusterSigners);
for (const [name, text] of acme) await writeFile(join(crds, 'acme', name), text);
const reference = join(import.meta.dirname, '../docs/reference/acme-kinds.md');
await writeFile(reference, await acmeReference([...acme.values()]));
await mkdir(join(crds, 'operator'), { recursive: true });
await writeFile(join(crds, 'operator/countersigns.yaml'), countersignCrd());
await writeFile(join(crds, 'operator/certmanagerdeployments.yaml'), certManagerCrd());
