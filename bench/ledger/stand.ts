// SPDX-License-Identifier: Apache-2.0
/** A component `ledger` as the image starts it, for a signer that records in it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_SIGNERS } from '../../build/demo-installation.ts';
import { LEDGER_SERVICE } from '#api/signer/own-tls.ts';
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { freePort } from '../../test/cluster/ports.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { startComponent } from '../../test/support/cluster/component-process.ts';
import { podFlags } from '../../test/support/cluster/entrypoint-flags.ts';
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { tlsCertificate } from '../../test/support/pki/tls-certificate.ts';
import { TOKEN_DURATION, WORKLOAD } from '../cluster/ours.ts';
import { BUNDLE } from '../cluster/start.ts';

/** A ledger that takes records, with nothing in it at first. */
export interface RunningLedger {
  readonly pid: number;
  readonly url: string;
  /** File with the CA of its port. */
  readonly ca: string;
  /** What `pcr-issuer` needs to record in it. */
  readonly flags: readonly string[];
  stop(): Promise<void>;
}

/** Applies what an installation with a ledger has, once. */
export async function applyLedger(cluster: Cluster): Promise<void> {
  const values = { signers: DEMO_SIGNERS, components: { ledger: { enabled: true } } };
  const files = installationFiles(planOf(values, { namespace: 'default', version: '0.1.0' }));
  const items = ['rbac/ledger.yaml', 'ledger.yaml'].flatMap((file) => files.get(file) ?? []);
  await apply(cluster, { apiVersion: 'v1', kind: 'List', items });
}

/** The database of a ledger. */
interface LedgerData {
  /** Of PostgreSQL; default: SQLite. */
  readonly databaseUrl?: string | undefined;
  /** With the SQLite file; it is kept. Default: one of its own. */
  readonly directory?: string;
  /** Prefix of the logs that are there. */
  readonly origin?: string;
}

/**
 * Starts one, which takes over from the one before: the checkpoints of that one are forgotten.
 */
export async function startLedger(
  cluster: Cluster,
  { databaseUrl, directory: data, origin }: LedgerData = {},
): Promise<RunningLedger> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-ledger-'));
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const { cert, key } = await tlsCertificate('ledger', {
    dnsNames: [`${LEDGER_SERVICE}.${SYSTEM_NAMESPACE}.svc`],
  });
  const ca = file('tls.crt', cert);
  file('tls.key', key);
  const token = file('token', await tokenFor(cluster, 'countersign-pcr-issuer'));
  await forgetCheckpoints(cluster);
  const port = await freePort();
  const account = 'countersign-ledger';
  const options = { duration: TOKEN_DURATION };
  const ledger = await startComponent({
    name: 'ledger',
    kubeconfig: await cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, account, options),
    program: [process.execPath, ...podFlags(), BUNDLE],
    args: [
      '--listen-ledger',
      `127.0.0.1:${port}`,
      '--listen-crl',
      '127.0.0.1:0',
      '--data',
      data ?? directory,
      '--serving-certificate',
      directory,
      '--appender',
      `pcr-issuer=${WORKLOAD.signerName}`,
      ...(origin === undefined ? [] : ['--origin', origin]),
      ...(databaseUrl === undefined ? [] : ['--database-url', file('database-url', databaseUrl)]),
    ],
  });
  const stop = async (): Promise<void> => {
    await ledger.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await ledger.ready();
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `https://127.0.0.1:${port}`;
  const address = ['--ledger', url, '--ledger-ca', ca];
  const flags = ['--ledger-mode', 'required', ...address, '--ledger-token', token];
  return { pid: ledger.pid, url, ca, flags, stop };
}

async function tokenFor(cluster: Cluster, account: string): Promise<string> {
  const { stdout } = await cluster.kubectl([
    'create',
    'token',
    account,
    '-n',
    SYSTEM_NAMESPACE,
    '--duration',
    TOKEN_DURATION,
    '--audience',
    'append.ledger.countersign.dev',
  ]);
  return stdout.trim();
}

/** Else a ledger without the records of the one before would be taken for an older copy of it. */
async function forgetCheckpoints(cluster: Cluster): Promise<void> {
  const name = 'countersign-ledger-checkpoints';
  const patch = ['patch', 'configmap', name, '-n', SYSTEM_NAMESPACE, '--type', 'merge'];
  await cluster.kubectl([...patch, '-p', '{"data":null}']);
}
