// SPDX-License-Identifier: Apache-2.0
/**
 * What an installation must not lose: keys, records, accounts and trust, each by its UID and its
 * bytes.
 */
import { until } from '../../cluster/until.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { apply } from './apply.ts';

const WAIT_MS = 120_000;
const SYSTEM = 'countersign-system';
const KEYS = 'countersign-keys';

/** Kind, name and namespace of what holds state. */
const STATE = [
  ['persistentvolumeclaim', 'countersign-ledger', SYSTEM],
  ['secret', 'countersign-ledger-key', SYSTEM],
  ['configmap', 'countersign-ledger-checkpoints', SYSTEM],
  ['configmap', 'countersign-ledger-findings', SYSTEM],
  ['configmap', 'countersign-ledger-uploads', SYSTEM],
  ['secret', 'workload-ca', KEYS],
  ['secret', 'account-of-an-acme-server', KEYS],
  ['clustertrustbundle', 'example.com:workload:primary', undefined],
  ['clustersigner', 'workload', undefined],
] as const;

interface Read {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly data?: object;
  readonly spec?: { readonly volumeName?: string };
}

/** Puts bytes where components put theirs, for a stand whose components do not run. */
export async function fillState(cluster: Cluster): Promise<void> {
  const data = (text: string): object => ({ data: { key: Buffer.from(text).toString('base64') } });
  const patch = (kind: string, name: string, namespace: string, body: object): Promise<unknown> =>
    cluster.kubectl([
      'patch',
      kind,
      name,
      '-n',
      namespace,
      '--type=merge',
      '-p',
      JSON.stringify(body),
    ]);
  await patch('secret', 'countersign-ledger-key', SYSTEM, data('the key of the log'));
  for (const each of ['checkpoints', 'findings', 'uploads'])
    await patch('configmap', `countersign-ledger-${each}`, SYSTEM, { data: { a: each } });
}

/** The account key of an ACME server, as `authority` makes it. */
export async function makeAccountKey(cluster: Cluster): Promise<void> {
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: 'account-of-an-acme-server',
      namespace: KEYS,
      labels: { 'app.kubernetes.io/managed-by': 'countersign' },
    },
    stringData: { 'account.key': 'the key of an account' },
  });
}

/**
 * Everything of {@link STATE}: UIDs, bytes, and the volume with the records. Rejects where
 * something is missing.
 */
export async function stateOf(
  cluster: Cluster,
  without: readonly string[] = [],
): Promise<Readonly<Record<string, unknown>>> {
  const found = await Promise.all(
    STATE.filter(([, name]) => !without.includes(name)).map(async ([kind, name, namespace]) => {
      const args = ['get', kind, name, '-o', 'json'];
      if (namespace !== undefined) args.push('-n', namespace);
      const { metadata, data, spec } = JSON.parse((await cluster.kubectl(args)).stdout) as Read;
      const { uid, deletionTimestamp } = metadata;
      const bytes = kind === 'configmap' || kind === 'secret' ? data : undefined;
      return [name, { kind, uid, deletionTimestamp, bytes, volume: spec?.volumeName }] as const;
    }),
  );
  return Object.fromEntries(found);
}

/** Waits until the claim of the ledger has a volume, and returns that volume's phase and UID. */
export function volumeOf(cluster: Cluster): Promise<{ phase: string; uid: string }> {
  return until('the claim of the ledger is bound', WAIT_MS, async () => {
    const args = ['get', 'persistentvolumes', '-o', 'json'];
    const { items } = JSON.parse((await cluster.kubectl(args)).stdout) as {
      items: {
        metadata: { uid: string };
        spec: { claimRef?: { name: string } };
        status: { phase: string };
      }[];
    };
    const mine = items.find(({ spec }) => spec.claimRef?.name === 'countersign-ledger');
    return mine?.status.phase === 'Bound'
      ? { phase: mine.status.phase, uid: mine.metadata.uid }
      : undefined;
  });
}
