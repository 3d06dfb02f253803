// SPDX-License-Identifier: Apache-2.0
import { stringify } from 'yaml';

/** Content of a kubeconfig for one user of one cluster. */
export interface ClientKubeconfig {
  readonly server: string;
  /**
   * PEM of the CA that issued the server's certificate, or undefined for a CA that the system
   * trusts.
   */
  readonly certificateAuthority: string | undefined;
  /** The name that the server's certificate must have, if it is not the host of `server`. */
  readonly tlsServerName?: string | undefined;
  /** True if the server's certificate is not verified. */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly user: string;
  /** PEM texts. */
  readonly certificate: string;
  readonly key: string;
}

/** Returns a kubeconfig for `kubectl` as YAML, with the client certificate and key embedded. */
export function renderKubeconfig(input: ClientKubeconfig): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'cluster',
        cluster: {
          server: input.server,
          ...(input.tlsServerName === undefined ? {} : { 'tls-server-name': input.tlsServerName }),
          ...verification(input),
        },
      },
    ],
    users: [
      {
        name: input.user,
        user: {
          'client-certificate-data': base64(input.certificate),
          'client-key-data': base64(input.key),
        },
      },
    ],
    contexts: [{ name: input.user, context: { cluster: 'cluster', user: input.user } }],
    'current-context': input.user,
  });
}

/** Returns how clients verify the server. client-go rejects a CA beside the insecure flag. */
function verification({
  certificateAuthority: ca,
  insecureSkipTlsVerify,
}: ClientKubeconfig): Readonly<Record<string, unknown>> {
  if (insecureSkipTlsVerify === true) return { 'insecure-skip-tls-verify': true };
  if (ca === undefined) return {};
  return { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
}
