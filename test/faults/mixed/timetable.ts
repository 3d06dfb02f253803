// SPDX-License-Identifier: Apache-2.0
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../lab/lab.ts';
import { newIdentity } from '../proxy/proxy.ts';

/** Something that is done to processes, servers and files while requests come. */
export interface Happening {
  /** When so much of the load has been made: from 0 to 1. */
  readonly at: number;
  readonly what: string;
  readonly whom: string;
  readonly happen: (lab: Lab) => Promise<void>;
}

const STOPPED_MS = 4_000;

const kill = (at: number, whom: string): Happening => ({
  at,
  what: 'kill −9',
  whom,
  happen: (lab) => lab.component(whom).kill(),
});

const stop = (at: number, whom: string): Happening => ({
  at,
  what: 'SIGSTOP, SIGCONT',
  whom,
  happen: async (lab) => {
    const { process } = lab.component(whom);
    process.signal('SIGSTOP');
    await sleep(STOPPED_MS);
    process.signal('SIGCONT');
  },
});

const killServer = (at: number): Happening => ({
  at,
  what: 'kill −9 and start',
  whom: 'kube-apiserver',
  happen: async ({ cluster }) => {
    await cluster.apiServer.kill();
    await cluster.apiServer.start();
  },
});

const tokens = (at: number): Happening => ({
  at,
  what: 'new tokens',
  whom: 'all',
  happen: async (lab) => {
    await Promise.all([...lab.components.keys()].map((each) => lab.access(each).renewToken()));
  },
});

/** As it is done well: the new CA is trusted by everybody a minute before the server uses it. */
const certificate = (at: number): Happening => ({
  at,
  what: 'new CA of the server',
  whom: 'all',
  happen: async (lab) => {
    const next = await newIdentity();
    for (const each of lab.components.keys()) appendFileSync(lab.access(each).caFile, next.cert);
    await sleep(CREDENTIALS_CACHE_MS);
    lab.proxy.changeCertificate(next);
  },
});

/** For so long a component may remember what it has read (src/kube/client/credentials-cache.ts). */
const CREDENTIALS_CACHE_MS = 61_000;

const restartEtcd = (at: number): Happening => ({
  at,
  what: 'restart',
  whom: 'etcd',
  happen: ({ cluster }) => cluster.etcd.restart(),
});

const hang = (at: number): Happening => ({
  at,
  what: 'SIGSTOP, SIGCONT',
  whom: 'kube-apiserver',
  happen: async ({ cluster }) => {
    cluster.apiServer.signal('SIGSTOP');
    await sleep(STOPPED_MS);
    cluster.apiServer.signal('SIGCONT');
  },
});

const cutAll = (at: number): Happening => ({
  at,
  what: 'all connections cut',
  whom: 'all',
  happen: ({ proxy }) => {
    proxy.cut();
    return Promise.resolve();
  },
});

/**
 * In the order of their times. None waits for another, unless that takes longer than its part of
 * the load.
 */
export const TIMETABLE: readonly Happening[] = [
  kill(0.05, 'signer'),
  stop(0.1, 'pcr-issuer'),
  certificate(0.12),
  kill(0.2, 'approver'),
  killServer(0.25),
  tokens(0.3),
  kill(0.35, 'pcr-issuer'),
  restartEtcd(0.4),
  stop(0.5, 'signer'),
  kill(0.55, 'authority'),
  kill(0.55, 'attester'),
  hang(0.6),
  cutAll(0.65),
  killServer(0.75),
  stop(0.8, 'approver'),
  kill(0.9, 'signer'),
];
