// SPDX-License-Identifier: Apache-2.0
/** A ledger on a real cluster, and components that record in it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DEMO_SIGNERS } from '../../../build/demo-installation.ts';
import {
  contentsOf,
  createHttpsSender,
  openSqlite,
  storeOf,
  type LedgerRecord,
  type LedgerStore,
} from '#ledger/index.ts';
import { createLedgerConnection, type LedgerConnection } from '#ledger/sender/connection.ts';
import { createLedgerReader, type LedgerReader } from '#ledger/sender/reader.ts';
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { freePort } from '../../cluster/ports.ts';
import { apply } from '../../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { componentKubeconfig, SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

/** Component and signer name of each grant. */
export const GRANTS = [
  'signer',
  'pcr-issuer',
  'approver',
  'authority',
  'certificate-request',
].flatMap((component) => ['workload', 'people'].map((name) => `${component}=example.com/${name}`));

/** What an installation has that chose `kubectl get records`. */
const AGGREGATED = {
  signers: DEMO_SIGNERS,
  components: { ledger: { enabled: true, replicas: 2 } },
  ledger: { aggregatedApi: true, postgres: { secret: 'ledger-database' } },
};

async function applyFiles(
  cluster: Cluster,
  values: object,
  names: readonly string[],
): Promise<void> {
  const files = installationFiles(planOf(values, { namespace: 'default', version: '0.1.0' }));
  const items = names.flatMap((file) => files.get(file) ?? []);
  await apply(cluster, { apiVersion: 'v1', kind: 'List', items });
}

/** Applies the roles and objects of the ledger. */
export function applyLedger(cluster: Cluster): Promise<void> {
  const values = { signers: DEMO_SIGNERS, components: { ledger: { enabled: true } } };
  return applyFiles(cluster, values, ['rbac/ledger.yaml', 'ledger.yaml']);
}

/** Applies the rights that it takes to serve the API behind the API server. */
function applyAggregatedRoles(cluster: Cluster): Promise<void> {
  return applyFiles(cluster, AGGREGATED, ['rbac/ledger.yaml', 'rbac/authority.yaml']);
}

/** Applies the APIService, which an installation has where somebody chose it. */
export function applyLedgerApiService(cluster: Cluster): Promise<void> {
  return applyFiles(cluster, AGGREGATED, ['ledger-api-service.yaml']);
}

const MAIN = join(import.meta.dirname, '../../../src/cli/main.ts');
/** Of a process that ends by itself: the sources are loaded in some seconds. */
const ENDED_MS = 120_000;

type RecordingComponent =
  'signer' | 'pcr-issuer' | 'approver' | 'authority' | 'certificate-request';

/** Starts, kills and reads the ledger; starts components that record in it. */
export class LedgerStand {
  readonly #cluster: Cluster;
  readonly #directory: string;
  readonly #port: number;
  readonly #crlPort: number;
  readonly #aggregated: boolean;
  readonly #started = new Set<ComponentProcess>();
  readonly #senders: Pick<LedgerConnection, 'close'>[] = [];

