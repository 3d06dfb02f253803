// SPDX-License-Identifier: Apache-2.0
/**
 * The peer of `make bench-memory`: client-node's informer on all PodCertificateRequests, as its
 * examples have it, and nothing besides. Arguments: a kubeconfig, and a file that it writes its
 * count into.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CustomObjectsApi, KubeConfig, makeInformer } from '@kubernetes/client-node';
import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';

const [kubeconfig = '', file = ''] = process.argv.slice(2);
const REPORT_MS = 500;
const RESTART_MS = 1_000;

const config = new KubeConfig();
interface File {
  readonly users: readonly { readonly user: { readonly tokenFile: string; token?: string } }[];
}
// It does not read the token file that test/cluster's kubeconfigs name.
const parsed = JSON.parse(readFileSync(kubeconfig, 'utf8')) as File;
for (const { user } of parsed.users) user.token = readFileSync(user.tokenFile, 'utf8');
config.loadFromString(JSON.stringify(parsed));
const api = config.makeApiClient(CustomObjectsApi);
const kind = { group: 'certificates.k8s.io', version: 'v1', plural: 'podcertificaterequests' };
const list = async (): Promise<KubernetesListObject<KubernetesObject>> =>
  (await api.listClusterCustomObject(kind)) as KubernetesListObject<KubernetesObject>;
const informer = makeInformer(config, `/apis/${kind.group}/${kind.version}/${kind.plural}`, list);
informer.on('error', (error: unknown) => {
  console.error(error);
  // Without this it stays dead after the first error that is no 410.
  void delay(RESTART_MS).then(() => informer.start());
});
await informer.start();
for (;;) {
  writeFileSync(`${file}.new`, String(informer.list().length));
  renameSync(`${file}.new`, file);
  await delay(REPORT_MS);
}
