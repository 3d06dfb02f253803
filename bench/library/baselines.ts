// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { podFlags } from '../../test/support/cluster/entrypoint-flags.ts';
import { example } from '../../test/support/cluster/fixture.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { installLibrarySigner, untilReadyIs } from '../../test/support/cluster/library-signer.ts';
import { startContender } from '../cluster/contender-process.ts';
import type { Contender } from '../cluster/contender.ts';
import { TOKEN_DURATION, WORKLOAD, countersign } from '../cluster/ours.ts';

export type LibraryContenderName = 'built-in' | 'library';

/** The package's example of an author, who signs with a key on disk. */
const PROGRAM = join(import.meta.dirname, '../../examples/key-on-disk.ts');
const NAMESPACE = 'disk-signer';
const CRD = 'diskissuers.disk.example.com';
const SIGNER_NAME = `${CRD}/bench`;

/** pcr-issuer as shipped, and the library as shipped, with the same CA, profile and names. */
export async function libraryContenders(cluster: Cluster): Promise<readonly Contender[]> {
  const library: Contender = {
    name: 'library',
    signerName: SIGNER_NAME,
    command: await commandOf(cluster),
  };
  await createIssuer(cluster, library);
  return [
    { ...(await countersign(cluster, 'pcr-issuer')), ...WORKLOAD, name: 'built-in' },
    library,
  ];
}

async function commandOf(cluster: Cluster): Promise<Contender['command']> {
  const root = join(cluster.directory, 'library');
  const folder = join(root, 'bench');
  mkdirSync(folder, { recursive: true });
  for (const file of ['tls.crt', 'tls.key']) {
    const path = `jsonpath={.data.${file.replace('.', '\\.')}}`;
    const secret = ['get', 'secret', 'workload-ca', '-n', 'countersign-keys', '-o', path];
    const { stdout } = await cluster.kubectl(secret);
    writeFileSync(join(folder, file), Buffer.from(stdout, 'base64'), { mode: 0o600 });
  }
  const wanted = { namespaces: [NAMESPACE], signerName: SIGNER_NAME, crd: CRD };
  const options = { duration: TOKEN_DURATION };
  const kubeconfig = await installLibrarySigner(cluster, PROGRAM, wanted, options);
  const env = [`CA_ROOT=${root}`, `KUBECONFIG=${kubeconfig}`];
  return ['/usr/bin/env', ...env, process.execPath, ...podFlags(), PROGRAM];
}

/** What the ClusterSigner says of pods, said of an issuer; ready before anything is measured. */
async function createIssuer(cluster: Cluster, contender: Contender): Promise<void> {
  const { profile, pods } = example('workload').spec;
  await apply(cluster, {
    apiVersion: 'disk.example.com/v1',
    kind: 'DiskIssuer',
    metadata: { name: 'bench' },
    spec: { authority: { folder: 'bench' }, profile, pods },
  });
  const running = await startContender(contender, cluster.directory);
  try {
    await Promise.race([untilReadyIs(cluster, [CRD, 'bench'], 'Checked'), running.failed]);
  } finally {
    await running.stop();
  }
}
