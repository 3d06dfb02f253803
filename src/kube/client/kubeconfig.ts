// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { SignerError, messageOf } from '../../errors.ts';
import type { Clock } from '../../ports.ts';
import type { Connection, Credentials, TlsMaterial } from './connection.ts';
import { cacheCredentials } from './credentials-cache.ts';

/** Which kubeconfig to read. */
export interface ConnectionInit {
  /** Path of a kubeconfig. Default: that of KUBECONFIG, else ~/.kube/config, else in-cluster. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly clock: Clock;
  /** Called each time that credentials cannot be read and the previous ones stay in use. */
  readonly onUnreadable?: () => void;
}

/**
 * Reads a kubeconfig through the official client (contexts, exec plugins, in-cluster files).
 *
 * @throws SignerError KUBE_CONFIG (`wait`) saying which file and what is wrong
 */
export async function loadConnection(init: ConnectionInit): Promise<Connection> {
  let source = await load(init);
  return {
    server: source.server,
    ...cacheCredentials(async (reload) => {
      // An exec plugin runs again before its token expires only when the whole config is read again.
      if (reload) source = await load(init);
      return readCredentials(source).catch((error: unknown) => {
        throw configError(init, source.config, error);
      });
    }, init),
  };
}

/**
 * The contexts of a kubeconfig.
 *
 * @param file - undefined: as {@link loadConnection} finds it
 * @throws Error of the file
 */
export async function contextNames(file: string | undefined): Promise<readonly string[]> {
  const { KubeConfig: Loader } = await import('@kubernetes/client-node');
  const config = new Loader();
  if (file === undefined) config.loadFromDefault();
  else config.loadFromFile(file);
  return config.getContexts().map(({ name }) => name);
}

interface Source {
  readonly config: KubeConfig;
  readonly server: string;
  /** `users[].user.tokenFile`, which client-node 2.0.1 drops when it reads a kubeconfig. */
  readonly tokenFile: string | undefined;
}

async function load(init: ConnectionInit): Promise<Source> {
  // Loaded lazily: it takes a quarter of a second, which `countersign policy test` does not need.
  const { KubeConfig: Loader } = await import('@kubernetes/client-node');
  const config = new Loader();
  try {
    if (init.kubeconfig === undefined) loadDefault(config);
    else config.loadFromFile(init.kubeconfig);
    if (init.context !== undefined) config.setCurrentContext(init.context);
    const server = serverOf(config);
    const tokenFile = await tokenFileOf(init, config);
    if (tokenFile === undefined) requireCredentials(config);
    return { config, server, tokenFile };
  } catch (error) {
    throw configError(init, config, error);
  }
}

/** @throws Error where the official client makes up an API server without TLS, as it finds nothing */
function loadDefault(config: KubeConfig): void {
  config.loadFromDefault();
  const isMadeUp =
    config.getCurrentContext() === 'loaded-context' &&
    config.getCurrentCluster()?.server === 'http://localhost:8080';
  if (isMadeUp) throw new Error('there is none, and this is no pod with a ServiceAccount');
}

/** @throws Error for settings that would be ignored silently and make us another identity */
function serverOf(config: KubeConfig): string {
  const cluster = config.getCurrentCluster();
  const context = contextOf(config);
  if (cluster === null) throw new Error(`it has no ${context} with a cluster`);
  if (typeof cluster.proxyUrl === 'string') {
    throw new Error(
      `the cluster of its ${context} sets proxy-url, which is not supported: remove it`,
    );
  }
  if (typeof config.getCurrentUser()?.impersonateUser === 'string') {
    throw new Error(`the user of its ${context} sets "as", which is not supported: remove it`);
  }
  return cluster.server.replace(/\/+$/, '');
}

/** @throws Error where every request would be one of `system:anonymous` */
function requireCredentials(config: KubeConfig): void {
  const user = config.getCurrentUser();
  const means: readonly unknown[] = [user?.certData, user?.certFile, user?.token, user?.username];
  const plugins: readonly unknown[] = [user?.exec, user?.authProvider];
  if ([...means, ...plugins].some((each) => each !== undefined && each !== null)) return;
  throw new Error(
    `its ${contextOf(config)} has no user with credentials${user === null ? '' : ` ("${user.name}" has none that are supported)`}`,
  );
}

function contextOf(config: KubeConfig): string {
  const name = config.getCurrentContext() as string | undefined;
  return name === undefined || name === '' ? 'current-context' : `context "${name}"`;
}

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

/**
 * @throws Error where there is nothing to authenticate with, as while a token file is written in place: the API server
 * takes a call without a token for one of `system:anonymous` and answers 403, which nobody retries as a 401
 */
async function readCredentials({ config, tokenFile }: Source): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const authorization =
    tokenFile === undefined ? authorizationOf(options) : await bearerOf(tokenFile);
  const tls = tlsOf(options);
  if (authorization === undefined && tls.cert === undefined) {
    throw new Error('its user has neither a token nor a client certificate at the moment');
  }
  return { tls, ...(authorization === undefined ? {} : { authorization }) };
}

async function bearerOf(tokenFile: string): Promise<string | undefined> {
  const token = (await readFile(tokenFile, 'utf8')).trim();
  return token === '' ? undefined : `Bearer ${token}`;
}

function authorizationOf(options: RequestOptions): string | undefined {
  const header = property(options.headers, 'Authorization');
  // A newline at the end of a token file would make the header invalid.
  if (typeof header === 'string') return header.trim();
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
  return Object.fromEntries(Object.entries(material).filter(([, value]) => value !== undefined));
}

function configError(init: ConnectionInit, config: KubeConfig, error: unknown): SignerError {
  return new SignerError({
    code: 'KUBE_CONFIG',
    disposition: 'wait',
    // Without the cause: parsers quote the text around an error, which may be a secret here.
    message: `${sourceOf(init, config)} cannot be used: ${redactedReason(error)}`,
  });
}

function sourceOf({ kubeconfig }: ConnectionInit, config: KubeConfig): string {
  if (kubeconfig !== undefined) return `the kubeconfig ${kubeconfig}`;
  return config.getContextObject('inClusterContext') === null
    ? 'the default kubeconfig (KUBECONFIG, else ~/.kube/config)'
    : 'the ServiceAccount of this pod';
}

/** The message of a plugin may be long. */
const MAX_CONFIG_REASON = 300;

/** The first line of the message: of a YAML error it has the position, and not the text. */
function redactedReason(error: unknown): string {
  // A JSON error quotes the text in its first line. Only the output of an exec plugin is JSON here.
  if (error instanceof SyntaxError) return 'the output of its exec plugin is not JSON';
  const [line = ''] = messageOf(error).split('\n', 1);
  return line.slice(0, MAX_CONFIG_REASON);
}
