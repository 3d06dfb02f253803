// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { SYSTEM_NAMESPACE } from '../../support/installation.ts';
import type { Door } from '../proxy/door.ts';

/** What one client knows of the API server: files, as in a pod, which a test may replace. */
export interface Access {
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly tokenFile: string;
  /** Asks for a new token and writes it into the file. */
  renewToken(): Promise<void>;
}

/** Access of a component's ServiceAccount through its door. */
export async function accessThrough(
  cluster: Cluster,
  door: Pick<Door, 'client' | 'url'>,
  account: string,
  ca: string,
): Promise<Access> {
  const renewToken = async (): Promise<string> =>
    cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, account);
  const place = dirname(await renewToken());
  const tokenFile = join(place, 'token');
  const caFile = join(place, `${door.client}-ca.crt`);
  writeFileSync(caFile, ca);
  const kubeconfig = join(place, `${door.client}.kubeconfig`);
  const name = 'fault-lab';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: door.url, 'certificate-authority': caFile } }],
    users: [{ name, user: { tokenFile } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return {
    kubeconfig,
    caFile,
    tokenFile,
    renewToken: async () => {
      await renewToken();
    },
  };
}
