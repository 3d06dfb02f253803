// SPDX-License-Identifier: Apache-2.0
/** What ends or fails while a page is open: the page shows it, and recovers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { parse, stringify } from 'yaml';
import { startConsole } from '#console/start-console.ts';
import { createClient } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { buildConsoleAssets } from '../../build/console-assets.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { NO_RULES } from './no-rules.ts';

/** A page of a console. */
export interface Opened {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser reported: violations of the policy, and errors of scripts. */
  readonly reports: string[];
  readonly base: string;
}

/** The parts of the run that these tests share. */
export interface Stand {
  readonly cluster: Cluster;
  /** Starts a console with a kubeconfig, and returns its address. */
  readonly start: (...args: readonly string[]) => Promise<string>;
  readonly open: (address: string) => Promise<Opened>;
  readonly createRequest: (name: string, signerName?: string, commonName?: string) => Promise<void>;
  /** Returns the rules of axe that the page breaks. */
  readonly broken: (opened: Opened) => Promise<readonly string[]>;
}

interface Kubeconfig {
  readonly clusters: readonly { cluster: { server: string } }[];
  users: readonly { name: string; user: object }[];
}

/** Declares the tests. @param stand - called in the tests */
export function testRecovery(stand: () => Stand): void {
  test('an open page shows that the session has ended', async () => {
    const { cluster, open } = stand();
    let ahead = 0;
    const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
    const monotonic = (): number => performance.now() + ahead;
    const identity = { userAgent: 'test', impersonate: undefined };
    const client = createClient({ connection, clock: Date.now, monotonic, ...identity });
    const init = {
      client,
      monotonic,
      clock: Date.now,
      random: randomBytes,
      delay: async (milliseconds: number) => {
        await sleep(milliseconds);
      },
      release: 'test',
      canAct: false,
      rules: NO_RULES,
      planRestarts: () => assert.fail(),
      propagationSeconds: 600,
      namespace: 'countersign-system',
      secretNamespace: 'countersign-keys',
      servingSigner: 'countersign.dev/serving',
      searchIssued: () => Promise.resolve({ found: [], places: [] }),
      assets: await buildConsoleAssets(),
      isOfOtherUser: () => false,
    };
    const { address, ended } = await startConsole(init, 0, new AbortController().signal);
    const { page, base } = await open(address);
    await page.goto(`${base}/requests`);
    await page.locator('#live', { hasText: 'live' }).waitFor();
    ahead = 2 * 60 * 60_000;
    await page.locator('#live', { hasText: 'The session has ended' }).waitFor();
    await ended;
    await client.close();
    await page.context().close();
  });

  test('an expired token is shown, and a page recovers with a new one', async (t) => {
    const { cluster, start, open } = stand();
    const file = copyOf(cluster, t);
    const { users, ...rest } = parse(readFileSync(file, 'utf8')) as Kubeconfig;
    const withToken = (token: string): void => {
      const renamed = users.map(({ name }) => ({ name, user: { token } }));
      writeFileSync(file, stringify({ ...rest, users: renamed }), { mode: 0o600 });
    };
    withToken('expired');
    const { page, base } = await open(await start('--kubeconfig', file));
    for (const name of ['overview', 'trust', 'requests', 'issued']) {
      await page.goto(`${base}/${name}`);
      await page.locator('main', { hasText: 'rejects your credentials' }).waitFor();
      assert.match((await page.textContent('main')) ?? '', /Log in again/, name);
    }
    await cluster.kubectl(['create', 'serviceaccount', 'watcher', '-n', 'default']);
    const role = ['--clusterrole=cluster-admin', '--serviceaccount=default:watcher'];
    await cluster.kubectl(['create', 'clusterrolebinding', 'watcher', ...role]);
    const { stdout } = await cluster.kubectl(['create', 'token', 'watcher', '-n', 'default']);
    withToken(stdout.trim());
    await page.goto(`${base}/requests`);
    await page.locator('#live', { hasText: 'live' }).waitFor();
    await page.goto(`${base}/overview`);
    await page.locator('.verdict').waitFor();
    await page.context().close();
  });

  test('an API server that is away is shown, and the watch comes back by itself', async (t) => {
    const { cluster, start, open, createRequest } = stand();
    const { file, proxy } = await behindProxy(cluster, t);
    const { page, base } = await open(await start('--kubeconfig', file));
    await page.goto(`${base}/requests`);
    await page.locator('#live', { hasText: ', live' }).waitFor();
    proxy.cut();
    await page.locator('#live', { hasText: 'not up to date' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${base}/issued?serial=01`);
    assert.match((await other.textContent('main')) ?? '', /API server does not answer.*reload/s);
    await other.goto(`${base}/requests`);
    assert.match((await other.textContent('main')) ?? '', /no response from the API server/);
    await createRequest('made-while-away');
    await proxy.listen();
    await page.locator('#live', { hasText: ', live' }).waitFor();
    await other.locator('#live', { hasText: ', live' }).waitFor();
    assert.doesNotMatch((await other.textContent('main')) ?? '', /no response/);
    await page.locator('#rows', { hasText: 'made-while-away' }).waitFor();
    await other.goto(`${base}/issued?serial=01`);
    assert.equal(await other.textContent('h1'), 'Issued');
    await page.context().close();
  });
}

/** Declares the test of a page before its parts are read. @param stand - called in the test */
export function testFirstPage(stand: () => Stand): void {
  test('the first page does not wait for the cluster, and fills itself in', async (t) => {
    const { cluster, start, open } = stand();
    const { file, proxy } = await behindProxy(cluster, t);
    proxy.hold();
    const address = await start('--kubeconfig', file);
    const { page } = await open(address);
    assert.match((await page.textContent('main')) ?? '', /Reading the cluster.*Being read/s);
    proxy.release();
    await page.locator('.verdict').waitFor();
    assert.doesNotMatch((await page.textContent('main')) ?? '', /Being read|Reading/);
    await page.context().close();
  });
}

/** Copies the kubeconfig of a cluster, with the address of a proxy. */
async function behindProxy(
  cluster: Cluster,
  t: Parameters<typeof copyOf>[1],
): Promise<{ readonly file: string; readonly proxy: Proxy }> {
  const file = copyOf(cluster, t);
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig;
  const [first] = config.clusters;
  assert.ok(first !== undefined);
  const proxy = await startProxy(new URL(first.cluster.server));
  t.after(() => {
    proxy.cut();
  });
  first.cluster.server = `https://127.0.0.1:${proxy.port}`;
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return { file, proxy };
}

/** Copies the kubeconfig of a cluster for one test. */
function copyOf({ kubeconfig }: Cluster, t: { after: (clean: () => void) => void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'console-'));
  t.after(() => {
    rmSync(directory, { recursive: true });
  });
  const file = join(directory, 'kubeconfig');
  writeFileSync(file, readFileSync(kubeconfig), { mode: 0o600 });
  return file;
}

interface Proxy {
  readonly port: number;
  /** Ends every connection, and refuses new ones. */
  readonly cut: () => void;
  readonly listen: () => Promise<void>;
  /** Passes nothing of new connections until they are released. */
  readonly hold: () => void;
  readonly release: () => void;
}

/** Passes bytes to an API server, until it is cut. */
async function startProxy({ hostname, port: target }: URL): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let gate = Promise.withResolvers<undefined>();
  gate.resolve(undefined);
  const pass = (near: Socket): void => {
    sockets.add(near);
    near.on('error', () => undefined);
    void gate.promise.then(() => {
      connectTo(near);
    });
  };
  const connectTo = (near: Socket): void => {
    const far = connect(Number(target), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  };
  let server: Server = createServer(pass);
  const listenOn = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    return address.port;
  };
  const port = await listenOn(0);
  return {
    port,
    hold: () => {
      gate = Promise.withResolvers();
    },
    release: () => {
      gate.resolve(undefined);
    },
    cut: () => {
      server.close();
      for (const each of sockets) each.destroy();
      sockets.clear();
    },
    listen: async () => {
      server = createServer(pass);
      await listenOn(port);
    },
  };
}
