// SPDX-License-Identifier: Apache-2.0
/** The story on a cluster of the user's own, in namespaces of its own. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../../test/cluster/cluster.ts';
import { until } from '../../test/cluster/until.ts';
import { countersign } from '../../test/support/cluster/countersign.ts';
import { KEYS_NAMESPACE, SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { TEAM, type PeopleCa } from './cast.ts';
import { Pods, SIGNER_NAMES, valuesFor } from './pods.ts';

/** Objects of the story that `countersign install` does not make. */
const BINDING = 'clusterrolebinding/dev-csr';
/** Those of the story, and the one that the installation has for its own certificates. */
const SIGNERS = [...SIGNER_NAMES, 'countersign.dev/serving'];
const NAMESPACES = [SYSTEM_NAMESPACE, KEYS_NAMESPACE, TEAM];
const MIN_MINOR = 37;
/** Namespaces end when the last pod has, and a kubelet may take its time. */
const GONE_MS = 180_000;

/** The user's cluster, where the story takes away what it made. */
export class OwnCluster extends Pods {
  readonly #objects: string;

  private constructor(cluster: Cluster, image: string, found: Found) {
    super({ cluster, image, isAudited: false, ...found });
    this.#objects = join(cluster.directory, 'objects.yaml');
  }

  /**
   * Connects to the cluster and looks at it. Creates nothing.
   *
   * @throws Error if it cannot tell the story, or if something of the story is there already
   */
  static async connect(kubeconfig: string, image: string): Promise<OwnCluster> {
    const cluster = await startCluster({ kubeconfig });
    try {
      await checkVersion(cluster);
      const nodes = await readyNodes(cluster);
      const own = new OwnCluster(cluster, image, { nodes, peopleCa: createCa(cluster.directory) });
      await own.#plan(image);
      await own.requireUnused();
      return own;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /**
   * Confirms that the cluster has nothing of the story, because its end deletes objects by name.
   *
   * @throws Error with the names of those that exist
   */
  async requireUnused(): Promise<void> {
    const existing = await this.#existing();
    if (existing.length === 0) return;
    throw new Error(
      `${this.cluster.server} has objects of these names already: ${existing.join(', ')}. The demo would change and delete them, so it stops. Use another cluster.`,
    );
  }

  /** Deletes what the story made, and confirms that it is gone. */
  override async end(): Promise<void> {
    try {
      process.stdout.write('\nDeleting what the demo made\n');
      await this.#delete();
      const left = await this.#existing();
      if (left.length > 0) throw new Error(`still there, delete it by hand: ${left.join(', ')}`);
      process.stdout.write('    nothing of it is left\n');
    } finally {
      await super.end();
    }
  }

  /** Ends the connection to a cluster in which nothing was created. */
  async leave(): Promise<void> {
    await super.end();
  }

  /** Writes the objects that the installation will have into a file. */
  async #plan(image: string): Promise<void> {
    const values = join(this.cluster.directory, 'planned-values.yaml');
    writeFileSync(values, JSON.stringify(valuesFor(image)));
    const { code, stdout, stderr } = await countersign([
      'install',
      '--values',
      values,
      '--dry-run=client',
      '--kubeconfig',
      this.cluster.kubeconfig,
    ]);
    if (code !== 0) throw new Error(stderr);
    // Those of Countersign's own kinds are there when their definitions are.
    const documents = stdout.split(/^---$/m);
    const known = documents.filter((each) => !/^apiVersion: \S*countersign\.dev\//m.test(each));
    writeFileSync(this.#objects, known.join('---'));
  }

  /** Returns the names of objects of the story that exist. */
  async #existing(): Promise<readonly string[]> {
    const { cluster } = this;
    const named = ['get', '--ignore-not-found', '-o', 'name'];
    const others = [...NAMESPACES.map((each) => `namespace/${each}`), BINDING];
    const found = await Promise.all([
      cluster.kubectl([...named, '-f', this.#objects]),
      cluster.kubectl([...named, ...others]),
    ]);
    const lines = found.flatMap(({ stdout }) => stdout.split('\n'));
    const requests = await this.#ofSigners();
    return [...new Set([...lines.filter((line) => line !== ''), ...requests])].sort();
  }

  /** Requests and bundles of the story's signers, and requests of its components. */
  async #ofSigners(): Promise<readonly string[]> {
    const kinds = 'certificatesigningrequests,clustertrustbundles';
    const { stdout } = await this.cluster.kubectl(['get', kinds, '-o', 'json']);
    const { items } = JSON.parse(stdout) as {
      items: readonly {
        kind: string;
        metadata: { name: string };
        spec: { signerName?: string; username?: string };
      }[];
    };
    const account = `system:serviceaccount:${SYSTEM_NAMESPACE}:`;
    return items
      .filter(
        ({ spec }) =>
          SIGNERS.includes(spec.signerName ?? '') || spec.username?.startsWith(account) === true,
      )
      .map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
  }

  async #delete(): Promise<void> {
    const { cluster } = this;
    const remove = async (...args: readonly string[]): Promise<void> => {
      await cluster.kubectl(['delete', '--ignore-not-found', '--wait=false', ...args]);
    };
    await remove(`namespace/${TEAM}`);
    // First what runs: a component would make again what is deleted.
    await remove('deployments', '--all', '-n', SYSTEM_NAMESPACE);
    await until('no component runs', GONE_MS, async () => {
      const pods = ['get', 'pods', '-n', SYSTEM_NAMESPACE, '-o', 'name'];
      return (await cluster.kubectl(pods)).stdout === '';
    });
    await remove('-f', this.#objects);
    await remove(BINDING, ...NAMESPACES.map((each) => `namespace/${each}`));
    const requests = await this.#ofSigners();
    if (requests.length > 0) await remove(...requests);
    await until('everything is deleted', GONE_MS, async () => {
      const left = await this.#existing();
      return left.length === 0 ? true : undefined;
    }).catch(() => undefined);
  }
}

interface Found {
  readonly nodes: readonly [string, string];
  readonly peopleCa: PeopleCa;
}

async function checkVersion(cluster: Cluster): Promise<void> {
  const { stdout } = await cluster.kubectl(['get', '--raw', '/version']);
  const { major, minor, gitVersion } = JSON.parse(stdout) as Record<string, string>;
  if (Number(major) === 1 && parseInt(minor ?? '', 10) >= MIN_MINOR) return;
  throw new Error(
    `${cluster.server} is ${gitVersion ?? 'unknown'}: the demo needs Kubernetes 1.${MIN_MINOR}, where pod certificates are GA`,
  );
}

/** Two nodes that take pods of Linux, or one of them twice. */
async function readyNodes(cluster: Cluster): Promise<readonly [string, string]> {
  const { stdout } = await cluster.kubectl(['get', 'nodes', '-o', 'json']);
  const { items } = JSON.parse(stdout) as {
    items: readonly {
      metadata: { labels?: Readonly<Record<string, string>> };
      spec: { unschedulable?: boolean; taints?: readonly { effect: string }[] };
      status: { conditions?: readonly { type: string; status: string }[] };
    }[];
  };
  const names = items
    .filter(({ spec }) => spec.unschedulable !== true)
    .filter(({ spec }) => !(spec.taints ?? []).some(({ effect }) => effect !== 'PreferNoSchedule'))
    .filter(({ status }) =>
      (status.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    )
    .map(({ metadata }) => metadata.labels ?? {})
    .filter((labels) => labels['kubernetes.io/os'] === 'linux')
    .flatMap((labels) => labels['kubernetes.io/hostname'] ?? []);
  const [first, second = first] = names;
  if (first === undefined || second === undefined)
    throw new Error(`${cluster.server} has no Ready node with Linux that takes pods`);
  return [first, second];
}

/** A CA for people. The API server of the cluster does not know it. */
function createCa(directory: string): PeopleCa {
  const [certFile, keyFile] = [join(directory, 'people-ca.crt'), join(directory, 'people-ca.key')];
  const subject = '-subj /CN=People-CA-of-the-demo -days 1 -nodes';
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256';
  const extensions =
    '-addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign';
  const words = `req -x509 ${key} ${subject} ${extensions}`.split(' ');
  execFileSync('openssl', words.concat('-keyout', keyFile, '-out', certFile), {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { certFile, keyFile, isTrusted: false };
}
