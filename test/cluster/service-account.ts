// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeKubeconfig } from './kubeconfig.ts';
import type { KubectlResult } from './kubectl.ts';

export interface ServiceAccountOptions {
  /** How long the token is good for, as Go writes it. Default 1h, which is above the least, 10m. */
  readonly duration?: string;
}

type Kubectl = (args: readonly string[]) => Promise<KubectlResult>;

/**
 * Asks for a token (TokenRequest) and writes it into a file beside a kubeconfig that names that
 * file, as in a pod. Asking again replaces the token in place.
 */
export async function writeServiceAccountKubeconfig(
  kubectl: Kubectl,
  directory: string,
  account: { namespace: string; name: string } & ServiceAccountOptions,
): Promise<string> {
  const { namespace, name, duration = '1h' } = account;
  const token = await kubectl(['create', 'token', name, '-n', namespace, '--duration', duration]);
  const place = join(directory, 'service-accounts', namespace, name);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const tokenFile = join(place, 'token');
  writeFileSync(tokenFile, token.stdout.trim(), { mode: 0o600 });
  const kubeconfig = join(place, 'kubeconfig');
  writeKubeconfig(kubeconfig, await target(kubectl), { tokenFile });
  return kubeconfig;
}

async function target(
  kubectl: Kubectl,
): Promise<{ server: string; certificateAuthorityData: string }> {
  const view = await kubectl(['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json']);
  const config = JSON.parse(view.stdout) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data'?: string } }];
  };
  const { cluster } = config.clusters[0];
  return {
    server: cluster.server,
    certificateAuthorityData: cluster['certificate-authority-data'] ?? '',
  };
}
