// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { SignerError, messageOf } from '#base/errors.ts';
import type { Clock } from '#base/ports.ts';
import { membersOf } from '#base/record.ts';
import type { Connection, Credentials, TlsMaterial } from './connection.ts';
import { cacheCredentials } from './credentials-cache.ts';
import { mergeKubeconfigs } from './merged-kubeconfigs.ts';

/** The choice of a kubeconfig. */
export interface ConnectionInit {
  /**
   * Path of a kubeconfig, or the paths of KUBECONFIG if it has several. Default: that of
   * KUBECONFIG, else ~/.kube/config, else in-cluster.
   */
  readonly kubeconfig?: string | readonly string[] | undefined;
  readonly context?: string | undefined;
  readonly clock: Clock;
  /** Called each time that credentials are unreadable and the previous ones stay in use. */
  readonly onUnreadable?: () => void;
}

/**
 * Reads a kubeconfig through the official client (contexts, exec plugins, in-cluster files).
 *
 * @throws SignerError KUBE_CONFIG (`wait`) that names the file and the fault
 */
export async function loadConnection(init: ConnectionInit): Promise<Connection> {
  let source = await load(init);
  return {
    server: source.server,
    ...cacheCredentials(async (reload) => {
      // An exec plugin runs again before its token expires only if the whole config is read again.
      if (reload) source = await load(init);
      return readCredentials(source, init.clock).catch((error: unknown) => {
        throw configError(init, source.config, error);
      });
    }, init),
  };
}

/**
 * Returns the contexts of a kubeconfig.
 *
 * @param kubeconfig - undefined: the file that {@link loadConnection} finds
 * @throws Error of the file
 */
export async function contextNames(
  kubeconfig: ConnectionInit['kubeconfig'],
): Promise<readonly string[]> {
  const { KubeConfig: Loader } = await import('@kubernetes/client-node');
  const config = new Loader();
  if (kubeconfig === undefined) config.loadFromDefault();
  else if (typeof kubeconfig === 'string') config.loadFromFile(kubeconfig);
  else mergeKubeconfigs(config, kubeconfig, () => new Loader());
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
  const { kubeconfig = [] } = init;
  try {
    if (init.kubeconfig === undefined) loadDefault(config);
    else if (typeof kubeconfig === 'string') config.loadFromFile(kubeconfig);
    else mergeKubeconfigs(config, kubeconfig, () => new Loader());
    if (init.context !== undefined) config.setCurrentContext(init.context);
    const server = serverOf(config);
    const files = typeof kubeconfig === 'string' ? [kubeconfig] : kubeconfig;
    const tokenFile = await tokenFileOf(files, config);
    if (tokenFile === undefined) requireCredentials(config);
    return { config, server, tokenFile };
  } catch (error) {
    throw configError(init, config, error);
  }
}

/** @throws Error if the official client finds nothing and invents an API server without TLS */
function loadDefault(config: KubeConfig): void {
  config.loadFromDefault();
  const isMadeUp =
    config.getCurrentContext() === 'loaded-context' &&
    config.getCurrentCluster()?.server === 'http://localhost:8080';
  if (isMadeUp) throw new Error('there is none, and this is not a pod with a ServiceAccount');
}

/**
 * @throws Error for settings that the client would ignore silently, and that would change the
 *   identity
 */
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

/** @throws Error if every request would come from `system:anonymous` */
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
  // Its type leaves out undefined, which a file without a context has.
  const name = config.getCurrentContext() as string | undefined;
  return name === undefined || name === '' ? 'current-context' : `context "${name}"`;
}

async function tokenFileOf(
  files: readonly string[],
  config: KubeConfig,
): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  // A pod has no kubeconfig, and does not load the reader of YAML.
  const { readTokenFile } = await import('./token-file.ts');
  return readTokenFile(files, config.getCurrentUser()?.name);
}

/**
 * @throws Error if there are no credentials, such as while a token file is written in place. The
 *   API server treats a call without a token as one of `system:anonymous`. It answers 403, which no
 *   client retries as it does a 401.
 */
async function readCredentials({ config, tokenFile }: Source, clock: Clock): Promise<Credentials> {
  requireCurrentIdToken(config, clock);
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

/**
 * @throws Error for an ID token that has expired. client-node 2.0.1 fails to refresh one: it passes
 *   a string in place of a URL to openid-client 6, and an object in place of a Response.
 */
function requireCurrentIdToken(config: KubeConfig, clock: Clock): void {
  const user = config.getCurrentUser();
  const provider: unknown = user?.authProvider;
  if (membersOf(provider)['name'] !== 'oidc') return;
  const idToken = membersOf(membersOf(provider)['config'])['id-token'];
  const expiry = typeof idToken === 'string' ? expiryOf(idToken) : undefined;
  if (expiry === undefined || clock() <= expiry) return;
  throw new Error(
    `the id-token of its user "${user?.name}" expired at ${new Date(expiry).toISOString()}, and auth-provider "oidc" is not refreshed: log in again, or use an exec plugin such as kubectl oidc-login`,
  );
}

/** Returns the `exp` of a JWT in milliseconds, or undefined if it has none that can be read. */
function expiryOf(jwt: string): number | undefined {
  const [, payload = ''] = jwt.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const seconds = membersOf(claims)['exp'];
    return typeof seconds === 'number' ? seconds * 1000 : undefined;
  } catch {
    return undefined;
  }
}

async function bearerOf(tokenFile: string): Promise<string | undefined> {
  const token = (await readFile(tokenFile, 'utf8')).trim();
  return token === '' ? undefined : `Bearer ${token}`;
}

function authorizationOf(options: RequestOptions): string | undefined {
  const header = membersOf(options.headers)['Authorization'];
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
    // Omits the cause: parsers quote the text around an error, which may be a secret here.
    message: `${sourceOf(init, config)} cannot be used: ${redactedReason(error)}`,
  });
}

function sourceOf({ kubeconfig }: ConnectionInit, config: KubeConfig): string {
  if (typeof kubeconfig === 'string') return `the kubeconfig ${kubeconfig}`;
  return config.getContextObject('inClusterContext') === null
    ? 'the default kubeconfig (KUBECONFIG, else ~/.kube/config)'
    : 'the ServiceAccount of this pod';
}

/** The message of a plugin may be long. */
const MAX_CONFIG_REASON = 300;

/** Returns the first line of the message. In a YAML error it has the position, and not the text. */
function redactedReason(error: unknown): string {
  // A JSON error quotes the text in its first line. Only the output of an exec plugin is JSON here.
  if (error instanceof SyntaxError) return 'the output of its exec plugin is not JSON';
  const [line = ''] = messageOf(error).split('\n', 1);
  return line.slice(0, MAX_CONFIG_REASON);
}
