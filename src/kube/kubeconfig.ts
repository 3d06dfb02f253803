// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { SignerError, messageOf } from '../errors.ts';
import type { Clock } from '../ports.ts';
import type { Connection, Credentials, TlsMaterial } from './connection.ts';

export interface ConnectionInit {
  /** Path of a kubeconfig; absent: in-cluster, else KUBECONFIG's and ~/.kube/config. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly clock: Clock;
}

/** The kubelet rotates bound tokens well before they end: a minute's cache is safe. */
const CREDENTIALS_CACHE_MS = 60_000;

/**
 * Reads a kubeconfig through the official client (contexts, exec plugins, in-cluster files).
 *
 * @throws SignerError KUBE_CONFIG (`wait`) saying which file and what is wrong
 */
export async function loadConnection(init: ConnectionInit): Promise<Connection> {
  const config = await load(init);
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw faulty(init, 'it names no cluster for its current context');
  const tokenFile = await tokenFileOf(init, config);
  let cached: { value: Credentials; until: number } | undefined;
  return {
    server: server.replace(/\/+$/, ''),
    credentials: async () => {
      if (cached !== undefined && init.clock() < cached.until) return cached.value;
      const value = await readCredentials(config, tokenFile);
      cached = { value, until: init.clock() + CREDENTIALS_CACHE_MS };
      return value;
    },
    forget: () => {
      cached = undefined;
    },
  };
}

async function load(init: ConnectionInit): Promise<KubeConfig> {
  // Loaded late: it costs a quarter of a second, which `countersign policy test` need not pay.
  const { KubeConfig: Loader } = await import('@kubernetes/client-node');
  const config = new Loader();
  try {
    if (init.kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(init.kubeconfig);
    if (init.context !== undefined) config.setCurrentContext(init.context);
    return config;
  } catch (error) {
    throw faulty(init, messageOf(error), error);
  }
}

/** `users[].user.tokenFile`, which client-node 2.0.1 drops when it reads a kubeconfig. */
async function tokenFileOf(init: ConnectionInit, config: KubeConfig): Promise<string | undefined> {
  if (init.kubeconfig === undefined) return undefined;
  const file: unknown = parse(await readFile(init.kubeconfig, 'utf8'));
  const users = property(file, 'users');
  if (!Array.isArray(users)) return undefined;
  const name = config.getCurrentUser()?.name;
  const entry: unknown = users.find((each: unknown) => property(each, 'name') === name);
  const found = property(property(entry, 'user'), 'tokenFile');
  return typeof found === 'string' ? resolve(dirname(init.kubeconfig), found) : undefined;
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

async function readCredentials(
  config: KubeConfig,
  tokenFile: string | undefined,
): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const authorization =
    tokenFile === undefined
      ? authorizationOf(options)
      : `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`;
  return { tls: tlsOf(options), ...(authorization === undefined ? {} : { authorization }) };
}

function authorizationOf(options: RequestOptions): string | undefined {
  const header = property(options.headers, 'Authorization');
  if (typeof header === 'string') return header;
  return typeof options.auth === 'string'
    ? `Basic ${Buffer.from(options.auth).toString('base64')}`
    : undefined;
}

function tlsOf(options: RequestOptions): TlsMaterial {
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
  const material = {
    ca: text(options.ca),
    cert: text(options.cert),
    key: text(options.key),
    servername: options.servername,
    rejectUnauthorized: options.rejectUnauthorized,
  };
  return Object.fromEntries(
    Object.entries(material).filter(([, value]) => value !== undefined),
  ) as TlsMaterial;
}

function faulty(init: ConnectionInit, reason: string, cause?: unknown): SignerError {
  return new SignerError({
    code: 'KUBE_CONFIG',
    disposition: 'wait',
    message: `the kubeconfig ${init.kubeconfig ?? '(default)'} cannot be used: ${reason}`,
    cause,
  });
}
