// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import type { Door } from '../proxy/door.ts';

/** What one client knows of the API server: files, as in a pod, which a test may replace. */
export interface Access {
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly tokenFile: string;
  /** Asks for a new token and writes it into the file. */
  renewToken(): Promise<void>;
}

export interface AccessInit {
  readonly admin: Client;
  readonly door: Pick<Door, 'client' | 'url'>;
  /** Of the components' namespace. */
  readonly serviceAccount: string;
  /** PEM. */
  readonly ca: string;
  /** Where the files go. */
  readonly directory: string;
}

const ACCOUNTS = resource({ group: '', version: 'v1', plural: 'serviceaccounts' });

/** Access of a component's ServiceAccount through its door. */
export async function accessThrough(init: AccessInit): Promise<Access> {
  const { admin, door, directory } = init;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const [tokenFile, caFile, kubeconfig] = ['token', 'ca.crt', 'kubeconfig'].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const account = { namespace: SYSTEM_NAMESPACE, name: init.serviceAccount };
  const renewToken = async (): Promise<void> => {
    const { status } = await admin.request<{ status: { token: string } }>({
      method: 'POST',
      path: ACCOUNTS.object(account, 'token'),
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    });
    // In place, as a script of a user would: for a moment the file is empty.
    writeFileSync(tokenFile, status.token, { mode: 0o600 });
  };
  await renewToken();
  writeFileSync(caFile, init.ca);
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
  return { kubeconfig, caFile, tokenFile, renewToken };
}
