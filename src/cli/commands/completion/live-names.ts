// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '../../../app/certificates-resources.ts';
import { kubeconfigFromEnvironment } from '../../../app/component-options.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { CERTIFICATE_REQUEST_RESOURCE } from '../../../api/request/certificate-request.ts';
import { CSR_RESOURCE } from '../../../api/request/csr.ts';
import { ORDERS } from '../../../api/acme/index.ts';
import type { Client } from '../../../kube/client/client.ts';
import { contextNames } from '../../../kube/client/kubeconfig.ts';
import { CONFIG_MAPS, NAMESPACES, PODS, SECRETS } from '../../../kube/resource/core-v1.ts';
import { resource, type Resource } from '../../../kube/resource/resource.ts';
import { CLUSTER_SIGNERS } from '../../../runtime/signers/cluster-signers.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import type { LiveNames } from './candidates.ts';

/** Nobody waits longer for a completion; then there is none. */
const COMPLETION_MS = 2_000;
/** More is no help. */
const MOST_COMPLETIONS = 500;

interface NamedItem {
  readonly metadata: { readonly name: string };
}

type Finder = (client: Client) => Resource | Promise<Resource>;

const RESOURCES: ReadonlyMap<string, Finder> = new Map<string, Finder>([
  ['pod', () => PODS],
  ['secret', () => SECRETS],
  ['configmap', () => CONFIG_MAPS],
  ['csr', () => resource(CSR_RESOURCE)],
  ['pcr', async (client) => (await certificatesResources(client, 'podcertificaterequests'))[0]],
  ['ctb', async (client) => (await certificatesResources(client, 'clustertrustbundles'))[0]],
  ['certificaterequest', () => resource(CERTIFICATE_REQUEST_RESOURCE)],
  ['signer', () => CLUSTER_SIGNERS],
  ['order', () => resource(ORDERS)],
]);

const NAMESPACED: ReadonlySet<string> = new Set([
  ...['pod', 'secret', 'configmap', 'pcr', 'certificaterequest', 'order'],
]);

/** `PartialObjectMetadataList`: names of Secrets are asked for, and none of their data. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * Names as the user of the words may see them. What cannot be read is no completion, and no error.
 *
 * @param words - those that are typed already: `--context`, `--kubeconfig` and `-n` among them count
 */
export function liveNames(words: readonly string[]): LiveNames {
  const options: UserOptions = {
    ...given('kubeconfig', valueOf(words, '--kubeconfig')),
    ...given('context', valueOf(words, '--context')),
    ...given('as', valueOf(words, '--as')),
    asGroup: [],
  };
  const namespace = valueOf(words, '--namespace', '-n') ?? 'default';
  const list = <T extends NamedItem>(
    find: Finder,
    within?: string,
    accept?: string,
  ): Promise<readonly T[]> => listed<T>(options, find, within, accept);
  const names = async (items: Promise<readonly NamedItem[]>): Promise<readonly string[]> =>
    (await items).map(({ metadata }) => metadata.name);
  return {
    objects: async (kind) => {
      const find = RESOURCES.get(kind);
      if (find === undefined) return [];
      return names(list(find, NAMESPACED.has(kind) ? namespace : undefined, METADATA_ONLY));
    },
    namespaces: () => names(list(() => NAMESPACES, undefined, METADATA_ONLY)),
    clusterSigners: () => names(list(() => CLUSTER_SIGNERS, undefined, METADATA_ONLY)),
    signerNames: async () => {
      const signers = await list<ClusterSigner>(() => CLUSTER_SIGNERS);
      return signers.map(({ spec }) => spec.signerName);
    },
    contexts: () => {
      const file = options.kubeconfig ?? kubeconfigFromEnvironment(process.env);
      return contextNames(file).catch(() => []);
    },
  };
}

async function listed<T extends NamedItem>(
  options: UserOptions,
  find: Finder,
  namespace: string | undefined,
  accept: string | undefined,
): Promise<readonly T[]> {
  const signal = AbortSignal.timeout(COMPLETION_MS);
  try {
    const { client } = await connectUser(options, 'completion');
    try {
      const path = (await find(client)).collection(namespace);
      const { items } = await client.request<{ readonly items: readonly T[] }>({
        ...{ method: 'GET', path, query: { limit: MOST_COMPLETIONS }, signal },
        ...(accept === undefined ? {} : { accept }),
      });
      return items;
    } finally {
      await client.close();
    }
  } catch {
    return [];
  }
}

function valueOf(words: readonly string[], ...flags: readonly string[]): string | undefined {
  const at = words.findLastIndex((word) => flags.includes(word));
  if (at !== -1) return words[at + 1];
  const joined = words.findLast((word) => flags.some((flag) => word.startsWith(`${flag}=`)));
  return joined?.slice(joined.indexOf('=') + 1);
}

function given<K extends string>(
  key: K,
  value: string | undefined,
): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: string });
}
