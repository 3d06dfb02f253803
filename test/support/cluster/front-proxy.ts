// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLUSTER_LIFE_MS, tlsCertificate } from '../pki/tls-certificate.ts';

/** The flags by which an API server proves to others whom it speaks for. */
export async function frontProxyFlags(directory: string): Promise<readonly string[]> {
  mkdirSync(directory, { recursive: true });
  const [cert, key] = [join(directory, 'front-proxy.crt'), join(directory, 'front-proxy.key')];
  const pair = await tlsCertificate('front-proxy-client', { lifeMs: CLUSTER_LIFE_MS });
  writeFileSync(cert, pair.cert);
  writeFileSync(key, pair.key);
  return [
    `--requestheader-client-ca-file=${cert}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${cert}`,
    `--proxy-client-key-file=${key}`,
  ];
}
