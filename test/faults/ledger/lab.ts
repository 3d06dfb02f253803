// SPDX-License-Identifier: Apache-2.0
/** The lab of faults with a ledger in it, which the components record in. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerRecord, LedgerStore } from '#ledger/index.ts';
import { contentsOf, idOf, storeOf } from '#ledger/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { freePort } from '../../cluster/ports.ts';
import { applyLedger, GRANTS } from '../../integration/ledger/stand.ts';
import { Dice } from '../../oracle/dice.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { openLab, programWith, type Lab } from '../lab/lab.ts';
import { postgresPlace, sqlitePlace, type Place } from './place.ts';
import { startRelay, type Relay } from './relay.ts';

/** What is tried. */
export interface LedgerTrial {
  readonly mode: 'required' | 'best-effort';
  readonly database: 'sqlite' | 'postgres';
}

/** A lab whose components record. */
export interface LedgerLab extends LedgerTrial {
  readonly lab: Lab;
  readonly place: Place;
  readonly relay: Relay;
  /** New tokens for the ledger, and another certificate of its port, written in place. */
  readonly renewAccess: () => Promise<void>;
  /** The records of components, oldest first. */
  readonly records: () => Promise<readonly LedgerRecord[]>;
  readonly read: <T>(work: (store: LedgerStore) => Promise<T>) => Promise<T>;
  readonly stop: () => Promise<void>;
}

/** The components that record. */
export const RECORDING = ['signer', 'pcr-issuer', 'approver', 'authority'] as const;
type RecordingName = (typeof RECORDING)[number];

/** Few, so that some are lost while the ledger is away. */
const MAX_QUEUED_RECORDS = 200;
const PAGE = 10_000;

export async function openLedgerLab(
  cluster: Cluster,
  trial: LedgerTrial & { readonly seed: number },
): Promise<LedgerLab> {
  const directory = join(cluster.directory, 'ledger');
  mkdirSync(directory);
  const place =
    trial.database === 'sqlite' ? sqlitePlace(directory) : await postgresPlace(directory);
  const port = await freePort();
  const relay = await startRelay(port, new Dice(trial.seed));
  const tokenOf = (name: RecordingName): string => join(directory, `${name}.token`);
  const renewAccess = async (): Promise<void> => {
    const { cert, key } = await tlsCertificate('ledger');
    writeFileSync(join(directory, 'tls.key'), key);
    writeFileSync(join(directory, 'tls.crt'), cert);
    for (const name of RECORDING) writeFileSync(tokenOf(name), await newToken(cluster, name));
  };
  const lab = await openLab({
    cluster,
    seed: trial.seed,
    before: async (start) => {
      await applyLedger(cluster);
      await renewAccess();
      const ledger = await start('ledger', 'ledger', {
        program: programWith('full-disk'),
        args: [
          '--listen-ledger',
          `127.0.0.1:${port}`,
          '--listen-crl',
          '127.0.0.1:0',
          '--serving-certificate',
          directory,
          ...place.args,
          ...GRANTS.flatMap((grant) => ['--appender', grant]),
        ],
      });
      await ledger.ready();
      return (name) =>
        isRecording(name)
          ? [
              '--ledger-mode',
              trial.mode,
              '--ledger',
              `https://127.0.0.1:${relay.port}`,
              '--ledger-token',
              tokenOf(name),
              '--ledger-ca',
              join(directory, 'tls.crt'),
              ...(trial.mode === 'required'
                ? []
                : ['--ledger-waiting', String(MAX_QUEUED_RECORDS)]),
            ]
          : [];
    },
  });
  const read = async <T>(work: (store: LedgerStore) => Promise<T>): Promise<T> => {
    const store = storeOf(place.open());
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  return {
    ...trial,
    lab,
    place,
    relay,
    renewAccess,
    read,
    records: () => read(recordsOf),
    stop: async () => {
      await lab.stop();
      await relay[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

function isRecording(name: string): name is RecordingName {
  return RECORDING.some((each) => each === name);
}

async function recordsOf(store: LedgerStore): Promise<readonly LedgerRecord[]> {
  const all: LedgerRecord[] = [];
  for (let after = 0; ;) {
    const page = await store.after(after, PAGE);
    for (const each of page) {
      const { record } = contentsOf(each);
      if (record.kind !== 'erased') all.push(record);
    }
    const last = page.at(-1);
    if (last === undefined) return all;
    after = idOf(last);
  }
}

async function newToken(cluster: Cluster, name: RecordingName): Promise<string> {
  const { stdout } = await cluster.kubectl([
    'create',
    'token',
    `countersign-${name}`,
    '-n',
    SYSTEM_NAMESPACE,
    '--duration',
    '6h',
    '--audience',
    'append.ledger.countersign.dev',
  ]);
  return stdout.trim();
}
