// SPDX-License-Identifier: Apache-2.0
/** The ways to install, each as its page has it, and how what it made is removed. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CountersignSpec } from '#api/operator/countersign.ts';
import { operatorManifests } from '#install/operator/installed.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { CHART, startHelm } from '../helm/helm.ts';
import { RELEASE, SYSTEM, runCommands } from '../helm/stand.ts';
import { EXAMPLE, RELEASE as OPERATOR } from '../operator/stand.ts';
import { apply } from '../support/cluster/apply.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAIT_MS = 600_000;

/** Values of an installation, with the names that it has in the chart and in a Countersign. */
export interface Installed extends Pick<CountersignSpec, 'acme' | 'components'> {
  readonly signers: readonly { readonly name: string }[];
}

/** A way to install, and how what it made is removed. */
export interface Way {
  readonly install: (cluster: Cluster, values: Installed) => Promise<void>;
  readonly uninstall: (cluster: Cluster) => Promise<void>;
}

async function run(cluster: Cluster, ...args: readonly string[]): Promise<CommandResult> {
  const [command = '', ...rest] = args;
  const all = [command, '--kubeconfig', cluster.kubeconfig, ...rest];
  const said = await countersign(all, undefined, BUNDLE);
  assert.equal(said.code, 0, said.stderr);
  return said;
}

async function shell(cluster: Cluster, commands: string): Promise<void> {
  const { code, stderr, stdout } = await runCommands({ cluster }, commands);
  assert.equal(code, 0, `${commands}\n${stdout}${stderr}`);
}

