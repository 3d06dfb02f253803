// SPDX-License-Identifier: Apache-2.0
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Target {
  readonly server: string;
  readonly certificateAuthorityData: string;
}

/** Writes a kubeconfig of one context; JSON, which is YAML too. */
export function writeKubeconfig(file: string, target: Target, user: Record<string, string>): void {
  const name = 'countersign-test';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server: target.server,
          'certificate-authority-data': target.certificateAuthorityData,
        },
      },
    ],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  writeFileSync(file, JSON.stringify(config, null, 2), { mode: 0o600 });
}

/** A kubeconfig for an identity whose certificate and key lie in the cluster's PKI directory. */
export function writeCertificateKubeconfig(
  directory: string,
  identity: string,
  server: string,
): string {
  const base64 = (file: string): string => readFileSync(join(directory, 'pki', file), 'base64');
  const path = join(directory, `${identity}.kubeconfig`);
  writeKubeconfig(
    path,
    { server, certificateAuthorityData: base64('server-ca.crt') },
    {
      'client-certificate-data': base64(`${identity}.crt`),
      'client-key-data': base64(`${identity}.key`),
    },
  );
  return path;
}
