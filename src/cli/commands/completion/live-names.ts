// SPDX-License-Identifier: Apache-2.0
import { kubeconfigFromEnvironment } from '#app/component-options.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { NAMED_KINDS } from '#diagnose/kinds.ts';
import type { Client } from '#kube/client/client.ts';
import { contextNames } from '#kube/client/kubeconfig.ts';
import { NAMESPACES } from '#kube/resource/core-v1.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import type { LiveNames } from './candidates.ts';
import { present } from '#base/object-keys.ts';

/** Time after which a completion stays empty. */
const COMPLETION_MS = 2_000;
/** Limit of completions. A user does not read more. */
const MAX_COMPLETIONS = 500;

interface NamedItem {
  readonly metadata: { readonly name: string };
}

type Finder = (client: Client) => Resource | Promise<Resource>;

/** `PartialObjectMetadataList`: the names of Secrets without their data. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * Returns names that the user may read. It ignores errors.
 *
 * @param words - those already typed, with `--context`, `--kubeconfig` and `-n` among them
 */
export function liveNames(words: readonly string[]): LiveNames {
  const options: UserOptions = {
    ...present('kubeconfig', valueOf(words, '--kubeconfig')),
    ...present('context', valueOf(words, '--context')),
    ...present('as', valueOf(words, '--as')),
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
      const { isNamespaced, resource: find } = NAMED_KINDS[kind];
      return names(list(find, isNamespaced ? namespace : undefined, METADATA_ONLY));
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
        method: 'GET',
        path,
        query: { limit: MAX_COMPLETIONS },
        signal,
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