async function withFile<T>(values: object, use: (file: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'clusters-'));
  const file = join(directory, 'values.yaml');
  writeFileSync(file, JSON.stringify(values));
  try {
    return await use(file);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function withHelm<T>(
  kubeconfig: string | undefined,
  use: (helm: Awaited<ReturnType<typeof startHelm>>) => Promise<T>,
): Promise<T> {
  const helm = await startHelm(kubeconfig);
  try {
    return await use(helm);
  } finally {
    helm.close();
  }
}

/** Definitions are a moment later than their first mention. */
function applied(cluster: Cluster, manifests: string, ...flags: readonly string[]): Promise<true> {
  return until('everything is applied', WAIT_MS, async () => {
    await cluster.kubectl(['apply', ...flags, '-f', '-'], { input: manifests });
    return true;
  });
}

/** Runs the command that `uninstall` prints for what kubectl applied. */
async function uninstallApplied(cluster: Cluster): Promise<void> {
  const { stderr } = await run(cluster, 'uninstall');
  const [, command] = /what kubectl applied goes by: (.*)$/m.exec(stderr) ?? [];
  assert.ok(command, stderr);
  await shell(cluster, command);
}

/** Returns the values with arguments where the operator takes those that choose a server. */
function inDangerZone({ components = {}, ...values }: Installed): Partial<CountersignSpec> {
  const named = Object.entries(components);
  const extraArgs = named.flatMap(([name, each]) =>
    each.extraArgs === undefined ? [] : [[name, each.extraArgs] as const],
  );
  const rest = named.map(([name, { extraArgs: _moved, ...each }]) => [name, each] as const);
  return {
    ...values,
    components: Object.fromEntries(rest),
    ...(extraArgs.length === 0 ? {} : { dangerZone: { extraArgs: Object.fromEntries(extraArgs) } }),
  };
}

export const WAYS = {
  'helm install': {
    install: (cluster, values) =>
      withHelm(cluster.kubeconfig, async (helm) => {
        await helm(['install', RELEASE, CHART], values);
      }),
    uninstall: (cluster) =>
      withHelm(cluster.kubeconfig, async (helm) => {
        await helm(['uninstall', RELEASE, '--wait']);
      }),
  },
  'countersign install': {
    install: (cluster, values) =>
      withFile(values, async (file) => {
        await run(cluster, 'install', '--values', file);
      }),
    uninstall: async (cluster) => {
      await run(cluster, 'uninstall');
    },
  },
  'countersign manifests': {
    install: (cluster, values) =>
      withFile(values, async (file) => {
        const { stdout } = await countersign(['manifests', '--values', file], undefined, BUNDLE);
        await applied(cluster, stdout);
      }),
    uninstall: uninstallApplied,
  },
  // As Argo CD does: without the cluster, and applied by the server.
  'helm template': {
    install: (cluster, values) =>
      withHelm(undefined, async (helm) => {
        const known = ['--api-versions', 'countersign.dev/v1alpha1/ClusterSigner'];
        const args = ['template', RELEASE, CHART, '-n', SYSTEM, ...known];
        const { stdout } = await helm(args, values);
        // The option CreateNamespace=true.
        await cluster.kubectl(['create', 'namespace', SYSTEM]);
        await applied(cluster, stdout, '--server-side');
      }),
    uninstall: async (cluster) => {
      await uninstallApplied(cluster);
      await cluster.kubectl(['delete', 'namespace', SYSTEM]);
    },
  },
  'the operator': {
    install: async (cluster, values) => {
      const spec = { ...EXAMPLE.spec, ...inDangerZone(values) };
      const dangerZone = 'dangerZone' in spec;
      await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds/operator')]);
      await established(cluster, 'crd/countersigns.operator.countersign.dev');
      await apply(cluster, ...operatorManifests(spec, { ...OPERATOR, dangerZone }));
      await apply(cluster, { ...EXAMPLE, spec });
    },
    uninstall: async (cluster) => {
      await cluster.kubectl(['delete', 'countersigns/cluster']);
      await until('all that it owns is collected', WAIT_MS, async () => {
        const kinds = 'deployments,serviceaccounts,roles,rolebindings,clusterroles,services';
        const mine = ['-A', '-l', 'operator.countersign.dev/managed-by=countersign', '-o', 'name'];
        return (await cluster.kubectl(['get', kinds, ...mine])).stdout === '';
      });
      // What docs/how-to/operator.md says about the operator itself.
      const own = 'app.kubernetes.io/name=countersign,app.kubernetes.io/component=operator';
      await shell(
        cluster,
        [
          `kubectl delete deployment,serviceaccount,role,rolebinding -A -l ${own}`,
          `kubectl delete clusterrole,clusterrolebinding -l ${own}`,
          'kubectl delete validatingadmissionpolicy,validatingadmissionpolicybinding countersign-operator',
        ].join('\n'),
      );
    },
  },
  // For the names of deploy/examples, and without other components.
  'kubectl apply -k': {
    install: async (cluster) => {
      await until('everything is applied', WAIT_MS, async () => {
        await cluster.kubectl(['apply', '-k', ROOT]);
        return true;
      });
    },
    uninstall: uninstallApplied,
  },
} as const satisfies Readonly<Record<string, Way>>;

export type WayName = keyof typeof WAYS;

/** Ways that take values: `kubectl apply -k` installs what is in the repository. */
export const WITH_VALUES = [
  'helm install',
  'countersign install',
  'countersign manifests',
  'helm template',
  'the operator',
] as const satisfies readonly WayName[];

/** Creates the signer of the components' own ports: the chart makes it with an upgrade only. */
export async function createServingSigner(cluster: Cluster): Promise<void> {
  const { stdout } = await cluster.kubectl(['get', 'clustersigners', '-o', 'name']);
  if (stdout.includes('/serving')) return;
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/examples/serving.yaml')]);
}

/** Runs the commands that `uninstall` prints for what stays: CAs, records, bundles, namespaces. */
export async function removeForGood(cluster: Cluster): Promise<void> {
  const { stdout } = await run(cluster, 'uninstall');
  const [, commands = ''] = stdout.split('for good, with every CA key, record and bundle:\n');
  await shell(cluster, commands);
  await until('both namespaces are gone', WAIT_MS, async () => {
    const { stdout: left } = await cluster.kubectl(['get', 'namespaces', '-o', 'name']);
    return !/countersign-(?:system|keys)\b/.test(left);
  });
}