  private constructor(
    cluster: Cluster,
    directory: string,
    ports: readonly [number, number],
    aggregated: boolean,
  ) {
    this.#cluster = cluster;
    this.#aggregated = aggregated;
    this.#directory = directory;
    [this.#port, this.#crlPort] = ports;
  }

  /**
   * What an administrator applies, a directory for the data, and a certificate for the port.
   *
   * @param aggregated - whether the API server serves its API
   */
  static async create(cluster: Cluster, { aggregated = false } = {}): Promise<LedgerStand> {
    const directory = mkdtempSync(join(tmpdir(), 'ledger-stand-'));
    const { cert, key } = await tlsCertificate('ledger');
    writeFileSync(join(directory, 'tls.crt'), cert);
    writeFileSync(join(directory, 'tls.key'), key);
    await applyLedger(cluster);
    if (aggregated) await applyAggregatedRoles(cluster);
    const ports = [await freePort(), await freePort()] as const;
    return new LedgerStand(cluster, directory, ports, aggregated);
  }

  get port(): number {
    return this.#port;
  }

  /** Where the ledger serves the CRL of each CA. */
  get crlUrl(): string {
    return `http://127.0.0.1:${this.#crlPort}/{authority}.crl`;
  }

  /** Puts another certificate in the place of its own; the ledger reads the files again. */
  serveWith({ cert, key }: { readonly cert: string; readonly key: string }): void {
    writeFileSync(join(this.#directory, 'tls.crt'), cert);
    writeFileSync(join(this.#directory, 'tls.key'), key);
  }

  /** What a ledger is started with, besides what each component is. */
  #flags(flags: readonly string[]): readonly string[] {
    return [
      '--listen-ledger',
      `127.0.0.1:${this.#port}`,
      '--listen-crl',
      `127.0.0.1:${this.#crlPort}`,
      '--data',
      this.#directory,
      '--serving-certificate',
      this.#directory,
      '--unrecorded-grace-period',
      '2s',
      ...GRANTS.flatMap((grant) => ['--appender', grant]),
      ...(this.#aggregated ? ['--aggregated-api'] : []),
      ...flags,
    ];
  }

  /** Runs a ledger that ends by itself. @returns its exit code, and what it says */
  async endedLedger(
    ...flags: readonly string[]
  ): Promise<{ readonly code: number | null; readonly said: string }> {
    const kubeconfig = await componentKubeconfig(this.#cluster, 'ledger');
    const child = spawn(
      process.execPath,
      [
        MAIN,
        'ledger',
        '--kubeconfig',
        kubeconfig,
        '--listen',
        '127.0.0.1:0',
        '--lease-namespace',
        SYSTEM_NAMESPACE,
        ...this.#flags(flags),
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], timeout: ENDED_MS, killSignal: 'SIGKILL' },
    );
    const said = await text(child.stderr);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return { code: child.exitCode, said };
  }

  /** @param flags - besides, or in place of the port and the data */
  async startLedger(...flags: readonly string[]): Promise<ComponentProcess> {
    const kubeconfig = await componentKubeconfig(this.#cluster, 'ledger');
    const ledger = await startComponent({ name: 'ledger', kubeconfig, args: this.#flags(flags) });
    this.#started.add(ledger);
    await ledger.ready();
    return ledger;
  }

  async start(name: RecordingComponent, ...flags: readonly string[]): Promise<ComponentProcess> {
    const kubeconfig = await componentKubeconfig(this.#cluster, name);
    const token = join(this.#directory, `${name}.token`);
    writeFileSync(token, await this.token(`countersign-${name}`));
    const started = await startComponent({
      name,
      kubeconfig,
      args: [
        '--ledger',
        `https://127.0.0.1:${this.#port}`,
        '--ledger-token',
        token,
        '--ledger-ca',
        join(this.#directory, 'tls.crt'),
        ...flags,
      ],
    });
    this.#started.add(started);
    return started;
  }

  /** A token of a ServiceAccount beside the components. */
  async token(account: string, audience = 'append.ledger.countersign.dev'): Promise<string> {
    const { stdout } = await this.#cluster.kubectl([
      'create',
      'token',
      account,
      '-n',
      SYSTEM_NAMESPACE,
      '--duration',
      '1h',
      '--audience',
      audience,
    ]);
    return stdout.trim();
  }

  /**
   * Appends as whoever has the token. @returns the code for each record; rejects if none is judged
   */
  append(token: string, ...records: readonly LedgerRecord[]): Promise<readonly string[]> {
    return this.appendAt(this.#port, token, ...records);
  }

  /** The same at another replica's port. */
  async appendAt(
    port: number,
    token: string,
    ...records: readonly LedgerRecord[]
  ): Promise<readonly string[]> {
    const sender = createHttpsSender({
      url: new URL(`https://127.0.0.1:${port}`),
      readToken: () => Promise.resolve(token),
      readCa: () => Promise.resolve(readFileSync(join(this.#directory, 'tls.crt'), 'utf8')),
    });
    this.#senders.push(sender);
    return (await sender.send(records)).map((error) => error?.code ?? 'kept');
  }

  /** Reads records with a token of a ServiceAccount beside the components. */
  async reader(account: string, audience?: string): Promise<LedgerReader> {
    return createLedgerReader(this.connection(await this.token(account, audience)));
  }

  /** Its port, for who has this token. */
  connection(token: string): LedgerConnection {
    const connection = createLedgerConnection({
      url: new URL(`https://127.0.0.1:${this.#port}`),
      readToken: () => Promise.resolve(token),
      readCa: () => Promise.resolve(readFileSync(join(this.#directory, 'tls.crt'), 'utf8')),
    });
    this.#senders.push(connection);
    return connection;
  }

  /** What is on disk, whether or not the ledger runs. */
  async read<T>(work: (store: LedgerStore) => Promise<T>): Promise<T> {
    const store = storeOf(openSqlite(join(this.#directory, 'ledger.db')));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** The records of a request by its UID, oldest first. */
  async recordsOf(uid: string): Promise<readonly LedgerRecord[]> {
    const all = await this.all();
    return all.filter((each) => 'request' in each && each.request.uid === uid);
  }

  /** All records, oldest first. */
  all(): Promise<readonly LedgerRecord[]> {
    return this.read(async (store) => {
      const found = await store.after(0, 10_000);
      return found.flatMap((each) => {
        const { record } = contentsOf(each);
        return record.kind === 'erased' ? [] : [record];
      });
    });
  }

  async stop(): Promise<void> {
    for (const each of this.#senders) each.close();
    await Promise.all([...this.#started].map((each) => each.kill()));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
